"""The viewer's server: pages and events for one browser on this machine."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import InfrastructureError, InputError
from assay.view.guard import LONGEST_HEADERS, Guard
from assay.view.library import RunLibrary
from assay.view.links import SERVER
from assay.view.pages import ASSETS, NotFoundError, Pages, read_asset, render_message

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

HOST = "127.0.0.1"
_TICK_SECONDS = 0.5
# A comment now and then, so that a connection whose other end is gone is noticed.
_TICKS_PER_COMMENT = 30


def serve(
    folder: Path, port: int, announce: Callable[[str], None], *, elsewhere: bool = False
) -> None:
    """Serve the runs of a folder until interrupted; `announce` gets the first address."""
    import uvicorn

    token = secrets.token_urlsafe(32)
    library = RunLibrary(folder, elsewhere=elsewhere)
    # Before anything is announced: a folder that cannot be read is a mistake of the user.
    library.entries()
    with _bind(port) as listener:
        port = listener.getsockname()[1]
        app = Guard(make_app(library), port=port, token=token)
        config = uvicorn.Config(
            app,
            http="h11",
            ws="none",
            interface="asgi3",
            lifespan="off",
            access_log=False,
            log_config=None,
            log_level="error",
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=1,
            h11_max_incomplete_event_size=LONGEST_HEADERS,
        )
        library.start()
        announce(f"http://{HOST}:{port}/?token={token}")
        try:
            uvicorn.Server(config).run(sockets=[listener])
        finally:
            library.close()


def _bind(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        # Before the address is announced: who connects at once waits instead of being refused.
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise InfrastructureError(
            f"port {port} of {HOST} cannot be used: {error.strerror}",
            advice="name another with --port, or leave it out for a free one",
        ) from None
    return listener


def make_app(library: RunLibrary) -> Starlette:
    """Return the application that answers whoever the guard has let in."""
    from starlette.applications import Starlette
    from starlette.responses import HTMLResponse, RedirectResponse, StreamingResponse
    from starlette.responses import Response as Answer
    from starlette.routing import Route

    pages = Pages(library)

    def show_runs(request: Request) -> Response:
        return HTMLResponse(pages.list_runs(SERVER, request.query_params))

    def show_run(request: Request) -> Response:
        key = request.path_params["run"]
        return HTMLResponse(pages.show_run(SERVER, key, request.query_params))

    def show_case(request: Request) -> Response:
        named = request.path_params
        text = pages.show_case(SERVER, named["run"], named["case"], request.query_params)
        return HTMLResponse(text)

    def show_title(request: Request) -> Response:
        return HTMLResponse(pages.show_title(SERVER, request.path_params["title"]))

    def choose_comparison(request: Request) -> Response:
        chosen = request.query_params.getlist("run")
        return RedirectResponse(pages.order_comparison(SERVER, chosen), 303)

    def compare(request: Request) -> Response:
        named = request.path_params
        text = pages.compare(SERVER, named["before"], named["after"], request.query_params)
        return HTMLResponse(text)

    def compare_case(request: Request) -> Response:
        return HTMLResponse(pages.compare_case(SERVER, **request.path_params))

    def send_asset(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in ASSETS:
            raise NotFoundError("There is no such file.")
        return Answer(read_asset(name), media_type=ASSETS[name])

    async def send_events(request: Request) -> Response:
        key = request.path_params.get("run")
        stream = _events(lambda: pages.token(key))
        return StreamingResponse(stream, media_type="text/event-stream")

    return Starlette(
        routes=[
            Route("/", show_runs),
            Route("/runs/{run}", show_run),
            Route("/runs/{run}/{case}", show_case),
            Route("/titles/{title}", show_title),
            Route("/compare", choose_comparison),
            Route("/compare/{before}/{after}", compare),
            Route("/compare/{before}/{after}/{case}", compare_case),
            Route("/assets/{name}", send_asset),
            Route("/events/runs", send_events),
            Route("/events/runs/{run}", send_events),
        ],
        exception_handlers={
            InputError: _refuse,
            NotFoundError: _miss,
            404: _miss,
        },
    )


async def _refuse(request: Request, error: Exception) -> Response:
    from starlette.responses import HTMLResponse

    assert isinstance(error, InputError)
    what = f"{error.where}: {error.what}" if error.where else error.what
    return HTMLResponse(render_message(SERVER, "This cannot be shown", what), 400)


async def _miss(request: Request, error: Exception) -> Response:
    from starlette.responses import HTMLResponse

    what = str(error) if isinstance(error, NotFoundError) else "There is no such page."
    return HTMLResponse(render_message(SERVER, "Not found", what), 404)


async def _events(read_token: Callable[[], str]) -> AsyncIterator[str]:
    """Yield an event with the token of a page, now and whenever it changes."""
    last, ticks = "", 0
    while True:
        try:
            token = await asyncio.to_thread(read_token)
        except (InputError, NotFoundError):
            token = ""
        if token != last:
            last = token
            yield f"data: {token or 'gone'}\n\n"
        elif ticks % _TICKS_PER_COMMENT == 0:
            yield ": still here\n\n"
        ticks += 1
        await asyncio.sleep(_TICK_SECONDS)

"""Images: found, loaded, built, pulled, listed and removed; nothing is pulled by a run itself."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.containers.container import Container
from assay.containers.engine import Engine, EngineError, advise, quote_words
from assay.containers.owners import KEY, KIND
from assay.containers.settings import EngineSettings, find_settings
from assay.documents import LARGEST_SOURCE, read_text
from assay.errors import InfrastructureError, InputError

SET_UP, BUILD = "set-up", "build"
_REPOSITORY = {SET_UP: "localhost/assay-set-up", BUILD: "localhost/assay-build"}
_LONG = 3600.0
_FROM = re.compile(r"^\s*FROM\s", re.IGNORECASE)


async def find_image(engine: Engine, name: str) -> str | None:
    """Return the identifier of an image that the engine has; None if it has none of that name."""
    answer = await engine.ask(["image", "inspect", "--format", "{{.Id}}", name])
    if answer.status == 0:
        return answer.stdout.strip().removeprefix("sha256:")
    missing = ("no such image", "image not known", "no such object", "not found")
    if any(sign in answer.stderr.lower() for sign in missing):
        return None
    raise EngineError(
        f"{engine.name} could not look for the image {name}: {quote_words(answer.stderr)}",
        advice=advise(engine, answer.stderr),
    )


async def require_image(engine: Engine, name: str, file: str) -> str:
    """Return the identifier of an image; raise InfrastructureError if the engine lacks it."""
    found = await find_image(engine, name)
    if found is None:
        raise InfrastructureError(
            f"{engine.name} has no image {name}",
            advice=f"get it with `assay environments pull {file}`; runs never download images",
        )
    return found


async def pull_image(engine: Engine, name: str) -> str:
    """Download an image and return its identifier; raise EngineError if that fails."""
    advice = "check the name, the registry and your login; offline, name an archive with `archive:`"
    await engine.run(["pull", name], timeout=_LONG, advice=advice)
    found = await find_image(engine, name)
    if found is None:
        raise InfrastructureError(f"{engine.name} pulled {name}, but has no such image")
    return found


async def load_image(engine: Engine, archive: Path) -> str:
    """Return the identifier of the image in an archive, loaded if necessary.

    It is known by the digest of the archive, so that it is loaded once.
    """
    if not archive.is_file():
        raise InputError("there is no such archive of an image", where=str(archive))
    with archive.open("rb") as file:
        key = hashlib.file_digest(file, "sha256").hexdigest()[:24]
    tag = f"{_REPOSITORY[BUILD]}:{key}"
    found = await find_image(engine, tag)
    if found is not None:
        return found
    text = await engine.run(["load", "--input", str(archive)], timeout=_LONG)
    names = re.findall(r"Loaded image(?:s|\(s\))?(?: ID)?: *(\S+)", text)
    if not names:
        raise InfrastructureError(f"{engine.name} load did not name an image: {text.strip()}")
    await engine.run(["tag", names[-1], tag])
    return await require_image(engine, tag, str(archive))


async def build_image(
    engine: Engine, file: Path, context: Path, *, network: str | None = None
) -> str:
    """Return the identifier of the image that a Containerfile builds, built if necessary.

    Raises EngineError with the end of the log if the build fails; nothing is left of it.
    """
    try:
        text = read_text(file, LARGEST_SOURCE)
    except OSError as error:
        raise InputError(f"the Containerfile cannot be read: {error}", where=str(file)) from None
    key = digest_context(text, context)
    tag = f"{_REPOSITORY[BUILD]}:{key}"
    found = await find_image(engine, tag)
    if found is not None:
        return found
    settings = await _find_build_settings(engine, text)
    arguments = [
        *settings.globals,
        "build",
        *settings.ulimits,
        "--force-rm",
        "--tag",
        tag,
        "--label",
        f"{KEY}={key}",
    ]
    arguments += ["--layers=false"] if engine.is_podman else []
    arguments += [] if network is None else ["--network", network]
    with tempfile.NamedTemporaryFile("w", suffix=".Containerfile", encoding="utf-8") as written:
        written.write("\n".join(_mark(text, key)) + "\n")
        written.flush()
        arguments += ["--file", written.name, str(context)]
        # The older builder of docker removes what is left of a failed build; the newer keeps it.
        answer = await engine.ask(
            arguments,
            timeout=_LONG,
            environment={} if engine.is_podman else {"DOCKER_BUILDKIT": "0"},
        )
    if answer.status != 0:
        await _remove_failed(engine, key)
        log = quote_words(f"{answer.stdout}\n{answer.stderr}")
        raise EngineError(f"the build failed: {log}", where=str(file), advice=_name_step(log))
    return await require_image(engine, tag, str(file))


async def _find_build_settings(engine: Engine, text: str) -> EngineSettings:
    """Return the settings with which the image that a Containerfile starts from runs here."""
    named = re.search(r"(?im)^\s*FROM\s+(?:--\S+\s+)*(\S+)", text)
    if named is None or await find_image(engine, named[1]) is None:
        return EngineSettings()
    return await find_settings(engine, named[1])


def _mark(text: str, key: str) -> Iterator[str]:
    """Yield the lines of a Containerfile; every stage has a label, by which its parts are found."""
    for line in text.splitlines():
        yield line
        if _FROM.match(line):
            yield f"LABEL {KIND}={BUILD} {KEY}={key}"


def _name_step(log: str) -> str:
    steps = re.findall(r"(?m)^STEP .*|^Step \d.*", log)
    return f"correct this line of it: {steps[-1]}" if steps else "correct it and start again"


async def _remove_failed(engine: Engine, key: str) -> None:
    filters = ["--filter", f"label={KEY}={key}", "--filter", "dangling=true"]
    listed = await engine.ask(["images", "--quiet", "--no-trunc", *filters])
    for identifier in dict.fromkeys(listed.stdout.split()):
        await engine.ask(["rmi", "--force", identifier])


def digest_context(text: str, context: Path) -> str:
    """Return a digest of a Containerfile and of every file in its context."""
    if not context.is_dir():
        raise InputError("is not the folder of a build's files", where=str(context))
    digest = hashlib.sha256(text.encode())
    for path in sorted(context.rglob("*")):
        name = str(path.relative_to(context))
        if path.is_symlink():
            digest.update(f"link {name}\0{path.readlink()}\0".encode("utf-8", "surrogateescape"))
        elif path.is_file():
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
            mode = path.stat().st_mode & 0o111
            digest.update(f"{mode} {name}\0{content}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:24]


def layer_tag(key: str) -> str:
    """Return the name of the image that keeps a set-up."""
    return f"{_REPOSITORY[SET_UP]}:{key}"


async def commit_layer(container: Container, key: str) -> str:
    """Keep a container's files as an image under the key of its set-up."""
    engine = container.engine
    labels = [f"LABEL {KIND}={SET_UP}", f"LABEL {KEY}={key}"]
    changes = [part for label in labels for part in ("--change", label)]
    await engine.run(
        [*container.settings.globals, "commit", *changes, container.name, layer_tag(key)],
        timeout=_LONG,
    )
    return await require_image(engine, layer_tag(key), "it")


@dataclass(frozen=True)
class KeptImage:
    """An image that Assay made."""

    engine: str
    kind: str
    """`set-up` for a submission's, `build` for one that was built or loaded from an archive."""
    key: str
    size: int
    created: str


async def list_images(engine: Engine) -> list[KeptImage]:
    """Return the images that Assay made and keeps."""
    form = "{{.Repository}} {{.Tag}}"
    kinds = {repository: kind for kind, repository in _REPOSITORY.items()}
    listed = await engine.run(["images", "--format", form])
    tags = [line.split() for line in listed.splitlines() if line.split()[0] in kinds]
    if not tags:
        return []
    names = [":".join(parts) for parts in tags]
    found: list[dict[str, Any]] = json.loads(await engine.run(["image", "inspect", *names]))
    return sorted(
        (
            KeptImage(
                engine.name, kinds[repository], key, int(about.get("Size", 0)),
                str(about.get("Created", ""))[:19],
            )
            for (repository, key), about in zip(tags, found, strict=True)
        ),
        key=lambda one: (one.kind, one.key),
    )  # fmt: skip


async def remove_image(engine: Engine, image: KeptImage) -> None:
    """Remove an image that Assay made."""
    await engine.run(["rmi", "--force", f"{_REPOSITORY[image.kind]}:{image.key}"])

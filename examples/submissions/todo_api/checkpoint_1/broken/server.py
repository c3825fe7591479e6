"""A list of things to do that keeps no change, filters nothing and takes any title."""

import argparse
import itertools
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

TODOS = {}
NUMBERS = itertools.count(1)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path, _ = self.asked()
        if path == ["health"]:
            self.answer(200, {"ok": True})
        elif path == ["todos"]:
            self.answer(200, list(TODOS.values()))
        elif todo := self.found(path):
            self.answer(200, todo)

    def do_POST(self):
        title = self.body().get("title")
        name = f"t{next(NUMBERS)}"
        TODOS[name] = {"id": name, "title": title, "done": False}
        self.answer(201, TODOS[name], Location=f"/todos/{name}")

    def do_PATCH(self):
        body = self.body()
        if todo := self.found(self.asked()[0]):
            self.answer(200, todo | body)

    def do_DELETE(self):
        if todo := self.found(self.asked()[0]):
            del TODOS[todo["id"]]
            self.answer(204, None)

    def asked(self):
        parts = urlsplit(self.path)
        return parts.path.strip("/").split("/"), parse_qs(parts.query)

    def body(self):
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")

    def found(self, path):
        todo = TODOS.get(path[1]) if len(path) == 2 and path[0] == "todos" else None
        if todo is None:
            self.answer(404, {"error": "there is no such thing"})
        return todo

    def answer(self, status, content, **headers):
        data = b"" if content is None else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, text in headers.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    given = parser.parse_args()
    ThreadingHTTPServer((given.address, given.port), Handler).serve_forever()


if __name__ == "__main__":
    main()

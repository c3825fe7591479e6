"""A reference solution of the first checkpoint, which knows more than it has to."""

import argparse
import json
import uuid
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

NOTES = {}


class Notes(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, value=None):
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def note(self):
        return NOTES.get(urlsplit(self.path).path.removeprefix("/notes/"))

    def do_GET(self):
        parts = urlsplit(self.path)
        if parts.path == "/notes":
            word = parse_qs(parts.query).get("word", [""])[0]
            self.answer(200, [each for each in NOTES.values() if word in each["text"]])
        elif note := self.note():
            self.answer(200, note)
        else:
            self.answer(404, {"error": "not found"})

    def do_POST(self):
        written = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        note = {"id": str(uuid.uuid4()), "text": written["text"]}
        NOTES[note["id"]] = note
        self.answer(201, note)

    def do_DELETE(self):
        note = self.note()
        if note is None:
            self.answer(404, {"error": "not found"})
        else:
            del NOTES[note["id"]]
            self.answer(204)

    def log_message(self, *_):
        pass


parser = argparse.ArgumentParser()
parser.add_argument("--address")
parser.add_argument("--port", type=int)
options = parser.parse_args()
HTTPServer((options.address, options.port), Notes).serve_forever()

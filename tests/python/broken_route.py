"""Passes requests on to a server, but for one route, which answers 500.

    python broken_route.py http://127.0.0.1:8000 /schema

Prints its own address.
"""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.error import HTTPError
from urllib.request import Request, urlopen

SERVER, BROKEN = sys.argv[1:]


class Handler(BaseHTTPRequestHandler):
    def pass_on(self):
        length = int(self.headers.get("content-length", 0))
        body = self.rfile.read(length) if length else None
        if self.path == BROKEN:
            return self.reply(500, "text/plain", b"broken on purpose")
        headers = {"content-type": self.headers.get("content-type", "application/json")}
        request = Request(SERVER + self.path, body, headers, method=self.command)
        try:
            with urlopen(request, timeout=10) as answer:
                self.reply(answer.status, answer.headers["content-type"], answer.read())
        except HTTPError as answer:
            self.reply(answer.code, answer.headers["content-type"], answer.read())

    do_GET = do_POST = pass_on

    def reply(self, status, kind, body):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()

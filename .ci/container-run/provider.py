"""A stand-in for a model server: OpenAI's chat completions, the same answer to
every request, a line on standard output for each (model, temperature, key).
The first request can be held up (PROVIDER_DELAY, seconds)."""

import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANALYSIS = {
    "evidence": [],
    "program": "add(const_1, const_1)",
    "steps": ["1 + 1"],
    "answer": "2",
    "unit": "number", "label": "two",
    "confidence": 0.9,
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.reply({"status": "ok"})

    def do_POST(self):
        length = int(self.headers.get("content-length", 0))
        request = json.loads(self.rfile.read(length) or b"{}")
        print(
            "request",
            request.get("model"),
            request.get("temperature"),
            self.headers.get("authorization"),
            flush=True,
        )
        time.sleep(float(os.environ.get("PROVIDER_DELAY") or 0))
        critic = "critic" in str(request.get("model"))
        content = "ALL_OK" if critic else json.dumps(ANALYSIS)
        choice = {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": content},
        }
        self.reply({
            "id": "stand-in",
            "object": "chat.completion",
            "created": 0,
            "model": request.get("model"),
            "choices": [choice],
            "usage": {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20},
        })

    def reply(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("0.0.0.0", int(sys.argv[1])), Handler).serve_forever()

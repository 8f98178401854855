"""A stand-in for a model server: chat completions that play the FinQA environment.

    python scripted_model.py        # prints its address

Each reply is an action as JSON: first the tables of the question's company, then an
answer, which is always "0". For trying out a pipeline without a model.
"""

import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def action(messages):
    """The next action of a conversation whose user turns are observations."""
    written = " ".join(str(message.get("content")) for message in messages)
    if any(message["role"] == "assistant" for message in messages):
        return {"type": "call_tool", "tool_name": "submit_answer", "arguments": {"answer": "0"}}
    company = re.search(r"company `([^`]+)`", written).group(1)
    return {"type": "call_tool", "tool_name": "get_descriptions", "arguments": {"company_name": company}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message = {"role": "assistant", "content": json.dumps(action(request["messages"]))}
        reply = {
            "id": "scripted",
            "object": "chat.completion",
            "created": 0,
            "model": request.get("model"),
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    server.serve_forever()

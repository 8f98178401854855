"""Servers and a client that `.ci/record` runs the program against: a provider of chat
models with four protocols, an MLflow server, and a WebSocket client."""

import base64
import hashlib
import http.server
import json
import os
import re
import socket
import threading
import urllib.parse


class Server:
    """An HTTP server on a free port of this machine; `answer` returns status and JSON."""

    def __init__(self):
        stub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1
            disable_nagle_algorithm = True

            def handle_request(self):
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                with stub.lock:
                    status, reply = stub.answer(self.command, self.path, dict(self.headers), body)
                text = json.dumps(reply).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PUT = do_PATCH = handle_request

            def log_message(self, *_):
                pass

        self.lock = threading.Lock()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


TURNS = ("dialogue_break", "turn_program", "exe_ans_list")


def words(text):
    return re.sub(r"[^a-z0-9]+", " ", text.lower()).strip()


class Provider(Server):
    """A chat model whose replies are chosen by the question, the role, the round and the
    seed of a request, not by its other words, so that a request whose wording changes gets
    the same reply. Most drafts are right, by the gold programs of `records`; the others
    are wrong, in code fences, in prose, or unreadable."""

    def __init__(self, records=(), filtered=None):
        super().__init__()
        self.filtered = filtered
        self.requests = []
        self.gold = {}
        for record in records:
            for part in ("qa", "qa_0", "qa_1"):
                if qa := record.get(part):
                    self.gold[words(qa["question"])] = qa.get("program", "add(1, 2)"), str(qa["answer"])
            turns = record.get("annotation", {})
            for question, program, value in zip(*(turns.get(key, ()) for key in TURNS)):
                self.gold.setdefault(words(question), (program, str(value)))

    def answer(self, method, path, headers, body):
        if method != "POST":
            return 404, {"error": {"message": "not here"}}
        asked = json.loads(body)
        messages = asked.get("messages") or asked.get("input")
        system = asked.get("system") or asked.get("instructions") or messages[0]["content"]
        texts = [text_of(message) for message in messages]
        question = next((found[-1] for text in reversed(texts) if (found := re.findall(r"Question: (.*)", text))), texts[-1])
        earlier = sum(message.get("role") == "assistant" or message.get("type") == "function_call" for message in messages)
        role = "critic" if "critic" in text_of(system)[:60] else "player" if "company's financial report. The figures" in text_of(system) else "analyst"
        kept = {name.lower(): value for name, value in headers.items() if name.lower() not in ("host", "content-length")}
        self.requests.append((path, role, words(question), earlier, kept, body.decode()))
        if self.filtered and self.filtered in words(question):
            message = "The response was filtered due to the prompt triggering a content management policy."
            return 400, {"error": {"message": message, "code": "content_filter"}}
        draw = Draw(role, words(question), earlier, asked.get("seed"))
        if role == "player":
            return 200, self.reply(path, asked, None, self.call(earlier))
        text = critic(draw, earlier) if role == "critic" else self.draft(draw, question, earlier)
        return 200, self.reply(path, asked, text, None)

    def draft(self, draw, question, earlier):
        program, answer = self.gold.get(words(question), ("add(1, 2)", "3"))
        kind = draw.one_of("right", 11, "swapped", 3, "foreign", 2, "fence", 1, "prose", 1, "unreadable", 1, "empty", 1)
        if earlier and kind in ("unreadable", "empty"):
            kind = "right"
        figures = re.findall(r"(?<![#\w.])-?\d[\d.]*", program)
        if kind == "swapped" and len(figures) > 1:
            program, answer = program.replace(figures[0], "\0").replace(figures[1], figures[0]).replace("\0", figures[1]), "0.5"
        elif kind == "foreign" and figures:
            program, answer = program.replace(figures[0], "987654.5", 1), "987,654.5"
        elif kind == "empty":
            return ""
        unit = "yes_no" if answer in ("yes", "no") else "percent" if "%" in answer else "number"
        evidence = [{"id": "r1c1", "literal": figure} for figure in figures[: draw.number(3)]]
        reply = {"steps": [f"Calculate {program}."], "evidence": evidence, "program": program, "unit": unit}
        reply |= {"label": "the value asked for", "confidence": 0.25 * (1 + draw.number(4)), "answer": answer}
        text = json.dumps(reply)
        if kind == "fence":
            return f"```json\n{json.dumps(reply, indent=2)}\n```"
        if kind == "prose":
            return f"Here is the analysis:\n\n{text}\n\nIs there anything else?"
        return f"The answer is about {answer}, I think." if kind == "unreadable" else text

    def call(self, earlier):
        """The next call of a player who reads the first table and submits a number."""
        company, table = "acme", "us_gaap_IncomeStatement"
        query = "SELECT \"2024\" FROM us_gaap_IncomeStatement WHERE line_item LIKE '%revenue%'"
        calls = [
            ("get_descriptions", {"company_name": company}),
            ("get_table_info", {"company_name": company, "table_name": table}),
            ("sql_query", {"company_name": company, "table_name": table, "query": query}),
            ("submit_answer", {"answer": "12,345"}),
        ]
        return calls[min(earlier, 3)]

    def reply(self, path, asked, text, call):
        tool = {"id": "call_1", "name": call[0], "arguments": json.dumps(call[1])} if call else None
        model = asked.get("model", "deployment")
        if path.split("?")[0].endswith("/responses"):
            part = {"type": "output_text", "text": text}
            output = [{"type": "message", "role": "assistant", "content": [part]}]
            if tool:
                output = [{"type": "function_call", "call_id": tool["id"], "name": tool["name"], "arguments": tool["arguments"]}]
            usage = {"input_tokens": 1000, "output_tokens": 100}
            return {"id": "resp_1", "model": model, "status": "completed", "output": output, "usage": usage}
        if path.endswith("/messages"):
            content = [{"type": "text", "text": text}]
            forced = asked.get("tool_choice", {}).get("name")
            if tool:
                content = [{"type": "tool_use", "id": tool["id"], "name": call[0], "input": call[1]}]
            elif forced and text.startswith("{"):
                content = [{"type": "tool_use", "id": "call_1", "name": forced, "input": json.loads(text)}]
            reason = "tool_use" if content[0]["type"] == "tool_use" else "end_turn"
            usage = {"input_tokens": 1000, "output_tokens": 100}
            return {"id": "msg_1", "model": model, "role": "assistant", "content": content, "stop_reason": reason, "usage": usage}
        message = {"role": "assistant", "content": text}
        if tool:
            function = {"name": tool["name"], "arguments": tool["arguments"]}
            message["tool_calls"] = [{"id": tool["id"], "type": "function", "function": function}]
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if tool else "stop"}
        usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
        return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model, "choices": [choice], "usage": usage}


def critic(draw, earlier):
    kind = draw.one_of("ok", 12, "findings", 5, "list", 1, "approval", 1, "unreadable", 1)
    finding = {"where": "r1c1", "problem": "the figure is of another year", "fix": "take the year that is asked for"}
    return {
        "ok": "ALL_OK",
        "findings": json.dumps({"verdict": "REVISE", "findings": [finding]}),
        "list": "- r1c1 is a figure of another year\n- the program divides by the wrong base",
        "approval": "I checked every figure. ALL_OK.",
        "unreadable": "Hmm.",
    }[kind]


class Draw:
    """Choices that depend on the words given alone."""

    def __init__(self, *parts):
        self.bytes = hashlib.sha256(repr(parts).encode()).digest()
        self.used = 0

    def number(self, below):
        self.used += 2
        return int.from_bytes(self.bytes[self.used - 2 : self.used], "big") % below

    def one_of(self, *weighted):
        at = self.number(sum(weighted[1::2]))
        for kind, weight in zip(weighted[::2], weighted[1::2]):
            if at < weight:
                return kind
            at -= weight


def text_of(message):
    """The text of a message or of its content, in any protocol."""
    if isinstance(message, dict):
        return text_of(message.get("content") or message.get("text") or message.get("output") or "")
    return message if isinstance(message, str) else "\n".join(map(text_of, message))


class Mlflow(Server):
    """Keeps what an MLflow server receives."""

    def __init__(self):
        super().__init__()
        self.params, self.metrics, self.tags, self.files, self.calls = {}, {}, {}, {}, {}
        self.status = None

    def answer(self, method, path, headers, body):
        path = path.split("?")[0]
        place = "/api/2.0/mlflow-artifacts/artifacts/7/r1/artifacts/"
        if path.startswith(place):
            self.files[urllib.parse.unquote(path.removeprefix(place))] = body
            return 200, {}
        call = path.rsplit("/mlflow/", 1)[-1]
        self.calls[call] = self.calls.get(call, 0) + 1
        asked = json.loads(body) if body[:1] == b"{" else {}
        if call == "experiments/get-by-name":
            return 200, {"experiment": {"experiment_id": "7", "lifecycle_stage": "active"}}
        if call == "runs/create":
            self.status = "RUNNING"
            self.keep(asked)
            return 200, {"run": self.run()}
        if call == "runs/update":
            self.status = asked.get("status", self.status)
        if call == "runs/log-batch":
            self.keep(asked)
        if call == "runs/search":
            return 200, {"runs": [self.run()]} if self.status else {}
        if call == "runs/get" and self.status:
            return 200, {"run": self.run()}
        if call in ("runs/update", "runs/log-batch", "runs/log-inputs", "/v1/traces"):
            return 200, {}
        return (200, "stub") if path == "/version" else (404, {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "no"})

    def keep(self, asked):
        self.params.update((entry["key"], entry["value"]) for entry in asked.get("params", ()))
        self.tags.update((entry["key"], entry["value"]) for entry in asked.get("tags", ()))
        for metric in asked.get("metrics", ()):
            self.metrics.setdefault(metric["key"], {})[int(metric.get("step", 0))] = metric["value"]

    def run(self):
        info = {"run_id": "r1", "experiment_id": "7", "status": self.status, "lifecycle_stage": "active"}
        info["artifact_uri"] = "mlflow-artifacts:/7/r1/artifacts"
        return {"info": info, "data": {"metrics": [], "params": [], "tags": []}}


class WebSocket:
    """A client that sends and receives texts."""

    def __init__(self, url):
        host, port = url.removeprefix("http://").split("/")[0].split(":")
        path = "/" + url.removeprefix("http://").split("/", 1)[1]
        self.socket = socket.create_connection((host, int(port)), timeout=20)
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {path} HTTP/1.1", f"Host: {host}:{port}", "Upgrade: websocket", "Connection: Upgrade"]
        lines += [f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", "", ""]
        self.socket.sendall("\r\n".join(lines).encode())
        self.file = self.socket.makefile("rb")
        while self.file.readline() not in (b"\r\n", b""):
            pass

    def send(self, text, opcode=1):
        body, mask = text.encode(), os.urandom(4)
        length = len(body)
        head = bytes([0x80 | opcode])
        head += bytes([0x80 | length]) if length < 126 else bytes([0xFE]) + length.to_bytes(2, "big") if length < 65536 else bytes([0xFF]) + length.to_bytes(8, "big")
        self.socket.sendall(head + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(body)))

    def receive(self):
        """The next text, or what closed the socket."""
        whole = b""
        while True:
            head = self.file.read(2)
            if len(head) < 2:
                return "(ended)"
            length = head[1] & 0x7F
            length = int.from_bytes(self.file.read(2), "big") if length == 126 else int.from_bytes(self.file.read(8), "big") if length == 127 else length
            body = self.file.read(length)
            opcode = head[0] & 0x0F
            if opcode == 8:
                return f"(closed {int.from_bytes(body[:2], 'big')} {body[2:].decode()})"
            if opcode == 9:
                self.send(body.decode(), opcode=10)
            elif opcode in (0, 1, 2):
                whole += body
                if head[0] & 0x80:
                    return whole.decode()

    def ask(self, text):
        self.send(text)
        return self.receive()

    def close(self):
        self.socket.close()

"""A server that speaks Anthropic's Messages API and plays what it was given."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Union

Answer = Union[str, dict[str, Any], list[dict[str, Any]]]
Request = dict[str, Any]


def use(tool: str, /, **arguments: Any) -> dict[str, Any]:
    """Return the call of a tool, as a part of a message."""
    return {"type": "tool_use", "name": tool, "input": arguments}


class MessagesAPI:
    """Gives its answers one after the other to requests that have tools, ``ok`` to all others.

    An answer is a text, a call, several calls, or a function from the request to one of them.
    ``requests`` has what it was asked: the requests that got an answer of these.
    """

    def __init__(self, *answers: Union[Answer, Callable[[Request], Answer]]) -> None:
        self.answers = list(answers)
        self.requests: list[Request] = []
        self._threads: dict[str, Request] = {}
        self._lock = threading.Lock()
        self.url = ""

    def answer(self, request: Request) -> dict[str, Any]:
        """Return the message that answers a request."""
        with self._lock:
            request = self._whole(request)
            turn = len(self.requests)
            if request.get("tools"):
                self.requests.append(request)
            else:
                turn = -1
        if turn >= len(self.answers):
            said: Any = f"the model was asked more than {len(self.answers)} times"
        else:
            said = "ok" if turn < 0 else self.answers[turn]
        if callable(said):
            said = said(request)
        if isinstance(said, str):
            said = [{"type": "text", "text": said}]
        parts = said if isinstance(said, list) else [said]
        calls = any(part["type"] == "tool_use" for part in parts)
        content = [
            {**part, "id": f"toolu_{turn}_{n}"} if part["type"] == "tool_use" else part
            for n, part in enumerate(parts)
        ]
        self._threads[f"msg_{turn}"] = {
            **request,
            "messages": [*request["messages"], {"role": "assistant", "content": content}],
        }
        return {
            "id": f"msg_{turn}",
            "type": "message",
            "role": "assistant",
            "model": request.get("model", ""),
            "content": content,
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }

    def _whole(self, request: Request) -> Request:
        """Return a request with what a thread of messages has before it."""
        thread = request.pop("thread", None) or {}
        before = self._threads.get(thread.get("previous_message_id", ""))
        if before is None:
            return request
        return {**before, **request, "messages": [*before["messages"], *request["messages"]]}

    @contextmanager
    def served(self) -> Iterator[MessagesAPI]:
        """Serve on a free port of this machine; ``url`` is where."""
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", 0))
                request = json.loads(self.rfile.read(length) or "{}")
                if self.path.partition("?")[0] != "/v1/messages":
                    self.reply(404, "application/json", b'{"type": "error"}')
                    return
                message = api.answer(request)
                if request.get("stream"):
                    body = "".join(
                        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
                        for event in events(message)
                    )
                    self.reply(200, "text/event-stream", body.encode())
                else:
                    self.reply(200, "application/json", json.dumps(message).encode())

            def do_GET(self) -> None:
                self.reply(404, "application/json", b'{"type": "error"}')

            do_HEAD = do_GET

            def reply(self, status: int, kind: str, body: bytes) -> None:
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            def log_message(self, format: str, *arguments: Any) -> None:
                """Say nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


def events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a message as the events of a stream."""
    start = {**message, "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": start}
    for index, part in enumerate(message["content"]):
        if part["type"] == "tool_use":
            empty = {**part, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(part["input"])}
        else:
            empty = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": part["text"]}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def results(request: Request) -> list[tuple[str, bool]]:
    """Return what the tools answered last, and whether each answer was an error."""
    found: list[tuple[str, bool]] = []
    for message in reversed(request["messages"]):
        for part in message["content"]:
            if isinstance(part, dict) and part["type"] == "tool_result":
                content = part["content"]
                text = content if isinstance(content, str) else content[0]["text"]
                found.append((text, bool(part.get("is_error"))))
        if found:
            break
    return found


def system(request: Request) -> str:
    """Return the system prompt of a request, whatever form it has."""
    given = request.get("system", "")
    return given if isinstance(given, str) else "\n".join(part["text"] for part in given)

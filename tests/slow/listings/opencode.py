"""Prints which skills OpenCode loads, and what it lists: the end of the system prompt that it sends to a model, which is a
stand-in on this machine.

usage: opencode.py PROGRAM < layouts.json, with layouts as {home, cwds, env}: one server for each home.
Prints a list for each layout, with {skills, listing} for each directory. The listing is null where skills are not told;
only the first directories of each home have one, since it takes a second.
"""

import concurrent.futures
import http.server
import json
import os
import subprocess
import sys
import threading
import urllib.parse
import urllib.request
from typing import Any

START = "Skills provide specialized instructions and workflows for specific tasks.\n"
PROGRAM = sys.argv[1]
# The directories of each home for which the listing is asked.
LISTED = 3
# The last system prompt that each server sent.
PROMPTS: dict[str, str] = {}


class Model(http.server.BaseHTTPRequestHandler):
    """Says "ok" to everything, in the protocol of OpenAI."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_args: object) -> None:
        pass

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
        texts = [message["content"] for message in request["messages"] if message["role"] == "system"]
        parts = [text if isinstance(text, str) else "".join(part.get("text", "") for part in text) for text in texts]
        PROMPTS[self.path.split("/")[1]] = "\n".join(parts)
        chunk = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        said = {"index": 0, "delta": {"role": "assistant", "content": "ok"}, "finish_reason": None}
        end = {"index": 0, "delta": {}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        events = [{**chunk, "choices": [said]}, {**chunk, "choices": [end], "usage": usage}, None]
        answer = "".join(f"data: {json.dumps(event) if event else '[DONE]'}\n\n" for event in events).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


def call(base: str, path: str, body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data=data, headers={"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read() or b"null")


def listing(base: str, key: str, query: str) -> str | None:
    session = call(base, f"/session{query}", {"title": "t"})["id"]
    PROMPTS.pop(key, None)
    message = {"model": {"providerID": "mock", "modelID": "m"}, "parts": [{"type": "text", "text": "hi"}]}
    call(base, f"/session/{session}/message{query}", message)
    prompt = PROMPTS[key]
    at = prompt.rfind(START)
    return None if at < 0 else prompt[at:]


def listings(number: int, layout: dict, port: int) -> list[dict]:
    key = f"k{number}"
    options = {"baseURL": f"http://127.0.0.1:{port}/{key}/v1", "apiKey": "x"}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "mock", "options": options, "models": {"m": {"name": "m"}}}
    content = json.loads(layout["env"].get("OPENCODE_CONFIG_CONTENT", "{}"))
    environment = {
        "HOME": layout["home"],
        "PATH": os.environ["PATH"],
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        **layout["env"],
        "OPENCODE_CONFIG_CONTENT": json.dumps({**content, "provider": {"mock": provider}}),
    }
    server = subprocess.Popen(
        [PROGRAM, "serve", "--port", "0", "--hostname", "127.0.0.1"],
        cwd=layout["home"],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert server.stdout
    try:
        base = next(line.split()[-1] for line in server.stdout if "listening" in line)
        threading.Thread(target=server.stdout.read, daemon=True).start()
        answers = []
        for cwd in layout["cwds"]:
            query = "?directory=" + urllib.parse.quote(cwd, safe="")
            answers.append({"skills": call(base, f"/skill{query}")})
            if len(answers) <= LISTED:
                answers[-1]["listing"] = listing(base, key, query)
        return answers
    finally:
        server.kill()
        server.wait()


def main() -> None:
    model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    layouts = json.load(sys.stdin)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(listings, at, layout, model.server_port) for at, layout in enumerate(layouts)]
        print(json.dumps([answer.result() for answer in asked]))


main()

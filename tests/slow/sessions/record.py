"""Lets agents record sessions: their programs talk to a model that is a stand-in on this machine, and calls for skills.

usage: record.py HOME PROJECT CODEX NODE GEMINI OPENCODE
       record.py HOME PROJECT CODEX SKILLPM

The second form has skillpm test skills with Codex: there the model reads the skill `hello` where it is listed.
"""

import http.server
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

HOME, PROJECT, CODEX, *OTHERS = sys.argv[1:]
COMMANDS = [
    "cat .agents/skills/hello/SKILL.md",
    "cat .agents/skills/missing/SKILL.md",
    "python3 .agents/skills/hello/scripts/x.py",
    "echo hi && cat .agents/skills/bye/SKILL.md",
]


class Model(http.server.BaseHTTPRequestHandler):
    """Calls for skills one after the other, then says "ok", in the protocols of three vendors."""

    protocol_version = "HTTP/1.1"
    # How many answers each vendor's program got so far.
    answers = {"chat": 0, "responses": 0, "gemini": 0}

    def log_message(self, *_args: object) -> None:
        pass

    def number(self, what: str) -> int:
        self.answers[what] += 1
        return self.answers[what]

    def answer(self, events: list) -> None:
        data = "".join(f"data: {json.dumps(event) if event else '[DONE]'}\n\n" for event in events).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        if "chat/completions" in self.path:
            self.answer(self.chat(request))
        elif "responses" in self.path:
            self.answer(self.codex(json.dumps(request)))
        else:
            self.answer(self.gemini(request))

    def chat(self, request: dict) -> list:
        # The title of a session is asked for without tools.
        number = self.number("chat") if request.get("tools") else 9
        chunk = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        delta: dict = {"role": "assistant", "content": "ok"}
        if number <= 2:
            function = {"name": "skill", "arguments": json.dumps({"name": ["hello", "nothere"][number - 1]})}
            call = {"index": 0, "id": f"call_{number:020}", "type": "function", "function": function}
            delta = {"role": "assistant", "tool_calls": [call]}
        reason = "tool_calls" if "tool_calls" in delta else "stop"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        said = {"index": 0, "delta": delta, "finish_reason": None}
        end = {"index": 0, "delta": {}, "finish_reason": reason}
        return [{**chunk, "choices": [said]}, {**chunk, "choices": [end], "usage": usage}, None]

    def codex(self, request: str) -> list:
        number = self.number("responses")
        commands = COMMANDS
        if len(OTHERS) == 1:
            reads = "hello/SKILL.md" in request and "function_call_output" not in request
            number, commands = (1 if reads else 9), COMMANDS[:1]
        item: dict = {"type": "message", "id": "m1", "role": "assistant"}
        item["content"] = [{"type": "output_text", "text": "ok"}]
        if number <= len(commands):
            arguments = json.dumps({"cmd": commands[number - 1]})
            item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number:020}"}
            item |= {"name": "exec_command", "arguments": arguments}
        usage = {"input_tokens": 1, "input_tokens_details": None}
        usage |= {"output_tokens": 1, "output_tokens_details": None, "total_tokens": 2}
        response = {"id": f"resp_{number}"}
        return [
            {"type": "response.created", "response": response},
            {"type": "response.output_item.done", "item": item},
            {"type": "response.completed", "response": {**response, "usage": usage}},
        ]

    def gemini(self, request: dict) -> list:
        number = self.number("gemini") if "functionDeclarations" in json.dumps(request.get("tools") or []) else 9
        part: dict = {"text": "ok"}
        if number <= 2:
            part = {"functionCall": {"name": "activate_skill", "args": {"name": ["hello", "nothere"][number - 1]}}}
        content = {"role": "model", "parts": [part]}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        return [{"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}]


def run(arguments: list[str], variables: dict[str, str]) -> None:
    # OpenCode lists the files of a skill with ripgrep, and would download it.
    path = f"{HOME}/bin:{os.environ['PATH']}"
    environment = {"HOME": HOME, "PATH": path, **variables}
    ended = subprocess.run(
        arguments, cwd=PROJECT, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
    )
    print(arguments[0], ended.returncode, ended.stdout[-9000:], ended.stderr[-2000:])


def write(path: str, text: str) -> Path:
    file = Path(HOME) / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def main() -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}"
    write("bin/rg", "#!/bin/sh\nfind . -type f\n").chmod(0o755)
    write(".gemini/settings.json", '{"security": {"auth": {"selectedType": "gemini-api-key"}}}')
    provider = f'name = "mock"\nbase_url = "{base}/v1"\nwire_api = "responses"\nenv_key = "KEY"\n'
    write(
        ".codex/config.toml",
        f'model = "gpt-5.5"\nmodel_provider = "mock"\n[model_providers.mock]\n{provider}[projects."{PROJECT}"]\n'
        'trust_level = "trusted"\n',
    )
    if len(OTHERS) == 1:
        command = f"{CODEX} exec --json --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox"
        run([*OTHERS, "test", "--agent", command, "--json"], {"KEY": "x"})
        return
    node, gemini, opencode = OTHERS
    exec_here = [CODEX, "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
    run([*exec_here, "please $bye SECRET"], {"KEY": "x"})
    variables = {"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": base, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    run([node, gemini, "--skip-trust", "--yolo", "-m", "gemini-2.5-flash", "-p", "SECRET"], variables)
    options = {"baseURL": f"{base}/v1", "apiKey": "x"}
    mock = {"npm": "@ai-sdk/openai-compatible", "name": "mock", "options": options, "models": {"m": {"name": "m"}}}
    config = json.dumps({"provider": {"mock": mock}})
    variables = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_CONFIG_CONTENT": config}
    run([opencode, "run", "-m", "mock/m", "SECRET"], variables)


main()

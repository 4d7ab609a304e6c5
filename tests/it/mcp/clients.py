"""Uses a server of skillpm with the client of the package ``mcp`` and with FastMCP's.

The first argument says what to do, the second how to reach the server: the JSON of a command, or of
an address and its headers. What was found goes to standard output as JSON.
"""

import asyncio
import json
import sys
from contextlib import asynccontextmanager

import httpx2
import mcp_types
from fastmcp import Client as FastClient
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from fastmcp.skills.client import SkillsClientExtension
from mcp import Client, StdioServerParameters
from mcp.client import advertise
from mcp.client.streamable_http import streamable_http_client

EXTENSION = "io.modelcontextprotocol/skills"
TARGET = json.loads(sys.argv[2])


def is_http():
    return "url" in TARGET


@asynccontextmanager
async def connected(mode, answer=None):
    """Connect the client of the package ``mcp``, whose user gives ``answer`` to every question."""
    asked = []

    async def elicit(context, params):
        asked.append(params.message)
        content = {"run": True} if answer == "accept" else None
        return mcp_types.ElicitResult(action=answer, content=content)

    options = {
        "mode": mode,
        "extensions": [advertise(EXTENSION, {})],
        "elicitation_callback": elicit if answer else None,
    }
    if is_http():
        async with httpx2.AsyncClient(headers=TARGET["headers"], timeout=60) as http:
            transport = streamable_http_client(TARGET["url"], http_client=http)
            async with Client(transport, **options) as client:
                yield client, asked
    else:
        command, *args = TARGET["command"]
        server = StdioServerParameters(command=command, args=args, env=TARGET["env"])
        async with Client(server, **options) as client:
            yield client, asked


def text(result):
    return result.content[0].text


async def package(mode):
    """Do what the package has methods for, and what the extension adds, in one era."""

    class Listed(mcp_types.Result):
        skills: list[dict]

    class Got(mcp_types.Result):
        skill: dict

    async with connected(mode) as (client, _):
        instructions = client.instructions
        tools = [tool.name for tool in (await client.list_tools()).tools]
        loaded = await client.call_tool("load_skill", {"name": "hello"})
        read = await client.read_resource("skill://user/hello/SKILL.md")
        prompts = [prompt.name for prompt in (await client.list_prompts()).prompts]
        prompt = await client.get_prompt("hello", {"arguments": "you"})
        resources = [str(one.uri) for one in (await client.list_resources()).resources]
        listed = await client.session.send_request(
            mcp_types.Request[dict, str](method="skills/list", params={}), Listed
        )
        got = await client.session.send_request(
            mcp_types.Request[dict, str](
                method="skills/get", params={"uri": "skill://user/hello/SKILL.md"}
            ),
            Got,
        )
        found = {
            "version": client.protocol_version,
            "instructions": instructions,
            "tools": tools,
            "loaded": text(loaded),
            "read": read.contents[0].text,
            "prompts": prompts,
            "prompt": prompt.messages[0].content.text,
            "resources": resources,
            "skills": [skill["uri"] for skill in listed.skills],
            "same": got.skill == listed.skills[0],
        }
    call = {"name": "hello", "script": "greet", "arguments": {"arguments": ["you"]}}
    for answer in ("decline", "accept"):
        async with connected(mode, answer) as (client, asked):
            ran = await client.call_tool("run_skill_script", call)
            found[answer] = {"failed": ran.is_error, "text": text(ran), "asked": len(asked)}
    return found


async def fast():
    """Read every skill with FastMCP, which holds each file against its digest."""
    if is_http():
        transport = StreamableHttpTransport(TARGET["url"], headers=TARGET["headers"])
    else:
        command, *args = TARGET["command"]
        transport = StdioTransport(command, args, env=TARGET["env"])
    async with FastClient(transport, extensions=[SkillsClientExtension()]) as client:
        listed = await client.list_skills()
        files = 0
        wrong = []
        for skill in listed:
            try:
                read = await client.read_skill(skill.uri)
                files += len(read.files)
            except Exception as error:
                wrong.append(f"{skill.uri}: {error}")
        return {"skills": len(listed), "files": files, "wrong": wrong}


async def main():
    if sys.argv[1] == "package":
        found = {mode: await package(mode) for mode in ("legacy", "auto")}
    else:
        found = await fast()
    print(json.dumps(found))


asyncio.run(main())

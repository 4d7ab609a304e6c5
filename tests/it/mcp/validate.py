"""Judges messages of a server by the types of the protocol.

Each is a line of JSON, and so is the answer: null, or what is wrong. The types are those that the
package ``mcp-types`` has for each version of the protocol, and FastMCP's for the extension for
skills.
"""

import json
import sys

from fastmcp.skills import models
from mcp_types import methods


def validate(version, kind, method, body):
    if kind == "request":
        methods.parse_server_request(method, version, body)
    elif kind == "notification":
        methods.parse_server_notification(method, version, body)
    elif method == "skills/list":
        models.ListSkillsResult.model_validate(body)
    elif method == "skills/get":
        models.GetSkillResult.model_validate(body)
    elif method == "ping":
        # The newest version has none; the library answers all the same.
        methods.parse_server_result(method, "2025-11-25", body)
    elif method == "resources/directory/read":
        methods.parse_server_result("resources/list", version, body)
    else:
        methods.parse_server_result(method, version, body)


for line in sys.stdin:
    wrong = None
    try:
        validate(*json.loads(line))
    except Exception as error:
        wrong = f"{type(error).__name__}: {error}"
    print(json.dumps(wrong), flush=True)

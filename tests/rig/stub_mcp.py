"""An MCP server on stdio that says what it is told to.

    python stub_mcp.py '{"tools/list": {"tools": []}, ...}'

A request of a method that is named gets the result that stands there; of another one, an error. A result that is null is no
answer at all. `first` is a line that is written before everything else.
"""

import json
import sys

INITIALIZED = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "stub", "version": "1"}}


def main() -> None:
    results = {"initialize": INITIALIZED, **json.loads(sys.argv[1])}
    if "first" in results:
        print(results["first"], flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"jsonrpc": "2.0", "id": request.get("id")}
        if request["method"] not in results:
            answer["error"] = {"code": -32601, "message": f"no method {request['method']}"}
        elif results[request["method"]] is not None:
            answer["result"] = results[request["method"]]
        if "id" in request and len(answer) > 2:
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()

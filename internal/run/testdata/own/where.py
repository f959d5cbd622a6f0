# A server with one tool, which says where it runs and what it was given.
import helper, json, os, sys
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        r = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "where", "version": "1"}}
    elif m.get("method") == "tools/list":
        r = {"tools": [{"name": "where", "inputSchema": {"type": "object"}}]}
    elif m.get("method") == "tools/call":
        print(json.dumps({"jsonrpc": "2.0", "id": "r", "method": "roots/list"}), flush=True)
        roots = json.loads(sys.stdin.readline())["result"]["roots"] if len(sys.argv) < 2 else []
        open("kept", "a").write("x")
        text = " ".join(["cwd=" + os.getcwd(), helper.word, "args=" + ",".join(sys.argv[1:]), "roots=" + ",".join(x["uri"] for x in roots)])
        r = {"content": [{"type": "text", "text": text}]}
    elif "id" in m:
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32601, "message": "Method not found"}}), flush=True)
        continue
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)

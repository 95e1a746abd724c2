"""An agent that speaks the Agent Client Protocol, for the tests of `cliq agent acp`.

    acp_agent.py STEP...     what it does in a turn, one step after the other:

    say TEXT         a piece of its words            note FILE   what it was asked so far, as JSON lines
    update JSON      any update                      raw TEXT    a line as it is; half TEXT without its end
    tool ID KIND TITLE PATH                          die CODE    ends at once, with words on standard error
    may ID           asks permission for the tool    quietly ID  asks, and says nothing of the answer
    stop REASON      ends the turn                   fail CODE TEXT   answers the prompt with an error
    write PATH TEXT  through the client, %00 is NUL; wait        until the turn is cancelled
    tools N          N tools, each with an id of its own
    call METHOD      any other request               linger      ignores the end of its input and SIGTERM
    mcp TOOL JSON    calls a tool of the MCP server that the client named, started as it says; says the answer
    run JSON         a command (terminal/create), to its end: says its exit, its output and whether it was cut
    begin JSON       the same, not waited for; output, kill and free (release) are about the last one

Options before the steps: --version N, --auth (session/new needs a sign-in), --login (the same, and
Cursor's cursor_login is it), --mute (answers
nothing), --can resume|load, --models, --usage JSON (result.usage), --quota, --cost N,
--once (the steps are for the first turn; the next ones answer PASS).
"""
import json
import os
import signal
import subprocess
import sys

args, opt = sys.argv[1:], {}
while args and args[0].startswith("--"):
    name = args.pop(0)[2:]
    opt[name] = True if name in ("auth", "login", "mute", "models", "quota", "once") else args.pop(0)
heard, last_id, lingers, late = [], 0, False, []


class Refusal(Exception):
    pass


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def listen():
    line = sys.stdin.readline()
    if not line:
        while lingers:
            signal.pause()
        sys.exit(0)
    heard.append(line)
    return json.loads(line)


def update(**members):
    send({"method": "session/update", "params": {"sessionId": "s-1", "update": members}})


def request(method, params):
    """Asks the client; what else comes meanwhile waits, but for a cancellation."""
    global last_id
    last_id += 1
    send({"id": "q%d" % last_id, "method": method, "params": {"sessionId": "s-1", **params}})
    while True:
        m = listen()
        if m.get("id") == "q%d" % last_id:
            return m


def say(text):
    update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})


def turn(steps):
    global lingers
    at = iter(steps)
    for step in at:
        if step == "say":
            say(next(at))
        elif step == "update":
            update(**json.loads(next(at)))
        elif step == "tool":
            i, kind, title, path = next(at), next(at), next(at), next(at)
            update(sessionUpdate="tool_call", toolCallId=i, kind=kind, title=title, status="pending",
                   locations=[{"path": path}] if path != "-" else [])
        elif step == "tools":
            for i in range(int(next(at))):
                update(sessionUpdate="tool_call", toolCallId="n%d" % i, kind="read", title="Read %d" % i, status="pending")
        elif step in ("may", "quietly"):
            kinds = ("allow_always", "allow_once", "reject_once")
            m = request("session/request_permission", {
                "toolCall": {"toolCallId": next(at)},
                "options": [{"optionId": "o-" + k, "name": k, "kind": k} for k in kinds]})
            out = m["result"]["outcome"]
            if step == "may":
                say("[%s]" % out.get("optionId", out["outcome"]))
            if out["outcome"] == "cancelled":
                return "cancelled"
        elif step == "write":
            m = request("fs/write_text_file", {"path": next(at).replace("%00", "\0"), "content": next(at)})
            say("[written]" if "result" in m else "[%s]" % m["error"]["message"])
        elif step in ("run", "begin"):
            m = request("terminal/create", json.loads(next(at)))
            if "error" in m:
                say("[%s]" % m["error"]["message"])
                continue
            it = {"terminalId": m["result"]["terminalId"]}
            if step == "begin":
                terminal = it
                continue
            end = request("terminal/wait_for_exit", it)["result"]
            out = request("terminal/output", it)["result"]
            say("[%s %s%s]" % (end["signal"] or end["exitCode"], out["output"], " …" if out["truncated"] else ""))
            assert out["exitStatus"] == end
            request("terminal/release", it)
        elif step == "output":
            say("[%s]" % request("terminal/output", terminal)["result"])
        elif step == "kill":
            request("terminal/kill", terminal)
            say("[%s]" % request("terminal/wait_for_exit", terminal)["result"]["signal"])
        elif step == "free":
            request("terminal/release", terminal)
            say("[%s]" % request("terminal/output", terminal)["error"]["message"])
        elif step == "call":
            say("[%d]" % request(next(at), {})["error"]["code"])
        elif step == "raw":
            print(next(at), flush=True)
        elif step == "half":
            sys.stdout.write(next(at))
            sys.stdout.flush()
        elif step == "note":
            with open(next(at), "w") as f:
                f.writelines(heard)
        elif step == "die":
            sys.stderr.write("one line\nTypeError: x is undefined\n")
            sys.stderr.flush()
            os._exit(int(next(at)))
        elif step == "stop":
            return next(at)
        elif step == "fail":
            raise Refusal(int(next(at)), next(at))
        elif step == "wait":
            while listen().get("method") != "session/cancel":
                pass
            return "cancelled"
        elif step == "mcp":
            server = json.loads(next(m for m in heard if '"session/new"' in m))["params"]["mcpServers"][0]
            call = {"name": next(at), "arguments": json.loads(next(at))}
            r = subprocess.run([server["command"], *server["args"]], capture_output=True, text=True,
                               env={v["name"]: v["value"] for v in server["env"]},
                               input=json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}) + "\n")
            say(json.loads(r.stdout)["result"]["content"][0]["text"])
        elif step == "linger":
            lingers = True
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        else:
            raise SystemExit("no step " + step)
    return "end_turn"


def result(method, params):
    if method == "initialize":
        can = {"loadSession": opt.get("can") == "load"}
        if opt.get("can") == "resume":
            can["sessionCapabilities"] = {"resume": {}}
        return {"protocolVersion": int(opt.get("version", 1)), "agentCapabilities": can,
                "agentInfo": {"name": "stand-in", "version": "1.2"},
                "authMethods": [{"id": "cursor_login" if "login" in opt else "login", "name": "Log in with a browser"}]}
    if method == "authenticate" and params["methodId"] == "cursor_login":
        del opt["login"]
        return {}
    if method in ("session/new", "session/resume", "session/load"):
        if method == "session/load":
            say("an old answer")
            late.append("an older answer")
        models = {"currentModelId": "small", "availableModels": [{"modelId": "small"}, {"modelId": "big"}]}
        return {"sessionId": "s-1", **({"models": models} if "models" in opt else {})}
    if method == "session/set_model":
        return {} if params["modelId"] == "big" else None
    if method == "session/prompt":
        steps = args
        if "once" in opt and sum('"session/prompt"' in m for m in heard) > 1:
            steps = ["say", '```json\n{"verdict":{"outcome":"PASS"},"comment":"fine"}\n```']
        out = {"stopReason": turn(steps)}
        if "cost" in opt:
            update(sessionUpdate="usage_update", used=1, size=2,
                   cost={"amount": float(opt["cost"]), "currency": "USD"})
        if "usage" in opt:
            out["usage"] = json.loads(opt["usage"])
        if "quota" in opt:
            out["_meta"] = {"quota": {"token_count": {"input_tokens": 7, "output_tokens": 3}}}
        return out
    return None


while True:
    m = listen()
    if "method" not in m or "id" not in m or "mute" in opt:
        continue
    if m["method"] == "session/new" and ("auth" in opt or "login" in opt):
        send({"id": m["id"], "error": {"code": -32000, "message": "Authentication required"}})
        continue
    try:
        r = result(m["method"], m.get("params", {}))
    except Refusal as e:
        send({"id": m["id"], "error": {"code": e.args[0], "message": e.args[1]}})
        continue
    send({"id": m["id"], "result": r} if r is not None
         else {"id": m["id"], "error": {"code": -32602, "message": "no such thing"}})
    while late:
        say(late.pop())

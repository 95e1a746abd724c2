#!/usr/bin/env bats
# Handlers of the SDKs for JavaScript and Python that throw, never end, end the process, or pass what they must not: the phase
# fails with a reason that says what to do, and the log says where.
load ../lib/cli

message() {
    printf '{"version":1,"type":"phase","agent":"x","project_dir":"%s","signal_dir":"%s/.cliq/signals","handoff_dirs":["%s/.cliq/channels/a--b"],"settings":{"api_key":"sk-geheim-1"},"payload":{"phase":"a"}}' \
        "$PWD" "$PWD" "$PWD"
}
# tries CODE TEXT STATEMENTS: the last line has the text; a failure is in the log, too, with the line of the agent.
tries() {
    rm -rf .cliq/signals
    agent "$3" >"agent.$LANG_"
    code=0
    message | $RUN "agent.$LANG_" >out 2>err || code=$?
    out=$(tail -n 1 .cliq/signals/a.jsonl) err=$(<err)
    code_is "$1" && has "$out" "$2" || complain "of: $3" || return
    lacks "$out$err" geheim || return
    [ "$1" = 0 ] || has "$out" '"status":"error"'
}

js() {
    command -v node >/dev/null || skip "no node"
    LANG_=mjs RUN=node
    cliq sdk install js . >/dev/null
    mkdir .cliq
    agent() { printf '%s\n' "import { CliqAgent, build_phase_context, finalize_standard_phase } from '@cliqhub/cliq-sdk';" \
        "const handler = async (msg) => {" "const ctx = build_phase_context(msg);" "$1" "};" \
        "new CliqAgent({ name: 'x', handlers: { 'phase:standard': handler } }).run();"; }
}
py() {
    LANG_=py RUN=$PY
    cliq sdk install python . >/dev/null
    mkdir .cliq
    agent() { printf '%s\n' "import asyncio, os, sys" "from cliq_sdk import CliqAgent, build_phase_context, finalize_standard_phase" \
        "${ASYNC:-}def handler(msg):" "    ctx = build_phase_context(msg)" "    $1" \
        "CliqAgent(name='x', handlers={'phase:standard': handler}).run()"; }
}

@test "handlers in JavaScript that never end, end the process, or fail outside" {
    js
    tries 1 "awaits something that can never happen" 'await new Promise(() => {});'
    tries 1 "ended with exit code 0 before its handler did" 'process.exit(0);'
    tries 1 "ended with exit code 7 before its handler did" 'process.exit(7);'
    tries 0 '"status":"complete"' 'finalize_standard_phase(ctx, msg); process.exit(0);'
    tries 0 '"status":"complete"' 'setInterval(() => {}, 1000); console.log("x".repeat(100000));'
    is 100001 "$(wc -c <out)"
    tries 1 '"error":"late"' 'setTimeout(() => { throw new Error("late"); }, 1); await new Promise((r) => setTimeout(r, 60000));'
    has "$err" "agent.mjs:4:"
    tries 1 '"error":"unseen"' 'Promise.reject(new Error("unseen")); await new Promise((r) => setTimeout(r, 60000));'
}

@test "reasons of handlers in JavaScript" {
    js
    tries 1 "Cannot read properties of undefined (reading 'y')" 'msg.payload.x.y;'
    has "$err" "agent.mjs:4:"
    lacks "$err" "cliq-sdk/"
    tries 1 "it threw undefined" 'throw undefined;'
    tries 1 'it threw {\"code\":7}' 'throw { code: 7 };'
    tries 1 "bad key ***" 'throw new Error("bad key sk-geheim-1");'
    has "$err" "bad key ***"
    tries 0 complete 'ctx.progress("key sk-geheim-1");'
    tries 1 "fetch failed: connect ECONNREFUSED 127.0.0.1:2" 'await fetch("http://127.0.0.1:2/");'
    tries 1 "BigInt" 'return 7n;'
    tries 1 "circular structure" 'const o = {}; o.o = o; return o;'
    tries 1 'larger than a line of a log may be' 'return "x".repeat(2000000);'
}

@test "arguments of a context in JavaScript" {
    js
    tries 1 "neither data nor text" 'ctx.send("b", 7);'
    tries 1 'cannot send to \"[object Object]\"' 'ctx.send({}, "x");'
    tries 1 "must be a text or bytes" 'ctx.write_file("f", { a: 1 });'
    tries 1 "must be a text or bytes" 'ctx.write_file("f");'
    tries 1 "the note of the task board: it must be a text" 'ctx.task_board.add_note("a");'
    tries 1 "the content of the task board: it must be a text" 'ctx.task_board.replace({});'
    tries 1 "has no receiver" 'ctx.register_notification("e");'
    tries 1 "there is no JSON for it" 'ctx.signal("s", () => {});'
    # a value is what JSON has for it, with secrets or without; bytes and a text that is a map are fine
    mkdir -p .cliq/channels/z--a
    echo '{"text":"from z"}' >.cliq/channels/z--a/handoff.json
    tries 0 complete 'ctx.send("b", { data: { at: new Date(0), all: ctx.input_text }, text: ctx.input_text }); ctx.write_file("f", ctx.input_text);'
    has "$(<.cliq/channels/a--b/handoff.json)" '"at": "1970-01-01T00:00:00.000Z"'
    has "$(<.cliq/channels/a--b/handoff.json)" '"all": "## z--a\n\nfrom z\n"'
    has "$(<.cliq/channels/a--b/handoff.json)" '"text": "## z--a\n\nfrom z\n"'
    has "$(<.cliq/files/a/f)" "from z"
    tries 0 complete 'ctx.send("b", ctx.input_text); ctx.write_file("f", new Uint8Array([65])); ctx.task_board.replace(ctx.input_text);'
    has "$(<.cliq/channels/a--b/handoff.json)" '"text": "## z--a\n\nfrom z\n"'
    is A "$(<.cliq/files/a/f)"
    mkdir .cliq/design
    echo text >.cliq/design/__proto__
    tries 0 '["__proto__"]' 'return Object.keys(ctx.design_docs);'
}

@test "agents in JavaScript that are made wrongly" {
    js
    got_from node --input-type=module -e "import { CliqAgent } from '@cliqhub/cliq-sdk'; new CliqAgent('x');"
    has "$err" "it takes { name, handlers }, and name must be a text"
    got_from node --input-type=module -e "import { CliqAgent } from '@cliqhub/cliq-sdk'; new CliqAgent({ name: 'x', handlers: { test: 7 } });"
    has "$err" "agent x: the handler for test is not a function"
    agent '' >agent.mjs
    got_from node agent.mjs <&-
    code_is 1
}

@test "handlers in Python that end the process, and their reasons" {
    py
    tries 1 "ended the process with exit code 0: it must return or raise" 'sys.exit(0)'
    tries 1 '"error":"too bad"' 'sys.exit("too bad")'
    tries 0 '"status":"complete"' 'finalize_standard_phase(ctx, msg); sys.exit(0)'
    tries 1 "\"KeyError: 'x'\"" 'return {}["x"]'
    has "$err" "agent.py:5: return {}[\"x\"]"
    tries 1 '"error":"KeyboardInterrupt"' 'raise KeyboardInterrupt'
    tries 1 '"error":"ValueError"' 'raise ValueError'
    tries 1 "bad key ***" 'raise ValueError("bad key sk-geheim-1")'
    has "$err" "bad key ***"
    tries 0 complete 'ctx.progress("key sk-geheim-1")'
    tries 1 "Object of type set is not JSON serializable" 'return {1, 2}'
    tries 1 "not JSON compliant" 'return float("nan")'
    tries 1 "recursion" 'o = {}; o["o"] = o; return o'
    ASYNC="async " tries 1 '"error":"later"' 'await asyncio.sleep(0); raise RuntimeError("later")'
    tries 0 complete 'print("x" * 100000)'
    is 100001 "$(wc -c <out)"
}

@test "arguments of a context in Python" {
    py
    tries 1 'it takes a text or {\"data\": ..., \"text\": ...}, not int' 'ctx.send("b", 7)'
    tries 1 "neither data nor text" 'ctx.send("b", {"txt": "x"})'
    tries 1 "must be a text, not dict" 'ctx.write_file("f", {"a": 1})'
    tries 1 "must be a text, not NoneType" 'ctx.write_file("f", None)'
    tries 1 "the note of the task board: it must be a text" 'ctx.task_board.add_note("a", None)'
    tries 1 "the content of the task board: it must be a text" 'ctx.task_board.replace(None)'
    tries 1 "the receiver of a notification" 'ctx.register_notification("e", None)'
    tries 1 "not JSON serializable" 'ctx.signal("s", lambda: 1)'
    tries 0 complete 'ctx.progress(None)'
    got_from "$PY" -c 'from cliq_sdk import CliqAgent; CliqAgent("x", {"test": 7})'
    has "$err" "agent x: the handler for test is not a function"
    got_from "$PY" -c 'from cliq_sdk import CliqAgent; CliqAgent(None)'
    has "$err" "name must be a text"
    agent pass >agent.py
    got_from "$PY" agent.py <&-
    code_is 1
    has "$err" "there is no message"
}

@test "dispatch in Python within a running event loop awaits an async handler" {
    py
    cat >loop.py <<'END2'
import asyncio, os
from cliq_sdk import CliqAgent, build_phase_context, make_message
async def work(msg):
    await asyncio.sleep(0)
    return build_phase_context(msg).phase
async def main():
    return CliqAgent("x", {"phase:standard": work}).dispatch(make_message(agent="x", project_dir=os.getcwd(), phase="a"))
assert asyncio.run(main()) == "a"
END2
    "$PY" loop.py
}

#!/usr/bin/env bats
# The SDKs for JavaScript and Python: the same messages leave the same files as with the SDKs for C and shell.
load ../lib/cli

# A directory with the SDKs installed beside two agents.
agents() {
    command -v node >/dev/null || skip "no node"
    mkdir -p agents
    cliq sdk install js agents >/dev/null
    cliq sdk install python agents >/dev/null
    cp "$ROOT"/test/sdk/agent.mjs "$ROOT"/test/sdk/agent.py agents
    export CLIQ SDK_AGENT=$BIN/test/tools/sdk_agent AGENT_JS=$PWD/agents/agent.mjs AGENT_PY=$PWD/agents/agent.py
}

@test "agents in C, shell, JavaScript and Python leave the same files for the same messages" {
    agents
    "$PY" "$ROOT/test/sdk/conformance.py" conformance c sh js py
}

@test "the sources of both SDKs are well-formed, and load nothing but the standard library" {
    local f
    command -v node >/dev/null || skip "no node"
    for f in "$ROOT"/sdk-js/*.js "$ROOT"/sdk-js/src/*.js; do node --check "$f"; done
    for f in "$ROOT"/sdk-python/cliq_sdk/*.py; do "$PY" -c 'import sys; compile(open(sys.argv[1]).read(), sys.argv[1], "exec")' "$f"; done
    is "" "$(sed -n "s/^import .* from '\(.*\)';$/\1/p" "$ROOT"/sdk-js/*.js "$ROOT"/sdk-js/src/*.js | grep -v '^node:\|^\./\|^@cliqhub/cliq-sdk$' || true)"
}

@test "the SDK for JavaScript is one module with the exports of its sources" {
    command -v node >/dev/null || skip "no node"
    cat >same.mjs <<'END'
import assert from 'node:assert';
const [whole, parts, types] = await Promise.all(process.argv.slice(2).map((file) => import(file)));
assert.deepEqual(Object.keys(whole), Object.keys(parts));
assert.equal(types.CliqClient, whole.CliqClient); // of @cliqhub/cliq-sdk/client, in node
END
    cliq sdk install js . >/dev/null
    node same.mjs "$PWD/node_modules/@cliqhub/cliq-sdk/index.js" "$ROOT/sdk-js/src/index.js" @cliqhub/cliq-sdk/client
    is "node:fs node:module node:path" "$(sed -n "s/^import .* from '\(.*\)';$/\1/p" node_modules/@cliqhub/cliq-sdk/index.js | sort | paste -sd' ')"
    # every class and function of the declarations is there to import
    sed -n 's/^export declare \(class\|function\|const\) \([A-Za-z_]*\).*/\2/p' "$ROOT"/sdk-js/{index,client}.d.ts | sort -u >declared
    node -e "import('@cliqhub/cliq-sdk').then((sdk) => console.log(Object.keys(sdk).join('\n')))" | sort >there
    is "" "$(comm -23 declared there)"
}

@test "the SDK for Python says which Python it needs" {
    cliq sdk install python . >/dev/null
    got_from "$PY" -c 'import sys; sys.version_info = (3, 6, 8); import cliq_sdk'
    has "$err" "ImportError: cliq_sdk needs Python 3.9 or newer, and this is 3.6"
}

@test "the SDK for Python passes mypy --strict" {
    command -v mypy >/dev/null || skip "no mypy"
    got_from mypy --strict --cache-dir "$T/cache" --exclude starter.py "$ROOT/sdk-python/cliq_sdk"
    is "" "$err"
    has "$out" "Success: no issues found"
}

@test "input_text is a map by channel, a text, and false without handoffs" {
    agents
    cat >text.mjs <<'END'
import assert from 'node:assert';
import { build_phase_context, make_message } from '@cliqhub/cliq-sdk';
import fs from 'node:fs';
const project_dir = `${process.cwd()}/p`;
fs.mkdirSync(`${project_dir}/.cliq/channels/a--b`, { recursive: true });
const msg = () => make_message({ agent: 'x', project_dir, phase: 'b' });
let ctx = build_phase_context(msg());
assert.equal(ctx.input_text || 'nothing', 'nothing');
assert.equal(ctx.input_text['a--b'], undefined);
fs.writeFileSync(`${project_dir}/.cliq/channels/a--b/handoff.json`, '{"text":"T","data":{"n":1}}');
ctx = build_phase_context(msg());
const whole = '## a--b\n\n```json\n{\n  "n": 1\n}\n```\n\nT\n';
assert.equal(`${ctx.input_text}`, whole);
assert.equal('' + ctx.input_text, whole);
assert.equal(JSON.stringify({ content: ctx.input_text }), JSON.stringify({ content: whole }));
assert.equal(ctx.input_text['a--b'], whole.slice('## a--b\n\n'.length));
assert.deepEqual(Object.keys(ctx.input_text), ['a--b']);
assert.ok(ctx.input_text && ctx.input_text.includes('"n": 1') && ctx.input_text.length === whole.length);
assert.equal(ctx.inputs, ctx.input_text);
assert.deepEqual(ctx.input_envelopes['a--b'], { version: 1, phase_type: 'standard', phase: 'a', agent: '', data: { n: 1 }, text: 'T' });
END
    mv agents/node_modules .
    node text.mjs
    cat >text.py <<'END'
import json, os
from cliq_sdk import build_phase_context, make_message
at = os.getcwd() + "/p"
def context(): return build_phase_context(make_message(agent="x", project_dir=at, phase="b"))
os.rename(at + "/.cliq/channels/a--b", at + "/away")
assert (context().input_text or "nothing") == "nothing"
os.rename(at + "/away", at + "/.cliq/channels/a--b")
ctx = context()
whole = '## a--b\n\n```json\n{\n  "n": 1\n}\n```\n\nT\n'
assert f"{ctx.input_text}" == whole and json.dumps(ctx.input_text) == json.dumps(whole)
assert ctx.input_text["a--b"] == whole[len("## a--b\n\n"):] and list(ctx.input_text.channels) == ["a--b"]
assert ctx.input_text[:4] == "## a" and ctx.input_text.get("c--b") == ""
END
    PYTHONPATH=agents "$PY" text.py
}

# dispatch WHAT: the same unit test of an agent in both languages.
@test "dispatch returns what the handler returned, and rejects with its error after the error line" {
    agents
    mv agents/node_modules .
    cat >dispatch.mjs <<'END'
import assert from 'node:assert';
import fs from 'node:fs';
import { CliqAgent, build_phase_context, finalize_gate_phase, make_message } from '@cliqhub/cliq-sdk';
const project_dir = `${process.cwd()}/p`;
fs.mkdirSync(`${project_dir}/.cliq`, { recursive: true });
const last = (name) => JSON.parse(fs.readFileSync(`${project_dir}/.cliq/signals/${name}.jsonl`, 'utf8').trim().split('\n').at(-1));
const msg = make_message({ agent: 'x', project_dir, phase: 'b', targets: ['c'] });
const agent = new CliqAgent({ name: 'x', handlers: {
  'phase:standard': (m) => { build_phase_context(m, 'x').task_board.replace('# B\n'); return { n: 1 }; },
  'phase:gate': async () => ({ verdict: { outcome: 'ROUTE', target: 'nobody' }, comment: 'x' }),
  test: async () => ({ passed: false, message: 'no network' }),
} });
assert.deepEqual(await agent.dispatch(msg), { n: 1 });
assert.deepEqual(last('b').result, { n: 1 });
assert.equal(fs.readFileSync(`${project_dir}/.cliq/task_board.md`, 'utf8'), '# B\n'); // written although it was not finalized
assert.deepEqual(await agent.dispatch(msg), { n: 1 }); // once more
const gate = make_message({ agent: 'x', project_dir, phase: 'g', phase_type: 'gate', payload: { route_targets: ['b'] } });
await assert.rejects(agent.dispatch(gate), /gate g cannot route to "nobody": its route targets are b/);
assert.equal(last('g').status, 'error');
const test = make_message({ agent: 'x', project_dir, type: 'test', payload: { id: '1' } });
assert.equal((await agent.dispatch(test)).passed, false);
assert.deepEqual(last('_test-x-1').result, { passed: false, message: 'no network' });
await assert.rejects(agent.dispatch({ ...msg, version: 2 }), /version is not 1/);
assert.throws(() => new CliqAgent({ name: '../x' }), /bad name of an agent/);
assert.throws(() => new CliqAgent({ name: 'x', handlers: { 'phase:stanard': () => {} } }), /the keys are phase:standard/);
const ctx = build_phase_context(gate);
assert.throws(() => finalize_gate_phase(ctx, { verdict: { outcome: 'MAYBE' }, comment: 'x' }, gate), /bad outcome "MAYBE"/);
END
    node dispatch.mjs
    rm -r p/.cliq/signals
    cat >dispatch.py <<'END'
import json, os
from cliq_sdk import CliqAgent, build_phase_context, make_message
at = os.getcwd() + "/p"
def last(name): return json.loads(open(at + "/.cliq/signals/" + name + ".jsonl").read().splitlines()[-1])
def refused(call, part):
    try: call()
    except ValueError as e: assert part in str(e), e
    else: raise AssertionError(part)
def work(m): build_phase_context(m, "x").task_board.replace("# P\n"); return {"n": 1}
async def judge(m): return {"verdict": {"outcome": "ROUTE", "target": "nobody"}, "comment": "x"}
async def check(m): return {"passed": False, "message": "no network"}
agent = CliqAgent(name="x", handlers={"phase:standard": work, "phase:gate": judge, "test": check})
msg = make_message(agent="x", project_dir=at, phase="b", targets=["c"])
assert agent.dispatch(msg) == {"n": 1} == last("b")["result"] == agent.dispatch(msg)
assert open(at + "/.cliq/task_board.md").read() == "# P\n"
gate = make_message(agent="x", project_dir=at, phase="g", phase_type="gate", payload={"route_targets": ["b"]})
refused(lambda: agent.dispatch(gate), 'gate g cannot route to "nobody": its route targets are b')
assert last("g")["status"] == "error"
test = make_message(agent="x", project_dir=at, type="test", payload={"id": "1"})
assert agent.dispatch(test)["passed"] is False and last("_test-x-1")["result"] == {"passed": False, "message": "no network"}
refused(lambda: agent.dispatch({**msg, "version": 2}), "version is not 1")
refused(lambda: CliqAgent("../x"), "bad name of an agent")
refused(lambda: CliqAgent("x", {"phase:stanard": work}), "the keys are phase:standard")
END
    PYTHONPATH=agents "$PY" dispatch.py
}

@test "boards that several agents write at once keep every mark" {
    agents
    mv agents/node_modules .
    mkdir -p p/.cliq
    for i in $(seq 12); do echo "- [ ] phase-$i"; done >p/.cliq/task_board.md
    cat >mark.mjs <<'END'
import { build_phase_context, finalize_standard_phase, make_message } from '@cliqhub/cliq-sdk';
const ctx = build_phase_context(make_message({ agent: 'x', project_dir: `${process.cwd()}/p`, phase: process.argv[2] }));
ctx.task_board.mark_complete(ctx.phase);
finalize_standard_phase(ctx);
END
    cat >mark.py <<'END'
import os, sys
from cliq_sdk import build_phase_context, finalize_standard_phase, make_message
ctx = build_phase_context(make_message(agent="x", project_dir=os.getcwd() + "/p", phase=sys.argv[1]))
ctx.task_board.mark_complete(ctx.phase)
finalize_standard_phase(ctx)
END
    for i in $(seq 1 2 12); do
        node mark.mjs "phase-$i" 3>&- &
        PYTHONPATH=agents "$PY" mark.py "phase-$((i + 1))" 3>&- &
    done
    wait
    is 12 "$(grep -c -- '- \[x\]' p/.cliq/task_board.md)"
}

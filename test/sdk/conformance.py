"""conformance - one table of messages; the agents in C, shell, JavaScript and Python must leave the same files.

    conformance.py WORK LANGUAGE... [--only TEXT]

Each case has the steps of payload.script, and what the message and the project look like. Every language has a project
of its own, made anew for each case. Compared are the bytes of every file but for time stamps and the project's path, the
modes, and the exit code. The others are compared with the first language.

The environment says what to run: CLIQ (the program), SDK_AGENT (test/tools/sdk_agent), AGENT_JS and AGENT_PY (copies of
agent.mjs and agent.py with the SDK installed beside them).
"""
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys

WORK = os.path.abspath(sys.argv[1])
AT = "/AT/THE/PROJECT"  # stands for the project in messages and results
STATE = AT + "/.cliq"
LONG = "x" * 70000
HOSTILE = "quote \" back \\ tab \t bell \x07 del \x7f é 🌍 \u2028 <b> $(id) `id` ' \r\n two"
SECRET = "sk-verysecret-1234"

BOARD = "# Task Board\n\n- [ ] work\n  - older note\n- [ ] review: later\n- [x] done"
ENVELOPE = {"version": 1, "phase_type": "standard", "phase": "plan", "agent": "exec",
            "data": {"list": [1, 2.5, {}, []], "deep": {"é": "\x7f\n"}, "none": None}, "text": "Findings.\nTwo."}
FILES = {"req_spec.md": "Analyze é.\n", "roles/work.md": "You work on $(inputs.env) for $(handoff.plan.list[1]).",
         "inputs.json": '{"env": "staging"}', "task_board.md": BOARD, "design/a.md": "A",
         "channels/plan--work/handoff.json": json.dumps(ENVELOPE),
         "channels/extra--work/handoff.json": '{"text": "no head"}',
         "channels/plan--other/handoff.json": '{"text": "not ours"}', "channels/empty--work/instructions.md": "x"}

# name: {script, code, files (None removes one), and members of the message or (payload=) of its payload}
CASES = {
    # ---- a phase ----
    "an empty script completes": dict(script=[]),
    "text goes to a target": dict(script=[["send", "review", None, "All tests pass."], ["finalize"]]),
    "data and text go to a target": dict(script=[["send", "deploy", {"n": 3, "coverage": 94.25, "ok": True, "x": None, "l": [], "o": {}},
                                                  HOSTILE]]),
    "data alone goes to a target": dict(script=[["send", "review", {"n": 3}, None]]),
    "the last send counts": dict(script=[["send", "review", None, "one"], ["send", "review", {"n": 2}, None]]),
    "everything an agent reads": dict(script=[["show", name.replace("--", "-"), name] for name in
                                              ("role", "req_spec", "input_text", "board", "plan--work", "extra--work")], shows=True),
    "the role of the message wins": dict(script=[["show", "role", "role"]], payload={"role": "Given $(inputs.env)."}, shows=True),
    "nothing to read": dict(script=[["show", name, name] for name in ("role", "req_spec", "input_text", "board")],
                            files=dict.fromkeys(FILES), shows=True),
    "progress": dict(script=[["progress", "half"], ["progress", HOSTILE], ["progress", "é" + LONG]]),
    "files and directories": dict(script=[["write_file", "a.txt", "A\n"], ["write_file", "d/e/b.txt", HOSTILE], ["write_file", "a.txt", ""]]),
    "signals": dict(script=[["signal", "coverage", {"lines": 94.25, "l": [1, [], {}]}], ["signal", "n", 7], ["signal", "t", "x"]]),
    "notifications": dict(script=[["notify", "half", "slack:ops", {"a": HOSTILE}], ["notify", "half", "email", None],
                                  ["notify", "half", "slack:a:b", None]]),
    "the board": dict(script=[["mark", "work"], ["mark", "review"], ["mark", "done"], ["mark", "nobody"], ["unmark", "done"],
                              ["note", "work", "first\n- [ ] review\r\nthird \n"], ["note", "done", "at the end"], ["note", "nobody", "x"],
                              ["note", "work", " \n"], ["show", "board", "board"]], shows=True),
    "a board is replaced": dict(script=[["mark", "work"], ["replace", "# Mine\n- [ ] work"], ["note", "work", "n"], ["finalize"]]),
    "a board where none was": dict(script=[["replace", "# New\n"]], files={"task_board.md": None}),
    "an untouched board stays": dict(script=[["mark", "done"], ["mark", "nobody"]]),
    "a result": dict(script=[["result", {"summary": "3 of 3", "n": [1]}]]),
    "an attempt's id is in every line": dict(script=[["progress", "x"], ["notify", "e", "slack", None]], payload={"attempt_id": "run-1/work.2"}),
    "the directories above a channel are made": dict(script=[["send", "far", None, "x"]], handoff_dirs=[AT + "/new/dir/work--far/"]),
    "a state directory of its own": dict(script=[["write_file", "a", "b"]], payload={"state_dir": AT + "/frame"},
                                         files={"../frame/req_spec.md": "x"}),
    "signals in a directory below signals": dict(script=[["write_file", "a", "b"]], signal_dir=STATE + "/signals/deep/er"),
    "a torn line is ended first": dict(script=[], files={"signals/work.jsonl": '{"half'}),
    # ---- secrets ----
    "secrets of the settings": dict(
        settings={"api_key": SECRET, "nested": {"my-Token": "tok/\"quoted\"é1"}, "max_tokens": 1234567, "password": 987654321, "plain": "visible"},
        script=[["progress", "k %s%s, tok/\"quoted\"é1, visible 1234567" % (SECRET, SECRET)],
                ["send", "review", {SECRET: [SECRET, 987654321, 1234567], "x": "a" + SECRET + "b"}, "t " + SECRET],
                ["signal", "s", {"k": SECRET}], ["notify", "e", "slack", {"k": SECRET}], ["write_file", "f", SECRET],
                ["fail", "bad key " + SECRET]], code=1),
    "secrets of the environment": dict(env={"MY_API_KEY": SECRET, "MAX_TOKENS": "1234567", "A_TOKEN": "short"},
                                       script=[["progress", "%s 1234567 short" % SECRET]]),
    # ---- failures: partial work survives ----
    "a handler fails": dict(script=[["send", "review", None, "partial"], ["write_file", "f", "x"], ["fail", "broken: " + HOSTILE]], code=1),
    "a handler that fails leaves the board": dict(script=[["mark", "work"], ["fail", "x"]], code=1, without="sh"),
    "a long reason is cut": dict(script=[["fail", "é" + LONG]], code=1, without="c"),  # C has 1,023 bytes
    "no such target": dict(script=[["send", "nobody", None, "x"]], code=1),
    "no targets": dict(script=[["send", "review", None, "x"]], handoff_dirs=[], code=1),
    "nothing to send": dict(script=[["send", "review", None, None]], code=1, without="sh"),
    "a name of a signal is reserved": dict(script=[["signal", "routed", {}]], code=1),
    "a name of a signal is a path": dict(script=[["signal", "../x", {}]], code=1),
    "a name of a file goes up": dict(script=[["write_file", "../x", "y"]], code=1),
    "a name of a file goes up inside": dict(script=[["write_file", "a/../../x", "y"]], code=1),
    "a name of a file is absolute": dict(script=[["write_file", "/tmp/x", "y"]], code=1),
    "a name of a file is empty": dict(script=[["write_file", "", "y"]], code=1),
    "a name of a file ends in a slash": dict(script=[["write_file", "a/", "y"]], code=1),
    "a name of a file is too long": dict(script=[["write_file", "n" * 256, "y"]], code=1),
    "a receiver has no name": dict(script=[["notify", "e", ":ops", None]], code=1),
    "a receiver has no channel": dict(script=[["notify", "e", "slack:", None]], code=1),
    "a result is too large": dict(script=[["result", "y" * (1 << 20)]], code=1, without="sh"),
    "a verdict of no gate": dict(script=[["verdict", "PASS", None, "x"]], code=1),
    "links are not followed: files": dict(script=[["write_file", "f", "y"]], links={"files/work": "/tmp"}, code=1, loosely=True),
    "links are not followed: a channel": dict(script=[["send", "review", None, "y"]], links={"channels/work--review": "/tmp"}, code=1,
                                               loosely=True),
    "links are not followed: an input": dict(script=[], links={"channels/plan--work/handoff.json": "/etc/passwd"},
                                              files={"channels/plan--work/handoff.json": None}, code=1, loosely=True),
    "a role with a variable that is not there": dict(script=[], files={"roles/work.md": "$(inputs.nope)"}, code=1),
    "a role with a bad variable": dict(script=[], files={"roles/work.md": "a $(inputs.a b) c"}, code=1),
    "a handoff that is no envelope": dict(script=[], files={"channels/plan--work/handoff.json": "[]"}, code=1),
    "a handoff of another version": dict(script=[], files={"channels/plan--work/handoff.json": '{"version":2}'}, code=1),
    "a handoff that is no JSON": dict(script=[], files={"channels/plan--work/handoff.json": '{\n "a" nonsense'}, code=1, loosely=True),
    "inputs that are no object": dict(script=[], files={"inputs.json": "[]"}, code=1),
    # ---- a gate ----
    "a gate passes": dict(gate=True, script=[["verdict", "PASS", None, "fine", "ann", "2026-05-29T06:04:14Z"]]),
    "a gate passes to those that have no handoff": dict(gate=True, script=[["send", "review", None, "mine"], ["verdict", "PASS", "plan", "fine"]]),
    "a gate routes": dict(gate=True, script=[["mark", "work"], ["verdict", "ROUTE", "plan", HOSTILE]]),
    "a gate escalates": dict(gate=True, script=[["verdict", "ESCALATE", "plan", ""]]),
    "the first verdict counts": dict(gate=True, script=[["verdict", "PASS", None, "one"], ["verdict", "ROUTE", "plan", "two"]], without="sh"),
    "a gate cannot route there": dict(gate=True, script=[["verdict", "ROUTE", "nobody", "x"]], code=1),
    "a gate cannot route anywhere": dict(gate=True, script=[["verdict", "ROUTE", "plan", "x"]], payload={"route_targets": []}, code=1),
    "a gate has no verdict": dict(gate=True, script=[], code=1, without="sh"),
    "a gate is not finalized as a phase": dict(gate=True, script=[["finalize"]], code=1, without="sh"),
    "a gate of hostile route targets": dict(gate=True, script=[], payload={"route_targets": ["../x"]}, code=1),
    # ---- other messages ----
    "a notification": dict(type="notify", script=[["result", {"sent": 2}]], payload={"id": "7", "notifications": []}),
    "a notification without a result": dict(type="notify", script=[], payload={"id": "a/../b é!"}),
    "a notification fails": dict(type="notify", script=[["fail", "no network"]], code=1),
    "a test": dict(type="test", script=[], payload={"id": "9"}),
    "a test without an id": dict(type="test", script=[], payload={}),
    "a phase of a type without a handler": dict(script=[], payload={"phase_type": "team"}, code=1, without="sh"),
}

# Bad messages: the text on standard input, or a change of a good message. Nothing is written, exit code 1.
BAD = {
    "nothing": "", "blanks": " \n\t", "no JSON": "nonsense", "a list": "[]", "a text": '"x"', "null": "null", "cut off": '{"version":1',
    "deep": "[" * 5000, "version 2": dict(version=2), "version text": dict(version="1"), "version true": dict(version=True),
    "no version": dict(version=None), "no type": dict(type=None), "an odd type": dict(type="odd"), "a type that is a number": dict(type=1),
    "no agent": dict(agent=None), "a hostile agent": dict(agent="../x"), "an empty agent": dict(agent=""), "a dotted agent": dict(agent=".x"),
    "no signal_dir": dict(signal_dir=None), "a relative signal_dir": dict(signal_dir="signals"), "a NUL": dict(signal_dir="/tmp/\0x"),
    "a relative project_dir": dict(project_dir="x"), "handoff_dirs of another kind": dict(handoff_dirs="x"),
    "a relative handoff_dir": dict(handoff_dirs=["x"]), "settings of another kind": dict(settings=[]), "payload of another kind": dict(payload=[]),
    "artifacts of another kind": dict(input_artifacts={}), "no phase": dict(payload={}), "a phase that is a path": dict(payload={"phase": "../../x"}),
    "a phase in capitals": dict(payload={"phase": "Work"}), "a phase with dashes": dict(payload={"phase": "a--b"}),
    "a phase of 65 letters": dict(payload={"phase": "a" * 65}), "a phase that is a number": dict(payload={"phase": 1}),
    "a phase with a line end": dict(payload={"phase": "work\n"}), "an agent with a line end": dict(agent="a\n"),
    "an odd phase_type": dict(payload={"phase": "work", "phase_type": "odd"}),
    "a relative state_dir": dict(payload={"phase": "work", "state_dir": "x"}),
}


def lay_out(project, case):
    state = project + "/.cliq"
    shutil.rmtree(project, ignore_errors=True)
    for name in ("signals", "roles", "channels"):
        os.makedirs("%s/%s" % (state, name))
    for name, text in {**FILES, **case.get("files", {})}.items():
        if text is not None:
            path = os.path.normpath("%s/%s" % (state, name))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", newline="") as f:
                f.write(text)
    for name, to in case.get("links", {}).items():
        os.makedirs(os.path.dirname("%s/%s" % (state, name)), exist_ok=True)
        os.symlink(to, "%s/%s" % (state, name))


def message_of(case):
    payload = {"phase_type": "gate" if case.get("gate") else "standard", "phase": "work"}
    if case.get("gate"):
        payload.update(route_targets=["plan"], iteration=2, max_iterations=4,
                       check_results=[{"name": "unit é", "pass": False, "output": "x", "exit_code": 1}, {"name": "lint", "pass": True}])
    if case.get("type"):
        payload = {}
    msg = {"version": 1, "type": case.get("type", "phase"), "agent": "scripted", "instance_id": "cliq-1", "team_name": "@a/b",
           "req_key": "K-1", "project_dir": AT, "work_dir": AT, "signal_dir": STATE + "/signals",
           "handoff_dirs": ["%s/channels/work--%s" % (STATE, to) for to in ("review", "deploy", "plan")[:3 if case.get("gate") else 2]],
           "input_artifacts": [], "settings": {}, "payload": {**payload, **case.get("payload", {})}}
    for key in ("settings", "handoff_dirs", "signal_dir"):
        if key in case:
            msg[key] = case[key]
    msg["payload"]["script"] = case["script"]
    return msg


def shell_of(case):
    """The script as a shell agent: a step that is refused fails the phase with the reason of the command."""
    q = shlex.quote
    lines = ["set -u", 'eval "$(cliq sdk begin)"', "CLIQ_AGENT_SAID=$TMPDIR/said",
             'try() { "$@" 2>"$CLIQ_AGENT_SAID" || { cliq sdk fail "$(sed "1s/^cliq: //" "$CLIQ_AGENT_SAID")"; exit 1; }; }']
    is_ended = False
    for deed, *words in case["script"]:
        one, two, three = (words + [None] * 3)[:3]
        if deed == "progress":
            lines.append("try cliq sdk progress -- %s" % q(one))
        elif deed == "send":
            data = " --data " + q(json.dumps(two)) if two is not None else ""
            lines.append("try cliq sdk send --to %s%s%s" % (q(one), data, " -- " + q(three) if three is not None else ""))
        elif deed == "write_file":
            lines.append("printf %%s %s >\"$TMPDIR/content\"; try cliq sdk write-file -- %s \"$TMPDIR/content\"" % (q(two), q(one)))
        elif deed == "signal":
            lines.append("try cliq sdk signal -- %s %s" % (q(one), q(json.dumps(two))))
        elif deed == "notify":
            lines.append("try cliq sdk notify -- %s %s %s" % (q(one), q(two), q(json.dumps(three)) if three is not None else ""))
        elif deed in ("mark", "unmark"):
            lines.append("try cliq sdk board %s --phase %s" % (deed, q(one)))
        elif deed == "note":
            lines.append("try cliq sdk board note --phase %s -- %s" % (q(one), q(two)))
        elif deed == "replace":
            lines.append("try cliq sdk board replace -- %s" % q(one))
        elif deed == "show":
            field = {"board": "task_board"}.get(two, two if two in ("role", "req_spec", "input_text") else "input_text." + two)
            lines.append("cliq sdk get %s >\"$TMPDIR/content\"; try cliq sdk write-file %s \"$TMPDIR/content\"" % (q(field), q(one)))
        elif deed == "verdict":
            more = "".join(" --%s %s" % (k, q(v)) for k, v in zip(("target", "comment", "reviewer", "decided-at"), words[1:]) if v is not None)
            lines.append("try cliq sdk verdict %s%s" % (one, more))
            is_ended = True
        elif deed == "result":
            lines.append("try cliq sdk complete %s" % q(json.dumps(one)))
            is_ended = True
        elif deed == "fail":
            lines.append("cliq sdk fail -- %s; exit 1" % q(one))
    if not is_ended:
        lines.append("try cliq sdk complete")
    return "\n".join(lines)


def command_of(language, case):
    if language == "c":
        return [os.environ["SDK_AGENT"]]
    if language == "js":
        return ["node", os.environ["AGENT_JS"]]
    if language == "py":
        return [sys.executable, os.environ["AGENT_PY"]]
    with open(WORK + "/agent.sh", "w") as f:
        f.write(shell_of(case))
    return ["sh", WORK + "/agent.sh"]


def run(language, case, text):
    project, tmp = "%s/%s" % (WORK, language), "%s/tmp-%s" % (WORK, language)
    shutil.rmtree(tmp, ignore_errors=True)
    os.makedirs(tmp)
    lay_out(project, case)
    env = {"PATH": "%s:%s" % (os.path.dirname(os.environ["CLIQ"]), os.environ["PATH"]), "HOME": WORK, "TMPDIR": tmp, "LC_ALL": "C.UTF-8",
           "PYTHONDONTWRITEBYTECODE": "1", **case.get("env", {})}
    done = subprocess.run(command_of(language, case), input=text.replace(AT, project).encode(), cwd=project, env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    return done.returncode, done.stdout.decode(errors="replace"), left(project, case)


def left(project, case):
    """{path: (mode, bytes)} of the project, without time stamps."""
    found = {}
    for where, dirs, files in os.walk(project):
        for name in dirs + files:
            path = os.path.join(where, name)
            mode = os.lstat(path).st_mode
            content = open(path, "rb").read() if stat.S_ISREG(mode) else b""
            content = content.replace(project.encode(), AT.encode())
            content = re.sub(rb'"ts":"[0-9]{4}-[0-9-]{5}T[0-9:]{8}\.[0-9]{3}Z"', b'"ts":"T"', content)
            if case.get("loosely"):  # the reason is in other words
                content = re.sub(rb'"error":"[^"]*(handoff\.json:|symbolic link|)[^"]*"', rb'"error":"\1"', content)
            if case.get("shows"):  # a shell's own texts end in a newline
                content = content.rstrip(b"\n")
            found[os.path.relpath(path, project)] = (oct(mode), content)
    return found


def compare(name, first, language, want, got, said):
    for path in sorted(set(want) | set(got)):
        if want.get(path) != got.get(path):
            print("%s: %s: %s\n  %s:  %.1500s\n  %s: %.1500s\n  it said: %.500s"
                  % (name, language, path, first, want.get(path), language, got.get(path), said))
            return False
    return True


def run_all(languages, case, text):
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return dict(zip(languages, pool.map(lambda language: run(language, case, text), languages)))


def check_case(name, case, languages):
    is_good = True
    languages = [language for language in languages if language != case.get("without")]
    results = run_all(languages, case, json.dumps(message_of(case)))
    for language, (code, said, _) in results.items():
        if code != case.get("code", 0):
            print("%s: %s: exit code %d, not %d: %s" % (name, language, code, case.get("code", 0), said[:500]))
            is_good = False
    want = results[languages[0]][2]
    last = b"".join(v[1] for k, v in want.items() if k.endswith(".jsonl")).splitlines()[-1:]
    if not last or (b'"status":"error"' in last[0]) != bool(case.get("code")):
        print("%s: %s: the last line is %s" % (name, languages[0], last))
        is_good = False
    for language in languages[1:]:
        _, said, found = results[language]
        is_good = compare(name, languages[0], language, want, found, said) and is_good
    return is_good


def check_bad(name, bad, languages):
    text, is_good = bad, True
    if isinstance(bad, dict):
        text = json.dumps({k: v for k, v in {**message_of({"script": []}), **bad}.items() if v is not None})
    lay_out(WORK + "/untouched", {})
    before = left(WORK + "/untouched", {})
    for language, (code, said, found) in run_all(languages, {"script": []}, text).items():
        if code != 1 or found != before or not said.strip() or "Traceback" in said or "at file://" in said:
            print("a bad message, %s: %s: exit code %d: %s" % (name, language, code, said[:500]))
            is_good = False
    return is_good


def main():
    words = sys.argv[2:]
    only = words[words.index("--only") + 1] if "--only" in words else ""
    languages = words[:words.index("--only")] if only else words
    results = [check_case(name, case, languages) for name, case in CASES.items() if only in name]
    results += [check_bad(name, bad, languages) for name, bad in BAD.items() if only in "a bad message, " + name]
    print("%d of %d cases are the same in %s" % (sum(results), len(results), ", ".join(languages)))
    sys.exit(0 if all(results) and results else 1)


main()

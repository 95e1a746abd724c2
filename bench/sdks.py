"""sdks.py - what the SDKs for JavaScript and Python cost an agent beside an interpreter that does nothing; medians, in turns.

    sdks.py CLIQ        prints rows for bench/run

Ours is an agent as `cliq sdk install` makes one possible: it starts, imports the SDK, reads a message, writes the ok line,
calls an empty handler, writes the complete line, and ends. The peer is `node -e 0` or `python3 -c pass`, from start to end.
The notes have the processor time of both, which a busy machine changes less.
Python finds no compiled files, as in a run (cliq-protocol(7): PYTHONDONTWRITEBYTECODE); the last row has them.
"""
import json, os, shutil, statistics, subprocess, sys, time

cliq = sys.argv[1]
home, ROUNDS = os.getcwd(), int(os.environ.get("ROUNDS", 41))
python = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable  # without what a developer's has at its start
env = {"PATH": os.environ["PATH"], "HOME": home, "PYTHONDONTWRITEBYTECODE": "1"}
LINES = f"{home}/.cliq/signals/work.jsonl"

AGENTS = {
    "agent.js": "import { CliqAgent } from '@cliqhub/cliq-sdk';\nnew CliqAgent({ name: 'a', handlers: { 'phase:standard': () => {} } }).run();\n",
    "agent.py": "from cliq_sdk import CliqAgent\nCliqAgent('a', {'phase:standard': lambda msg: None}).run()\n",
    "package.json": '{"type":"module"}',
    "message": json.dumps({"version": 1, "type": "phase", "agent": "a", "project_dir": home, "signal_dir": f"{home}/.cliq/signals",
                           "handoff_dirs": [], "payload": {"phase": "work"}}),
}


def lay_out():
    os.makedirs(".cliq")
    for name, text in AGENTS.items():
        with open(name, "w") as f:
            f.write(text)
    for language in "js", "python":
        subprocess.run([cliq, "sdk", "install", language], check=True, stdout=subprocess.DEVNULL)


def took(argv):
    """Milliseconds from start to end, and of the processor."""
    with open("message") as f:
        start = time.monotonic()
        p = subprocess.Popen(argv, stdin=f, env=env)
        _, status, used = os.wait4(p.pid, 0)
        ms = (time.monotonic() - start) * 1000
    p.returncode = status  # it was waited for
    assert status == 0, argv
    return ms, (used.ru_utime + used.ru_stime) * 1000


def agent_took(argv):
    shutil.rmtree(".cliq/signals", ignore_errors=True)
    times = took(argv)
    with open(LINES) as f:
        assert [json.loads(line)["status"] for line in f] == ["ok", "complete"], argv
    return times


def row(work, ours, bare, reach):
    if not shutil.which(bare[0]):
        print(f"row\t{work}\t-\t-\t-\t<= +{reach} ms\tno {bare[0]}")
        return
    pairs = [(agent_took(ours), took(bare)) for _ in range(ROUNDS + 1)][1:]  # the first one warms up
    (a, cpu), (b, bare_cpu) = (map(statistics.median, zip(*times)) for times in zip(*pairs))
    more = statistics.median(x[0] - y[0] for x, y in pairs)
    print(f"row\t{work}\t{a:.1f} ms\t{b:.1f} ms\t{more:+.1f} ms\t<= +{reach} ms\t{'ok' if more <= reach else 'MISS'}")
    print(f"note\tprocessor time {cpu:.1f} ms beside {bare_cpu:.1f} ms: {cpu - bare_cpu:+.1f} ms", flush=True)


lay_out()
row("an agent in JavaScript", ["node", "agent.js"], ["node", "-e", "0"], 10)
row("an agent in Python", [python, "agent.py"], [python, "-c", "pass"], 15)
del env["PYTHONDONTWRITEBYTECODE"]
row("the same with compiled files", [python, "agent.py"], [python, "-c", "pass"], 15)

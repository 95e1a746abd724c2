"""agents.py - what a built-in agent costs beside the program that it drives; medians, in turns.

    agents.py CLIQ LEAST        prints rows for bench/run

The program is a stand-in named `claude`: a shell script that reads its prompt and prints the lines
of Claude Code's stream, so a round takes milliseconds and what differs is ours. LEAST (bench/least.c)
is a program that only appends a durable line: the bare start beside which an agent's `ok` line is
measured.
"""
import json, os, shutil, statistics, subprocess, sys, threading, time

cliq, least = sys.argv[1:3]
home = os.getcwd()
os.makedirs("bin")
env = {"PATH": f"{home}/bin:{os.environ['PATH']}", "HOME": home, "CLIQ_HOME": f"{home}/cliq", "ANTHROPIC_API_KEY": "sk-bench-0123456789"}
INIT = '{"type":"system","subtype":"init","session_id":"s1","model":"m"}'
FINAL = '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"duration_ms":1,"result":"done","session_id":"s1","usage":{"input_tokens":1,"output_tokens":1},"total_cost_usd":0}'


def program(body):
    """The stand-in; body prints what stands between the first and the last event."""
    with open("bin/claude.new", "w") as f:
        f.write(f"#!/bin/sh\ncat >/dev/null\nprintf '%s\\n' '{INIT}'\n{body}\nprintf '%s\\n' '{FINAL}'\n")
    os.chmod("bin/claude.new", 0o755)
    os.rename("bin/claude.new", "bin/claude")


def row(work, a, b, ratio, reach, is_ok):
    print(f"row\t{work}\t{a}\t{b}\t{ratio}\t{reach}\t{'ok' if is_ok else 'MISS'}", flush=True)


def project(name, n):
    """A project with a chain of n phases of claude-code, ready to run."""
    os.makedirs(f"{name}/team/roles")
    with open(f"{name}/team/roles/dev.md", "w") as f:
        f.write("You are the developer. Write what is asked, and say what you did.\n")
    with open(f"{name}/team/team.yml", "w") as f:
        f.write('name: "@local/bench"\ndescription: bench\nphases:\n')
        for i in range(n):
            after = f", depends_on: [p{i - 1}]" if i else ""
            f.write(f"  - {{ name: p{i}, agent: claude-code, role: dev{after} }}\n")
    for words in (["init"], ["assemble", "./team"], ["req", "-m", "bench"]):
        subprocess.run([cliq, *words], cwd=name, env=env, check=True, stdout=subprocess.DEVNULL)
    return name


# ---- start to the ok line ----


def until_line(path, argv, stdin):
    """From the start of argv until the file has a line."""
    with open(path, "w"):
        pass
    with open(stdin) as f:
        start = time.monotonic()
        p = subprocess.Popen(argv, stdin=f, stdout=subprocess.DEVNULL, env=env)
        fd = os.open(path, os.O_RDONLY)
        while not os.read(fd, 64):
            assert p.poll() in (None, 0), argv
        took = time.monotonic() - start
    os.close(fd)
    assert p.wait() == 0, argv
    return took


def start_to_ok():
    program("")
    w = f"{home}/start"
    project("start", 1)
    os.makedirs(f"{w}/.cliq/signals", exist_ok=True)
    with open("message", "w") as f:
        json.dump({"version": 1, "type": "phase", "agent": "claude-code", "team_name": "t", "instance_id": "i",
                   "project_dir": w, "work_dir": w, "signal_dir": f"{w}/.cliq/signals", "handoff_dirs": [],
                   "payload": {"phase": "p0", "phase_config": {"role": "dev"}}}, f)
    line, mine, theirs = f"{w}/.cliq/signals/p0.jsonl", [], []
    for _ in range(51):
        theirs.append(until_line(f"{w}/line", [least, f"{w}/line", "ok\n"], "message"))
        mine.append(until_line(line, [cliq, "agent", "claude-code"], "message"))
    with open(line) as f:
        assert json.loads(f.readline())["status"] == "ok"
    a, b = statistics.median(mine) * 1000, statistics.median(theirs) * 1000
    row("an agent's start to its ok line, p50", f"{a:.2f} ms", f"{b:.2f} ms", f"{a - b:+.2f} ms", "<= +5 ms", a - b <= 5)


# ---- a phase beside the program by hand ----


def phase_beside_hand(n=20):
    program("")
    name, prompt = project("chain", n), "p" * 4000
    mine, theirs = [], []
    for _ in range(7):
        start = time.monotonic()
        subprocess.run([cliq, "run", "--headless", "--force"], cwd=name, env=env, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        mine.append((time.monotonic() - start) / n)
        start = time.monotonic()
        for _ in range(n):
            subprocess.run(["claude", "-p"], input=prompt, text=True, cwd=name, env=env, check=True,
                           stdout=subprocess.DEVNULL)
        theirs.append((time.monotonic() - start) / n)
    a, b = statistics.median(mine) * 1000, statistics.median(theirs) * 1000
    row("a CLI phase beside the CLI by hand", f"{a:.1f} ms", f"{b:.1f} ms", f"{a - b:+.1f} ms", "<= +15 ms", a - b <= 15)


# ---- much output ----


def much_output():
    # A third each: lines that are no events, one line without an end, events with usage.
    program("""awk 'BEGIN {
    text = sprintf("%1100s", ""); gsub(/ /, "z", text)
    for (i = 0; i < 30000; i++)
        printf "{\\"type\\":\\"assistant\\",\\"message\\":{\\"id\\":\\"m%d\\",\\"content\\":[{\\"type\\":\\"text\\",\\"text\\":\\"%s\\"}],\\"usage\\":{\\"input_tokens\\":%d,\\"output_tokens\\":2}}}\\n", i, text, i + 1
}'
head -c 33000000 /dev/zero | tr '\\0' 'x' | fold -w 1000
echo
head -c 33000000 /dev/zero | tr '\\0' 'y'
echo
peak() { sed -n 's/VmHWM:[^0-9]*\\([0-9]*\\).*/\\1/p' "/proc/$1/status"; }
run=$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$PPID/status")
echo "$(peak $PPID) $(peak $run)" >"$HOME/peak\"""")
    name = project("much", 1)
    subprocess.run([cliq, "run", "--headless"], cwd=name, env=env, check=True, stdout=subprocess.DEVNULL)
    size = os.path.getsize(f"{name}/.cliq/run/logs/p0.1.raw")
    assert size > 100000000, size
    with open("peak") as f:
        agent, run = map(int, f.read().split())
    kb = max(agent, run)
    row("memory for 100 MB of an agent's output", f"{kb / 1024:.1f} MB", "-", "-", "<= 16 MB", kb <= 16384)
    print(f"note\tthe most of `cliq agent` ({agent / 1024:.1f} MB) and of `cliq run` ({run / 1024:.1f} MB)")


# ---- what it prints, seen ----


def seen(n=100):
    """From the moment at which the program prints a line until `cliq log PHASE -f` has printed it."""
    # The program prints the time and waits for a line of ours, so no two lines come at once.
    os.mkfifo("next")
    text = '{"type":"assistant","message":{"id":"m%d","content":[{"type":"text","text":"at %s"}]}}'
    program(f"""exec 3<"$HOME/next"
i=0
while [ $i -lt {n} ]; do
    read go <&3
    i=$((i + 1))
    printf '{text}\\n' $i "$(date +%s%N)"
done""")
    name = project("seen", 1)
    run = subprocess.Popen([cliq, "run", "--headless"], cwd=name, env=env, stdout=subprocess.DEVNULL)
    go = open("next", "w")  # the program is there
    log = subprocess.Popen([cliq, "log", "p0", "-f"], cwd=name, env=env, stdout=subprocess.PIPE, text=True)
    logged = []

    def read():
        for line in log.stdout:
            if line.startswith("at "):
                logged.append((time.time_ns() - int(line.split()[1])) / 1e6)
                if len(logged) < n:
                    send()

    def send():
        go.write("go\n")
        go.flush()

    reader = threading.Thread(target=read)
    reader.start()
    send()
    assert run.wait() == 0
    log.terminate()
    reader.join()
    assert len(logged) == n, len(logged)
    logged.sort()
    p99 = logged[int(n * 0.99)]
    row("a printed line to `cliq log -f`, p99", f"{p99:.1f} ms", "-", "-", "<= 50 ms", p99 <= 50)
    print(f"note\tmedian {statistics.median(logged):.1f} ms; the start of `date` in the program is part of it")


start_to_ok()
phase_beside_hand()
much_output()
seen()

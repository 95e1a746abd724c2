#!/usr/bin/env python3
"""history.py CLIQ PROJECT: kills `cliq run` at each system call with which it keeps the run before.

The project in PROJECT/.cliq has one ended run. In a copy of it, `cliq run` is killed with SIGKILL at
the n-th call that changes a directory, for every n until the new run has begun. After each kill the
old run must be listed exactly once, with all its files, either in .cliq/ or in .cliq/runs/; and the
next `cliq run` must keep it. Prints how many calls were killed.
"""
import json
import os
import shutil
import subprocess
import sys

CALLS = ("mkdirat", "linkat", "renameat", "unlinkat", "fsync")


def run_id(state):
    with open(f"{state}/run/journal.jsonl", encoding="utf-8") as f:
        return json.loads(f.readline())["run"]


def files(state):
    """What must not be lost: path -> content."""
    out = {}
    for top in ("run/logs", "run/prompts", "signals", "channels", "gates"):
        for base, _, names in os.walk(f"{state}/{top}"):
            for name in names:
                if top != "channels" or name == "handoff.json":
                    path = os.path.join(base, name)
                    with open(path, "rb") as f:
                        out[os.path.relpath(path, state)] = f.read()
    for path in ("run/journal.jsonl", "orchestrator.log"):
        with open(f"{state}/{path}", "rb") as f:
            out[path] = f.read()
    return out


def listed(cliq, project):
    done = subprocess.run([cliq, "runs", "--json"], cwd=project, capture_output=True, check=True)
    return json.loads(done.stdout)


def check(cliq, project, old, want, n):
    runs = [r for r in listed(cliq, project) if r["run"] == old]
    assert len(runs) == 1, f"{n}: the run is listed {len(runs)} times"
    assert runs[0]["status"] == "COMPLETED", f"{n}: {runs[0]}"
    state = f"{project}/.cliq" if runs[0]["is_present"] else f"{project}/.cliq/runs/{old}"
    got = files(state)
    for path, text in want.items():
        assert got.get(path) == text, f"{n}: {path} is lost (present: {runs[0]['is_present']})"


def kill_at(cliq, work, call, n):
    """Kills a run at its n-th `call`. False: the new run has begun before that."""
    old = run_id(f"{work}/.cliq")
    subprocess.run(
        ["strace", "-qq", "-o", "/dev/null", "-e", f"trace={call}",
         "-e", f"inject={call}:signal=SIGKILL:when={n}", cliq, "run", "--headless"],
        cwd=work, capture_output=True, check=False)
    journal = f"{work}/.cliq/run/journal.jsonl"
    return not (os.path.exists(journal) and os.path.getsize(journal) and run_id(f"{work}/.cliq") != old)


def main():
    cliq, project = sys.argv[1:]
    work = f"{project}.copy"
    old, want = run_id(f"{project}/.cliq"), files(f"{project}/.cliq")
    killed = 0
    for call in CALLS:
        for n in range(1, 1000):
            shutil.rmtree(work, ignore_errors=True)
            shutil.copytree(project, work, symlinks=True)
            if not kill_at(cliq, work, call, n):
                break
            killed += 1
            where = f"{call} {n}"
            check(cliq, work, old, want, where)
            subprocess.run([cliq, "run", "--headless"], cwd=work, capture_output=True, check=True)
            names = [r["run"] for r in listed(cliq, work)]
            assert names.count(old) == 1 and len(names) == 2, f"{where}: then {names}"
            check(cliq, work, old, want, where)
            left = [x for x in os.listdir(f"{work}/.cliq/runs") if x.startswith((".new", ".old"))]
            assert not left, f"{where}: {left} stay"
    print(killed)


main()

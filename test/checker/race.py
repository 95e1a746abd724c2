"""race - everybody wants the same tasks: each is claimed once, and none is left.

  race.py CLIQ DIR TASKS [HTTP] [PROCESSES]

HTTP clients (64) of a server and processes (32, each `cliq claim` and `cliq ack` on the files, again
and again) claim the next task and ack it until there is none; the clients, who are faster, begin when a
process has got one. Each keeps a list of what it got. Then
the log is read (logfile.py): every task has one claim and one ack, by the one who was told so; and the
server agrees that all are acked. Prints a line of JSON.
"""
import json, os, subprocess, sys, threading, time
from collections import Counter

import logfile
from check import cli, must
from client import Client
from server import Server
from storm import no_key


first = threading.Event()  # somebody has a task


class Claimer(threading.Thread):
    def __init__(self, who):
        super().__init__(name=who)
        self.got, self.why = [], None

    def run(self):
        try:
            while (task := self.claim()) is not None:
                self.got.append(task)
                first.set()
                self.ack(task)
        except Exception as why:
            self.why = f"{self.name}: {type(why).__name__}: {why}"


class HttpClaimer(Claimer):
    def __init__(self, who, url, key):
        super().__init__(who)
        self.client = Client(url, key)

    def ask(self, path, body):
        status, answer = self.client.ask("POST", path, body)
        assert status == 200, f"{path}: {status} {answer}"
        return answer["data"]

    def claim(self):
        task = self.ask("/claim", {})
        return task and (task["id"], task["claim_id"])

    def ack(self, task):
        self.ask("/ack", {"signal_id": task[0], "claim_id": task[1]})


class CliClaimer(Claimer):
    def __init__(self, who, cliq):
        super().__init__(who)
        self.cliq = cliq

    def call(self, *args):
        p = subprocess.run([self.cliq, *args, "--as", self.name], stdin=subprocess.DEVNULL, capture_output=True)
        assert p.returncode in (0, 4), f"{args}: exit code {p.returncode}: {p.stderr.decode()}"
        return p.stdout if p.returncode == 0 else None

    def claim(self):
        out = self.call("claim", "--json")
        task = out and json.loads(out)
        return task and (task["id"], task["claim_id"])

    def ack(self, task):
        assert self.call("ack", task[0]) is not None, f"{task[0]} was not there to be acked"


def judge(store, made, claimers):
    told = {}
    for c in claimers:
        for signal_id, claim_id in c.got:
            must(signal_id not in told, signal_id, "was given to", c.name, "and to", told.get(signal_id))
            told[signal_id] = (c.name, claim_id)
    must(set(told) == made, "claimed", len(told), "of", len(made))
    claims, acks = Counter(), Counter()
    for _, v in logfile.read(store)[0]:
        signal_id = "signal:" + v.get("signal", "")
        if v.get("op") == "claim":
            claims[signal_id] += 1
            who, claim_id = told[signal_id]
            must(v["by"] == who and v["claim"] == claim_id.removeprefix("claim:"), signal_id, "is", v["by"] + "'s by the log, and", who + "'s by what was told")
        elif v.get("op") == "ack":
            acks[signal_id] += 1
            must(v["by"] == told[signal_id][0], signal_id, "was acked by", v["by"])
        else:
            must(v.get("op") not in ("expire", "release", "fail"), "a", v.get("op"), "that nobody wanted")
    for what, count in (("claim", claims), ("ack", acks)):
        must(set(count) == made and set(count.values()) == {1}, "not every task has one", what)


def main(cliq, directory, tasks, http=64, processes=32):
    config, made, tasks, start = f"{directory}/config", set(), int(tasks), time.monotonic()
    os.makedirs(config, 0o700, exist_ok=True)
    os.environ["CLIQ_HOME"] = config
    with Server(cliq, config, directory) as server:
        key = server.key()
        admin = Client(server.url, key)
        keys = [admin.ask("POST", "/keys", {"identity": f"h{i}"})[1]["data"]["key"] for i in range(int(http))]
        for i in range(0, tasks, 1000):
            batch = [{"signal_type": "task", "content": str(n)} for n in range(i, min(i + 1000, tasks))]
            status, answer = admin.ask("POST", "/emit/batch", {"signals": batch})
            assert status == 200, answer
            data = answer["data"]
            made |= {s["id"] for s in (data["signals"] if isinstance(data, dict) else data)}
        must(len(made) == tasks, "made", len(made))
        began = time.monotonic()
        slow = [CliClaimer(f"p{i}", cliq) for i in range(int(processes))]
        claimers = slow + [HttpClaimer(f"h{i}", server.url, keys[i]) for i in range(int(http))]
        for c in claimers:
            if c not in slow:
                must(first.wait(60), "no process got a task")
            c.start()
        for c in claimers:
            c.join()
        raced, cpu = time.monotonic() - began, server.cpu_s()
        troubles = [c.why for c in claimers if c.why]
        assert not troubles, "; ".join(troubles[:5])
        judge(f"{config}/signals", made, claimers)
        admin.close()  # it has been idle for as long as the race took
        status, answer = admin.ask("GET", "/signals/list?type=task&delivery_state=pending,leased,failed,dead_letter")
        must(status == 200 and answer["data"] == [], "left over, says the server:", answer)
        must(cli(cliq, "hub", "check") == b"clean\n", "cliq hub check is not clean")
        server.end()
    no_key(directory, [key, *keys])
    by = {kind: sum(len(c.got) for c in claimers if isinstance(c, kind)) for kind in (HttpClaimer, CliClaimer)}
    must(all(by.values()), "one side got nothing:", by)
    print(json.dumps({"tasks": tasks, "by_http": by[HttpClaimer], "by_processes": by[CliClaimer], "race_s": round(raced, 1), "server_cpu_s": round(cpu, 1), "seconds": round(time.monotonic() - start, 1), "verdict": "good"}))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (AssertionError, logfile.Bad) as failed:
        sys.exit(f"race: {failed}")

"""due - a delayed signal and the end of a lease come due while the disk is full.

  due.py CLIQ DIR BALLAST     DIR/config is a small file system of its own, BALLAST a file in it

The server waits without burning the processor, and without anybody's help both happen soon after
there is room again: once each.
"""
import json, sys, time

import logfile
from ballast import fill
from client import Client
from server import Server
from storm import until

WATCHED_S = 1.0
MAY_BURN = 0.25  # of a processor, while there is nothing to do but to try again


def ops(store):
    lines = logfile.read(store)[0]
    return [v.get("op", v.get("type")) for _, v in lines]


def main(cliq, directory, ballast):
    config = f"{directory}/config"
    store = f"{config}/signals"
    with Server(cliq, config, directory) as server:
        c = Client(server.url, server.key())

        def ask(path, body):
            status, answer = c.ask("POST", path, body)
            assert status == 200, f"{path}: {status} {answer}"
            return answer

        ask("/emit", {"signal_type": "task", "content": "x"})
        ask("/claim", {"lease_seconds": 1})
        ask("/v1/engine/signals/delayed", {"type": "late", "deliverAt": int(time.time() * 1000) + 1000})
        full = fill(ballast)
        while c.ask("POST", "/emit", {"signal_type": "pulse", "content": "into the last block"})[0] == 200:
            pass
        due = time.monotonic() + 1.2
        until(lambda: time.monotonic() > due, "the time")
        cpu, start = server.cpu_s(), time.monotonic()
        until(lambda: time.monotonic() > start + WATCHED_S, "the time")
        burnt = (server.cpu_s() - cpu) / (time.monotonic() - start)
        assert ops(store).count("late") == ops(store).count("expire") == 0, "the disk was not full"
        full.free()
        start = time.monotonic()
        until(lambda: "late" in ops(store) and "expire" in ops(store), "what is due, with room on the disk")
        seconds = time.monotonic() - start
        assert burnt < MAY_BURN, f"with a full disk it burns {burnt:.2f} of a processor"
        assert seconds < 10, f"{seconds:.1f} s after there was room"
        ask("/emit", {"signal_type": "task", "content": "y"})
        assert ops(store).count("late") == ops(store).count("expire") == ops(store).count("deliver") == 1, ops(store)
        server.end()
    print(json.dumps({"burnt": round(burnt, 3), "back_after_s": round(seconds, 2), "verdict": "good"}))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (AssertionError, logfile.Bad) as failed:
        sys.exit(f"due: {failed}")

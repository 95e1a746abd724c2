"""storm - writers at work while things break; check.py judges what is left.

  storm.py CLIQ DIR [--http N] [--cli N] [--kills N] [--kill-cli N] [--rotate] [--cut]
                    [--full BALLAST CYCLES] [--seed N]

The store is DIR/config, the ledgers go to DIR/ledgers, what the server says beside them.
  --kills N      the server is killed N times, at random moments, and begun again
  --kill-cli N   commands are killed until N were
  --rotate       a rotate line is put into the log now and then, so that it gets segments
  --cut          each time the server is killed the power fails, too (power.py); without --cli
  --full F N     the disk is filled (the file F, in the store's own small file system) and freed, N times
Prints what check.py says, and how it went. Ends everything that it started.
"""
import argparse, fcntl, json, os, random, sys, threading, time

import check, load, logfile, power
from ballast import fill
from client import Client
from server import Server

BOUND_S = 60  # for anything that is waited for


def until(is_so, what):
    end = time.monotonic() + BOUND_S
    while not is_so():
        assert time.monotonic() < end, f"never came: {what}"
        time.sleep(0.005)


def kill_often(server, writers, n, rnd, store=None):
    """Each life has acknowledged something, and ends 0 to 150 ms later. The bytes that power cuts took."""
    lost = 0
    for _ in range(n):
        before = load.acks(writers)
        until(lambda: load.acks(writers) > before, "an acknowledgement")
        time.sleep(rnd.random() * 0.15)  # the moment is the point, not a wait
        server.kill()
        lost += power.cut(store, rnd) if store else 0
        server.begin()
    return lost


def rotate(store):
    """What a writer does whose log is long enough, up to the rename; the next writer does the rest.
    So a rotation is also one that a crash cut short."""
    path = os.path.join(store, "events.jsonl")
    while True:
        f = open(path, "r+b")
        fcntl.flock(f, fcntl.LOCK_EX)
        if os.fstat(f.fileno()).st_ino == os.stat(path).st_ino:
            break
        f.close()
    with f:
        number = next_number(f.read())
        if number:
            line = f'{{"op":"rotate","at":"2026-01-01T00:00:00Z","seq":{number}'.encode()
            f.write(line + b',"crc":"%08x"}\n' % logfile.crc32c(line))
    return number is not None


def next_number(data):
    """None: the end is what a killed writer left, or rotated already; the next writer sees to it."""
    *lines, tail = data.split(b"\n")
    try:
        last = json.loads(lines[-1])
        head = json.loads(lines[-last.get("nth", 1)])
    except (ValueError, IndexError):
        return None
    is_whole = head.get("of", 1) == last.get("nth", 1)
    return None if tail or not is_whole or last.get("op") == "rotate" else last["seq"] + 1


def rotate_often(store, must_stop, done):
    while not must_stop.wait(0.4):
        done[0] += rotate(store)


def fill_and_free(server, key, writers, ballast, cycles):
    """Full: everybody is refused, and what can be read is read. Free: it goes on, without a restart."""
    longest, reader = 0.0, Client(server.url, key)
    for cycle in range(cycles):
        acked = load.acks(writers)
        until(lambda: load.acks(writers) > acked + 5 * len(writers), "acknowledgements")
        full = fill(ballast)
        refused = load.refusals(writers)
        until(lambda: load.refusals(writers) > refused + 5 * len(writers), "refusals")
        status, answer = reader.ask("GET", "/signals/list?limit=5")
        assert status == 200 and len(answer["data"]) == 5, f"on a full disk nothing can be read: {status} {answer}"
        acked = load.acks(writers)
        full.free()
        start = time.monotonic()
        until(lambda: load.acks(writers) > acked + 2 * len(writers), "acknowledgements on a free disk")
        longest = max(longest, time.monotonic() - start)
    reader.close()
    return {"cycles": cycles, "back_after_s": round(longest, 3)}


def no_key(directory, keys):
    """No key in any file, but for the one that is made for it and the server's one word about it."""
    for where, _, names in os.walk(directory):
        for name in names:
            if name in ("admin.key", "serve.out"):
                continue
            data = open(os.path.join(where, name), "rb").read()
            for key in keys:
                assert key.removeprefix("cho_").encode() not in data, f"a key stands in {where}/{name}"


def main():
    o = argparse.ArgumentParser()
    o.add_argument("cliq"), o.add_argument("dir")
    o.add_argument("--http", type=int, default=0), o.add_argument("--cli", type=int, default=0)
    o.add_argument("--kills", type=int, default=0), o.add_argument("--kill-cli", type=int, default=0)
    o.add_argument("--rotate", action="store_true"), o.add_argument("--full", nargs=2)
    o.add_argument("--cut", action="store_true")
    o.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "big"))
    o = o.parse_args()
    rnd, config, ledgers, start = random.Random(o.seed), f"{o.dir}/config", f"{o.dir}/ledgers", time.monotonic()
    for d in (config, ledgers):
        os.makedirs(d, 0o700, exist_ok=True)
    os.environ["CLIQ_HOME"] = config
    print(f"seed {o.seed}", file=sys.stderr)
    with Server(o.cliq, config, o.dir) as server:
        key, facts = server.key(), {}
        writers = [load.HttpWriter(ledgers, f"http{i}", i % 4 != 3, "reader" if i % 8 == 1 else None, server.url, key) for i in range(o.http)]
        writers += [load.CliWriter(ledgers, f"cli{i}", i % 4 != 3, "reader" if i % 8 == 1 else None, o.cliq, o.kill_cli > 0, o.seed + i) for i in range(o.cli)]
        must_stop, rotated = threading.Event(), [0]
        rotator = threading.Thread(target=rotate_often, args=(f"{config}/signals", must_stop, rotated))
        load.begin(writers)
        if o.rotate:
            rotator.start()
        try:
            lost = kill_often(server, writers, o.kills, rnd, f"{config}/signals" if o.cut else None)
            facts |= {"lost_bytes": lost} if o.cut else {}
            if o.full:
                facts |= fill_and_free(server, key, writers, o.full[0], int(o.full[1]))
            if o.kill_cli:
                until(lambda: load.CliWriter.killed >= o.kill_cli, "killed commands")
        except BaseException:
            load.abandon(writers)
            raise
        finally:
            must_stop.set()
            if o.rotate:
                rotator.join()
        load.finish(writers)
        facts |= {"rotated": rotated[0]} if o.rotate else {}
        facts |= {"kills": o.kills, "slowest_start_ms": round(server.slowest_s * 1000)} if o.kills else {}
        facts |= {"cli_killed": load.CliWriter.killed, "cli_survived": load.CliWriter.survived} if o.kill_cli else {}
        seconds = round(time.monotonic() - start, 1)
        facts = {**check.main(config, ledgers, o.cliq, server.url), **facts}
        server.end()
    no_key(o.dir, [key])
    assert facts["refused"] == 0 or o.full, f"{facts['refused']} were refused, and no disk was full"
    print(json.dumps({**facts, "load_s": seconds, "seconds": round(time.monotonic() - start, 1), "seed": o.seed, "verdict": "good"}))


if __name__ == "__main__":
    try:
        main()
    except (AssertionError, logfile.Bad) as failed:
        sys.exit(f"storm: {failed}")

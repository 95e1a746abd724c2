"""streams - event streams under load; the server's memory is measured.

  streams.py CLIQ DIR many CLIENTS SIGNALS    all at once; each gets all, in order; then all hang up
                                              and come back with Last-Event-ID
  streams.py CLIQ DIR slow CLIENTS            they read nothing while 8 MB come for each; then one reads
                                              on, and one comes back with Last-Event-ID: without a gap
  streams.py CLIQ DIR slowloris CLIENTS       requests that never end; others are served meanwhile
  streams.py CLIQ DIR failing CLIENTS         every seventh read of the index fails (strace); who is told
                                              something is told all of it, in order

Prints a line of JSON. Exit code 77: it cannot be done here.
"""
import json, os, socket, subprocess, sys, time

import logfile
from client import Client
from server import Server
from sse import Stream, pump, raise_limit
from storm import no_key, until

PATH = "/signals/stream"
STREAM_MAX_KB = 1024  # what waits for a client that does not read, in a buffer that doubles
SLACK_KB = 8192  # the store's caches, the heap's holes


def emit(client, n, size=10):
    """n signals; the numbers they got."""
    status, answer = client.ask("POST", "/emit/batch", {"signals": [{"signal_type": "pulse", "content": "x" * size} for _ in range(n)]})
    assert status == 200, answer
    return [s["sequence"] for s in (answer["data"]["signals"] if isinstance(answer["data"], dict) else answer["data"])]


def many(server, key, clients, signals):
    c = Client(server.url, key)
    emit(c, 1)
    before, start = server.status("VmRSS"), time.monotonic()
    # By header, and, some of them, as a browser must: with the key in the query.
    streams = [Stream(server.url, PATH if i % 10 else f"{PATH}?token={key}", key if i % 10 else None) for i in range(clients)]
    pump(streams, lambda s: s.is_connected, 60)
    connected, each_kb = time.monotonic() - start, (server.status("VmRSS") - before) / clients
    wanted, start, cpu = [], time.monotonic(), server.cpu_s()
    for _ in range(signals):
        wanted += emit(c, 1)
    pump(streams, lambda s: len(s.ids) >= signals, 60)
    told, told_cpu = time.monotonic() - start, server.cpu_s() - cpu
    assert all(s.ids == wanted for s in streams), "a stream has gaps, repeats or another order"
    for s in streams:
        s.close()
    missed, start, cpu = emit(c, signals), time.monotonic(), server.cpu_s()
    streams = [Stream(server.url, PATH, key, last_id=wanted[-1]) for _ in range(clients)]
    pump(streams, lambda s: len(s.ids) >= signals, 60)
    assert all(s.ids == missed for s in streams), "what was missed came with gaps, repeats or in another order"
    back, back_cpu = time.monotonic() - start, server.cpu_s() - cpu
    for s in streams:
        s.close()
    assert each_kb < 64, f"{each_kb:.1f} kB a client"
    return {"clients": clients, "signals": signals, "connect_s": round(connected, 2), "told_s": round(told, 2), "told_cpu_s": round(told_cpu, 2), "back_s": round(back, 2), "back_cpu_s": round(back_cpu, 2), "kB_a_client": round(each_kb, 1)}


def slow(server, key, clients):
    c = Client(server.url, key)
    wanted, emitted = emit(c, 1), 0
    streams = [Stream(server.url, PATH, key, last_id=0, buffer_bytes=4096) for _ in range(clients)]
    quick = Stream(server.url, PATH, key, last_id=0)
    before = server.status("VmRSS")
    while emitted < 8 << 20:
        wanted += emit(c, 10, 20000)
        emitted += 10 * 20000
    pump([quick], lambda s: len(s.ids) == len(wanted), 60)
    assert quick.ids == wanted, "others suffer from slow ones"
    grown = server.status("VmRSS") - before
    assert grown < 2 * clients * STREAM_MAX_KB + SLACK_KB, f"{grown} kB for {clients} that read nothing"
    # One begins to read.
    pump(streams[:1], lambda s: len(s.ids) >= len(wanted), 60)
    assert streams[0].ids == wanted, "a gap behind the pause"
    # One gives up in the middle, and comes back.
    pump(streams[1:2], lambda s: len(s.ids) >= 5, 60)
    streams[1].close()
    again = Stream(server.url, PATH, key, last_id=streams[1].ids[-1])
    rest = len(wanted) - len(streams[1].ids)
    pump([again], lambda s: len(s.ids) >= rest, 60)
    assert streams[1].ids + again.ids == wanted, "a gap behind Last-Event-ID"
    # More small signals than are told at one go.
    wanted += emit(c, 1000) + emit(c, 1000)
    late, start = Stream(server.url, PATH, key, last_id=0), time.monotonic()
    pump([late], lambda s: len(s.ids) >= len(wanted), 60)
    replay = time.monotonic() - start
    assert late.ids == wanted, "a replay with gaps"
    assert replay < 10, f"a replay of {len(wanted)} signals took {replay:.1f} s"
    for s in streams + [quick, again, late]:
        s.close()
    return {"clients": clients, "kB_a_client": round(grown / clients), "replay_s": round(replay, 2)}


def slowloris(server, key, clients):
    c, before = Client(server.url, key), server.status("VmRSS")

    def ask():
        start = time.monotonic()
        emit(c, 1)
        return time.monotonic() - start

    calm = sorted(ask() for _ in range(100))[98]
    halves = []
    for i in range(clients):  # a head that never ends; a body of which a byte comes
        s = socket.create_connection(("127.0.0.1", server.port))
        s.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\nX-A: " + b"a" * 500 if i % 2 else f"POST /emit HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{{".encode())
        halves.append(s)
    start = time.monotonic()
    busy = sorted(ask() for _ in range(100))[98]
    grown, left = server.status("VmRSS") - before, list(halves)
    while left:
        assert time.monotonic() - start < 25, f"{len(left)} of {clients} that never end are still held"
        ask()
        for s in left[:]:
            s.setblocking(False)
            try:
                text = s.recv(4096)
            except BlockingIOError:
                continue
            except ConnectionResetError:
                text = b""
            assert not text or b" 408 " in text.split(b"\r\n", 1)[0], text[:100]
            left.remove(s)
    gone = time.monotonic() - start
    for s in halves:
        s.close()
    assert grown < clients * 64 + SLACK_KB, f"{grown} kB for {clients}"
    assert busy < max(10 * calm, 2), f"others wait {busy:.3f} s instead of {calm:.3f} s"
    return {"clients": clients, "p99_calm_ms": round(calm * 1000, 1), "p99_busy_ms": round(busy * 1000, 1), "gone_after_s": round(gone, 1), "kB_a_client": round(grown / clients, 1)}


def connected(server, key, n):
    """So many streams from the beginning; who asks in a bad moment asks again."""
    streams, end = [], time.monotonic() + 60
    while len(streams) < n:
        assert time.monotonic() < end, "no stream could be had"
        s = Stream(server.url, f"{PATH}?since=0", key)
        try:
            pump([s], lambda s: s.is_connected, 20)
            streams.append(s)
        except AssertionError:
            s.close()
    return streams


def failing(server, key, clients):
    c, refused, streams = Client(server.url, key), 0, connected(server, key, clients)
    for i in range(150):
        status, answer = c.ask("POST", "/emit", {"signal_type": "pulse", "content": str(i)})
        assert status in (200, 401, 503), answer
        refused += status != 200
    lines = logfile.signals(logfile.read(f"{server.config}/signals")[0])
    wanted = [seq for seq, _, v in lines if v["type"] == "pulse"]
    assert len(wanted) >= 150 - refused > 50, f"{len(wanted)} are there, {refused} were refused"
    streams += connected(server, key, clients)  # those were told as it came, these are told now
    pump(streams, lambda s: len(s.ids) >= len(wanted), 20)
    assert all(s.ids == wanted for s in streams), "a failed read has become a gap"
    for s in streams:
        s.close()
    return {"clients": clients, "signals": len(wanted), "refused": refused}


def tracer(directory):
    """Only once the server is under way: opening the store is another test's matter."""
    store = os.path.realpath(f"{directory}/config/signals")
    return ["strace", "-D", "-f", "-qq", "-o", f"{directory}/trace", "-P", f"{store}/index.db", "-P", f"{store}/index.db-wal",
            "-e", "trace=pread64", "-e", "inject=pread64:error=EIO:when=300+7"]


def main(cliq, directory, what, *numbers):
    if not raise_limit(int(numbers[0]) + 200):
        sys.exit(77)
    if what == "failing" and subprocess.run(["sh", "-c", "strace -qq -o /dev/null true"], capture_output=True).returncode:
        sys.exit(77)
    os.makedirs(f"{directory}/config", 0o700, exist_ok=True)
    start = time.monotonic()
    prefix = []
    if what == "failing":  # the store is there first
        with Server(cliq, f"{directory}/config", directory) as server:
            server.end()
        prefix = tracer(directory)
    with Server(cliq, f"{directory}/config", directory, prefix) as server:
        key = server.key()
        facts = globals()[what](server, key, *map(int, numbers))
        open_fds = lambda: len(os.listdir(f"/proc/{server.process.pid}/fd"))
        until(lambda: open_fds() < 40, "the end of closed connections")
        server.end()
    no_key(directory, [key])
    print(json.dumps({**facts, "seconds": round(time.monotonic() - start, 1), "verdict": "good"}))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except AssertionError as failed:
        sys.exit(f"streams: {failed}")

"""ledger - what one writer tried and what it was told, a file a writer.

    keyed | plain           the first line: does it try again with an idempotency key?
    try N                   before a signal with the content WRITER:N is sent
    ack N ID SEQUENCE MS    it was acknowledged (SEQUENCE "-": was not told)
    no N WHY                it was refused: 503, exit code 74

Each line is one write, made before the writer goes on: a ledger loses nothing when its writer is
killed. A try without an ack or a no is one of which nobody knows.
"""
import os, time


class Ledger:
    def __init__(self, directory, writer, is_keyed):
        self.fd = os.open(os.path.join(directory, writer), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_EXCL, 0o600)
        self.acks = self.refusals = 0
        self.put("keyed" if is_keyed else "plain")

    def put(self, line):
        os.write(self.fd, line.encode() + b"\n")

    def tries(self, n):
        self.put(f"try {n}")

    def acked(self, n, signal_id, sequence="-"):
        self.put(f"ack {n} {signal_id} {sequence} {time.time_ns() // 1000000}")
        self.acks += 1

    def refused(self, n, why):
        self.put(f"no {n} {why}")
        self.refusals += 1

    def close(self):
        os.close(self.fd)


class Told:
    """A ledger that is read: tried (numbers), acked (number -> (id, sequence or None))."""

    def __init__(self, path):
        self.writer, self.tried, self.acked, self.refused = os.path.basename(path), set(), {}, 0
        kind, *lines = open(path).read().splitlines()
        self.is_keyed = kind == "keyed"
        for line in lines:
            what, n, *rest = line.split(" ")
            if what == "try":
                self.tried.add(int(n))
            elif what == "ack":
                assert int(n) not in self.acked, f"{path}: {n} was acknowledged twice"
                self.acked[int(n)] = (rest[0], None if rest[1] == "-" else int(rest[1]))
            else:
                self.refused += 1


def read_all(directory):
    return [Told(os.path.join(directory, name)) for name in sorted(os.listdir(directory))]

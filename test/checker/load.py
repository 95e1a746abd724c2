"""load - writers that emit numbered signals and keep a ledger (ledger.py) of what they were told.

HttpWriter: one connection to a server, which may vanish and come back at any moment.
CliWriter: `cliq emit`, a process a signal; with `kills`, most of them are killed at some moment.

A keyed writer sends a signal until it is acknowledged, always with the same idempotency key, and
only then the next one. A plain writer sends each once, whatever becomes of it.
Some writers address their signals to the identity "reader", so that there is an inbox.
"""
import random, signal, subprocess, threading, time

from client import Client, Lost
from ledger import Ledger

BACK_WITHIN_S = 60  # a server that stays away for longer is a failure
PAUSE_S = 0.01  # before a connection that failed is tried again


class Writer(threading.Thread):
    def __init__(self, ledgers, name, is_keyed, reader):
        super().__init__(name=name)
        self.ledger, self.is_keyed, self.reader = Ledger(ledgers, name, is_keyed), is_keyed, reader
        self.must_stop, self.is_abandoned, self.why = threading.Event(), False, None

    def run(self):
        n = 0
        try:
            while not self.must_stop.is_set():
                n += 1
                self.ledger.tries(n)
                since = time.monotonic()
                while not self.send(n) and self.is_keyed and not self.is_abandoned:
                    assert time.monotonic() - since < BACK_WITHIN_S, f"{self.name}:{n}: not acknowledged for {BACK_WITHIN_S} s"
        except Exception as why:  # told by whoever waits for us
            self.why = f"{self.name}: {type(why).__name__}: {why}"
        self.ledger.close()


class HttpWriter(Writer):
    def __init__(self, ledgers, name, is_keyed, reader, url, key):
        super().__init__(ledgers, name, is_keyed, reader)
        self.client = Client(url, key)

    def send(self, n):
        body = {"signal_type": "pulse", "content": f"{self.name}:{n}"}
        if self.reader:
            body["to_identity"] = self.reader
        try:
            status, answer = self.client.ask("POST", "/emit", body, {"Idempotency-Key": f"{self.name}-{n}"} if self.is_keyed else {})
        except Lost:
            self.must_stop.wait(PAUSE_S)
            return False
        if status == 503:
            assert answer["error"]["code"] == "STORE_UNAVAILABLE" and answer["error"]["message"], answer
            self.ledger.refused(n, status)
            self.must_stop.wait(PAUSE_S)
            return False
        assert status == 200, f"{status}: {answer}"
        assert answer["data"]["content"] == body["content"], f"another signal came back: {answer}"
        self.ledger.acked(n, answer["data"]["id"], answer["data"]["sequence"])
        return True


class CliWriter(Writer):
    latest_s = 0.02  # of a kill; found on the way, so that some live to their end and some do not
    killed = survived = 0
    lock = threading.Lock()

    def __init__(self, ledgers, name, is_keyed, reader, cliq, kills, seed):
        super().__init__(ledgers, name, is_keyed, reader)
        self.cliq, self.kills, self.rnd = cliq, kills, random.Random(seed)

    def send(self, n):
        args = [self.cliq, "emit", "pulse", f"{self.name}:{n}", "--as", self.name]
        args += ["--dedup-key", f"{self.name}-{n}"] if self.is_keyed else []
        args += ["--to-identity", self.reader] if self.reader else []
        p = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if self.kills:
            try:
                p.wait(timeout=self.rnd.random() * CliWriter.latest_s)
            except subprocess.TimeoutExpired:
                p.send_signal(signal.SIGKILL)
        out, err = p.communicate()
        if self.kills:
            with CliWriter.lock:
                is_killed = p.returncode == -signal.SIGKILL
                CliWriter.killed += is_killed
                CliWriter.survived += not is_killed
                CliWriter.latest_s *= 1.05 if is_killed else 0.9
        if out.endswith(b"\n"):  # printed is printed, killed or not
            self.ledger.acked(n, out.decode().strip())
            return True
        if p.returncode == 74:
            self.ledger.refused(n, "exit-code-74")
            return False
        assert p.returncode == -signal.SIGKILL and self.kills, f"exit code {p.returncode}: {err.decode()}"
        return False


def begin(writers):
    for w in writers:
        w.start()


def finish(writers):
    """Lets every one end what it began. Their troubles are ours."""
    for w in writers:
        w.must_stop.set()
    for w in writers:
        w.join(BACK_WITHIN_S + 30)
    troubles = [w.why or f"{w.name} does not end" for w in writers if w.why or w.is_alive()]
    assert not troubles, "; ".join(troubles)


def abandon(writers):
    """All is lost: they end, come what may."""
    for w in writers:
        w.is_abandoned = True
        w.must_stop.set()
    for w in writers:
        w.join()


def acks(writers):
    return sum(w.ledger.acks for w in writers)


def refusals(writers):
    return sum(w.ledger.refusals for w in writers)

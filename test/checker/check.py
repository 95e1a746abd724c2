"""check - acknowledged = present, exactly once, in order; and the index says what the log says.

  check.py CONFIG LEDGERS CLIQ [URL]

Reads the ledgers of the writers (ledger.py) and the log with its segments (logfile.py) itself, and
shares no code with src/. Then it asks the commands, and the server at URL with the admin key, what
they know, deletes the index, and asks again. Prints a line of JSON; exit code 1 with the reason.
"""
import glob, json, os, subprocess, sys
from collections import defaultdict

import ledger, logfile
from client import Client

PAGE = 100


def must(is_so, *what):
    if not is_so:
        raise logfile.Bad(" ".join(str(w) for w in what))


def some(things):
    things = sorted(things)
    return f"{len(things)}: {things[:5]}"


# ---- the ledgers and the log ----


def check_log(told, signals):
    """Every promise that was made to a writer."""
    ids, found = set(), defaultdict(list)
    for seq, signal_id, v in signals:
        must(signal_id not in ids, "the id", signal_id, "stands there twice")
        ids.add(signal_id)
        if v["type"] == "pulse":
            writer, n = v["content"].rsplit(":", 1)
            found[writer].append((int(n), seq, signal_id))
    counts = {"acked": 0, "tried": 0, "refused": 0, "recovered": 0}
    for t in told:
        mine = found.pop(t.writer, [])
        where = {n: (seq, signal_id) for n, seq, signal_id in mine}
        must(len(where) == len(mine), t.writer, "has signals twice:", some(n for n, *_ in mine if [m for m, *_ in mine].count(n) > 1) if len(mine) < 5000 else "")
        must(set(where) <= t.tried, t.writer, "never sent", some(set(where) - t.tried))
        must(set(t.acked) <= set(where), t.writer, "was told of what is not there,", some(set(t.acked) - set(where)))
        for n, (signal_id, sequence) in t.acked.items():
            must(signal_id.removeprefix("signal:") == where[n][1], f"{t.writer}:{n} was acknowledged as {signal_id}, but is {where[n][1]}")
            must(sequence in (None, where[n][0]), f"{t.writer}:{n} was acknowledged with the number {sequence}, but has {where[n][0]}")
        must(mine == sorted(mine), t.writer, "is out of order")
        if t.is_keyed:
            must(t.tried == set(t.acked), t.writer, "never came through with", some(t.tried - set(t.acked)))
        counts["acked"] += len(t.acked)
        counts["tried"] += len(t.tried)
        counts["refused"] += t.refused
        counts["recovered"] += len(set(where) - set(t.acked))  # nobody was told, and it is there
    must(not found, "signals of nobody we know:", some(found))
    must(counts["acked"], "nothing was acknowledged")
    return counts


# ---- what the index says ----


def pages(client, path):
    after, found = "", []
    while after is not None:
        status, answer = client.ask("GET", f"{path}&limit={PAGE}{after and '&after=' + after}")
        must(status == 200, "GET", path, status, answer)
        found += answer["data"]
        after = answer["meta"]["cursor"]
    return found


def cli(cliq, *args):
    p = subprocess.run([cliq, *args], stdin=subprocess.DEVNULL, capture_output=True)
    must(p.returncode == 0, "cliq", *args, "ended with", p.returncode, p.stderr.decode(), p.stdout.decode()[:400])
    return p.stdout


def same(name, found, wanted):
    found = [(s["sequence"], s["id"].removeprefix("signal:"), s["content"]) for s in found]
    must(len(found) == len(set(found)), name, "shows signals twice")
    must(sorted(found) == wanted, name, "lacks", some(set(wanted) - set(found)), "and has too many,", some(set(found) - set(wanted)))


def check_index(cliq, url, key, signals, has_torn):
    """The commands, then the server: the list and an inbox. has_torn: a kill in the middle of a write left something."""
    pulses = [(seq, i, v["content"]) for seq, i, v in signals if v["type"] == "pulse"]
    letters = [(seq, i, v["content"]) for seq, i, v in signals if v["type"] == "pulse" and v.get("to_identity") == "reader"]
    same("cliq signal list", json.loads(cli(cliq, "signal", "list", "--type", "pulse", "--all", "--json")), pulses)
    same("cliq inbox", json.loads(cli(cliq, "inbox", "@reader", "--view", "history", "--all", "--json")), letters)
    if url:
        client = Client(url, key)
        same("/signals/list", pages(client, "/signals/list?type=pulse"), pulses)
        same("/inbox", pages(client, "/inbox/@reader?view=history"), letters)
        client.close()
    *told, verdict = cli(cliq, "hub", "check").decode().splitlines()
    must(verdict == "clean", "cliq hub check is not clean:", verdict)
    must(all(": note: " in t for t in told) and bool(told) == has_torn, "cliq hub check tells", told, "where", "something" if has_torn else "nothing", "was torn")


def main(config, ledgers, cliq, url=None):
    store = os.path.join(config, "signals")
    os.environ["CLIQ_HOME"] = config
    lines, notes = logfile.read(store)
    signals, has_torn = logfile.signals(lines), notes["fragments"] + notes["cut_groups"] > 0
    counts = check_log(ledger.read_all(ledgers), signals)
    key = open(os.path.join(config, "admin.key")).read().strip() if url else None
    check_index(cliq, url, key, signals, has_torn)
    for name in glob.glob(os.path.join(store, "index.db*")):
        os.unlink(name)
    check_index(cliq, url, key, signals, has_torn)
    for first, name in logfile.files(store):
        cli(cliq, "fsck", os.path.join(store, name))
    must(logfile.read(store)[0] == lines, "asking has changed the log")
    return {**counts, **notes}


if __name__ == "__main__":
    try:
        print(json.dumps({**main(*sys.argv[1:]), "verdict": "good"}))
    except logfile.Bad as why:
        sys.exit(f"check: {why}")

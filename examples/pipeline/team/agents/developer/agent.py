#!/usr/bin/env python3
"""The developer: writes what the plan says, and mends it when the reviewer sends it back.
No SDK: one JSON message on standard input, JSON lines into <signal_dir>/<phase>.jsonl, one
handoff.json in each outgoing channel."""
import datetime, fcntl, json, os, sys

msg = json.load(sys.stdin)
phase = msg["payload"]["phase"]
state = msg["payload"]["state_dir"]


def signal(status, **fields):
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
    line = {"ts": now.replace("+00:00", "Z"), "version": 1, "type": "phase", "status": status, **fields}
    with open(os.path.join(msg["signal_dir"], phase + ".jsonl"), "a") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        f.write(json.dumps(line) + "\n")
        f.flush()
        fcntl.flock(f, fcntl.LOCK_UN)


def handoff_from(channel):
    try:
        with open(os.path.join(state, "channels", channel, "handoff.json")) as f:
            return json.load(f)
    except FileNotFoundError:
        return None


signal("ok")
plan = handoff_from("architect--developer")["data"]
feedback = handoff_from("reviewer--developer")
operator = "+" if feedback else "-"  # the first version has a bug that the tests find
with open(os.path.join(msg["work_dir"], plan["file"]), "w") as f:
    f.write(f'{plan["function"]}() {{ echo $(($1 {operator} $2)); }}\n')
said = f'fixed after: {feedback["text"]}' if feedback else f'wrote {plan["file"]}: {plan["signature"]}'
signal("progress", message=said)

for channel in msg["handoff_dirs"]:
    envelope = {"version": 1, "phase_type": "standard", "phase": phase, "agent": msg["agent"],
                "data": {"files": [plan["file"]]}, "text": said}
    os.makedirs(channel, exist_ok=True)
    with open(os.path.join(channel, ".handoff.new"), "w") as f:
        json.dump(envelope, f)
    os.rename(os.path.join(channel, ".handoff.new"), os.path.join(channel, "handoff.json"))
signal("complete")

#!/usr/bin/env python3
# An agent in Python, without an SDK, only the protocol. It forwards its incoming handoffs.
# To try it, create .cliq/ and message.json as cliq-sdk(3) shows: python3 agent.py < message.json
import datetime
import fcntl
import glob
import json
import os
import sys
import tempfile


def say(message, status, /, **more):
    """Appends one line to <signal_dir>/<phase>.jsonl, with its lock held."""
    now = datetime.datetime.now(datetime.timezone.utc)
    line = {"ts": now.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (now.microsecond // 1000),
            "version": 1, "type": message["type"], "status": status, **more}
    path = os.path.join(message["signal_dir"], message["payload"]["phase"] + ".jsonl")
    with open(path, "a", encoding="utf-8") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        f.write(json.dumps(line, ensure_ascii=False) + "\n")


def hand_over(channel, message, text, data):
    """Writes handoff.json so that readers see the old or the new one, whole."""
    payload = message["payload"]
    envelope = {"version": 1, "phase_type": payload.get("phase_type", "standard"),
                "phase": payload["phase"], "agent": message["agent"], "data": data, "text": text}
    os.makedirs(channel, exist_ok=True)
    fd, name = tempfile.mkstemp(prefix=".handoff-", dir=channel)
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as f:
            json.dump(envelope, f, ensure_ascii=False, indent=2)
            f.flush()
            os.fsync(f.fileno())
        os.rename(name, os.path.join(channel, "handoff.json"))
    except BaseException:
        os.unlink(name)
        raise


def read_inputs(channels, phase):
    """{"researcher--analyst": envelope}: every channel that leads to this phase."""
    inputs = {}
    for path in sorted(glob.glob(os.path.join(glob.escape(channels), "*--" + phase, "handoff.json"))):
        with open(path, encoding="utf-8") as f:
            inputs[os.path.basename(os.path.dirname(path))] = json.load(f)
    return inputs


def standard(message, channels):
    inputs = read_inputs(channels, message["payload"]["phase"])
    say(message, "progress", message="read %d handoff(s)" % len(inputs))
    text = "\n\n".join(e["text"] for e in inputs.values() if e.get("text")) or "There was nothing to read."
    for channel in message.get("handoff_dirs", []):
        hand_over(channel, message, text, {"from": list(inputs)})


def gate(message, channels):
    payload = message["payload"]
    failed = [c["name"] for c in payload.get("check_results", []) if not c["pass"]]
    verdict = {"outcome": "PASS", "reason": "All checks pass."}
    if failed:
        verdict = {"outcome": "ROUTE", "target": payload["route_targets"][0],
                   "reason": "Checks failed: " + ", ".join(failed)}
    to = [os.path.join(channels, payload["phase"] + "--" + verdict["target"])] if failed else [
        d for d in message.get("handoff_dirs", [])
        if os.path.basename(d).split("--", 1)[-1] not in payload.get("route_targets", [])]
    for channel in to:
        hand_over(channel, message, verdict["reason"], {"verdict": verdict})
    return {"verdict": verdict}


def main():
    message = json.load(sys.stdin)
    if message.get("version") != 1 or message.get("type") != "phase":
        sys.exit("agent.py: this is not the message of a phase")
    say(message, "ok")
    try:
        state = message["payload"].get("state_dir") or os.path.join(message["project_dir"], ".cliq")
        handler = gate if message["payload"].get("phase_type") == "gate" else standard
        result = handler(message, os.path.join(state, "channels"))
        say(message, "complete", **({"result": result} if result else {}))
    except Exception as problem:
        say(message, "error", error=str(problem) or repr(problem))
        sys.exit("agent.py: %s" % problem)


main()

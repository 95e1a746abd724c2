"""Clients of the hub for test/scenario/sdk_client.bats: hub.py listen FILE | work N | calls | mistakes. CLIQ_URL and CLIQ_KEY say
where."""
import os
import signal as signals
import sys
import threading
import time

from cliq_sdk import CliqClient, CliqClientError

hub = CliqClient()


def listen(file):
    """Writes "SEQ ID" of each signal to the file."""
    with open(file, "w") as f:
        stream = hub.signals.stream()
        print("opened", flush=True)
        for signal in stream:
            f.write("%d %s\n" % (signal["sequence"], signal["id"].replace("signal:", "")))
            f.flush()


def work(n):
    """So many workers; prints each task's content; ends when it is told to."""
    lock = threading.Lock()

    def take(task):
        with lock:
            sys.stdout.write(task["content"] + "\n")
            sys.stdout.flush()
    told = threading.Event()
    signals.signal(signals.SIGTERM, lambda *_: told.set())
    worker = hub.work(take, concurrency=int(n), wait_seconds=5)
    told.wait()
    worker.stop()


def refused(call, **want):
    try:
        call()
    except CliqClientError as problem:
        for key, value in want.items():
            assert getattr(problem, key) == value, (problem, vars(problem))
        return problem
    raise AssertionError("not refused")


def calls():
    task = hub.emit("task", "one", urgency=0.9, tags=["t"])
    assert hub.emit("note", "x", dedup_key="k2")["id"] == hub.emit("note", "x", dedup_key="k2")["id"]
    assert len(hub.emit_batch([{"signal_type": "note"}, {"signal_type": "note"}])) == 2
    claimed = hub.claim(types=["task"])
    assert (claimed["id"], claimed["content"], claimed["task_status"]) == (task["id"], "one", "claimed")
    assert hub.claim(types=["task"], wait_seconds=0) is None
    assert refused(lambda: hub.claim(signal_id=task["id"]), status=409).code.startswith("SIGNAL_")
    assert hub.status(claimed, "in_progress")["task_status"] == "in_progress"
    hub.extend(claimed, 60)
    hub.release(claimed)
    hub.fail(hub.claim(signal_id=task["id"]), "no network", retry_in=0)
    again = hub.claim(wait_seconds=10)
    assert again["id"] == task["id"] and hub.ack(again)["delivery_state"] == "acked"
    reply = hub.emit("note", "reply", parent_id=task["id"])
    assert [s["content"] for s in hub.thread(reply)] == ["one", "reply"]
    assert hub.get(task)["delivery_state"] == "acked" and len(hub.history(task)) > 4
    page = hub.list(type=["note", "task"], limit=2)
    assert len(page) == 2 and len(hub.list(type=["note", "task"], limit=2, after=page.cursor)) == 2
    hub.emit("note", "for me", to_identity="admin")
    assert "for me" in [s["content"] for s in hub.inbox("@admin", type="note")]
    assert hub.signals.generate("build:web:done", {"ok": True})["type"] == "build:web:done"
    later = hub.signals.schedule("report:daily", int(time.time() * 1000) + 3600000, repeatKey="daily")
    assert later["type"] == "report:daily" and len(hub.signals.delayed()) == 1
    hub.signals.cancel(repeatKey="daily")
    assert hub.signals.delayed() == []
    seen, is_seen = [], threading.Event()

    def see(signal):
        seen.append(signal["payload"])
        is_seen.set()
    news = hub.signals.subscribe(see, pattern="build:*:done", since=0)
    assert is_seen.wait(20)
    news.close()
    assert seen[0] == {"ok": True} and news.failure is None
    refused(lambda: hub.signals.stream(pattern="a**"), status=400)

    def fails(signal):
        raise KeyError("mine")
    failing = hub.signals.subscribe(fails, since=0)
    try:
        failing.join(20)
    except KeyError:
        failing.close()
    else:
        raise AssertionError("its failure was lost")
    refused(lambda: CliqClient(key="cho_no").list(), status=401)
    refused(lambda: CliqClient(url="http://127.0.0.1:1", retry_s=0).list(), code="UNREACHABLE")
    refused(lambda: CliqClient(url="http://127.0.0.1:1").signals.stream(), code="UNREACHABLE")
    refused(lambda: CliqClient(url="localhost:3000"))


def raises(kind, part, call, *args, **named):
    try:
        call(*args, **named)
    except kind as problem:
        assert part in str(problem), problem
        return problem
    raise AssertionError("no error: " + part)


def mistakes():
    """What goes wrong in a newcomer's first program."""
    CliqClient(key=os.environ["CLIQ_KEY"] + "\n").list()  # read from a file
    assert "geheim" not in str(raises(CliqClientError, "characters", CliqClient, key="cho_geheim\nX: y"))
    raises(CliqClientError, "url must be set, or CLIQ_URL", CliqClient, url="")
    raises(TypeError, "emit takes the type", hub.emit, {"signal_type": "task"})
    raises(TypeError, "handler is not a function", hub.work, {"types": ["task"]})
    raises(ValueError, "concurrency must be 1 or more", hub.work, print, concurrency=0)
    raises(TypeError, "on_signal is not a function", hub.signals.subscribe, {})
    raises(TypeError, "not JSON serializable", hub.emit, "note", {1, 2})
    refused(lambda: hub.emit(""), status=400)

    # a handler that ends the program has failed; async handlers are awaited. Each task has a role of its own: one that failed
    # earlier is claimable again after a second
    done = threading.Event()
    for content, handler in ("fail", lambda task: sys.exit(0)), ("ack", None):
        async def work_async(task):
            done.set()

        def work_and_tell(task):
            done.set()
            handler(task)
        task = hub.emit("task", content, to_role=content)
        worker = hub.work(work_and_tell if handler else work_async, role=content)
        assert done.wait(20)
        worker.stop()
        assert any(step["op"] == content for step in hub.history(task)), hub.history(task)
        done.clear()

    # two subscriptions; each closes itself in its handler, at a payload that is nearly as large as a body may be
    content = "\u00e9" * 500000
    large = hub.emit("large.py", content)
    news = []

    def see(signal):
        assert signal["id"] == large["id"] and signal["content"] == content
        for one in news:
            one.close()
    is_ready = threading.Event()
    news += [hub.signals.subscribe(lambda signal: is_ready.wait(20) and see(signal), type="large.py", since=0) for _ in range(2)]
    is_ready.set()
    for one in news:
        one.join(20)
    refused(lambda: hub.emit("large", content * 2), status=413)


def unseen():
    """A failure that the program does not look at is printed."""
    def see(signal):
        raise KeyError("mine")
    hub.emit("note")
    news = hub.signals.subscribe(see, since=0)
    while news._thread.is_alive():
        news._thread.join(1)


{"listen": listen, "work": work, "calls": calls, "mistakes": mistakes, "unseen": unseen}[sys.argv[1]](*sys.argv[2:])

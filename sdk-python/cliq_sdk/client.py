"""client - CliqClient: the hub over HTTP (`cliq serve`).

    hub = CliqClient(url="http://127.0.0.1:3000", key=key)
    task = hub.emit("task", "Review PR #42", to_role="reviewer")
    worker = hub.work(review, role="reviewer")                  # claims, acks or fails; worker.stop()
    news = hub.signals.subscribe(on_signal, pattern="build:*:done")
    for signal in hub.signals.stream(ring="ops"): ...

Calls return the answer's data; an error of the server is a CliqClientError with its code and status. While the
server cannot be reached, a call is tried again for retry_s seconds. Calls that make something carry an
Idempotency-Key, so that a lost answer never makes two. A stream outlives restarts of the server: it goes on
behind the last signal that was taken, without a gap and without a repeat.

Handlers may be async functions. Threads may share a client: each has a connection of its own. A subscription and a
worker have threads. An error that ends one is printed, and join() raises it.
"""
from __future__ import annotations

import http.client
import json
import os
import socket
import threading
import time
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Union
from urllib.parse import quote, urlencode, urlsplit

from .awaited import awaited
from .json_text import to_json

Signal = Dict[str, Any]

RETRY_S = 10.0
PAUSE_S = 0.1  # before another try; doubled each time, to
PAUSE_MAX = 5.0
ANSWER_S = 30  # for an answer, besides wait_seconds
SILENCE_S = 45  # three times the server's keepalive: the connection is dead
LEASE_S = 300
WAIT_S = 30


class CliqClientError(Exception):
    """status: of HTTP; code: SIGNAL_NOT_CLAIMABLE ..., or UNREACHABLE."""

    def __init__(self, message: str, status: Optional[int] = None, code: Optional[str] = None,
                 request_id: Optional[str] = None, details: Any = None) -> None:
        super().__init__(message)
        self.status, self.code, self.request_id, self.details = status, code, request_id, details


class Page(List[Signal]):
    """The signals of a page; cursor is `after` of the next one, or None."""

    cursor: Optional[str] = None


def _is_passing(problem: BaseException) -> bool:
    """Is it worth another try? The server was not reached, or says that it cannot now."""
    if isinstance(problem, CliqClientError):
        return problem.status is None or problem.status >= 500 or problem.status == 429
    return isinstance(problem, (OSError, http.client.HTTPException))


def _unwrap(status: int, text: bytes, url: str) -> Dict[str, Any]:
    try:
        answer = json.loads(text)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise CliqClientError("%s responded %d, but not in the hub's format: is it a cliq server?" % (url, status), status)
    members: Dict[str, Any] = answer
    if status < 300 and members.get("ok") is not False:
        return members
    given = members.get("error")
    error: Dict[str, Any] = given if isinstance(given, dict) else {"message": given}
    raise CliqClientError(error.get("message") or "the server responded %d" % status, status, error.get("code"),
                          error.get("request_id"), error.get("details"))


def _claim_of(task: Union[Signal, str]) -> Dict[str, Any]:
    if isinstance(task, str):
        return {"signal_id": task}
    return {"signal_id": task["id"], **({"claim_id": task["claim_id"]} if task.get("claim_id") else {})}


def _query_of(args: Mapping[str, Any]) -> str:
    def text(value: Any) -> str:
        if isinstance(value, (list, tuple)):
            return ",".join(str(part) for part in value)
        return str(value).lower() if isinstance(value, bool) else str(value)
    given = {key: text(value) for key, value in args.items() if value is not None}
    return "?" + urlencode(given) if given else ""


class EventParser:
    """An event stream, as the HTML standard has it."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._type, self._id, self._has_id = "", "", False
        self._data: List[str] = []

    def feed(self, line: str) -> Optional[tuple[str, Optional[str], str]]:
        """A line without its end; (type, data, id) when it completes an event. Data is None of one without."""
        if not line:
            event = (self._type, "\n".join(self._data) if self._data else None, self._id)
            is_one = bool(self._data) or self._has_id
            self._begin()
            return event if is_one else None
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "event":
            self._type = value
        elif field == "data":
            self._data.append(value)
        elif field == "id" and "\0" not in value:
            self._id, self._has_id = value, True
        return None


def _interrupt(conn: Optional[http.client.HTTPConnection]) -> None:
    """Ends a wait of another thread on this connection."""
    sock = conn.sock if conn else None
    if sock:
        try:
            sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it is closed already


class Stream:
    """The signals of a stream as they come; an iterator, also over restarts of the server. sequence is the number
    of the last signal that was taken: `since` of a later stream."""

    def __init__(self, hub: CliqClient, filter: Mapping[str, Any], since: Optional[int],
                 on_reset: Optional[Callable[[Dict[str, Any]], Any]]) -> None:
        self._hub, self._path, self._on_reset = hub, "/signals/stream" + _query_of(filter), on_reset
        self.sequence = since
        self._given: Optional[int] = None  # was given out; it counts when the next one is asked for
        self._closed = threading.Event()
        self._conn: Optional[http.client.HTTPConnection] = None
        self._response: Optional[http.client.HTTPResponse] = None
        self._parser = EventParser()
        self._connect()  # the first time a failure is an error: the URL is probably wrong

    def close(self) -> None:
        self._closed.set()
        _interrupt(self._conn)

    def _connect(self) -> None:
        headers = {**self._hub.headers, "Accept": "text/event-stream"}
        if self.sequence is not None:
            headers["Last-Event-ID"] = str(self.sequence)
        self._conn = self._hub.connection(SILENCE_S)
        try:
            self._conn.request("GET", self._hub.prefix + self._path, headers=headers)
            self._response = self._conn.getresponse()
            if self._response.status != 200:
                _unwrap(self._response.status, self._response.read(), self._hub.url)
        except (OSError, http.client.HTTPException) as problem:
            raise self._hub.unreachable(problem) from None
        self._parser = EventParser()

    def _reconnect(self) -> None:
        pause = PAUSE_S
        while not self._closed.wait(pause):
            try:
                return self._connect()
            except CliqClientError as problem:
                if not _is_passing(problem):
                    raise
            pause = min(pause * 2, PAUSE_MAX)

    def _next_event(self) -> Optional[tuple[str, Optional[str], str]]:
        """None: the connection is lost."""
        assert self._response is not None
        while True:
            try:
                line = self._response.readline()
            except (OSError, http.client.HTTPException, ValueError, AttributeError):
                return None
            if not line.endswith(b"\n"):
                return None
            event = self._parser.feed(line.rstrip(b"\r\n").decode(errors="replace"))
            if event:
                return event

    def __iter__(self) -> Iterator[Signal]:
        return self

    def __next__(self) -> Signal:
        if self._given is not None:
            self.sequence, self._given = self._given, None
        while not self._closed.is_set():
            event = self._next_event()
            if event is None:
                if self._conn:
                    self._conn.close()
                self._reconnect()
                continue
            kind, data, number = event
            if not number.isdigit():
                continue
            sequence = int(number)
            if data is None:
                self.sequence = sequence if self.sequence is None else self.sequence  # where the stream begins
            elif self.sequence is None or sequence > self.sequence:
                signal: Dict[str, Any] = json.loads(data)
                if kind == "reset" and "id" not in signal:
                    if self._on_reset:
                        self._on_reset(signal)
                    self.sequence = sequence
                    continue
                self._given = sequence
                return signal
        if self._conn:
            self._conn.close()
        raise StopIteration


class Subscription:
    """A thread that gives each signal of a stream to on_signal. `failure` is why it ended, or None."""

    def __init__(self, stream: Stream, on_signal: Callable[[Signal], Any]) -> None:
        self._stream, self._on_signal = stream, on_signal
        self.failure: Optional[BaseException] = None
        self._thread = threading.Thread(target=self._run, name="cliq-subscription", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            for signal in self._stream:
                awaited(self._on_signal(signal))
        except BaseException as problem:
            self.failure = problem
            raise  # it is printed, with this thread's name

    @property
    def sequence(self) -> Optional[int]:
        return self._stream.sequence

    def close(self) -> None:
        self._stream.close()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def join(self, timeout: Optional[float] = None) -> None:
        """Waits until it ended; raises why, unless it was closed."""
        self._thread.join(timeout)
        if self.failure:
            raise self.failure


class Worker:
    """Threads that claim tasks as they come: the handler's return acks a task, its error fails it."""

    def __init__(self, hub: CliqClient, handler: Callable[[Signal], Any], want: Dict[str, Any], concurrency: int,
                 on_error: Optional[Callable[[BaseException], Any]]) -> None:
        self._hub, self._handler, self._on_error = hub, handler, on_error
        if not callable(handler):
            raise TypeError("CliqClient: work(handler, ...): handler is not a function")
        if concurrency < 1:
            raise ValueError("CliqClient: work: concurrency must be 1 or more, not %d" % concurrency)
        self._want = {"lease_seconds": LEASE_S, **want, "wait_seconds": max(1, want.get("wait_seconds", WAIT_S))}
        self._stopped = threading.Event()
        self._waiting: Dict[int, http.client.HTTPConnection] = {}
        self.failure: Optional[BaseException] = None
        self._threads = [threading.Thread(target=self._run, name="cliq-worker", daemon=True) for _ in range(concurrency)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Claims no more tasks; returns when those at work have ended."""
        self._stopped.set()
        for conn in list(self._waiting.values()):
            _interrupt(conn)
        self.join()

    def join(self, timeout: Optional[float] = None) -> None:
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(timeout)
        if self.failure and not self._stopped.is_set():
            raise self.failure

    def _tell(self, problem: BaseException) -> None:
        if self._on_error:
            self._on_error(problem)

    def _claim(self) -> Optional[Signal]:
        me = threading.get_ident()
        self._waiting[me] = self._hub.own_connection()
        try:
            if self._stopped.is_set():
                return None
            task: Optional[Signal] = self._hub.request("POST", "/claim", body=self._want, is_made=True,
                                                       stop=self._stopped)["data"]
            return task
        finally:
            del self._waiting[me]

    def _run(self) -> None:
        pause = PAUSE_S
        while not self._stopped.is_set():
            try:
                task = self._claim()
                pause = PAUSE_S
                if task:
                    self._do(task)
            except BaseException as problem:
                if not _is_passing(problem):
                    self.failure = problem
                    raise  # it is printed, with this thread's name
                if not self._stopped.is_set():
                    self._tell(problem)
                self._stopped.wait(pause)
                pause = min(pause * 2, PAUSE_MAX)

    def _renew(self, task: Signal, is_done: threading.Event) -> None:
        while not is_done.wait(self._want["lease_seconds"] / 3):
            try:
                self._hub.extend(task, self._want["lease_seconds"])
            except CliqClientError as problem:
                self._tell(problem)
                if not _is_passing(problem):
                    return

    def _do(self, task: Signal) -> None:
        """While the handler works, the lease is extended."""
        is_done, failure = threading.Event(), None
        renewal = threading.Thread(target=self._renew, args=(task, is_done), name="cliq-lease", daemon=True)
        renewal.start()
        try:
            awaited(self._handler(task))
        except BaseException as problem:  # sys.exit, too: the others work on
            failure = str(problem) or repr(problem)
        finally:
            is_done.set()
            renewal.join()
        try:
            if failure is None:
                self._hub.ack(task)
            else:
                self._hub.fail(task, failure)
        except CliqClientError as problem:
            self._tell(problem)  # the lease was lost: another worker has the task


class Signals:
    def __init__(self, hub: CliqClient) -> None:
        self._hub = hub

    def stream(self, since: Optional[int] = None, on_reset: Optional[Callable[[Dict[str, Any]], Any]] = None,
               **filter: Any) -> Stream:
        """An iterator over signals. filter: ring, type, pattern, min_urgency, tags, role, inbox."""
        return Stream(self._hub, filter, since, on_reset)

    def subscribe(self, on_signal: Callable[[Signal], Any], since: Optional[int] = None,
                  on_reset: Optional[Callable[[Dict[str, Any]], Any]] = None, **filter: Any) -> Subscription:
        """The same in a thread of its own, which calls on_signal."""
        if not callable(on_signal):
            raise TypeError("CliqClient: signals.subscribe(on_signal, ...): on_signal is not a function")
        return Subscription(self.stream(since, on_reset, **filter), on_signal)

    def generate(self, type: str, data: Any = None, **more: Any) -> Dict[str, Any]:
        """Broadcasts a signal to all subscribers."""
        body = {"type": type, **({} if data is None else {"data": data}), **more}
        signal: Dict[str, Any] = self._hub.request("POST", "/v1/engine/signals/generate", body=body, is_made=True)["signal"]
        return signal

    def schedule(self, type: str, deliverAt: Union[int, str], **more: Any) -> Dict[str, Any]:
        """The same later: deliverAt is milliseconds or an ISO time; data, repeatKey."""
        body = {"type": type, "deliverAt": deliverAt, **more}
        delayed: Dict[str, Any] = self._hub.request("POST", "/v1/engine/signals/delayed", body=body,
                                                    is_once="repeatKey" not in more)["delayed"]
        return delayed

    def delayed(self) -> List[Dict[str, Any]]:
        events: List[Dict[str, Any]] = self._hub.request("GET", "/v1/engine/signals/delayed")["events"]
        return events

    def cancel(self, **which: str) -> Dict[str, Any]:
        """Cancels what waits: id, repeatKey or type."""
        answer = self._hub.request("DELETE", "/v1/engine/signals/delayed", query=which)
        return {key: value for key, value in answer.items() if key != "ok"}


class CliqClient:
    def __init__(self, url: Optional[str] = None, key: Optional[str] = None, retry_s: float = RETRY_S) -> None:
        url = os.environ.get("CLIQ_URL", "") if url is None else url
        key = os.environ.get("CLIQ_KEY") if key is None else key
        at = urlsplit(url)
        if not url:
            raise CliqClientError("CliqClient: url must be set, or CLIQ_URL: http://HOST:PORT, as cliq serve prints it")
        if at.scheme not in ("http", "https") or not at.hostname:
            raise CliqClientError("CliqClient: url must be http://HOST:PORT or https://..., not \"%s\"" % url)
        secret = (key or "").strip()  # from a file it has a line end
        if not secret:
            raise CliqClientError("CliqClient: key must be set, or CLIQ_KEY: cliq key create --identity NAME makes one")
        if not all("!" <= c <= "~" for c in secret):
            raise CliqClientError("CliqClient: key has characters that no key has")
        self.url, self.prefix, self.retry_s = url.rstrip("/"), at.path.rstrip("/"), retry_s
        self.headers = {"Authorization": "Bearer " + secret}
        self.signals = Signals(self)
        self._host, self._port, self._is_tls = at.hostname, at.port, at.scheme == "https"
        self._own = threading.local()

    # ---- connections ----

    def connection(self, timeout: float) -> http.client.HTTPConnection:
        if self._is_tls:
            return http.client.HTTPSConnection(self._host, self._port, timeout=timeout)
        return http.client.HTTPConnection(self._host, self._port, timeout=timeout)

    def own_connection(self) -> http.client.HTTPConnection:
        """The connection of this thread; it is opened by the next request."""
        if not hasattr(self._own, "conn"):
            self._own.conn = self.connection(ANSWER_S)
        conn: http.client.HTTPConnection = self._own.conn
        return conn

    def unreachable(self, problem: BaseException) -> CliqClientError:
        return CliqClientError("%s cannot be reached: %s" % (self.url, str(problem) or repr(problem)), 503, "UNREACHABLE")

    def _ask(self, method: str, path: str, body: Optional[bytes], headers: Dict[str, str], limit_s: float) -> Dict[str, Any]:
        conn = self.own_connection()
        try:
            conn.timeout = limit_s
            if conn.sock:
                conn.sock.settimeout(limit_s)
            conn.request(method, self.prefix + path, body, headers)
            if conn.sock:
                conn.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            response = conn.getresponse()
            text = response.read()
        except BaseException:
            conn.close()
            raise
        return _unwrap(response.status, text, self.url)

    def request(self, method: str, path: str, *, query: Optional[Mapping[str, Any]] = None,
                body: Optional[Dict[str, Any]] = None, is_made: bool = False, is_once: bool = False,
                stop: Optional[threading.Event] = None) -> Dict[str, Any]:
        """Any call of /openapi.json. is_made: it carries an Idempotency-Key; is_once: it is not tried again; stop:
        set, it is given up."""
        headers = dict(self.headers)
        if body is not None:
            headers["Content-Type"] = "application/json"
        if is_made and "dedup_key" not in (body or {}):
            headers["Idempotency-Key"] = os.urandom(16).hex()
        text = None if body is None else to_json(body).encode()
        limit_s = ANSWER_S + (body or {}).get("wait_seconds", 0)
        end, pause = time.monotonic() + self.retry_s, PAUSE_S
        while True:
            try:
                return self._ask(method, path + _query_of(query or {}), text, headers, limit_s)
            except (CliqClientError, OSError, http.client.HTTPException) as problem:
                is_stopped = stop is not None and stop.is_set()
                if is_once or is_stopped or not _is_passing(problem) or time.monotonic() + pause > end:
                    raise problem if isinstance(problem, CliqClientError) else self.unreachable(problem) from None
            time.sleep(pause)
            pause = min(pause * 2, PAUSE_MAX)

    # ---- calls ----

    def _post(self, path: str, body: Dict[str, Any], is_made: bool = False) -> Signal:
        given = {key: value for key, value in body.items() if value is not None}
        data: Signal = self.request("POST", path, body=given, is_made=is_made)["data"]
        return data

    def _page(self, path: str, filter: Mapping[str, Any]) -> Page:
        answer = self.request("GET", path, query=filter)
        page = Page(answer["data"])
        page.cursor = answer.get("meta", {}).get("cursor")
        return page

    def emit(self, signal_type: str, content: Any = None, **fields: Any) -> Signal:
        if not isinstance(signal_type, str):
            raise TypeError("CliqClient: emit takes the type, the content and other fields as keywords; emit_batch takes dicts")
        return self._post("/emit", {"signal_type": signal_type, "content": content, **fields}, is_made=True)

    def emit_batch(self, signals: List[Signal]) -> List[Signal]:
        data: List[Signal] = self.request("POST", "/emit/batch", body={"signals": signals}, is_made=True)["data"]
        return data

    def claim(self, **want: Any) -> Optional[Signal]:
        """A task, or None: signal_id for a certain one; role, types, lease_seconds, wait_seconds for the next."""
        return self._post("/claim", want, is_made=True) or None

    # The claim's end; `task` is what claim returned, or an id.
    def ack(self, task: Union[Signal, str]) -> Signal:
        return self._post("/ack", _claim_of(task))

    def extend(self, task: Union[Signal, str], lease_seconds: int = LEASE_S) -> Signal:
        return self._post("/extend", {**_claim_of(task), "lease_seconds": lease_seconds})

    def release(self, task: Union[Signal, str]) -> Signal:
        return self._post("/release", _claim_of(task))

    def fail(self, task: Union[Signal, str], error: Optional[str] = None, retry_in: Optional[float] = None) -> Signal:
        return self._post("/fail", {**_claim_of(task), "error": error, "retry_in": retry_in})

    def status(self, task: Union[Signal, str], task_status: str) -> Signal:
        return self._post("/status", {**_claim_of(task), "task_status": task_status})

    def requeue(self, task: Union[Signal, str]) -> Signal:
        return self._post("/requeue", {"signal_id": _claim_of(task)["signal_id"]})

    def inbox(self, target: str, **filter: Any) -> Page:
        """The signals of an inbox, "role" or "@identity"."""
        return self._page("/inbox/" + quote(target, safe=""), filter)

    def thread(self, id: Union[Signal, str]) -> List[Signal]:
        return self._page("/thread/" + quote(_claim_of(id)["signal_id"], safe=""), {})

    def list(self, **filter: Any) -> Page:
        return self._page("/signals/list", filter)

    def get(self, id: Union[Signal, str]) -> Signal:
        signal: Signal = self.request("GET", "/signals/" + quote(_claim_of(id)["signal_id"], safe=""))["data"]
        return signal

    def history(self, id: Union[Signal, str]) -> List[Dict[str, Any]]:
        return self._page("/signals/%s/history" % quote(_claim_of(id)["signal_id"], safe=""), {})

    def work(self, handler: Callable[[Signal], Any], *, concurrency: int = 1,
             on_error: Optional[Callable[[BaseException], Any]] = None, **want: Any) -> Worker:
        """Claims tasks as they come, `concurrency` at a time, in threads. want: role, types, lease_seconds,
        wait_seconds."""
        return Worker(self, handler, want, concurrency, on_error)

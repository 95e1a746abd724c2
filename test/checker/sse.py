"""sse - many event streams in one process, each checked as it comes: the numbers of its events, in
order, and nothing between them. A stream may also be left unread.

    s = Stream(url, "/signals/stream", key)      asks and waits for nothing
    pump(streams, is_done, seconds)               reads what comes until is_done(s) of each
"""
import re, resource, select, socket, time


class Stream:
    def __init__(self, url, path, key, last_id=None, buffer_bytes=0):
        host, port = url.removeprefix("http://").split(":")
        self.ids, self.rest, self.is_connected, self.is_over = [], b"", False, False
        self.sock = socket.socket()
        if buffer_bytes:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)
        self.sock.connect((host, int(port)))
        head = f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n"
        head += f"Authorization: Bearer {key}\r\n" if key else ""
        head += f"Last-Event-ID: {last_id}\r\n" if last_id is not None else ""
        self.sock.sendall(head.encode() + b"\r\n")
        self.sock.setblocking(False)

    def take(self):
        """What has come. Events end with a blank line; the sizes of chunks stand between them."""
        try:
            data = self.sock.recv(1 << 18)
        except BlockingIOError:
            return
        if not data:
            self.is_over = True
        *whole, self.rest = (self.rest + data).split(b"\n\n")
        for event in whole:
            if b": connected" in event:
                assert b" 200 " in event.split(b"\r\n", 1)[0] or self.is_connected, event[:200]
                self.is_connected = True
            m = re.search(rb"(?:^|\n)id: (\d+)\n", event)
            if m:
                assert b"\ndata: {" in event and event.endswith(b"}"), event[:200]
                self.ids.append(int(m.group(1)))

    def close(self):
        self.sock.close()


def pump(streams, is_done, seconds):
    poll, by_fd, end = select.epoll(), {}, time.monotonic() + seconds
    for s in streams:
        by_fd[s.sock.fileno()] = s
        poll.register(s.sock, select.EPOLLIN)
    left = {fd for fd, s in by_fd.items() if not is_done(s)}
    while left:
        assert time.monotonic() < end, "not within %d s: %d of %d streams, events %s" % (seconds, len(left), len(streams), sorted({len(s.ids) for s in streams}))
        for fd, _ in poll.poll(0.05):
            by_fd[fd].take()
            assert not by_fd[fd].is_over, "the server ended a stream"
            if is_done(by_fd[fd]):
                left.discard(fd)
    poll.close()


def raise_limit(n):
    """Of open files, for us and for those whom we start."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < n:
        return False
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, n), hard))
    return True

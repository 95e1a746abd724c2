"""state_dir - the files of a run, below .cliq/ (or frames/<phase>/ of a team phase).

Files are replaced by a temporary file and a rename, so that a reader sees the old or the new one, whole.
Below the state directory every component is opened with O_NOFOLLOW: an agent or a cloned repository could
have put a symbolic link there. Directories are made 0700, files 0600.
"""
from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Optional, Union

LOCK_SECONDS = 10
_DIR = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def reader_of(channel: str) -> str:
    """"developer" of "architect--developer"; the whole name when there are no dashes."""
    before, dashes, after = channel.partition("--")
    return after if dashes else before


def is_phase_name(name: str) -> bool:
    return re.fullmatch("[a-z][a-z0-9-]{0,63}", name) is not None and "--" not in name


def is_name(name: str) -> bool:
    """The name of an agent, a signal, a role ..."""
    return re.fullmatch("[A-Za-z0-9_][A-Za-z0-9._-]{0,63}", name) is not None


def check_name(what: str, name: str) -> None:
    if is_name(name):
        return
    if not name:
        raise ValueError("the %s is empty" % what)
    raise ValueError("bad %s \"%s\": use 1 to 64 of A-Z a-z 0-9 . _ - and start with a letter, a digit or _"
                     % (what, name))


def _check_parts(file: str) -> list[str]:
    parts = file.split("/")
    for part in parts:
        if part in ("", ".", "..") or "\0" in part or len(part.encode(errors="replace")) > 255:
            raise ValueError("bad path \"%s\": use names separated by single slashes, no . or .." % file[:200])
    return parts


def _refused(problem: OSError, dir_fd: int, name: str) -> Exception:
    """The error of an open with O_NOFOLLOW, with a sentence for links."""
    if problem.errno not in (errno.ELOOP, errno.ENOTDIR):
        return problem
    where = "%s/%s" % (os.readlink("/proc/self/fd/%d" % dir_fd), name)
    if os.path.islink(where):
        return ValueError("%s is a symbolic link, which is not followed" % where)
    return NotADirectoryError("%s is not a directory" % where)


def _enter(dir_fd: int, name: str, create: bool) -> Optional[int]:
    """Opens the directory `name`, or makes it; None: there is none."""
    for _ in range(2):
        try:
            return os.open(name, _DIR, dir_fd=dir_fd)
        except FileNotFoundError:
            if not create:
                return None
            try:
                os.mkdir(name, 0o700, dir_fd=dir_fd)
            except FileExistsError:
                pass  # another agent made it meanwhile
        except OSError as problem:
            raise _refused(problem, dir_fd, name) from None
    raise FileNotFoundError("directory %s vanished" % name)


def _write_all(fd: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view):]


def make_dirs(path: str) -> None:
    """Makes a directory and those above it; os.makedirs would give only the last one the mode."""
    if not os.path.isdir(path):
        make_dirs(os.path.dirname(path))
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            pass


def _replace_in(dir_fd: int, name: str, content: bytes) -> None:
    temporary = ".tmp-" + os.urandom(12).hex()
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=dir_fd)
    try:
        try:
            _write_all(fd, content)
        finally:
            os.close(fd)
        os.rename(temporary, name, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
    except BaseException:
        os.unlink(temporary, dir_fd=dir_fd)
        raise


def replace_in_channel(channel: str, name: str, content: str) -> None:
    """Replaces a file of a channel, an absolute path. Only the channel itself may not be a link."""
    parent, own = os.path.split(channel)
    make_dirs(parent)
    parent_fd = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fd = _enter(parent_fd, own, True)
        assert fd is not None
        try:
            _replace_in(fd, name, content.encode())
        finally:
            os.close(fd)
    finally:
        os.close(parent_fd)


def append_line(file: str, line: str) -> None:
    """Appends a line in one write, with the file's lock held. If the file ends in the middle of a line (an
    agent was killed), that line is ended first."""
    fd = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        size = os.fstat(fd).st_size
        is_torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
        _write_all(fd, (b"\n" if is_torn else b"") + line.encode() + b"\n")
    finally:
        os.close(fd)


class StateDir:
    def __init__(self, path: str) -> None:
        self.dir = path.rstrip("/") or "/"
        try:
            self._fd = os.open(self.dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            raise ValueError("no directory %s" % self.dir) from None

    def __del__(self) -> None:
        if hasattr(self, "_fd"):
            os.close(self._fd)

    def _open_parent(self, file: str, create: bool) -> tuple[Optional[int], str]:
        """A descriptor of the directory that holds the last component, and that; None: it is missing."""
        parts = _check_parts(file)
        at = os.dup(self._fd)
        for part in parts[:-1]:
            try:
                inner = _enter(at, part, create)
            finally:
                os.close(at)
            if inner is None:
                return None, part
            at = inner
        return at, parts[-1]

    def read_bytes(self, file: str) -> Optional[bytes]:
        """The content of a regular file; None: there is none."""
        parent, name = self._open_parent(file, False)
        if parent is None:
            return None
        try:
            fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise _refused(problem, parent, name) from None
        finally:
            os.close(parent)
        with os.fdopen(fd, "rb") as f:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise ValueError("%s/%s is not a regular file" % (self.dir, file))
            return f.read()

    def read(self, file: str) -> Optional[str]:
        content = self.read_bytes(file)
        return None if content is None else content.decode(errors="replace")

    def replace(self, file: str, content: Union[str, bytes]) -> None:
        parent, name = self._open_parent(file, True)
        assert parent is not None
        try:
            _replace_in(parent, name, content.encode() if isinstance(content, str) else content)
        finally:
            os.close(parent)

    def names(self, path: str) -> list[str]:
        """The names in a directory, sorted; none when it does not exist."""
        parent, name = self._open_parent(path, False)
        if parent is None:
            return []
        try:
            fd = _enter(parent, name, False)
        finally:
            os.close(parent)
        if fd is None:
            return []
        try:
            return sorted(entry for entry in os.listdir(fd) if not entry.startswith("."))
        finally:
            os.close(fd)

    def file_size(self, file: str) -> Optional[int]:
        """Of a regular file; None for anything else."""
        parent, name = self._open_parent(file, False)
        if parent is None:
            return None
        try:
            found = os.stat(name, dir_fd=parent, follow_symlinks=False)
            return found.st_size if stat.S_ISREG(found.st_mode) else None
        except FileNotFoundError:
            return None
        finally:
            os.close(parent)

    def locked(self, change: Callable[[], None]) -> None:
        """Calls `change` while this process holds the directory's lock."""
        fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._fd)
        end = time.monotonic() + LOCK_SECONDS
        try:
            while True:
                try:
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > end:
                        raise TimeoutError("cannot lock %s: another process held it for %d s"
                                           % (self.dir, LOCK_SECONDS)) from None
                    time.sleep(0.005)
            change()
        finally:
            os.close(fd)

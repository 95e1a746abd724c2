"""answer.py TEXT PROGRAM ARGS...: runs it on a terminal, types TEXT when it asks, prints what it said."""
import os
import pty
import sys

pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
said = b""
asked = False
while True:
    try:
        piece = os.read(fd, 4096)
    except OSError:
        break
    if not piece:
        break
    said += piece
    if not asked and b"[y/N]" in said:
        asked = True
        os.write(fd, sys.argv[1].encode() + b"\n")
_, status = os.waitpid(pid, 0)
sys.stdout.write(said.decode().replace("\r", ""))
sys.exit(os.waitstatus_to_exitcode(status))

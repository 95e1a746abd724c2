"""A program that listens in the place of a server, and keeps what it is sent.

  listen_as.py PORT FILE [UID [late]]

Listens on 127.0.0.1:PORT (0: any free port) as user UID, prints the port, and appends all it receives
to FILE. With `late` it accepts a connection only after bytes have arrived or the client is gone.
"""
import os, select, socket, sys

port, file = int(sys.argv[1]), sys.argv[2]
out = open(file, "ab", buffering=0)
if len(sys.argv) > 3:
    os.setuid(int(sys.argv[3]))
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", port))
s.listen(5)
print(s.getsockname()[1], flush=True)
while True:
    if len(sys.argv) > 4:
        select.select([s], [], [])
        select.select([], [], [], 0.3)  # time in which a client that trusts too early would send
    c, _ = s.accept()
    c.settimeout(5)
    try:
        while text := c.recv(65536):
            out.write(text)
            c.sendall(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
    except OSError:
        pass
    c.close()

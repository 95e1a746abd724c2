"""Fills a server with connections, and asks on more of them.

  crowd.py URL KEY ADMIN N

Opens N idle connections that have each been answered once, then asks on new ones: prints how many
of 12 requests with KEY were refused with 503 and a word, the status of /health and of an admin's
request, and, when the crowd has gone, of a request with KEY.
"""
import http.client, json, sys, time, urllib.parse

url, key, admin, n = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
at = urllib.parse.urlparse(url)


def ask(path, key=None):
    c = http.client.HTTPConnection(at.hostname, at.port, timeout=20)
    c.request("GET", path, headers={"Authorization": f"Bearer {key}"} if key else {})
    r = c.getresponse()
    return c, r.status, r.getheader("Connection"), json.loads(r.read() or b"null")


crowd = []
while len(crowd) < n:
    c, status, _, body = ask("/signals/list?limit=1", key)
    if status == 503:
        break
    crowd.append(c)
refused = 0
for _ in range(12):
    c, status, connection, body = ask("/signals/list?limit=1", key)
    assert status == 503 and connection == "close", (status, connection)
    assert body["error"]["code"] == "SERVER_BUSY" and "connections" in body["error"]["message"], body
    refused += 1
    c.close()
health, admins = ask("/health")[1], ask("/signals/list?limit=1", admin)[1]
stream = ask("/signals/stream?token=" + admin)[1]
for c in crowd:
    c.close()
until = time.monotonic() + 20
while (after := ask("/signals/list?limit=1", key)[1]) != 200 and time.monotonic() < until:
    pass
print(refused, health, admins, stream, after)

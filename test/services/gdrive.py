"""gdrive - Google Drive 3 and Google's token server, as far as the connector speaks with them. Every
token request is checked: RS256 by openssl, audience, scope, times. A token is good for $T/uses
requests, when that file is there. The public key is $T/public.pem."""
import base64, json, os, re, subprocess, time, urllib.parse
from service import T, Refused, Service, serve

FOLDER, DOC, SHEET = "application/vnd.google-apps.folder", "application/vnd.google-apps.document", "application/vnd.google-apps.spreadsheet"
files = {
    "doc1": {"name": "Plan", "mimeType": DOC, "parents": ["f1"], "data": b"the plan\n"},
    "sheet1": {"name": "Numbers", "mimeType": SHEET, "parents": ["f1"], "data": b"a,b\n1,2\n"},
    "bin1": {"name": "it's.bin", "mimeType": "application/octet-stream", "parents": ["f1"], "data": bytes(range(256))},
    "f1": {"name": "Folder", "mimeType": FOLDER, "parents": [], "data": b""},
}
tokens, sessions = {}, {}


def unbase64(s):
    return base64.urlsafe_b64decode(s + "=" * (-len(s) % 4))


def grant(r, url):
    form = dict(urllib.parse.parse_qsl(r.body.decode()))
    if form.get("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer":
        raise Refused(400, {"error": "unsupported_grant_type"})
    head, claims, signature = form["assertion"].split(".")
    open(T + "/jwt", "w").write(f"{head}.{claims}")
    open(T + "/jwt.sig", "wb").write(unbase64(signature))
    ok = subprocess.run(["openssl", "dgst", "-sha256", "-verify", T + "/public.pem", "-signature", T + "/jwt.sig", T + "/jwt"],
                        capture_output=True).returncode == 0
    h, c = json.loads(unbase64(head)), json.loads(unbase64(claims))
    now = time.time()
    if not (ok and h["alg"] == "RS256" and h["kid"] == "kid1" and c["iss"] == "bot@example.iam" and c["aud"] == url + "/token"
            and "auth/drive" in c["scope"] and c["iat"] <= now + 5 and now < c["exp"] <= c["iat"] + 3600):
        raise Refused(400, {"error": "invalid_grant", "error_description": "Invalid JWT Signature."})
    token = f"ya29.token-{len(tokens)}"
    tokens[token] = int(open(T + "/uses").read()) if os.path.exists(T + "/uses") else 1000
    return 200, {"access_token": token, "expires_in": 3599, "token_type": "Bearer"}


def shown(id):
    f = files[id]
    out = {"id": id, "name": f["name"], "mimeType": f["mimeType"], "modifiedTime": "2026-01-02T03:04:05.000Z",
           "webViewLink": f"https://drive.example/{id}"}
    return {**out, "size": str(len(f["data"]))} if "google-apps" not in f["mimeType"] else out


def store(id, meta, data, kind):
    if not id:
        id = f"new{len(files)}"
        files[id] = {"name": meta["name"], "parents": meta["parents"]}
    files[id].update(data=data, mimeType=kind)
    return 200, shown(id)


class Drive(Service):
    def do(self, r):
        if r.path == "/token":
            return grant(r, self.url)
        m = re.fullmatch(r"/upload/session/(\d+)", r.path)
        if m:
            return self.chunk(int(m[1]), r)
        token = r.headers.get("authorization", "").removeprefix("Bearer ")
        if tokens.get(token, 0) <= 0:
            raise Refused(401, {"error": {"code": 401, "status": "UNAUTHENTICATED", "message": "Invalid Credentials"}})
        tokens[token] -= 1
        m = re.fullmatch(r"/upload/drive/v3/files(?:/(\w+))?", r.path)
        if m:
            return self.upload(m[1], r)
        if r.path == "/drive/v3/about":
            return 200, {"user": {"emailAddress": "bot@example.iam"}}
        if r.path == "/drive/v3/files":
            return self.search(r)
        m = re.fullmatch(r"/drive/v3/files/(\w+)(/export)?", r.path)
        if not m or m[1] not in files:
            raise Refused(404, {"error": {"code": 404, "message": "File not found: " + r.path.rsplit("/", 1)[1]}})
        f = files[m[1]]
        if m[2]:
            return 200, f["data"], {"Content-Type": r.query["mimeType"]}
        if r.query.get("alt") == "media":
            if "google-apps" in f["mimeType"]:
                raise Refused(403, {"error": {"message": "Only files with binary content can be downloaded."}})
            return 200, f["data"], {"Content-Type": f["mimeType"]}
        return 200, shown(m[1])

    def search(self, r):
        q = r.query["q"]
        m = re.fullmatch(r"'((?:[^'\\]|\\.)*)' in parents(?: and name = '((?:[^'\\]|\\.)*)')? and trashed = false", q)
        if not m and not q.startswith("name contains"):
            raise Refused(400, {"error": {"message": "Invalid Value", "location": "q"}})
        hits = [i for i in files if not m or m[1] in files[i]["parents"] and
                (m[2] is None or files[i]["name"] == re.sub(r"\\(.)", r"\1", m[2]))]
        at = int(r.query.get("pageToken", "p0")[1:])
        out = {"files": [shown(i) for i in hits[at:at + 2]]}
        if at + 2 < len(hits):
            out["nextPageToken"] = f"p{at + 2}"
        return 200, out

    def upload(self, id, r):
        if id and id not in files or (r.method == "PATCH") != bool(id):
            raise Refused(404, {"error": {"message": "File not found"}})
        if r.query["uploadType"] == "multipart":
            boundary = re.fullmatch(r"multipart/related; boundary=(.+)", r.headers["content-type"])[1].encode()
            if len(r.body) > (5 << 20) + 4096:
                raise Refused(413, {"error": {"message": "too large"}})
            _, meta, data, end = r.body.split(b"--" + boundary)
            assert end == b"--\r\n"
            meta, (head, _, data) = json.loads(meta.partition(b"\r\n\r\n")[2]), data[2:].partition(b"\r\n\r\n")
            return store(id, meta, data[:-2], head.decode().partition(": ")[2])
        sessions[len(sessions)] = {"id": id, "meta": json.loads(r.body), "kind": r.headers["x-upload-content-type"],
                                   "size": int(r.headers["x-upload-content-length"]), "data": b""}
        return 200, b"", {"Location": f"{self.url}/upload/session/{len(sessions) - 1}"}

    def chunk(self, n, r):
        s = sessions[n]
        begin, end, size = map(int, re.fullmatch(r"bytes (\d+)-(\d+)/(\d+)", r.headers["content-range"]).groups())
        if begin != len(s["data"]) or size != s["size"] or end + 1 - begin != len(r.body):
            raise Refused(400, {"error": {"message": f"bad range {begin}-{end}"}})
        keep = r.body if end + 1 == size else r.body[:len(r.body) - (1 << 18)]  # it may keep less than was sent
        s["data"] += keep
        if len(s["data"]) == size:
            return store(s["id"], s["meta"], s["data"], s["kind"])
        return 308, b"", {"Range": f"bytes=0-{len(s['data']) - 1}"}


if __name__ == "__main__":
    serve(Drive)

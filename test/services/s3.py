"""s3 - a bucket store that checks every signature, as S3 does it.

Keys: AKIDEXAMPLE / the secret below, and the session token when $S3_TOKEN is set. A list has pages
of two keys. A bucket is in the path, or before the port in the Host header (bucket.127.0.0.1:…).
"""
import datetime, hashlib, hmac, os, re, urllib.parse
from xml.sax.saxutils import escape, unescape
from service import Refused, Service, serve

ID, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
TOKEN = os.environ.get("S3_TOKEN")
REGION = os.environ.get("S3_REGION", "us-east-1")
objects, uploads = {}, {}


def error(status, code, message, more="", **headers):
    raise Refused(status, f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>{message}</Message>{more}</Error>',
                  Content_Type="application/xml", **headers)


def mac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def check_signature(r):
    auth = r.headers.get("authorization", "")
    if not auth.startswith("AWS4-HMAC-SHA256 "):
        error(403, "AccessDenied", "Access Denied")
    parts = dict(p.strip().split("=", 1) for p in auth.split(" ", 1)[1].split(","))
    id, date, region, service, last = parts["Credential"].split("/")
    if id != ID:
        error(403, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.")
    if region != REGION:
        error(400, "AuthorizationHeaderMalformed", f"the region '{region}' is wrong; expecting '{REGION}'",
              f"<Region>{REGION}</Region>")
    if (service, last) != ("s3", "aws4_request"):
        error(400, "AuthorizationHeaderMalformed", "bad scope")
    now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
    stamp = r.headers["x-amz-date"]
    if abs((datetime.datetime.strptime(stamp, "%Y%m%dT%H%M%SZ") - now).total_seconds()) > 900 or stamp[:8] != date:
        error(403, "RequestTimeTooSkewed", "The difference between the request time and the current time is too large.")
    if TOKEN and r.headers.get("x-amz-security-token") != TOKEN:
        error(403, "InvalidToken", "The provided token is malformed or otherwise invalid.")
    names = parts["SignedHeaders"].split(";")
    must = {"host", "x-amz-date", "x-amz-content-sha256"} | ({"x-amz-security-token"} if TOKEN else set())
    if not must <= set(names) or names != sorted(names):
        error(403, "AccessDenied", "There were headers present in the request which were not signed")
    quote = lambda s: urllib.parse.quote(s, safe="-._~")
    query = sorted((quote(k), quote(v)) for k, v in urllib.parse.parse_qsl(r.raw_query, keep_blank_values=True))
    payload = r.headers["x-amz-content-sha256"]
    canonical = "\n".join([
        r.method, urllib.parse.quote(r.path, safe="/-._~"), "&".join(f"{k}={v}" for k, v in query),
        "".join(f"{n}:{' '.join(r.headers[n].split())}\n" for n in names), ";".join(names), payload])
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, f"{date}/{region}/s3/aws4_request",
                      hashlib.sha256(canonical.encode()).hexdigest()])
    key = mac(mac(mac(mac(("AWS4" + SECRET).encode(), date), region), "s3"), "aws4_request")
    if hmac.new(key, text.encode(), hashlib.sha256).hexdigest() != parts["Signature"]:
        error(403, "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided.")
    if payload.startswith("STREAMING-"):
        r.body = unchunk(r.body)
    elif payload != "UNSIGNED-PAYLOAD" and payload != hashlib.sha256(r.body).hexdigest():
        error(400, "XAmzContentSHA256Mismatch", "The provided 'x-amz-content-sha256' header does not match what was computed.")


def unchunk(body):
    out = b""
    while True:
        head, _, body = body.partition(b"\r\n")
        n = int(head.split(b";")[0], 16)
        if not n:
            return out
        out, body = out + body[:n], body[n + 2:]


def etag(data):
    return '"' + hashlib.md5(data).hexdigest() + '"'


def xml(text, **headers):
    return 200, '<?xml version="1.0" encoding="UTF-8"?>\n' + text, {"Content-Type": "application/xml", **headers}


class S3(Service):
    def stall(self, r):
        """The second part of an upload waits while there is a pipe $T/go."""
        if r.query.get("partNumber") == "2" and os.path.exists(os.environ["T"] + "/go"):
            open(os.environ["T"] + "/go").read()

    def do(self, r):
        check_signature(r)
        host = r.headers["host"]
        if host.startswith("127.") or host.startswith("localhost"):
            bucket, _, key = r.path[1:].partition("/")
        else:
            bucket, key = host.split(".")[0], r.path[1:]
        if not bucket:
            if os.path.exists(os.environ["T"] + "/scoped"):
                error(403, "AccessDenied", "Access Denied")
            return xml("<ListAllMyBucketsResult><Buckets></Buckets></ListAllMyBucketsResult>")
        if bucket == "elsewhere":
            error(301, "PermanentRedirect", "The bucket you are attempting to access must be addressed using the specified endpoint.",
                  x_amz_bucket_region="eu-west-1")
        if bucket == "nobucket":
            error(404, "NoSuchBucket", "The specified bucket does not exist")
        if not key:
            return self.list(bucket, r)
        at = (bucket, key)
        if r.method == "POST" and "uploads" in r.query:
            id = f"up+{len(uploads)}/=="
            uploads[id] = {"at": at, "type": r.headers.get("content-type"), "parts": {}}
            return xml(f"<InitiateMultipartUploadResult><Bucket>{bucket}</Bucket><Key>{escape(key)}</Key>"
                       f"<UploadId>{id}</UploadId></InitiateMultipartUploadResult>")
        if "uploadId" in r.query:
            return self.upload(at, r)
        if r.method == "PUT":
            objects[at] = (r.body, r.headers.get("content-type"))
            return 200, b"", {"ETag": etag(r.body), "x-amz-version-id": "v1"}
        if at not in objects:
            error(404, "NoSuchKey", "The specified key does not exist.")
        if r.method == "DELETE":
            del objects[at]
            return 204, b""
        data, kind = objects[at]
        return 200, data, {"ETag": etag(data), "Content-Type": kind or "binary/octet-stream",
                           "Last-Modified": "Wed, 12 Oct 2022 17:50:00 GMT", "x-amz-version-id": "v1"}

    def upload(self, at, r):
        up = uploads.get(r.query["uploadId"])
        if not up or up["at"] != at:
            error(404, "NoSuchUpload", "The specified upload does not exist.")
        if r.method == "DELETE":
            del uploads[r.query["uploadId"]]
            return 204, b""
        if r.method == "PUT":
            number = int(r.query["partNumber"])
            if at[1].startswith("broken") and number == 2:
                error(400, "InvalidRequest", "the second part is refused")
            up["parts"][number] = r.body
            return 200, b"", {"ETag": etag(r.body)}
        want = [(int(re.search("<PartNumber>(.*?)</PartNumber>", p)[1]), unescape(re.search("<ETag>(.*?)</ETag>", p)[1], {"&quot;": '"'}))
                for p in re.findall("<Part>(.*?)</Part>", r.body.decode(), re.S)]
        have = sorted((n, etag(p)) for n, p in up["parts"].items())
        if want != have:
            error(400, "InvalidPart", f"{want} is not {have}")
        if any(len(p) < 5 << 20 for n, p in sorted(up["parts"].items())[:-1]):
            error(400, "EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size")
        del uploads[r.query["uploadId"]]
        if at[1].startswith("late"):
            return xml("<Error><Code>InternalError</Code><Message>We encountered an internal error.</Message></Error>")
        data = b"".join(p for n, p in sorted(up["parts"].items()))
        objects[at] = (data, up["type"])
        return xml(f"<CompleteMultipartUploadResult><Key>{escape(at[1])}</Key><ETag>&quot;abc-{len(have)}&quot;</ETag></CompleteMultipartUploadResult>")

    def list(self, bucket, r):
        if r.query.get("list-type") != "2":
            error(400, "InvalidArgument", "list-type")
        quote = (lambda s: urllib.parse.quote_plus(s, safe="/-._*")) if r.query.get("encoding-type") == "url" else escape
        keys = sorted(k for b, k in objects if b == bucket and k.startswith(r.query.get("prefix", "")))
        page = int(r.query.get("max-keys", 2))
        start = int(r.query["continuation-token"].rsplit(" ", 1)[1]) if "continuation-token" in r.query else 0
        more = start + page < len(keys)
        out = f"<ListBucketResult><Name>{bucket}</Name><KeyCount>{len(keys[start:start + page])}</KeyCount><IsTruncated>{str(more).lower()}</IsTruncated>"
        if more:
            out += f"<NextContinuationToken>1/+= {start + page}</NextContinuationToken>"
        for k in keys[start:start + page]:
            data = objects[bucket, k][0]
            out += (f"<Contents><Key>{quote(k)}</Key><LastModified>2022-10-12T17:50:00.000Z</LastModified>"
                    f"<ETag>{escape(etag(data), {chr(34): '&quot;'})}</ETag><Size>{len(data)}</Size></Contents>")
        return xml(out + "</ListBucketResult>")


if __name__ == "__main__":
    serve(S3)

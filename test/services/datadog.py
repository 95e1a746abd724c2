"""datadog - Datadog's API and log intake, as far as the connector speaks with them: keys in headers,
pages of two by cursor, and what each endpoint insists on."""
import json, time
from service import Refused, Service, serve

logs, series, events = [], [], []


class Datadog(Service):
    def do(self, r):
        reads = r.method == "GET" or r.path.endswith("/search")
        if r.headers.get("dd-api-key") != "dd-k3y" or reads and r.headers.get("dd-application-key") != "dd-app-k3y":
            raise Refused(403, {"errors": ["Forbidden"]})
        body = json.loads(r.body) if r.body else None
        now = time.time()
        if r.path == "/api/v1/query":
            if not now - 15000 < int(r.query["from"]) < int(r.query["to"]) <= now + 5:
                raise Refused(400, {"errors": ["bad time"]})
            if "{" not in r.query["query"]:
                return 200, {"status": "error", "error": "Rule 'scope_expr' didn't match"}
            return 200, {"status": "ok", "series": [{"metric": "system.cpu.user", "pointlist": [[now * 1000, 1.5]]}]}
        if r.path == "/api/v2/logs/events/search":
            at = int(body["page"].get("cursor", "c0")[1:])
            if not body["filter"]["from"].isdigit() or body["page"]["limit"] > 1000:
                raise Refused(400, {"errors": ["bad filter"]})
            out = {"data": [{"id": str(i), "attributes": {"message": f"m{i}"}} for i in range(at, min(at + 2, 5))], "meta": {}}
            if at + 2 < 5:
                out["meta"] = {"page": {"after": f"c{at + 2}"}}
            return 200, out
        if r.path == "/api/v2/events" and r.method == "GET":
            more = "page[cursor]" not in r.query
            return 200, {"data": [{"id": "e1"}], "meta": {"page": {"after": "next"}} if more else {}}
        if r.path == "/api/v1/monitor":
            return 200, [{"id": i, "name": n, "type": "metric alert", "query": "avg(last_5m):avg:a{*} > 1"} for i, n in ((1, "one"), (2, "two"))]
        if r.path == "/api/v2/logs":
            if not isinstance(body, list) or len(body) > 1000 or not all(l.get("message") for l in body):
                raise Refused(400, {"errors": [{"title": "Bad Request"}]})
            logs.extend(body)
            return 202, {}
        if r.path == "/api/v2/series":
            for s in body["series"]:
                if not s["metric"] or not all(isinstance(p["timestamp"], int) for p in s["points"]):
                    raise Refused(400, {"errors": ["Payload is not in the expected format"]})
            return 202, {"errors": []}
        if r.path == "/api/v1/events" and r.method == "POST":
            if not body.get("title") or "text" not in body:
                raise Refused(400, {"errors": ["missing title"]})
            return 202, {"status": "ok", "event": {"id": 77, "url": "https://app.example/event/77", **body}}
        if r.path == "/api/v1/validate":
            return 200, {"valid": True}
        raise Refused(404, {"errors": ["Not found"]})


if __name__ == "__main__":
    serve(Datadog)

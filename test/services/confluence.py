"""confluence - Confluence Cloud, as far as the connector speaks with it: pages by REST API 2, searches
by the older one. The page 100 is "Guide" in the space DOC; $T/race holds how many updates meet a
change of somebody else."""
import json, os, re
from service import T, Refused, Service, need_basic, serve

pages = {"100": {"id": "100", "spaceId": "7", "title": "Guide", "status": "current", "version": {"number": 3},
                 "body": {"storage": {"representation": "storage", "value": "<p>Old</p>"}}}}


def shown(p):
    return {**p, "_links": {"webui": f"/spaces/DOC/pages/{p['id']}"}}


def race():
    try:
        n = int(open(T + "/race").read())
    except FileNotFoundError:
        return False
    open(T + "/race", "w").write(str(n - 1))
    return n > 0


class Confluence(Service):
    def do(self, r):
        need_basic(r, "ann@example.org", "conf-t0ken")
        body = json.loads(r.body) if r.body else None
        m = re.fullmatch(r"/wiki/api/v2/pages/(\d+)", r.path)
        if m and m[1] not in pages:
            raise Refused(404, {"errors": [{"status": 404, "code": "NOT_FOUND", "title": "Not Found"}]})
        if m and r.method == "GET":
            p = pages[m[1]]
            return 200, shown(p if r.query.get("body-format") == "storage" else {**p, "body": {}})
        if m and r.method == "PUT":
            p = pages[m[1]]
            if race():
                p["version"]["number"] += 1
                p["body"]["storage"]["value"] += "<p>Theirs</p>"
            if body["version"]["number"] != p["version"]["number"] + 1:
                raise Refused(409, {"errors": [{"status": 409, "code": "CONFLICT", "title": "Version conflict"}]})
            if body["id"] != m[1] or body["status"] != "current" or body["body"]["representation"] != "storage":
                raise Refused(400, {"errors": [{"title": "Bad request"}]})
            p.update(title=body["title"], version=body["version"], body={"storage": {"value": body["body"]["value"]}})
            return 200, shown(p)
        if r.path == "/wiki/api/v2/spaces":
            return 200, {"results": [{"id": "7", "key": "DOC"}] if r.query["keys"] == "DOC" else []}
        if r.path == "/wiki/api/v2/pages" and r.method == "GET":
            return 200, {"results": [shown(p) for p in pages.values()
                                     if p["title"] == r.query["title"] and p["spaceId"] == r.query["space-id"]]}
        if r.path == "/wiki/api/v2/pages":
            if any(p["title"] == body["title"] for p in pages.values()):
                raise Refused(400, {"errors": [{"title": "A page with this title already exists"}]})
            id = str(max(int(i) for i in pages) + 1)
            pages[id] = {"id": id, "spaceId": body["spaceId"], "title": body["title"], "version": {"number": 1},
                         "parentId": body.get("parentId"), "body": {"storage": {"value": body["body"]["value"]}}}
            return 200, shown(pages[id])
        if r.path == "/wiki/rest/api/search":
            cursor = r.query.get("cursor", "c0")  # no number: `start` has been gone since 2020
            at = int(cursor[1:])
            hits = [{"title": f"hit {i}", "excerpt": "", "url": f"/spaces/DOC/pages/{i}", "breadcrumbs": [], "entityType": "content",
                     "iconCssClass": "x", "lastModified": "2026-11-19T10:00:00.000Z"} for i in range(at, min(at + 2, 5))]
            out = {"results": hits, "start": at, "limit": 2, "size": len(hits), "totalSize": 5, "cqlQuery": r.query["cql"],
                   "searchDuration": 1, "_links": {"base": f"{self.url}/wiki", "context": "/wiki", "self": "x"}}
            if at + 2 < 5:  # behind the context: not /wiki/rest
                out["_links"]["next"] = f"/rest/api/search?next=true&cursor=c{at + 2}&limit=2&start={at + 2}&cql=x"
            if r.query.get("cql") == "evil":
                out["_links"]["next"] = "http://127.0.0.2:9/steal"
            return 200, out
        raise Refused(404, {"message": "null for uri"})


if __name__ == "__main__":
    serve(Confluence)

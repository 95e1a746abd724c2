"""jira - Jira Cloud, as far as the connector speaks with it: REST API 3, basic auth, ADF only.

PROJ-1 has five comments (pages of two), PROJ has five issues (pages of two by token).
"""
import json, re
from service import Refused, Service, need_basic, serve

comments = [{"id": str(100 + i), "body": {"type": "doc", "version": 1, "content": []}} for i in range(5)]
status = {"name": "Open"}
TRANSITIONS = [{"id": "11", "name": "Start work", "to": {"name": "In Progress"}},
               {"id": "31", "name": "Close", "to": {"name": "Done"}}]


def text(s):
    return {"type": "text", "text": s}


def issue(key):
    return {"id": "10" + key[-1], "key": key, "self": "http://127.0.0.1/rest/x", "fields": {
        "summary": "It fails: " + key, "status": {"name": status["name"]}, "issuetype": {"name": "Bug"},
        "priority": {"name": "High"}, "assignee": {"displayName": "Ann"}, "updated": "2026-01-02T03:04:05.000+0000",
        "description": {"type": "doc", "version": 1, "content": [
            {"type": "paragraph", "content": [text("First"), {"type": "hardBreak"}, text("line")]},
            {"type": "bulletList", "content": [{"type": "listItem", "content": [
                {"type": "paragraph", "content": [text("one")]}]}]}]}}}


def no_issue(key):
    raise Refused(404, {"errorMessages": ["Issue does not exist or you do not have permission to see it."], "errors": {}})


def need_adf(doc):
    ok = isinstance(doc, dict) and doc.get("type") == "doc" and doc.get("version") == 1 and all(
        p["type"] == "paragraph" and all(n["type"] == "hardBreak" or n["text"] for n in p["content"])
        for p in doc["content"])
    if not ok:
        raise Refused(400, {"errorMessages": [], "errors": {"comment": "Operation value must be an Atlassian Document"}})


class Jira(Service):
    def do(self, r):
        need_basic(r, "ann@example.org", "jira-t0ken")
        body = json.loads(r.body) if r.body else None
        if r.body and r.headers.get("content-type") != "application/json":
            raise Refused(415, {"message": "Unsupported Media Type"})
        m = re.fullmatch(r"/rest/api/3/issue/([A-Z]+-\d+)(/\w+)?", r.path)
        if m and m[1] not in ("PROJ-1", "PROJ-2"):
            no_issue(m[1])
        route = r.method, m[2] if m else r.path
        if m and route == ("GET", None):
            return 200, issue(m[1])
        if route == ("GET", "/comment"):
            at, n = int(r.query.get("startAt", 0)), min(2, int(r.query.get("maxResults", 50)))
            return 200, {"startAt": at, "maxResults": n, "total": len(comments), "comments": comments[at:at + n]}
        if route == ("POST", "/comment"):
            need_adf(body["body"])
            comments.append({"id": "900", **body})
            return 201, {"id": "900", "created": "2026-01-02T03:04:05.000+0000", **body}
        if route == ("GET", "/transitions"):
            return 200, {"transitions": TRANSITIONS}
        if route == ("POST", "/transitions"):
            to = [t for t in TRANSITIONS if t["id"] == body["transition"]["id"]]
            if not to:
                raise Refused(400, {"errorMessages": ["bad transition"]})
            status["name"] = to[0]["to"]["name"]
            return 204, b""
        if route == ("POST", "/rest/api/3/search/jql"):
            if "jql" not in body or not body.get("fields"):
                raise Refused(400, {"errorMessages": ["Unbounded JQL queries are not allowed here."]})
            at = int(body.get("nextPageToken", "at 0").split()[1])
            page = {"issues": [{"key": f"PROJ-{i + 1}", "id": str(i), "fields": {}} for i in range(at, min(at + 2, 5))]}
            return 200, {**page, "isLast": False, "nextPageToken": f"at {at + 2}"} if at + 2 < 5 else {**page, "isLast": True}
        if route == ("POST", "/rest/api/3/issue"):
            f = body["fields"]
            if f["project"].get("key") != "PROJ":
                raise Refused(400, {"errorMessages": [], "errors": {"project": "valid project is required"}})
            if "description" in f:
                need_adf(f["description"])
            if not f.get("summary") or not f["issuetype"].get("name"):
                raise Refused(400, {"errors": {"summary": "You must specify a summary of the issue."}})
            return 201, {"id": "10002", "key": "PROJ-2", "self": "http://127.0.0.1/rest/x"}
        if route == ("GET", "/rest/api/3/myself"):
            return 200, {"displayName": "Ann"}
        if r.path == "/rest/api/3/search":
            raise Refused(410, {"errorMessages": ["The requested API has been removed."]})
        raise Refused(404, {"message": f"no {route}"})


if __name__ == "__main__":
    serve(Jira)

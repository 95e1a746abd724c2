"""hubspot - HubSpot's CRM, as far as the connector speaks with it: a private app's token, pages of two
by `after`, searches, notes with their associations."""
import json, re
from service import Refused, Service, serve

NOTE_TYPES = {"contacts": 202, "companies": 190, "deals": 214, "tickets": 228}
objects = {"contacts": {str(100 + i): {"email": f"p{i}@example.org", "firstname": f"P{i}"} for i in range(5)},
           "companies": {}, "deals": {"7": {"dealname": "Big"}}, "tickets": {}, "notes": {}}


def shown(kind, id, names=None):
    p = objects[kind][id]
    if names:
        p = {k: v for k, v in p.items() if k in names.split(",")}
    return {"id": id, "properties": p, "createdAt": "2026-01-01T00:00:00.000Z", "updatedAt": "2026-01-02T00:00:00.000Z", "archived": False}


def page(items, after):
    out = {"results": items[after:after + 2]}
    if after + 2 < len(items):
        out["paging"] = {"next": {"after": str(after + 2), "link": "x"}}
    return out


class HubSpot(Service):
    def do(self, r):
        if r.headers.get("authorization") != "Bearer pat-t0ken":
            raise Refused(401, {"status": "error", "message": "Authentication credentials not found.", "category": "INVALID_AUTHENTICATION"})
        body = json.loads(r.body) if r.body else {}
        m = re.fullmatch(r"/crm/v3/objects/(\w+)(?:/(\w+))?", r.path)
        if not m or m[1] not in objects:
            raise Refused(404, {"status": "error", "message": "not found"})
        kind, id = m.groups()
        if id == "search" and r.method == "POST":
            hits = [shown(kind, i) for i, p in objects[kind].items() if body.get("query", "") in json.dumps(p)]
            for f in [f for g in body.get("filterGroups", []) for f in g["filters"]]:
                hits = [h for h in hits if f["operator"] == "EQ" and h["properties"].get(f["propertyName"]) == f["value"]]
            return 200, {"total": len(hits), **page(hits, int(body.get("after", 0)))}
        if id and id not in objects[kind]:
            raise Refused(404, {"status": "error", "message": "resource not found", "category": "OBJECT_NOT_FOUND"})
        if r.method == "GET" and id:
            return 200, shown(kind, id, r.query.get("properties"))
        if r.method == "GET":
            return 200, page([shown(kind, i, r.query.get("properties")) for i in objects[kind]], int(r.query.get("after", 0)))
        if r.method == "PATCH" and id:
            objects[kind][id].update(body["properties"])
            return 200, shown(kind, id)
        if r.method == "POST":
            if kind == "notes":
                to = body["associations"][0]
                where = [k for k, n in NOTE_TYPES.items() if n == to["types"][0]["associationTypeId"]][0]
                if to["to"]["id"] not in objects[where] or "hs_timestamp" not in body["properties"]:
                    raise Refused(400, {"status": "error", "message": "bad note"})
            if any("email" in p and p["email"] == body["properties"].get("email") for p in objects[kind].values()):
                raise Refused(409, {"status": "error", "message": "Contact already exists. Existing ID: 100", "category": "CONFLICT"})
            id = str(900 + len(objects[kind]))
            objects[kind][id] = body["properties"]
            return 201, shown(kind, id)
        raise Refused(405, {"message": "method"})


if __name__ == "__main__":
    serve(HubSpot)

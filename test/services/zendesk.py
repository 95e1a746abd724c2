"""zendesk - Zendesk's Ticketing API, as far as the connector speaks with it: token auth, cursor pages
of comments, page numbers of a search, and idempotency keys."""
import json, re
from service import Refused, Service, need_basic, serve

tickets = {42: {"id": 42, "subject": "It fails", "status": "open", "priority": "high", "updated_at": "2026-01-02T03:04:05Z"}}
comments = {42: [{"id": i, "body": f"comment {i}", "public": True} for i in range(3)]}
keys = {}


class Zendesk(Service):
    def do(self, r):
        need_basic(r, "ann@example.org/token", "zd-t0ken")
        body = json.loads(r.body) if r.body else {}
        m = re.fullmatch(r"/api/v2/tickets/(\w+)(/comments)?\.json", r.path)
        id = int(m[1]) if m else 0
        if m and id not in tickets:
            raise Refused(404, {"error": "RecordNotFound", "description": "Not found"})
        if m and m[2]:
            at = int(r.query.get("page[after]", 0))
            url = f"{self.url}/api/v2/tickets/{id}/comments.json?page[after]={at + 2}&page[size]=2"
            more = at + 2 < len(comments[id])
            # the next link is there even on the last page: has_more counts
            return 200, {"comments": comments[id][at:at + 2], "meta": {"has_more": more}, "links": {"next": url}}
        if m and r.method == "PUT":
            change = body["ticket"]
            if "status" in change and change["status"] not in ("new", "open", "pending", "hold", "solved", "closed"):
                raise Refused(422, {"error": "RecordInvalid", "description": "Record validation errors",
                                    "details": {"status": [{"description": "Status is not valid"}]}})
            if "comment" in change:
                comments[id].append({"id": len(comments[id]), **change.pop("comment")})
            tickets[id].update(change)
        if m:
            return 200, {"ticket": tickets[id]}
        if r.path == "/api/v2/search.json":
            page = int(r.query.get("page", 1))
            if r.query["query"] == "many":  # 1000 results at most, in pages of 500
                if page > 2:
                    raise Refused(422, {"error": "invalid", "description": "Requested response size was greater than Search Response Limits"})
                hits = [{"id": i} for i in range(500)]
                return 200, {"results": hits, "count": 1700, "next_page": f"{self.url}/api/v2/search.json?page={page + 1}&query=many"}
            hits = [{"id": i, "result_type": "ticket"} for i in range(5)][page * 2 - 2:page * 2]
            url = f"{self.url}/api/v2/search.json?page={page + 1}&query={r.query['query']}".replace(" ", "+")
            return 200, {"results": hits, "count": 5, "next_page": url if page < 3 else None}
        if r.method == "POST" and r.path == "/api/v2/tickets.json":
            key = r.headers.get("idempotency-key")
            if key in keys:
                return 201, {"ticket": tickets[keys[key]]}, {"x-idempotency-lookup": "hit"}
            id = max(tickets) + 1
            change = body["ticket"]
            comments[id] = [change.pop("comment")]
            tickets[id] = {"id": id, "status": "new", **change}
            keys[key] = id
            return 201, {"ticket": tickets[id]}
        if r.path == "/api/v2/users/me.json":
            return 200, {"user": {"id": 1}}
        raise Refused(404, {"error": "InvalidEndpoint"})


if __name__ == "__main__":
    serve(Zendesk)

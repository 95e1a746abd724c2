/* Tests serve/route, serve/admission and serve/envelope: pure functions, so the cases are
 * tables. */
#include "test.h"

#include "serve/admission.h"
#include "serve/openapi.h"
#include "serve/reply.h"

#include <stdio.h>
#include <string.h>

static const char *const hosts[] = { "localhost:3000", "127.0.0.1:3000", "hub.example", NULL };
static const char *const proxied[] = { "hub.example", NULL };
static const struct admission_rules rules = { .hosts = hosts,
                                              .proxied = proxied,
                                              .allows_token = true };

static int
find(const char *method, const char *path, struct route *r, char allow[64])
{
    return route_find(method, strlen(method), path, strlen(path), r, allow);
}

static void
each_route_matches_its_own_path(void **state)
{
    struct route_info info;

    (void)state;
    for (size_t i = 0; route_nth(i, &info); i++) {
        struct route r;
        char allow[64];
        assert_int_equal(find(info.method, info.path, &r, allow), 200);
        assert_int_equal(r.kind, info.kind);
        if (info.kind == ROUTE_OP)
            assert_int_equal(r.op, info.op);
        assert_int_equal(r.scope, info.scope);
    }
}

static void
the_openapi_document_lists_every_route_and_no_other(void **state)
{
    struct arena a = { 0 };
    struct buf text = { 0 };
    struct json *doc;
    struct route_info info;
    size_t n = 0, said = 0;

    (void)state;
    openapi_write(&text);
    assert_false(buf_failed(&text));
    assert_true(json_parse(&a, text.p, text.len, &doc, NULL));
    for (; route_nth(n, &info); n++) {
        char path[100] = "", method[8] = "";
        for (const char *p = info.path; *p; p++) { /* /inbox/:target is /inbox/{target} */
            size_t len = *p == ':' ? strcspn(p, "/") : 1;
            snprintf(path + strlen(path), sizeof path - strlen(path), *p == ':' ? "{%.*s}" : "%.*s",
                     (int)(*p == ':' ? len - 1 : len), *p == ':' ? p + 1 : p);
            p += len - 1;
        }
        for (size_t i = 0; info.method[i]; i++)
            method[i] = (char)(info.method[i] | 32);
        assert_non_null(json_get(json_get(json_get(doc, "paths"), path), method));
    }
    json_each (path, json_get(doc, "paths"))
        said += path->kids.count;
    assert_int_equal(said, n);
    buf_release(&text);
    arena_release(&a);
}

static void
similar_paths_match_different_routes(void **state)
{
    static const struct {
        const char *method, *path;
        int status;
        const char *allow;
    } table[] = {
        { "GET", "/", 200, NULL },
        { "HEAD", "/health", 200, NULL },
        { "POST", "/health", 405, "GET, HEAD" },
        { "GET", "/emit", 405, "POST" },
        { "DELETE", "/signals/list", 405, "GET, HEAD" },
        { "GET", "/signals/", 404, NULL },
        { "GET", "/signals", 404, NULL },
        { "GET", "/emit/", 404, NULL },
        { "GET", "//", 404, NULL },
        { "GET", "", 404, NULL },
        { "GET", "/inbox", 404, NULL },
        { "GET", "/inbox/a/b", 404, NULL },
        { "PATCH", "/v1/engine/signals/delayed", 405, "POST, GET, HEAD, DELETE" },
        { "get", "/health", 405, "GET, HEAD" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct route r;
        char allow[64];
        assert_int_equal(find(table[i].method, table[i].path, &r, allow), table[i].status);
        if (table[i].allow)
            assert_string_equal(allow, table[i].allow);
    }
}

static void
a_literal_wins_over_a_parameter(void **state)
{
    struct route r;
    char allow[64];

    (void)state;
    assert_int_equal(find("GET", "/signals/list", &r, allow), 200);
    assert_int_equal(r.op, HUB_LIST);
    assert_int_equal(find("GET", "/signals/stream", &r, allow), 200);
    assert_int_equal(r.kind, ROUTE_STREAM);
    assert_int_equal(find("GET", "/signals/signal:abc/history", &r, allow), 200);
    assert_int_equal(r.op, HUB_HISTORY);
    assert_string_equal(r.params[0].name, "id");
    assert_int_equal(r.params[0].len, strlen("signal:abc"));
    assert_int_equal(find("POST", "/inbox/resolve", &r, allow), 200);
    assert_int_equal(r.op, HUB_INBOX_RESOLVE);
}

static struct admission_text
text(const char *s)
{
    return (struct admission_text){ s, s ? strlen(s) : 0 };
}

static void
admission_checks_host_origin_key_and_content_type(void **state)
{
    static const struct {
        const char *method, *path, *host, *origin, *site, *auth, *type;
        bool has_body;
        int status;
    } table[] = {
        { "GET", "/health", "localhost:3000", NULL, NULL, NULL, NULL, false, 200 },
        { "GET", "/health", "LOCALHOST:3000", NULL, NULL, NULL, NULL, false, 200 },
        { "GET", "/health", "evil.example:3000", NULL, NULL, NULL, NULL, false, 421 },
        { "GET", "/health", "localhost", NULL, NULL, NULL, NULL, false, 421 },
        { "GET", "/health", NULL, NULL, NULL, NULL, NULL, false, 421 },
        { "GET", "/health", "localhost:3000", "http://evil.example", NULL, NULL, NULL, false, 403 },
        { "GET", "/health", "localhost:3000", "null", NULL, NULL, NULL, false, 403 },
        { "GET", "/health", "localhost:3000", "http://localhost:3000", NULL, NULL, NULL, false,
          200 },
        { "GET", "/health", "localhost:3000", "https://localhost:3000", NULL, NULL, NULL, false,
          403 },
        { "GET", "/health", "hub.example", "https://hub.example", NULL, NULL, NULL, false, 200 },
        { "GET", "/health", "hub.example", "http://hub.example", NULL, NULL, NULL, false, 200 },
        { "GET", "/health", "hub.example", "https://hub.example:1", NULL, NULL, NULL, false, 403 },
        { "GET", "/health", "hub.example", "https://", NULL, NULL, NULL, false, 403 },
        { "GET", "/health", "localhost:3000", NULL, "cross-site", NULL, NULL, false, 403 },
        { "GET", "/inbox/dev", "localhost:3000", NULL, NULL, NULL, NULL, false, 401 },
        { "GET", "/inbox/dev", "localhost:3000", NULL, NULL, "Basic abc", NULL, false, 401 },
        { "GET", "/inbox/dev", "localhost:3000", NULL, NULL, "Bearer ", NULL, false, 401 },
        { "GET", "/inbox/dev", "localhost:3000", NULL, NULL, "bearer k", NULL, false, 200 },
        { "POST", "/emit", "localhost:3000", NULL, NULL, "Bearer k", "text/plain", true, 415 },
        { "POST", "/emit", "localhost:3000", NULL, NULL, "Bearer k", NULL, true, 415 },
        { "POST", "/emit", "localhost:3000", NULL, NULL, "Bearer k", "application/json", true,
          200 },
        { "POST", "/emit", "localhost:3000", NULL, NULL, "Bearer k",
          "Application/JSON ; charset=utf-8", true, 200 },
        { "POST", "/emit", "evil:3000", "http://evil", NULL, NULL, NULL, true, 421 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct route r;
        char allow[64];
        struct admission_verdict v;
        assert_int_equal(find(table[i].method, table[i].path, &r, allow), 200);
        struct admission_request q = { .host = text(table[i].host),
                                       .origin = text(table[i].origin),
                                       .fetch_site = text(table[i].site),
                                       .authorization = text(table[i].auth),
                                       .content_type = text(table[i].type),
                                       .has_body = table[i].has_body,
                                       .is_get = table[i].method[0] == 'G' };
        admission_check(&rules, &r, &q, &v);
        assert_int_equal(v.status, table[i].status);
        assert_true((v.status == 200) == (v.code == NULL));
    }
}

static void
a_token_in_the_query_is_accepted_for_streams_only(void **state)
{
    struct route r;
    char allow[64];
    struct admission_verdict v;
    struct admission_request q = { .host = text("localhost:3000"),
                                   .token = text("k"),
                                   .is_get = true };
    struct admission_rules closed = rules;

    (void)state;
    find("GET", "/signals/stream", &r, allow);
    admission_check(&rules, &r, &q, &v);
    assert_int_equal(v.status, 200);
    assert_int_equal(v.key.len, 1);
    closed.allows_token = false;
    admission_check(&closed, &r, &q, &v);
    assert_int_equal(v.status, 401);
    q.ticket = text("t");
    admission_check(&closed, &r, &q, &v);
    assert_int_equal(v.status, 200);
    assert_int_equal(v.ticket.len, 1);
    assert_null(v.key.p);
    find("GET", "/inbox/dev", &r, allow);
    admission_check(&rules, &r, &q, &v);
    assert_int_equal(v.status, 401);
}

static void
a_scope_admits_its_own_routes_only(void **state)
{
    struct route r;
    char allow[64];

    (void)state;
    find("POST", "/emit", &r, allow);
    assert_true(admission_allows(SCOPE_EMIT, &r));
    assert_true(admission_allows(SCOPE_ADMIN, &r));
    assert_false(admission_allows(SCOPE_DEFAULT & ~(unsigned)SCOPE_EMIT, &r));
    find("POST", "/keys", &r, allow);
    assert_false(admission_allows(SCOPE_DEFAULT, &r));
}

static void
check_body(const char *method, const char *path, const struct hub_reply *reply, const char *want)
{
    struct buf b = { 0 };
    struct route r;
    char allow[64];

    assert_int_equal(find(method, path, &r, allow), 200);
    reply_body(&b, &r, reply, "r1");
    buf_addc(&b, '\0');
    assert_string_equal(b.p, want);
    buf_release(&b);
}

static void
each_route_has_its_envelope(void **state)
{
    (void)state;
    check_body("POST", "/claim", &(struct hub_reply){ .status = 200 },
               "{\"data\":null,\"meta\":{\"request_id\":\"r1\"}}");
    check_body("GET", "/signals/list", &(struct hub_reply){ .status = 200, .has_cursor = true },
               "{\"data\":null,\"meta\":{\"request_id\":\"r1\",\"cursor\":null}}");
    check_body("GET", "/signals/list", &(struct hub_reply){ .status = 200, .cursor = "abc" },
               "{\"data\":null,\"meta\":{\"request_id\":\"r1\",\"cursor\":\"abc\"}}");
    check_body(
        "POST", "/claim",
        &(struct hub_reply){ .status = 409, .code = "SIGNAL_CLAIM_CONFLICT", .message = "no" },
        "{\"error\":{\"code\":\"SIGNAL_CLAIM_CONFLICT\",\"message\":\"no\",\"request_id\":\"r1\","
        "\"details\":null,\"docs_url\":\"/openapi.json#/x-error-codes/"
        "SIGNAL_CLAIM_CONFLICT\"}}");
    check_body("GET", "/v1/engine/signals/events", &(struct hub_reply){ .status = 200 },
               "{\"ok\":true}");
    check_body("GET", "/v1/engine/signals/events",
               &(struct hub_reply){ .status = 200, .text = "{\"events\":[]}" },
               "{\"ok\":true,\"events\":[]}");
    check_body("GET", "/v1/engine/signals/events",
               &(struct hub_reply){ .status = 400, .code = "X", .message = "Invalid query" },
               "{\"ok\":false,\"error\":\"Invalid query\"}");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_route_matches_its_own_path),
        cmocka_unit_test(the_openapi_document_lists_every_route_and_no_other),
        cmocka_unit_test(similar_paths_match_different_routes),
        cmocka_unit_test(a_literal_wins_over_a_parameter),
        cmocka_unit_test(admission_checks_host_origin_key_and_content_type),
        cmocka_unit_test(a_token_in_the_query_is_accepted_for_streams_only),
        cmocka_unit_test(a_scope_admits_its_own_routes_only),
        cmocka_unit_test(each_route_has_its_envelope),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

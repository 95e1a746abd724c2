/* Tests hub/live_keys.c: a revoked key writes nothing behind its revoke line. */
#include "hubs.h"

/* A key of bob; its id. */
static const char *
make_key(struct hub *h)
{
    struct hub_reply *r = ask(h, HUB_KEY_CREATE, "!root", "{\"identity\":\"bob\"}");

    CHECK_REPLY(r, 200);
    return got(r, "id");
}

static struct json *
parse(struct arena *a, const char *text)
{
    struct json *v;

    assert_true(json_parse(a, text, strlen(text), &v, NULL));
    return v;
}

static struct hub_request
emit_with(struct arena *a, const char *key)
{
    return (struct hub_request){
        .op = HUB_EMIT, .identity = "bob", .key = key, .args = parse(a, TASK)
    };
}

static struct hub_request
revocation(struct arena *a, const char *key)
{
    char text[100];

    snprintf(text, sizeof text, "{\"id\":\"%s\"}", key);
    return (struct hub_request){ .op = HUB_KEY_REVOKE,
                                 .identity = "root",
                                 .is_admin = true,
                                 .args = parse(a, arena_dup(a, text, strlen(text))) };
}

static void
requests_behind_a_revocation_in_the_same_round_are_refused(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct hub *h = open_hub();

    for (int steps = 0; steps < 2; steps++) {
        const char *key = make_key(h), *other = make_key(h);
        struct hub_reply replies[4];
        struct hub_request r[4] = { emit_with(&a, key), revocation(&a, key), emit_with(&a, key),
                                    emit_with(&a, other) };
        if (steps)
            submit_on(h, r, 4, &a, replies);
        else
            hub_submit(h, r, 4, &a, replies);
        CHECK_REPLY(&replies[0], 200);
        CHECK_REPLY(&replies[1], 200);
        CHECK_REFUSED(&replies[2], 401, "AUTH_REQUIRED", "revoked");
        CHECK_REPLY(&replies[3], 200);
    }
    arena_release(&a);
    close_hub(h);
}

static void
a_key_that_another_process_revoked_is_refused_when_the_request_is_decided(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct hub *server = open_hub(), *command = open_hub();
    const char *key = make_key(server);
    struct hub_request r = emit_with(&a, key);
    struct hub_reply reply;

    hub_submit(server, &r, 1, &a, &reply);
    CHECK_REPLY(&reply, 200);
    CHECK_REPLY(ask(command, HUB_KEY_REVOKE, "!root", "{\"id\":\"%s\"}", key), 200);
    hub_submit(server, &r, 1, &a, &reply);
    CHECK_REFUSED(&reply, 401, "AUTH_REQUIRED", "revoked");

    const char *second = make_key(command); /* folded by the command, not by the server */
    r = emit_with(&a, second);
    hub_submit(server, &r, 1, &a, &reply);
    CHECK_REPLY(&reply, 200);
    append_file(HUB_LOG, "{\"op\":\"revoke\",\"id\":\"");
    append_file(HUB_LOG, second);
    append_file(HUB_LOG, "\",\"by\":\"x\"}\n");
    hub_submit(server, &r, 1, &a, &reply);
    CHECK_REFUSED(&reply, 401, "AUTH_REQUIRED", "revoked");
    arena_release(&a);
    hub_close(command);
    close_hub(server);
}

static void
a_revoked_key_reads_nothing_either(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct hub *h = open_hub();
    const char *key = make_key(h);
    struct hub_request r = {
        .op = HUB_LIST, .identity = "bob", .key = key, .args = parse(&a, "{}")
    };
    struct hub_reply reply;

    hub_read(h, &r, &a, &reply);
    CHECK_REPLY(&reply, 200);
    CHECK_REPLY(ask(h, HUB_KEY_REVOKE, "!root", "{\"id\":\"%s\"}", key), 200);
    hub_read(h, &r, &a, &reply);
    CHECK_REFUSED(&reply, 401, "AUTH_REQUIRED", "revoked");
    arena_release(&a);
    close_hub(h);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(requests_behind_a_revocation_in_the_same_round_are_refused),
        CASE(a_key_that_another_process_revoked_is_refused_when_the_request_is_decided),
        CASE(a_revoked_key_reads_nothing_either),
    };

    return cmocka_run_group_tests_name("hub keys", tests, NULL, NULL);
}

/*
 * sdks - what the tests of cliq.h's agents share: an agent, its messages, and what it left in
 * files.
 */
#ifndef CLIQ_TEST_SDKS_H
#define CLIQ_TEST_SDKS_H

#include "cliq.h"

#include "base/json.h"
#include "test.h"

extern cliq_agent *agent;
extern cliq_error err;
extern char cwd[4096];
extern unsigned calls;
int sdk_enter(void **state);
int sdk_leave(void **state);

#define SDK_CASE(fact) cmocka_unit_test_setup_teardown(fact, sdk_enter, sdk_leave)

/* A message as the page has it; `payload` is its members, `more` members of the root. */
const char *message(const char *type, const char *payload, const char *targets, const char *more);

#define STANDARD                                                                                   \
    message("phase", "\"phase_type\":\"standard\",\"phase\":\"analyst\"", "analyst--reviewer", "")

#define GATE                                                                                       \
    message("phase",                                                                               \
            "\"phase_type\":\"gate\",\"phase\":\"reviewer\",\"route_targets\":[\"developer\"],"    \
            "\"iteration\":2,\"max_iterations\":5,\"check_results\":[{\"name\":\"npm test\","      \
            "\"pass\":false,\"output\":\"2 failed\",\"exit_code\":1},{\"name\":\"lint\",\"pass\":" \
            "true,\"output\":\"\"}]",                                                              \
            "reviewer--deploy reviewer--developer", "")

cliq_status dispatch(const char *text);
cliq_status dispatch_to(const char *key, cliq_handler handler, const char *text);

#define RUNS(call)                                                                                 \
    do {                                                                                           \
        if (call)                                                                                  \
            fail_msg("%s: %s", #call, err.text);                                                   \
    } while (0)

/* Inside a handler: a failing assertion must not jump out of the library with its files open. */
#define EXPECT(fact)                                                                               \
    do {                                                                                           \
        if (!(fact)) {                                                                             \
            snprintf(e->text, sizeof e->text, "%d: %s", __LINE__, #fact);                          \
            return CLIQ_FAILED;                                                                    \
        }                                                                                          \
    } while (0)

#define SAME(a, b) EXPECT((a) && strcmp((a), (b)) == 0)

const char *in_file(const char *name, const char *path);

/* Of line n of a JSONL file; -1 is the last. */
const char *in_line(const char *name, int n, const char *path);
int count_lines(const char *name);

#define ANALYST  ".cliq/signals/analyst.jsonl"
#define REVIEWER ".cliq/signals/reviewer.jsonl"
#define HANDOFF  ".cliq/channels/analyst--reviewer/handoff.json"

/* Handlers. */
cliq_status send_results(cliq_context *ctx, void *user, cliq_error *e);
cliq_status does_nothing(cliq_context *ctx, void *user, cliq_error *e);

#endif

/*
 * An agent in C: as a phase it counts the words of its incoming handoffs, as a gate it routes back
 * while checks fail. To try it, create .cliq/ and message.json as cliq-sdk(3) shows:
 *     cc agent.c $(pkg-config --cflags --libs cliq) -o agent && ./agent < message.json
 */
#include <cliq.h>

#include <stdio.h>
#include <string.h>

static size_t
count_words(const char *text)
{
    size_t n = 0;

    while (*(text += strspn(text, " \t\r\n"))) {
        text += strcspn(text, " \t\r\n");
        n++;
    }
    return n;
}

static cliq_status
digest(cliq_context *ctx, void *user, cliq_error *err)
{
    const char *input = cliq_context_input_text(ctx, NULL);
    const char *phase = cliq_context_phase(ctx);
    char data[128], text[256];
    size_t handoffs = cliq_context_input_count(ctx), words = count_words(input);
    cliq_status s = cliq_progressf(ctx, "reading %zu handoff(s)", handoffs);

    (void)user;
    snprintf(data, sizeof data, "{\"handoffs\":%zu,\"words\":%zu}", handoffs, words);
    snprintf(text, sizeof text, "%s read %zu handoff(s), %zu words.", phase, handoffs, words);
    if (!s)
        s = cliq_write_file(ctx, "inputs.md", input, strlen(input), err);
    for (size_t i = 0; !s && i < cliq_context_target_count(ctx); i++)
        s = cliq_send(ctx, cliq_context_target(ctx, i), data, text, err);
    cliq_board_mark_complete(ctx, phase);
    cliq_board_add_note(ctx, phase, text);
    return s ? s : cliq_finalize_standard(ctx, err);
}

static cliq_status
review(cliq_context *ctx, void *user, cliq_error *err)
{
    cliq_verdict verdict = CLIQ_VERDICT_INIT;
    cliq_check check = CLIQ_CHECK_INIT;
    char failed[512] = "";

    (void)user;
    for (size_t i = 0; !cliq_context_check(ctx, i, &check, err); i++) {
        size_t n = strlen(failed);
        if (!check.pass)
            snprintf(failed + n, sizeof failed - n, "%s %s",
                     n ? "," : "Checks failed:", check.name);
    }
    verdict.outcome = failed[0] ? CLIQ_VERDICT_ROUTE : CLIQ_VERDICT_PASS;
    verdict.target = failed[0] ? cliq_context_route_target(ctx, 0) : NULL;
    verdict.comment = failed[0] ? failed : "All checks pass.";
    return cliq_finalize_gate(ctx, &verdict, err);
}

int
main(void)
{
    cliq_agent *agent = cliq_agent_new("digest");

    cliq_agent_on(agent, "phase:standard", digest, NULL);
    cliq_agent_on(agent, "phase:gate", review, NULL);
    int code = cliq_agent_run(agent);
    cliq_agent_free(agent);
    return code;
}

/*
 * A first agent in C: cliq-sdk(3) has every call. To try it alone, give it a message as that page
 * shows. cc agent.c $(pkg-config --cflags --libs cliq) -o agent
 */
#include <cliq.h>

#include <stdio.h>
#include <string.h>

static cliq_status
greet(cliq_context *ctx, void *user, cliq_error *err)
{
    const char *who = cliq_context_workflow_inputs(ctx, "who");
    char text[512];
    cliq_status s;

    (void)user;
    who = who ? who : "world";
    s = cliq_progressf(ctx, "greeting %s", who);
    snprintf(text, sizeof text, "Hello, %s\n", who);
    if (!s)
        s = cliq_write_file(ctx, "greeting.txt", text, strlen(text), err);
    cliq_board_mark_complete(ctx, cliq_context_phase(ctx));
    snprintf(text, sizeof text, "Wrote greeting.txt for %s.", who);
    for (size_t i = 0; !s && i < cliq_context_target_count(ctx); i++)
        s = cliq_send(ctx, cliq_context_target(ctx, i), "{\"file\":\"greeting.txt\"}", text, err);
    return s ? s : cliq_finalize_standard(ctx, err);
}

int
main(void)
{
    cliq_agent *agent = cliq_agent_new("greeter");

    cliq_agent_on(agent, "phase:standard", greet, NULL);
    int code = cliq_agent_run(agent);
    cliq_agent_free(agent);
    return code;
}

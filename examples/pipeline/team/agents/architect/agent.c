/* The architect: turns the requirement into a plan. With the C SDK (man 3 cliq-sdk). */
#include <cliq.h>

#include <stdio.h>

static cliq_status
plan(cliq_context *ctx, void *user, cliq_error *err)
{
    static const char data[] = "{\"file\":\"add.sh\",\"function\":\"add\",\"signature\":\"add A "
                               "B\",\"test\":\"sh test.sh\"}";
    char text[512];

    (void)user;
    cliq_progress(ctx, "reading the requirement", NULL);
    snprintf(text, sizeof text,
             "Write add.sh with a shell function add A B.\nThe requirement says: %.300s",
             cliq_context_req_spec(ctx));
    for (size_t i = 0; i < cliq_context_target_count(ctx); i++) {
        cliq_status s = cliq_send(ctx, cliq_context_target(ctx, i), data, text, err);
        if (s)
            return s;
    }
    cliq_board_mark_complete(ctx, cliq_context_phase(ctx));
    cliq_board_add_note(ctx, cliq_context_phase(ctx), "one file, one function");
    return cliq_finalize_standard(ctx, err);
}

int
main(void)
{
    cliq_agent *agent = cliq_agent_new("architect");

    cliq_agent_on(agent, "phase:standard", plan, NULL);
    int code = cliq_agent_run(agent);
    cliq_agent_free(agent);
    return code;
}

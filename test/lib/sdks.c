#include "sdks.h"

static struct arena arena;
cliq_agent *agent;
cliq_error err;
char cwd[4096];
unsigned calls;

int
sdk_enter(void **state)
{
    arena = (struct arena){ 0 };
    err = (cliq_error)CLIQ_ERROR_INIT;
    calls = 0;
    if (case_enter(state) || !getcwd(cwd, sizeof cwd))
        return -1;
    make_dirs(".cliq/signals");
    make_dirs(".cliq/roles");
    make_dirs(".cliq/channels");
    agent = cliq_agent_new("openai-analyst");
    return agent ? 0 : -1;
}

int
sdk_leave(void **state)
{
    cliq_agent_free(agent);
    arena_release(&arena);
    return case_leave(state);
}

const char *
message(const char *type, const char *payload, const char *targets, const char *more)
{
    struct buf b = { 0 }, dirs = { 0 };
    char list[256];

    snprintf(list, sizeof list, "%s", targets);
    for (char *t = strtok(list, " "); t; t = strtok(NULL, " "))
        buf_addf(&dirs, "%s\"%s/.cliq/channels/%s\"", dirs.len ? "," : "", cwd, t);
    buf_addf(
        &b,
        "{\"version\":1,\"type\":\"%s\",\"agent\":\"openai-analyst\",\"instance_id\":\"test-1\","
        "\"team_name\":\"test\",\"req_key\":\"TEST-1\",\"project_dir\":\"%s\",\"work_dir\":"
        "\"%s\",\"signal_dir\":\"%s/.cliq/signals\",\"handoff_dirs\":[%s],"
        "\"input_artifacts\":[{\"name\":\"spec\",\"type\":\"inline\",\"source\":\"x\"}],"
        "%s\"payload\":{%s}}",
        type, cwd, cwd, cwd, dirs.p ? dirs.p : "", more, payload);
    const char *text = arena_dup(&arena, b.p, b.len);
    buf_release(&b);
    buf_release(&dirs);
    return text;
}

cliq_status
dispatch(const char *text)
{
    return cliq_agent_dispatch(agent, text, strlen(text), &err);
}

cliq_status
dispatch_to(const char *key, cliq_handler handler, const char *text)
{
    assert_int_equal(cliq_agent_on(agent, key, handler, NULL), CLIQ_OK);
    return dispatch(text);
}

/* The value at a path of a JSON text: a string as it is, else JSON. */
static const char *
value(const char *json, size_t len, const char *path)
{
    const char *copy = arena_dup(&arena, json, len);
    struct json *v = NULL;
    struct buf b = { 0 };

    assert_true(json_parse(&arena, copy, len, &v, NULL));
    const struct json *found = json_path(v, path);
    if (!found)
        return "(none)";
    if (json_is(found, JSON_STRING))
        buf_add(&b, found->text.p, found->text.len);
    else
        json_write(&b, found);
    copy = arena_dup(&arena, b.p ? b.p : "", b.len);
    buf_release(&b);
    return copy;
}

const char *
in_file(const char *name, const char *path)
{
    size_t len;
    char *text = read_file(name, &len);
    const char *found = value(text, len, path);

    free(text);
    return found;
}

const char *
in_line(const char *name, int n, const char *path)
{
    size_t len;
    char *text = read_file(name, &len), *line = text;
    int lines = 0;

    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n';
    assert_true(len && text[len - 1] == '\n');
    for (int i = 0, at = n < 0 ? lines + n : n; i < at; i++)
        line = strchr(line, '\n') + 1;
    const char *found = value(line, strcspn(line, "\n"), path);
    free(text);
    return found;
}

int
count_lines(const char *name)
{
    size_t len;
    char *text = read_file(name, &len);
    int n = 0;

    for (size_t i = 0; i < len; i++)
        n += text[i] == '\n';
    free(text);
    return n;
}

cliq_status
send_results(cliq_context *ctx, void *user, cliq_error *e)
{
    cliq_status s = CLIQ_OK;

    (void)user;
    for (size_t i = 0; !s && i < cliq_context_target_count(ctx); i++)
        s = cliq_send_text(ctx, cliq_context_target(ctx, i), "Analysis results here.", e);
    return s ? s : cliq_finalize_standard(ctx, e);
}

cliq_status
does_nothing(cliq_context *ctx, void *user, cliq_error *e)
{
    (void)ctx, (void)user, (void)e;
    calls++;
    return CLIQ_OK;
}

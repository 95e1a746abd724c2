#include "context/agent_message.h"

#include "base/path.h"
#include "context/state_dir.h"

#include <string.h>

const struct field agent_message_fields[] = {
    { "version", "1", FIELD_REQUIRED, "the version of this protocol" },
    { "type", "phase, notify or test", FIELD_REQUIRED, "what is asked of the agent" },
    { "agent", "a text", FIELD_REQUIRED, "the name by which the agent was found" },
    { "instance_id", "a text", NULL,
      "the project's id (.cliq/cliq.id); an identity that is woken" },
    { "team_name", "a text", "\"\"", "the team's name" },
    { "req_key", "a text", "\"\"", "the key given with cliq req --key" },
    { "project_dir", "an absolute path", NULL, "the project's directory" },
    { "work_dir", "an absolute path", "project_dir", "the agent's working directory" },
    { "signal_dir", "an absolute path", FIELD_REQUIRED, "where its file of status lines is" },
    { "handoff_dirs", "a list of absolute paths", "[]",
      "the channels that it may write a handoff.json to" },
    { "input_artifacts", "a list of {name, type, source}", "[]",
      "files to read: requirement, design documents, handoffs; source is the path" },
    { "settings", "an object", "{}", "agents.<name> of the settings: the declared keys only" },
    { "payload", "an object", "{}", "the details; its members depend on type" },
    { 0 },
};

const struct field agent_message_phase[] = {
    { "phase_type", "standard, gate or team", "standard", "the phase's type" },
    { "phase", "a text", FIELD_REQUIRED, "the phase's name" },
    { "state_dir", "an absolute path", "the parent of signal_dir", "the run's directory, .cliq/" },
    { "attempt_id", "a text", NULL, "names the attempt; write it into every status line" },
    { "attempt", "a whole number", NULL, "1 for the first attempt of the phase in this run" },
    { "run_id", "a text", NULL, "the run's id" },
    { "timeout_ms", "a whole number", "no limit",
      "the attempt's time limit, counted from its start: then the agent is stopped" },
    { "is_support", "true", "false", "the phase is a support phase" },
    { "is_routed", "true", "false", "a gate sent the work here" },
    { "depends_on", "a list of texts", "every phase with a channel to this one",
      "depends_on of team.yml: the phases whose handoffs it reads" },
    { "action", "a text", NULL, "action of team.yml" },
    { "model", "a text", NULL, "model of team.yml" },
    { "role", "a text", NULL, "the text of the phase's role" },
    { "prompt", "an absolute path", NULL, "a file: the whole prompt for a model" },
    { "commands", "a list of {name, run, timeout_ms, escalate_on_fail}", NULL,
      "commands of team.yml, their variables replaced" },
    { "sources", "a list of objects", NULL, "sources of team.yml, expanded" },
    { "target_entries", "a list of objects", NULL, "target_entries of team.yml, expanded" },
    { "review", "an object", NULL, "review of team.yml, expanded" },
    { "phase_config", "an object", "{}",
      "the phase's fields that the schema of the agent's manifest declares, expanded, with their "
      "defaults" },
    { "session", "{id, usage}", NULL,
      "the conversation of an earlier attempt, to go on with: usage.session_id of its lines, and "
      "what its attempts used; absent for the first one, for another agent than that of the "
      "attempt, with session: fresh, and at a gate unless session: continue" },
    { 0 },
};

const struct field agent_message_gate[] = {
    { "check_results", "a list of {name, pass, exit_code, duration_ms, timed_out, output}", "[]",
      "what the gate's commands gave" },
    { "checks_only", "true", "false",
      "only the agent checks gets it: run the commands, no verdict" },
    { "route_targets", "a list of texts", "[]", "the phases that ROUTE may name, nearest first" },
    { "iteration", "a whole number", NULL, "1 for the gate's first decision" },
    { "max_iterations", "a whole number", NULL, "a ROUTE in this iteration escalates" },
    { 0 },
};

const struct field agent_message_notify[] = {
    { "id", "a text", FIELD_REQUIRED, "names the file of status lines" },
    { "state_dir", "an absolute path", NULL,
      "the run's directory; absent for an agent that is woken" },
    { "notifications", "a list of objects", FIELD_REQUIRED,
      "{event, channel, phase_name?, outcome?, reason?, …}; of a woken agent, signals" },
    { "identity", "a text", NULL, "of a woken agent: who it is to the hub" },
    { "upto", "a whole number", NULL, "of a woken agent: the number of the last signal" },
    { 0 },
};

const struct field agent_message_test[] = {
    { "id", "a text", NULL, "names the file of status lines; else instance_id does" },
    { 0 },
};

/* The text of a member, NUL-ended; NULL when it is absent or null. */
static enum status
get_text(struct arena *a, const struct json *object, const char *prefix, const char *key,
         const char **to, struct err *e)
{
    const struct json *v = json_get(object, key);

    *to = NULL;
    if (!v || json_is(v, JSON_NULL))
        return ST_OK;
    if (!json_is(v, JSON_STRING))
        return err_set(e, ST_INVALID, "the message's %s%s must be text", prefix, key);
    if (memchr(v->text.p, '\0', v->text.len))
        return err_set(e, ST_INVALID, "the message's %s%s holds a NUL byte", prefix, key);
    *to = arena_dup(a, v->text.p, v->text.len);
    return *to ? ST_OK : err_nomem(e);
}

/* The text of a member that must be an absolute path; NULL when it is absent or null. */
static enum status
get_path(struct arena *a, const struct json *object, const char *prefix, const char *key,
         const char **to, struct err *e)
{
    enum status s = get_text(a, object, prefix, key, to, e);

    if (!s && *to && (*to)[0] != '/')
        s = err_set(e, ST_INVALID, "the message's %s%s must be an absolute path, not \"%.200s\"",
                    prefix, key, *to);
    return s;
}

static enum status
get_container(const struct json *object, const char *key, enum json_type type,
              const struct json **to, struct err *e)
{
    const struct json *v = json_get(object, key);

    *to = json_is(v, JSON_NULL) ? NULL : v;
    if (*to && !json_is(v, type))
        return err_set(e, ST_INVALID, "the message's %s must be %s", key,
                       type == JSON_ARRAY ? "a list" : "an object");
    return ST_OK;
}

static enum status
get_handoff_dirs(struct arena *a, struct agent_message *m, struct err *e)
{
    const struct json *list;
    enum status s = get_container(m->root, "handoff_dirs", JSON_ARRAY, &list, e);

    if (s || !list || !list->kids.count)
        return s;
    m->handoff_dirs = arena_alloc(a, list->kids.count * sizeof *m->handoff_dirs);
    if (!m->handoff_dirs)
        return err_nomem(e);
    json_each (v, list) {
        if (!json_is(v, JSON_STRING) || memchr(v->text.p, '\0', v->text.len) || !v->text.len ||
            v->text.p[0] != '/')
            return err_set(e, ST_INVALID,
                           "the message's handoff_dirs must be absolute paths; number %zu is not",
                           m->n_handoff_dirs + 1);
        char *path = arena_dup(a, v->text.p, v->text.len);
        if (!path)
            return err_nomem(e);
        for (size_t n = v->text.len; n > 1 && path[n - 1] == '/'; n--)
            path[n - 1] = '\0';
        m->handoff_dirs[m->n_handoff_dirs++] = path;
    }
    return ST_OK;
}

/* The parent of the nearest directory called signals at or above the path; NULL: none. */
static const char *
above_signals(struct arena *a, const char *path)
{
    size_t n = strlen(path);

    while (n > 0) {
        while (n > 0 && path[n - 1] == '/')
            n--;
        size_t start = n;
        while (start > 0 && path[start - 1] != '/')
            start--;
        if (n - start == 7 && !memcmp(path + start, "signals", 7) && start > 1)
            return arena_dup(a, path, start - 1);
        n = start;
    }
    return NULL;
}

static enum status
find_state_dir(struct arena *a, struct agent_message *m, struct err *e)
{
    struct buf b = { 0 };
    enum status s = get_path(a, m->payload, "payload.", "state_dir", &m->state_dir, e);

    if (s || m->state_dir || (m->state_dir = above_signals(a, m->signal_dir)) || !m->project_dir)
        return s;
    buf_addf(&b, "%s/.cliq", m->project_dir);
    if (!buf_failed(&b))
        m->state_dir = arena_dup(a, b.p, b.len);
    buf_release(&b);
    return m->state_dir ? ST_OK : err_nomem(e);
}

static enum status
check_phase(struct arena *a, struct agent_message *m, struct err *e)
{
    enum status s = get_text(a, m->payload, "payload.", "phase", &m->phase, e);

    if (!s)
        s = get_text(a, m->payload, "payload.", "phase_type", &m->phase_type, e);
    if (!s)
        s = get_text(a, m->payload, "payload.", "attempt_id", &m->attempt_id, e);
    if (s)
        return s;
    if (!m->phase)
        return err_set(e, ST_INVALID, "the message has no payload.phase, the phase to run");
    if (!state_dir_is_phase_name(m->phase))
        return err_set(e, ST_INVALID,
                       "the message's payload.phase \"%.200s\" is not a name of a phase: use a-z "
                       "0-9 -, begin with a letter, no --",
                       m->phase);
    if (!m->phase_type)
        m->phase_type = "standard";
    if (strcmp(m->phase_type, "standard") != 0 && strcmp(m->phase_type, "gate") != 0 &&
        strcmp(m->phase_type, "team") != 0)
        return err_set(e, ST_INVALID,
                       "the message's payload.phase_type \"%.200s\" is not known: it must be "
                       "standard, gate or team",
                       m->phase_type);
    if (!m->state_dir)
        return err_set(e, ST_INVALID,
                       "the message does not say where the pipeline keeps its files: set "
                       "payload.state_dir or project_dir");
    return ST_OK;
}

static enum status
check_head(const struct agent_message *m, struct err *e)
{
    const struct json *version = json_get(m->root, "version");
    int64_t v;

    if (!version)
        return err_set(e, ST_INVALID, "the message has no version; this cliq supports version 1");
    if (!json_int(version, &v) || v != 1)
        return err_set(e, ST_INVALID,
                       "the message's version is not 1, the only one that this cliq supports");
    if (!m->type)
        return err_set(e, ST_INVALID, "the message has no type: phase, notify or test");
    if (strcmp(m->type, "phase") != 0 && strcmp(m->type, "notify") != 0 &&
        strcmp(m->type, "test") != 0)
        return err_set(e, ST_INVALID,
                       "the message's type \"%.200s\" is not known: it must be phase, notify or "
                       "test",
                       m->type);
    if (!m->agent)
        return err_set(e, ST_INVALID, "the message has no agent");
    if (!m->signal_dir)
        return err_set(e, ST_INVALID,
                       "the message has no signal_dir, the directory of the agent's status lines");
    return path_check_name("agent name in the message", m->agent, e);
}

enum status
agent_message_parse(struct arena *a, const char *text, size_t len, struct agent_message *m,
                    struct err *e)
{
    struct json *root = NULL;

    *m = (struct agent_message){ 0 };
    size_t blank = 0;
    while (blank < len && strchr(" \t\r\n", text[blank]) && text[blank])
        blank++;
    if (blank == len)
        return err_set(e, ST_INVALID,
                       "there is no message: an agent reads its AgentMessage from standard input");
    enum status s = json_parse_named(a, "message", text, len, &root, e);
    if (s)
        return s;
    m->root = root;
    if (!json_is(root, JSON_OBJECT))
        return err_set(e, ST_INVALID, "the message must be a JSON object");

    const struct {
        const char *key;
        const char **to;
        bool is_path;
    } texts[] = {
        { "type", &m->type, false },
        { "agent", &m->agent, false },
        { "instance_id", &m->instance_id, false },
        { "team_name", &m->team_name, false },
        { "req_key", &m->req_key, false },
        { "project_dir", &m->project_dir, true },
        { "work_dir", &m->work_dir, true },
        { "signal_dir", &m->signal_dir, true },
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts && !s; i++)
        s = (texts[i].is_path ? get_path : get_text)(a, root, "", texts[i].key, texts[i].to, e);
    if (!s)
        s = check_head(m, e);
    if (!s)
        s = get_container(root, "input_artifacts", JSON_ARRAY, &m->input_artifacts, e);
    if (!s)
        s = get_container(root, "settings", JSON_OBJECT, &m->settings, e);
    if (!s)
        s = get_container(root, "payload", JSON_OBJECT, &m->payload, e);
    if (!s)
        s = get_handoff_dirs(a, m, e);
    if (!s)
        s = find_state_dir(a, m, e);
    if (!s && strcmp(m->type, "phase") == 0)
        s = check_phase(a, m, e);
    if (!m->work_dir)
        m->work_dir = m->project_dir;
    return s;
}

/* ---- writing ---- */

static void
write_container(struct buf *to, const char *key, const struct json *v, const char *empty)
{
    if (v)
        json_key_json(to, key, v);
    else
        json_key_raw(to, key, empty, strlen(empty));
}

void
agent_message_begin(struct buf *to, const struct agent_message *m)
{
    json_open(to, '{');
    json_key_int(to, "version", 1);
    json_key_str(to, "type", m->type);
    json_key_str(to, "agent", m->agent);
    json_key_str(to, "instance_id", m->instance_id);
    json_key_str(to, "team_name", m->team_name ? m->team_name : "");
    json_key_str(to, "req_key", m->req_key ? m->req_key : "");
    json_key_str(to, "project_dir", m->project_dir);
    json_key_str(to, "work_dir", m->work_dir ? m->work_dir : m->project_dir);
    json_key_str(to, "signal_dir", m->signal_dir);
    json_key_strs(to, "handoff_dirs", m->handoff_dirs, m->n_handoff_dirs);
    write_container(to, "input_artifacts", m->input_artifacts, "[]");
    write_container(to, "settings", m->settings, "{}");
    json_key(to, "payload");
    json_open(to, '{');
    json_key_str(to, "phase_type", m->phase_type);
    json_key_str(to, "phase", m->phase);
    json_key_str(to, "state_dir", m->state_dir);
    json_key_str(to, "attempt_id", m->attempt_id);
}

enum status
agent_message_end(struct buf *to, struct err *e)
{
    json_close(to, '}');
    json_close(to, '}');
    buf_addc(to, '\n');
    return buf_status(to, "the agent's message", e);
}

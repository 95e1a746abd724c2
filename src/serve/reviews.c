#include "serve/reviews.h"

#include "agents/review/review_desk.h"
#include "hub/model/scope.h"

#include <string.h>

static struct review_asker
asker_of(const struct file_call *c)
{
    return (struct review_asker){ c->config, c->identity, c->is_admin };
}

static enum status
list(struct file_call *c, struct err *e)
{
    struct review_asker by = asker_of(c);
    const char *state = NULL;
    struct json *list;

    if (!arg_word(&c->in, "state", &state))
        return ST_INVALID;
    enum status s = review_desk_list(&by, state, &c->arena, &list, e);
    if (!s)
        json_write(&c->out, list);
    return s;
}

static enum status
show(struct file_call *c, struct err *e)
{
    struct review_asker by = asker_of(c);
    struct state_dir project;
    const char *id = "";
    struct json *doc;

    if (!arg_text(&c->in, "id", &id))
        return ST_INVALID;
    enum status s = review_desk_find(&by, id, &c->arena, &project, &doc, e);
    if (!s) {
        review_desk_compare(&project, &c->arena, doc);
        json_write(&c->out, doc);
    }
    state_dir_close(&project);
    return s;
}

/* Answers the file `path` that the review keeps; NULL: what changed. */
static enum status
read_kept(struct file_call *c, const char *path, struct err *e)
{
    struct review_asker by = asker_of(c);
    struct state_dir project;
    const char *id = "";
    struct json *doc;

    if (!arg_text(&c->in, "id", &id))
        return ST_INVALID;
    enum status s = review_desk_find(&by, id, &c->arena, &project, &doc, e);
    if (!s)
        s = review_desk_read(&project, &c->arena, doc, path, &c->out, e);
    state_dir_close(&project);
    return s;
}

static enum status
read_artifact(struct file_call *c, struct err *e)
{
    const char *path = "";

    return arg_text(&c->in, "path", &path) ? read_kept(c, path, e) : ST_INVALID;
}

static enum status
read_diff(struct file_call *c, struct err *e)
{
    return read_kept(c, NULL, e);
}

/* "/reviews/:id/approve" */
static enum review_verdict
verdict_of(const struct file_route *r)
{
    return review_verdict_of(strrchr(r->path, '/') + 1);
}

/* As long as review_check allows. */
static bool
take_comment(struct file_call *c, const char **text)
{
    const struct json *v = NULL;

    if (!arg_json(&c->in, "comment", &v))
        return false;
    *text = json_dup_text(&c->arena, v);
    return true;
}

static enum status
answer(struct file_call *c, struct err *e)
{
    struct review_asker by = asker_of(c);
    struct review_answer given = { .by = c->identity, .verdict = verdict_of(c->route) };
    enum review_next next;
    struct state_dir project;
    const char *id = "";
    struct json *doc;

    if (!arg_text(&c->in, "id", &id) || !take_comment(c, &given.text) ||
        (given.verdict == REVIEW_CHANGES && !arg_text(&c->in, "to", &given.to)))
        return ST_INVALID;
    enum status s = review_desk_find(&by, id, &c->arena, &project, &doc, e);
    if (!s)
        s = review_desk_answer(&project, c->config, &c->arena, id, &given, &doc, &next, e);
    if (!s) {
        const char *name = review_next_name(next);
        json_set(doc, "project",
                 json_new_str(&c->arena, project.project_dir, strlen(project.project_dir)));
        json_set(doc, "next", json_new_str(&c->arena, name, strlen(name)));
        json_write(&c->out, doc);
    }
    state_dir_close(&project);
    return s;
}

/* ---- the table ---- */

#define ID                                                                                         \
    {                                                                                              \
        "id", A_TEXT, .is_required = true, .brief = "as accept-1-3fa9c2"                           \
    }
#define WHY(is_needed)                                                                             \
    {                                                                                              \
        "comment", A_STRING, .is_required = (is_needed), .brief = "why; at most 16 KiB"            \
    }
#define END                                                                                        \
    {                                                                                              \
        .name = NULL                                                                               \
    }
#define STATES "open approve changes reject expired cancelled"

static const struct hub_arg list_args[] = {
    { "state", A_WORD(STATES), .brief = "only those in this state" }, END
};
static const struct hub_arg id_args[] = { ID, END };
static const struct hub_arg file_args[] = {
    ID, { "path", A_TEXT, .is_required = true, .brief = "as `artifacts` has it" }, END
};
static const struct hub_arg approve_args[] = { ID, WHY(false), END };
static const struct hub_arg changes_args[] = {
    ID,
    WHY(true),
    { "to", A_TEXT, .brief = "the phase that works on it again; else the first" },
    END
};
static const struct hub_arg reject_args[] = { ID, WHY(true), END };

#define ANSWER(path, brief, args)                                                                  \
    {                                                                                              \
        "POST", path, brief, SCOPE_REVIEW, args, .answer = "Review", .noun = "REVIEW",             \
                                                 .conflict = "REVIEW_ANSWERED", .run = answer      \
    }

const struct file_route reviews_routes[] = {
    { "GET", "/reviews", "the reviews that are for you, newest first; admins: all", SCOPE_REVIEW,
      list_args, .answer = "ReviewRow[]", .noun = "REVIEW", .run = list },
    { "GET", "/reviews/:id", "a review: checks, handoffs, artifacts, answers", SCOPE_REVIEW,
      id_args, .answer = "Review", .noun = "REVIEW", .run = show },
    { "GET", "/reviews/:id/file", "an artifact, as it was when the review was made", SCOPE_REVIEW,
      file_args, .type = "application/octet-stream", .noun = "REVIEW", .run = read_artifact },
    { "GET", "/reviews/:id/diff", "what had changed in the repository since the run began",
      SCOPE_REVIEW, id_args, .type = "text/plain; charset=utf-8", .noun = "REVIEW",
      .run = read_diff },
    ANSWER("/reviews/:id/approve", "pass the gate", approve_args),
    ANSWER("/reviews/:id/changes", "send the work back", changes_args),
    ANSWER("/reviews/:id/reject", "end the run: it escalates", reject_args),
    { .path = NULL },
};

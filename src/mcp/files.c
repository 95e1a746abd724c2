#include "mcp/files.h"

#include "agents/review/review_desk.h"
#include "base/path.h"
#include "base/sys.h"
#include "context/handoff.h"
#include "manager/room_picture.h"
#include "manager/room_signals.h"
#include "room/room.h"
#include "run/run_json.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LAST_DEFAULT = 20, /* messages of a room */
    LAST_MAX = 200,
    NAME_ROOM = 160, /* bytes of "FROM--TO" */
};

/* ---- the project ---- */

static enum status
open_project(struct state_dir *f, struct err *e)
{
    const char *state = getenv("CLIQ_STATE_DIR"), *project = getenv("CLIQ_PROJECT_DIR");

    return state && *state && project && *project ? state_dir_open(f, state, project, e)
                                                  : state_dir_find(f, e);
}

/* "cliq-a1b2c3", as .cliq/cliq.id has it; "project" when it has none. */
static const char *
project_id(const struct state_dir *f, struct arena *a)
{
    struct buf text = { 0 };
    const char *id = NULL;
    char path[4096];

    snprintf(path, sizeof path, "%s/.cliq/cliq.id", f->project_dir);
    if (path_read_file(AT_FDCWD, path, &text, NULL) == ST_OK && text.len)
        id = arena_dup(a, text.p, strcspn(text.p, " \n"));
    buf_release(&text);
    return id && path_is_name(id) ? id : "project";
}

/* The arguments are checked against their table: a slip there is refused with its sentence. */
static enum status
refused(const struct args_in *in, struct err *e)
{
    return err_set(e, ST_INVALID, "%s", in->refusal->message);
}

/* ---- rooms ---- */

#define TYPE(name, says) name " "
static const char room_types[] =
#include "room/types.def"
    ;
#undef TYPE

const struct hub_arg mcp_room_post_args[] = {
    { "room", A_NAME, .is_required = true, .brief = "the war-room; made when it is new" },
    { "from", A_NAME, .brief = "the role you speak as; else your identity" },
    { "to", A_NAME, .is_required = true, .brief = "the role it is for" },
    { "type", A_WORD(room_types), .is_required = true, .brief = "what kind of message it is" },
    { "ref", A_TEXT, .is_required = true, .brief = "the task or epic it is about, like EPIC-001" },
    { "body", A_STRING, .is_required = true, .brief = "what is said, Markdown" },
    { 0 },
};

enum status
mcp_room_post(struct mcp_files *f, struct args_in *in, struct buf *out, struct err *e)
{
    const char *room = NULL;
    const struct json *body = NULL;
    struct message m = { .from = f->identity };
    struct channel c;
    char id[MESSAGE_ID_SIZE];
    bool is_cut;

    if (!arg_name(in, "room", &room) || !arg_name(in, "from", &m.from) ||
        !arg_name(in, "to", &m.to) || !arg_word(in, "type", &m.type) ||
        !arg_text(in, "ref", &m.ref) || !arg_json(in, "body", &body))
        return refused(in, e);
    m.body = body->text.p;
    m.body_len = body->text.len;
    enum status s = message_check(&m, false, e);
    if (!s)
        s = channel_open(&c, room, true, e);
    if (s)
        return s;
    s = channel_post(&c, &m, id, &is_cut, e);
    if (!s) {
        json_open(out, '{');
        json_key_str(out, "id", id);
        json_key_str(out, "room", room);
        if (is_cut)
            json_key_str(out, "warning", "the body was too long and was cut");
        json_close(out, '}');
        room_signals_posted(NULL, room, &m, c.max_body, id);
    }
    channel_close(&c);
    return s;
}

const struct hub_arg mcp_room_read_args[] = {
    { "room", A_NAME, .brief = "the war-room" },
    { "type", A_WORDS(room_types), .brief = "only those of these types" },
    { "from", A_NAME, .brief = "only those from this role" },
    { "to", A_NAME, .brief = "only those to this role" },
    { "ref", A_TEXT, .brief = "only those about this task or epic" },
    { "after", A_TEXT, .brief = "only those after the one with this id" },
    { "last", A_INT(1, LAST_MAX), .brief = "how many at most, the latest; 20 when absent" },
    { 0 },
};

/* Messages as they are collected; with `max`, until that many are there. */
struct room_lines {
    struct buf *out;
    size_t n, max;
};

static enum status
add_message(void *ctx, const struct json *message, struct err *e)
{
    struct room_lines *l = ctx;

    if (l->n++ == l->max)
        return err_set(e, ST_CANCELLED, "enough");
    json_sep(l->out);
    json_write(l->out, message);
    return ST_OK;
}

/* The members that say where a room stands; none of a conversation that carries no task. */
static void
add_state(struct mcp_files *f, const char *room, struct buf *out)
{
    struct rooms r;
    struct players players = { 0 };
    struct room_picture p;

    if (rooms_open(&r, false, NULL))
        return;
    if (players_open(&players, &r, NULL) == ST_OK &&
        room_picture_read(&r, &players, f->arena, room, &p, NULL) == ST_OK) {
        json_key_str(out, "state", p.state);
        json_key_str(out, "role", p.role);
        json_key_str(out, "player", p.role ? p.player.name : NULL);
    }
    players_close(&players);
    rooms_close(&r);
}

/* {"rooms":[…]} as cliq room list --json has them; of those that carry no task the name alone. */
static enum status
list_rooms(struct mcp_files *f, struct buf *out, struct err *e)
{
    struct rooms r;
    struct players players = { 0 };
    struct room_picture p;
    const char **names;
    size_t n = 0;
    enum status s = rooms_open(&r, false, e);

    if (!s)
        s = players_open(&players, &r, e);
    if (!s)
        s = rooms_list(&r, f->arena, true, &names, &n, e);
    json_open(out, '{');
    json_key(out, "rooms");
    json_open(out, '[');
    for (size_t i = 0; !s && i < n; i++) {
        json_sep(out);
        if (room_picture_read(&r, &players, f->arena, names[i], &p, NULL) == ST_OK) {
            room_picture_json(&p, false, out);
            continue;
        }
        json_open(out, '{');
        json_key_str(out, "room", names[i]);
        json_close(out, '}');
    }
    json_close(out, ']');
    json_close(out, '}');
    players_close(&players);
    rooms_close(&r);
    return s;
}

/* {"room":"room-001","state":"review","role":"qa","player":"person","messages":[…],"more":true}:
 * more, when there are newer ones than these. */
static enum status
read_room(struct mcp_files *f, const char *room, const char *after, int64_t last,
          const struct message_filter *filter, struct buf *out, struct err *e)
{
    struct room_lines lines = { .out = out, .max = (size_t)last };
    struct channel_range range = { .is_last = !after, .last = (uint64_t)last };
    uint64_t bad = 0;
    int fd = -1;
    enum status s = channel_open_read(room, &fd, e);

    if (!s && fd < 0)
        s = err_set(e, ST_NOT_FOUND, "there is no room %s yet: room_post makes it", room);
    if (!s && after) {
        s = channel_find_after(fd, after, &range.from, e);
        if (!s && range.from < 0)
            s = err_set(e, ST_NOT_FOUND, "no message with the id %s in %s", after, room);
    }
    if (!s) {
        json_open(out, '{');
        json_key_str(out, "room", room);
        add_state(f, room, out);
        json_key(out, "messages");
        json_open(out, '[');
        s = channel_read(fd, &range, filter, add_message, &lines, &bad, e);
        json_close(out, ']');
        if (s == ST_CANCELLED) {
            json_key_bool(out, "more", true);
            s = ST_OK;
        }
        json_close(out, '}');
    }
    if (fd >= 0)
        close(fd);
    return s;
}

enum status
mcp_room_read(struct mcp_files *f, struct args_in *in, struct buf *out, struct err *e)
{
    const char *room = NULL, *after = NULL;
    const struct json *types = NULL;
    struct message_filter filter = { 0 };
    int64_t last = LAST_DEFAULT;
    size_t n = 0;

    if (!arg_name(in, "room", &room) || !arg_texts(in, "type", &types) ||
        !arg_name(in, "from", &filter.from) || !arg_name(in, "to", &filter.to) ||
        !arg_text(in, "ref", &filter.ref) || !arg_text(in, "after", &after) ||
        !arg_int(in, "last", &last))
        return refused(in, e);
    json_each (t, types)
        n++;
    const char **list = arena_alloc(f->arena, (n + 1) * sizeof *list);
    if (!list)
        return err_nomem(e);
    json_each (t, types)
        list[filter.n_types++] = json_dup_text(f->arena, t);
    filter.types = list;
    return room ? read_room(f, room, after, last, &filter, out, e) : list_rooms(f, out, e);
}

/* ---- the pipeline ---- */

const struct hub_arg mcp_pipeline_status_args[] = {
    { "run", A_TEXT, .brief = "an earlier run: the begin of its id; else the present one" },
    { 0 },
};

enum status
mcp_pipeline_status(struct mcp_files *files, struct args_in *in, struct buf *out, struct err *e)
{
    struct state_dir project = { .dir = -1 };
    const char *id = NULL;

    (void)files;
    if (!arg_text(in, "run", &id))
        return refused(in, e);
    enum status s = open_project(&project, e);
    if (!s)
        s = run_json(&project, id, out, e);
    state_dir_close(&project);
    return s;
}

/* ---- handoffs ---- */

const struct hub_arg mcp_handoff_args[] = {
    { "from", A_NAME, .brief = "the phase that handed over; else any" },
    { "to", A_NAME, .brief = "the phase that it is for; else yours, or any" },
    { 0 },
};

static int
is_entry(const struct dirent *d)
{
    return path_is_name(d->d_name) &&
           (d->d_type == DT_DIR || d->d_type == DT_LNK || d->d_type == DT_UNKNOWN);
}

/* Calls fn with each directory in `path`, by name; a missing one is empty. */
static enum status
each_dir(const char *path, enum status (*fn)(void *ctx, const char *name, struct err *e), void *ctx,
         struct err *e)
{
    struct dirent **found = NULL;
    int n = scandir(path, &found, is_entry, alphasort);
    enum status s = n < 0 && errno != ENOENT ? err_sys(e, "list %s", path) : ST_OK;

    for (int i = 0; i < n; i++) {
        if (!s)
            s = fn(ctx, found[i]->d_name, e);
        free(found[i]);
    }
    free(found);
    return s;
}

/* Handoffs as they are looked for. */
struct handoff_search {
    struct arena *arena;
    const struct state_dir *state;
    const char *project, *from, *to;
    struct buf *out;
    size_t n;
    bool is_list; /* resources: URIs instead of envelopes */
    struct mcp_list *list;
};

static enum status
read_handoff(struct handoff_search *h, const char *channel, struct handoff *to, struct err *e)
{
    struct buf path = { 0 };
    char name[NAME_ROOM + 16];

    snprintf(name, sizeof name, "channels/%s", channel);
    state_dir_path(h->state, &path, name);
    enum status s = buf_status(&path, "the path", e);
    if (!s)
        s = handoff_read(h->arena, path.p, to, e);
    buf_release(&path);
    return s;
}

static enum status
add_handoff(void *ctx, const char *name, struct err *e)
{
    struct handoff_search *h = ctx;
    struct handoff envelope;
    const char *dashes = strstr(name, "--");
    char from[NAME_ROOM], uri[3 * NAME_ROOM];

    if (!dashes || strlen(name) >= NAME_ROOM)
        return ST_OK;
    snprintf(from, sizeof from, "%.*s", (int)(dashes - name), name);
    if ((h->from && strcmp(h->from, from) != 0) || (h->to && strcmp(h->to, dashes + 2) != 0))
        return ST_OK;
    enum status s = read_handoff(h, name, &envelope, e);
    if (s == ST_NOT_FOUND)
        return ST_OK;
    if (s)
        return s;
    h->n++;
    snprintf(uri, sizeof uri, "handoff://%s/%s", h->project, name);
    if (h->list) {
        mcp_list_add(h->list, uri, name, "what a phase handed over");
        return ST_OK;
    }
    json_sep(h->out);
    json_open(h->out, '{');
    json_key_str(h->out, "from", from);
    json_key_str(h->out, "to", dashes + 2);
    json_key_str(h->out, "uri", uri);
    json_key_json(h->out, "handoff", handoff_json(h->arena, &envelope));
    json_close(h->out, '}');
    return ST_OK;
}

static enum status
search_handoffs(struct handoff_search *h, struct err *e)
{
    struct buf path = { 0 };

    h->project = project_id(h->state, h->arena);
    state_dir_path(h->state, &path, "channels");
    enum status s = buf_status(&path, "the path", e);
    if (!s)
        s = each_dir(path.p, add_handoff, h, e);
    buf_release(&path);
    return s;
}

static enum status
write_handoffs(struct mcp_files *f, const char *from, const char *to, struct buf *out,
               struct err *e)
{
    struct state_dir state = { .dir = -1 };
    enum status s = open_project(&state, e);
    struct handoff_search h = {
        .arena = f->arena, .state = &state, .from = from, .to = to, .out = out
    };

    json_open(out, '{');
    json_key(out, "handoffs");
    json_open(out, '[');
    if (!s)
        s = search_handoffs(&h, e);
    json_close(out, ']');
    json_close(out, '}');
    if (!s && !h.n && (from || to))
        s = err_set(e, ST_NOT_FOUND, "no handoff%s%s%s%s yet", from ? " from " : "",
                    from ? from : "", to ? " to " : "", to ? to : "");
    state_dir_close(&state);
    return s;
}

enum status
mcp_handoff(struct mcp_files *f, struct args_in *in, struct buf *out, struct err *e)
{
    const char *from = NULL, *to = NULL, *mine = getenv("CLIQ_PHASE");

    if (!arg_name(in, "from", &from) || !arg_name(in, "to", &to))
        return refused(in, e);
    if (!from && !to && mine && state_dir_is_phase_name(mine))
        to = mine;
    return write_handoffs(f, from, to, out, e);
}

/* ---- reviews ---- */

const struct hub_arg mcp_review_args[] = {
    { "id", A_TEXT, .brief = "the review, or the begin of its id" },
    { "verdict", A_WORD("approve changes reject"),
      .brief = "your decision, as one of its reviewers" },
    { "text", A_STRING, .brief = "why; changes and reject need it" },
    { "to", A_NAME, .brief = "changes: the phase that works on it again; else the first" },
    { 0 },
};

static enum status
list_reviews(struct mcp_files *f, const struct state_dir *state, struct buf *out, struct err *e)
{
    struct json *docs;
    enum status s = review_list(state, f->arena, &docs, e);

    if (s)
        return s;
    json_open(out, '{');
    json_key(out, "reviews");
    json_open(out, '[');
    json_each (doc, docs) {
        json_sep(out);
        json_open(out, '{');
        json_key_json(out, "id", json_get(doc, "id"));
        json_key_json(out, "gate", json_get(doc, "gate"));
        json_key_str(out, "state", review_desk_state(state, f->arena, doc));
        json_key_json(out, "reviewers", json_get(doc, "reviewers"));
        json_key_bool(out, "is_yours", review_is_reviewer(doc, f->identity));
        json_close(out, '}');
    }
    json_close(out, ']');
    json_close(out, '}');
    return ST_OK;
}

enum status
mcp_review(struct mcp_files *f, struct args_in *in, struct buf *out, struct err *e)
{
    const char *id = NULL, *word = NULL, *to = NULL;
    const struct json *text = NULL;
    struct state_dir state = { .dir = -1 };
    enum review_next next;
    struct json *doc;

    if (!arg_text(in, "id", &id) || !arg_word(in, "verdict", &word) ||
        !arg_json(in, "text", &text) || !arg_name(in, "to", &to))
        return refused(in, e);
    struct review_answer given = { .by = f->identity,
                                   .verdict = word ? review_verdict_of(word) : REVIEW_NONE,
                                   .to = to,
                                   .text = json_dup_text(f->arena, text) };
    if (!id && (word || text || to))
        return err_set(e, ST_INVALID, "review needs id: review without arguments lists them");
    if (!word && (text || to))
        return err_set(e, ST_INVALID, "review needs verdict: approve, changes or reject");
    if (word && given.verdict != REVIEW_APPROVE && (!given.text || !*given.text))
        return err_set(e, ST_INVALID, "say why in text: %s needs it", word);
    enum status s = open_project(&state, e);
    if (!s)
        s = id ? review_find(&state, f->arena, id, &doc, e) : list_reviews(f, &state, out, e);
    if (!s && word)
        s = review_desk_answer(&state, NULL, f->arena, review_text(f->arena, doc, "id"), &given,
                               &doc, &next, e);
    if (!s && id)
        json_write(out, doc);
    state_dir_close(&state);
    return s;
}

/* ---- resources ---- */

static enum status
add_room(void *ctx, const char *name, struct err *e)
{
    struct mcp_list *l = ctx;
    char uri[PATH_NAME_MAX + 16];
    int fd;
    enum status s = channel_open_read(name, &fd, e);

    if (s || fd < 0)
        return ST_OK; /* no room of ours */
    close(fd);
    snprintf(uri, sizeof uri, "room://%s", name);
    mcp_list_add(l, uri, name, "the last messages of this war-room");
    return ST_OK;
}

static enum status
list_resources(struct mcp_files *f, size_t from, struct buf *out, struct err *e)
{
    struct mcp_list l = { .to = out, .from = from };
    struct state_dir state = { .dir = -1 };
    struct buf rooms = { 0 };
    struct err none;
    char uri[HUB_NAME_MAX + 16];

    json_key(out, "resources");
    json_open(out, '[');
    if (f->identity) {
        snprintf(uri, sizeof uri, "inbox://%s", f->identity);
        mcp_list_add(&l, uri, "inbox", "what waits for you");
    }
    enum status s = room_base(&rooms, e);
    if (!s)
        s = each_dir(rooms.p, add_room, &l, e);
    if (!s && open_project(&state, &none) == ST_OK) {
        struct handoff_search h = { .arena = f->arena, .state = &state, .list = &l };
        s = search_handoffs(&h, e);
    }
    mcp_list_end(&l);
    state_dir_close(&state);
    buf_release(&rooms);
    return s;
}

static enum status
check_project(const struct mcp_uri *u, struct arena *a, struct state_dir *state, struct err *e)
{
    enum status s = open_project(state, e);
    const char *id = s ? "" : project_id(state, a);

    if (!s && strcmp(id, u->name) != 0)
        s = err_set(e, ST_NOT_FOUND, "the project here is %s, not %s", id, u->name);
    return s;
}

static enum status
read_resource(struct mcp_files *f, const char *text, struct buf *out, struct err *e)
{
    static const struct message_filter all = { 0 };
    struct state_dir state = { .dir = -1 };
    struct mcp_uri u;
    struct handoff envelope;
    char name[NAME_ROOM];
    enum status s = mcp_uri_parse(f->arena, text, &u, e);

    if (!s && u.scheme == MCP_ROOM)
        return read_room(f, u.name, NULL, MCP_PAGE, &all, out, e);
    if (!s)
        s = check_project(&u, f->arena, &state, e);
    if (!s) {
        struct handoff_search h = { .arena = f->arena, .state = &state };
        snprintf(name, sizeof name, "%s--%s", u.from, u.to);
        s = read_handoff(&h, name, &envelope, e);
    }
    if (!s)
        json_write(out, handoff_json(f->arena, &envelope));
    state_dir_close(&state);
    return s;
}

enum status
mcp_files_watch(struct arena *a, const char *uri, struct watch *w, struct err *e)
{
    struct state_dir state = { .dir = -1 };
    struct buf path = { 0 };
    struct mcp_uri u;
    char name[NAME_ROOM + 16];
    enum status s = mcp_uri_parse(a, uri, &u, e);

    if (!s && u.scheme == MCP_ROOM) {
        s = room_path(&path, u.name, e);
    } else if (!s) {
        s = check_project(&u, a, &state, e);
        snprintf(name, sizeof name, "channels/%s--%s", u.from, u.to);
        if (!s)
            state_dir_path(&state, &path, name);
    }
    if (!s)
        s = buf_status(&path, "the path", e);
    if (!s)
        s = watch_open_file(w, path.p, u.scheme == MCP_ROOM ? ROOM_CHANNEL : "handoff.json", e);
    state_dir_close(&state);
    buf_release(&path);
    return s;
}

/* ---- what a request needs ---- */

enum status
mcp_files_run(struct mcp_files *f, const struct mcp_request *r, struct buf *out, struct err *e)
{
    struct hub_arg known[MCP_ARGS_MAX];
    struct refusal refusal = { 0 };
    struct args_in in = {
        .object = r->args, .known = known, .prefix = "", .arena = f->arena, .refusal = &refusal
    };

    if (r->tool) {
        mcp_tool_args(r->tool, known);
        return r->tool->run(f, &in, out, e);
    }
    if (r->prompt)
        return write_handoffs(f, json_dup_text(f->arena, json_get(r->args, "from")),
                              json_dup_text(f->arena, json_get(r->args, "to")), out, e);
    return r->uri ? read_resource(f, r->uri, out, e) : list_resources(f, r->from, out, e);
}

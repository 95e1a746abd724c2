#include "serve/room_routes.h"

#include "base/path.h"
#include "hub/model/scope.h"
#include "manager/room_act.h"
#include "manager/room_picture.h"
#include "run/project_list.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE_DEFAULT = 100, PAGE_MAX = 1000, PLACES_MAX = 256 };

/* ---- the projects with rooms --------------------------------------------- */

struct room_place {
    const char *project; /* its id; "": the server's own directory */
    struct rooms rooms;
};

struct room_places {
    struct room_place v[PLACES_MAX];
    size_t n;
    struct project_list projects;
};

static bool
is_known(const struct room_places *p, const struct rooms *r)
{
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->v[i].rooms.base, r->base) == 0)
            return true;
    return false;
}

static void
add_place(struct room_places *p, const char *project, struct rooms *r)
{
    if (p->n == PLACES_MAX || is_known(p, r))
        rooms_close(r);
    else
        p->v[p->n++] = (struct room_place){ project, *r };
}

static bool
is_wanted(const char *project, const char *wanted)
{
    return !wanted || strcmp(project, wanted) == 0;
}

/* Those that have rooms; with `may_make` also those that could have. */
static enum status
find_places(const char *config, const char *wanted, bool may_make, struct room_places *p,
            struct err *e)
{
    struct rooms r;
    enum status s = project_list_read(config, &p->projects, e);

    p->n = 0;
    for (size_t i = 0; !s && i < p->projects.n; i++) {
        const struct project *project = &p->projects.projects[i];
        if (is_wanted(project->id, wanted) &&
            rooms_open_project(&r, project->path, false, NULL) == ST_OK) {
            if (r.dir >= 0 || (may_make && path_is_name(project->id)))
                add_place(p, project->id, &r);
            else
                rooms_close(&r);
        }
    }
    if (!s && !wanted && rooms_open(&r, false, NULL) == ST_OK) {
        if (r.dir >= 0)
            add_place(p, "", &r);
        else
            rooms_close(&r);
    }
    return s;
}

static void
close_places(struct room_places *p)
{
    for (size_t i = 0; i < p->n; i++)
        rooms_close(&p->v[i].rooms);
    project_list_release(&p->projects);
    free(p);
}

/* ---- the list ------------------------------------------------------------- */

/* A room that cannot be read now is left out. */
static void
list_place(struct file_call *c, const struct room_place *place)
{
    struct players players = { 0 };
    struct arena a = { 0 };
    const char **names;
    size_t n = 0;

    if (players_open(&players, &place->rooms, NULL) == ST_OK)
        rooms_list(&place->rooms, &a, false, &names, &n, NULL);
    for (size_t i = 0; i < n; i++) {
        struct room_picture p;
        if (room_picture_read(&place->rooms, &players, &a, names[i], &p, NULL))
            continue;
        p.project = *place->project ? place->project : NULL;
        p.path = place->rooms.project_dir;
        json_sep(&c->out);
        room_picture_json(&p, false, &c->out);
    }
    players_close(&players);
    arena_release(&a);
}

static enum status
list(struct file_call *c, struct err *e)
{
    struct room_places *places = calloc(1, sizeof *places);
    const char *project = NULL;
    enum status s = places ? ST_OK : err_nomem(e);

    if (!s && !arg_text(&c->in, "project", &project))
        s = ST_INVALID;
    if (!s)
        s = find_places(c->config, project, false, places, e);
    json_open(&c->out, '[');
    for (size_t i = 0; !s && i < places->n; i++)
        list_place(c, &places->v[i]);
    json_close(&c->out, ']');
    if (places)
        close_places(places);
    return s;
}

/* ---- one room -------------------------------------------------------------- */

struct one_room {
    struct room_places *places;
    struct room_place *place;
    const char *room;
};

static bool
has_room(const struct room_place *p, const char *room)
{
    int dir = -1;
    bool is_there =
        path_is_name(room) && path_open_dir_at(p->rooms.dir, room, false, &dir, NULL) == ST_OK;

    if (is_there)
        close(dir);
    return is_there;
}

/* Opens the room of the argument id. */
static enum status
open_room(struct file_call *c, struct one_room *r, struct err *e)
{
    const char *project = NULL;
    size_t n = 0;

    *r = (struct one_room){ .places = calloc(1, sizeof *r->places) };
    if (!r->places)
        return err_nomem(e);
    if (!arg_text(&c->in, "id", &r->room) || !arg_text(&c->in, "project", &project))
        return ST_INVALID;
    enum status s = find_places(c->config, project, false, r->places, e);
    for (size_t i = 0; !s && i < r->places->n; i++)
        if (has_room(&r->places->v[i], r->room)) {
            r->place = &r->places->v[i];
            n++;
        }
    if (s)
        return s;
    return n == 1 ? ST_OK
           : n    ? err_set(e, ST_INVALID,
                            "%zu projects have a room %.64s: say which, as project=cliq-a1b2c3", n,
                            r->room)
                  : err_set(e, ST_NOT_FOUND, "there is no room %.64s", r->room);
}

static void
close_room(struct one_room *r)
{
    if (r->places)
        close_places(r->places);
}

static enum status
tell_room(struct file_call *c, const struct room_place *place, const char *room, struct err *e)
{
    struct players players = { 0 };
    struct room_picture p;
    enum status s = players_open(&players, &place->rooms, e);

    if (!s)
        s = room_picture_read(&place->rooms, &players, &c->arena, room, &p, e);
    if (!s) {
        p.project = *place->project ? place->project : NULL;
        p.path = place->rooms.project_dir;
        room_picture_json(&p, true, &c->out);
    }
    players_close(&players);
    return s;
}

static enum status
show(struct file_call *c, struct err *e)
{
    struct one_room r;
    enum status s = open_room(c, &r, e);

    if (!s)
        s = tell_room(c, r.place, r.room, e);
    close_room(&r);
    return s;
}

/* ---- messages -------------------------------------------------------------- */

struct message_page {
    struct buf *out;
    int64_t left;
};

static enum status
add_message(void *ctx, const struct json *message, struct err *e)
{
    struct message_page *p = ctx;

    if (p->left-- == 0)
        return err_set(e, ST_CANCELLED, "the page is full");
    json_sep(p->out);
    json_write(p->out, message);
    return ST_OK;
}

static enum status
read_page(int fd, const char *after, int64_t limit, const struct message_filter *f, struct buf *out,
          struct err *e)
{
    struct message_page page = { out, limit };
    struct channel_range range = { .is_last = !after, .last = (uint64_t)limit };
    uint64_t bad = 0;
    enum status s = after ? channel_find_after(fd, after, &range.from, e) : ST_OK;

    if (!s && range.from < 0)
        s = err_set(e, ST_NOT_FOUND, "no message has the id %.190s", after);
    if (!s)
        s = channel_read(fd, &range, f, add_message, &page, &bad, e);
    return s == ST_CANCELLED ? ST_OK : s;
}

static bool
take_list(struct file_call *c, const char *key, struct epic_list *to)
{
    const struct json *v = NULL;
    size_t n = 0;

    if (!arg_texts(&c->in, key, &v))
        return false;
    json_each (x, v)
        n++;
    to->n = 0;
    to->v = arena_alloc(&c->arena, (n + 1) * sizeof *to->v);
    json_each (x, v)
        if (!to->v || !(to->v[to->n++] = json_dup_text(&c->arena, x)))
            return false;
    return true;
}

static bool
take_filter(struct file_call *c, struct message_filter *f)
{
    struct epic_list types;

    *f = (struct message_filter){ 0 };
    if (!take_list(c, "type", &types) || !arg_text(&c->in, "from", &f->from) ||
        !arg_text(&c->in, "to", &f->to) || !arg_text(&c->in, "ref", &f->ref))
        return false;
    f->types = types.v;
    f->n_types = types.n;
    return true;
}

static enum status
read_messages(struct file_call *c, struct err *e)
{
    struct one_room r;
    struct message_filter filter;
    const char *after = NULL;
    int64_t limit = PAGE_DEFAULT;
    int dir = -1, fd = -1;
    enum status s = open_room(c, &r, e);

    if (!s && (!arg_text(&c->in, "after", &after) || !arg_int(&c->in, "limit", &limit) ||
               !take_filter(c, &filter)))
        s = ST_INVALID;
    if (!s)
        s = rooms_open_room(&r.place->rooms, r.room, &dir, e);
    if (!s)
        s = channel_open_read_in(dir, r.room, &fd, e);
    json_open(&c->out, '[');
    if (!s && fd >= 0)
        s = read_page(fd, after, limit, &filter, &c->out, e);
    json_close(&c->out, ']');
    if (fd >= 0)
        close(fd);
    if (dir >= 0)
        close(dir);
    close_room(&r);
    return s;
}

/* The room's own reference, in the arena; the room's name when it has none. */
static const char *
ref_of(struct file_call *c, const struct one_room *r)
{
    struct room_config config;
    const char *ref = r->room;
    int dir;

    if (rooms_open_room(&r->place->rooms, r->room, &dir, NULL) == ST_OK) {
        if (room_config_read(&c->arena, dir, r->room, &config, NULL) == ST_OK)
            ref = config.ref;
        close(dir);
    }
    return ref;
}

static bool
take_text(struct file_call *c, const char *key, const char **text, size_t *len)
{
    const struct json *v = NULL;

    if (!arg_json(&c->in, key, &v))
        return false;
    *text = v ? v->text.p : "";
    *len = v ? v->text.len : 0;
    return true;
}

static enum status
post(struct file_call *c, struct err *e)
{
    struct one_room r;
    struct message m = { .to = LIFE_MANAGER };
    char id[MESSAGE_ID_SIZE];
    bool is_cut = false;
    enum status s = open_room(c, &r, e);

    if (!s && (!arg_text(&c->in, "from", &m.from) || !arg_text(&c->in, "to", &m.to) ||
               !arg_text(&c->in, "type", &m.type) || !arg_text(&c->in, "ref", &m.ref) ||
               !take_text(c, "body", &m.body, &m.body_len)))
        s = ST_INVALID;
    if (!s && !m.ref)
        m.ref = ref_of(c, &r);
    if (!s)
        s = message_check(&m, room_act_knows(&r.place->rooms, r.room, m.type), e);
    if (!s)
        s = room_act_post(&r.place->rooms, c->config, r.room, &m, id, &is_cut, e);
    if (!s) {
        json_open(&c->out, '{');
        json_key_str(&c->out, "id", id);
        json_key_bool(&c->out, "truncated", is_cut);
        json_close(&c->out, '}');
    }
    close_room(&r);
    return s;
}

static enum status
sign_off(struct file_call *c, struct err *e)
{
    struct one_room r;
    const char *from = NULL, *text = "";
    char id[MESSAGE_ID_SIZE];
    size_t len = 0;
    enum status s = open_room(c, &r, e);

    if (!s && (!arg_text(&c->in, "from", &from) || !take_text(c, "body", &text, &len) ||
               !(text = arena_dup(&c->arena, text, len))))
        s = ST_INVALID;
    if (!s)
        s = room_act_signoff(&r.place->rooms, c->config, r.room, from, text, id, e);
    if (!s) {
        json_open(&c->out, '{');
        json_key_str(&c->out, "id", id);
        json_key_bool(&c->out, "truncated", false);
        json_close(&c->out, '}');
    }
    close_room(&r);
    return s;
}

/* ---- a new room ------------------------------------------------------------ */

static bool
take_config(struct file_call *c, struct room_config *config)
{
    static const char *default_roles[] = { "engineer", "qa" };
    const char *task = "";
    size_t len = 0;
    int64_t retries = LIFE_RETRIES, seconds = ROOM_TIMEOUT_MS / 1000;

    *config = (struct room_config){ 0 };
    if (!arg_name(&c->in, "room", &config->room) || !arg_text(&c->in, "ref", &config->ref) ||
        !arg_text(&c->in, "title", &config->title) || !take_text(c, "task", &task, &len) ||
        !take_list(c, "roles", &config->roles) ||
        !take_list(c, "depends_on", &config->depends_on) ||
        !arg_int(&c->in, "max_retries", &retries) ||
        !arg_int(&c->in, "timeout_seconds", &seconds) ||
        !(config->task = arena_dup(&c->arena, task, len)))
        return false;
    if (!config->roles.n)
        config->roles = (struct epic_list){ default_roles, 2 };
    config->ref = config->ref ? config->ref : config->room;
    config->max_retries = (unsigned)retries;
    config->timeout_ms = seconds * 1000;
    return true;
}

static enum status
create(struct file_call *c, struct err *e)
{
    struct room_places *places = calloc(1, sizeof *places);
    struct room_config config;
    const char *project = NULL;
    const struct json *lifecycle = NULL;
    struct buf states = { 0 };
    struct rooms made = { .dir = -1 };
    enum status s = places ? ST_OK : err_nomem(e);

    if (!s && (!arg_text(&c->in, "project", &project) || !take_config(c, &config) ||
               !arg_json(&c->in, "lifecycle", &lifecycle)))
        s = ST_INVALID;
    if (lifecycle)
        json_write(&states, lifecycle);
    if (!s)
        s = find_places(c->config, project, true, places, e);
    if (!s && places->n != 1)
        s = places->n
                ? err_set(e, ST_INVALID,
                          "there are %zu projects: say which, as project: cliq-a1b2c3", places->n)
                : err_set(e, ST_NOT_FOUND, "there is no project %s",
                          project ? project : "that ran, or made a room");
    struct room_place *place = s ? NULL : &places->v[0];
    if (!s && place->rooms.dir < 0) {
        s = rooms_open_project(&made, place->rooms.project_dir, true, e);
        if (!s) {
            rooms_close(&place->rooms);
            place->rooms = made;
        }
    }
    if (!s)
        s = room_act_create(&place->rooms, c->config, &config, lifecycle ? &states : NULL, e);
    if (!s)
        s = tell_room(c, place, config.room, e);
    if (places)
        close_places(places);
    buf_release(&states);
    return s;
}

/* ---- the table -------------------------------------------------------------- */

/* clang-format off */
#define ID      { "id", A_TEXT, .is_required = true, .brief = "the room's name" }
#define PROJECT { "project", A_TEXT, .brief = "of this project: cliq-a1b2c3; needed where several have such a room" }
#define END     { .name = NULL }

static const struct hub_arg list_args[] = {
    { "project", A_TEXT, .brief = "only of this one: cliq-a1b2c3" },
    END
};
static const struct hub_arg create_args[] = {
    { "room", A_NAME, .is_required = true, .brief = "its name: room-001" },
    { "task", A_STRING, .is_required = true, .brief = "what is to be done" },
    { "ref", A_TEXT, .brief = "the task or epic: EPIC-001; else the room's name" },
    { "title", A_TEXT, .brief = "else the first line of the task" },
    { "roles", A_TEXTS, .brief = "the first works, the others review; engineer and qa when absent" },
    { "depends_on", A_TEXTS, .brief = "rooms that must pass before it begins" },
    { "max_retries", A_INT(1, LIFE_RETRIES_MAX), .brief = "tries that may fail; 3 when absent" },
    { "timeout_seconds", A_INT(1, 1e8), .brief = "of a state, from the start of its role; 900 when absent" },
    { "lifecycle", A_OBJECT, .brief = "its states, as lifecycle.json; those of its roles when absent" },
    { "project", A_TEXT, .brief = "in this project; needed when there are several" },
    END
};
static const struct hub_arg id_args[] = { ID, PROJECT, END };
static const struct hub_arg read_args[] = {
    ID,
    { "after", A_TEXT, .brief = "the messages behind the one with this id; else the last ones" },
    { "limit", A_INT(1, PAGE_MAX), .brief = "how many at most (100)" },
    { "type", A_TEXTS, .brief = "only of these types" },
    { "from", A_TEXT, .brief = "only of this sender" },
    { "to", A_TEXT, .brief = "only for this receiver" },
    { "ref", A_TEXT, .brief = "only about this" },
    PROJECT,
    END
};
static const struct hub_arg post_args[] = {
    ID,
    { "from", A_TEXT, .is_required = true, .brief = "the role that says it" },
    { "type", A_TEXT, .is_required = true, .brief = "task, done, review, pass, fail, fix, error, ..." },
    { "body", A_STRING, .is_required = true, .brief = "what is said" },
    { "to", A_TEXT, .brief = "the role that it is for; manager when absent" },
    { "ref", A_TEXT, .brief = "what it is about; the room's when absent" },
    PROJECT,
    END
};
static const struct hub_arg sign_args[] = {
    ID,
    { "from", A_TEXT, .is_required = true, .brief = "the role that approves" },
    { "body", A_STRING, .is_required = true, .brief = "what it says" },
    PROJECT,
    END
};

#define ROOM .noun = "ROOM", .conflict = "ROOM_CONFLICT"

const struct file_route room_routes[] = {
    { "GET", "/rooms", "the rooms of all projects", SCOPE_INBOX, list_args, .answer = "Room[]", ROOM, .run = list },
    { "POST", "/rooms", "make a room, with its task", SCOPE_EMIT, create_args, .answer = "Room", ROOM, .run = create },
    { "GET", "/rooms/:id", "a room with its roles and its life cycle", SCOPE_INBOX, id_args, .answer = "Room", ROOM, .run = show },
    { "GET", "/rooms/:id/messages", "its conversation, oldest first", SCOPE_INBOX, read_args, .answer = "RoomMessage[]", ROOM, .run = read_messages },
    { "POST", "/rooms/:id/messages", "post a message as a role", SCOPE_EMIT, post_args, .answer = "Posted", ROOM, .run = post },
    { "POST", "/rooms/:id/signoff", "approve a room that passed", SCOPE_EMIT, sign_args, .answer = "Posted", ROOM, .run = sign_off },
    { .path = NULL },
};

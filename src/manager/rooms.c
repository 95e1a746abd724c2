#define _GNU_SOURCE
#include "manager/rooms.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/suggest.h"
#include "base/sys.h"
#include "context/state_dir.h"
#include "room/room_graph.h"
#include "run/project_list.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARCHIVES ".archives"

/* ---- the directory of all rooms ------------------------------------------ */

static enum status
join(char **to, const char *dir, const char *name, struct err *e)
{
    struct buf b = { 0 };

    buf_addf(&b, "%s/%s", dir, name);
    enum status s = buf_status(&b, "the path", e);
    if (s)
        buf_release(&b);
    else
        *to = b.p; /* freed as the owner frees it */
    return s;
}

/* The directory above, in memory of its own; NULL: no memory. */
static char *
above(const char *path)
{
    const char *slash = strrchr(path, '/');

    return strndup(path, slash && slash > path ? (size_t)(slash - path) : 1);
}

/* The .cliq beside the rooms, else (is_near) the nearest one from here. */
static enum status
find_state_dir(struct rooms *r, bool is_near, struct err *e)
{
    struct buf near = { 0 };
    struct stat st;
    enum status s = join(&r->state_dir, r->project_dir, ".cliq", e);

    if (s)
        return s;
    if (sys->fstatat(AT_FDCWD, r->state_dir, &st, 0) == 0 && S_ISDIR(st.st_mode) &&
        st.st_uid == geteuid())
        return ST_OK;
    free(r->state_dir);
    r->state_dir = NULL;
    if (is_near && path_find_up(".cliq", &near, NULL) == ST_OK) {
        char *whole = realpath(near.p, NULL);
        char *project = whole ? above(whole) : NULL;
        if (project) {
            free(r->project_dir);
            r->project_dir = project;
            r->state_dir = whole;
        } else {
            free(whole);
            s = err_nomem(e);
        }
    }
    buf_release(&near);
    return s;
}

static enum status
open_base(struct rooms *r, const char *path, bool create, bool is_near, struct err *e)
{
    char cwd[PATH_MAX];
    enum status s = path_open_dir(path, create, &r->dir, e);

    if (s == ST_NOT_FOUND && !create)
        s = ST_OK; /* no rooms yet */
    if (!s && !(r->base = r->dir >= 0 ? realpath(path, NULL) : strdup(path)))
        s = err_sys(e, "find %s", path);
    if (!s && r->base[0] != '/') {
        char *relative = r->base;
        r->base = NULL;
        s = getcwd(cwd, sizeof cwd) ? join(&r->base, cwd, relative, e)
                                    : err_sys(e, "find the working directory");
        free(relative);
    }
    if (!s && !(r->project_dir = above(r->base)))
        s = err_nomem(e);
    return s ? s : find_state_dir(r, is_near, e);
}

enum status
rooms_open(struct rooms *r, bool create, struct err *e)
{
    struct buf path = { 0 };

    *r = (struct rooms){ .dir = -1 };
    enum status s = room_base(&path, e);
    if (!s)
        s = open_base(r, path.p, create, true, e);
    buf_release(&path);
    if (s)
        rooms_close(r);
    return s;
}

enum status
rooms_open_project(struct rooms *r, const char *project_dir, bool create, struct err *e)
{
    char *path = NULL;

    *r = (struct rooms){ .dir = -1 };
    enum status s = join(&path, project_dir, ".war-rooms", e);
    if (!s)
        s = open_base(r, path, create, false, e);
    free(path);
    if (s)
        rooms_close(r);
    return s;
}

void
rooms_close(struct rooms *r)
{
    if (r->dir >= 0)
        close(r->dir);
    free(r->base);
    free(r->project_dir);
    free(r->state_dir);
    *r = (struct rooms){ .dir = -1 };
}

/* ---- which rooms --------------------------------------------------------- */

static bool
has_file(int dir, const char *room, const char *file)
{
    char path[PATH_NAME_MAX + 32];
    struct stat st;

    snprintf(path, sizeof path, "%.64s/%.24s", room, file);
    return sys->fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

static int
by_name(const void *a, const void *b)
{
    return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

enum status
rooms_list(const struct rooms *r, struct arena *a, bool has_talks, const char ***names, size_t *n,
           struct err *e)
{
    size_t cap = 0;

    *names = NULL;
    *n = 0;
    if (r->dir < 0)
        return ST_OK;
    int fd = SYS_RETRY(sys->openat(r->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        enum status s = err_sys(e, "list the rooms in %s", r->base);
        if (fd >= 0)
            close(fd);
        return s;
    }
    enum status s = ST_OK;
    for (struct dirent *x; !s && (x = readdir(d));) {
        if (!path_is_name(x->d_name) || (!has_file(r->dir, x->d_name, "config.json") &&
                                         !has_file(r->dir, x->d_name, "task-ref") &&
                                         !(has_talks && has_file(r->dir, x->d_name, ROOM_CHANNEL))))
            continue;
        if (*n == cap) {
            const char **more = arena_alloc(a, (cap ? cap *= 2 : (cap = 32)) * sizeof *more);
            if (more && *n)
                memcpy(more, *names, *n * sizeof *more);
            *names = more;
        }
        if (!*names || !((*names)[(*n)++] = arena_dup(a, x->d_name, strlen(x->d_name))))
            s = err_nomem(e);
    }
    closedir(d);
    if (!s && *n)
        qsort(*names, *n, sizeof **names, by_name);
    return s;
}

static enum status
no_such_room(const struct rooms *r, const char *room, struct err *e)
{
    struct arena a = { 0 };
    struct suggest near = { .word = room };
    const char **names;
    size_t n = 0;

    if (rooms_list(r, &a, true, &names, &n, NULL) == ST_OK)
        for (size_t i = 0; i < n; i++)
            suggest_try(&near, names[i]);
    err_say(e, "there is no room %s in %s%s%s%s", room, r->base, near.best ? ": did you mean " : "",
            near.best ? near.best : "", near.best ? "?" : "");
    arena_release(&a);
    return ST_NOT_FOUND;
}

enum status
rooms_open_room(const struct rooms *r, const char *room, int *dir, struct err *e)
{
    enum status s = path_check_name("room name", room, e);

    *dir = -1;
    if (!s)
        s = r->dir < 0 ? ST_NOT_FOUND : path_open_dir_at(r->dir, room, false, dir, e);
    return s == ST_NOT_FOUND ? no_such_room(r, room, e) : s;
}

/* ---- config.json --------------------------------------------------------- */

static void
write_config(struct buf *to, const struct room_config *c)
{
    bool is_epic = strncmp(c->ref, "EPIC-", 5) == 0;

    json_open(to, '{');
    json_key_str(to, "room_id", c->room);
    json_key_str(to, "task_ref", c->ref);
    json_key_str(to, "plan_id", c->plan);
    json_key_strs(to, "depends_on", c->depends_on.v, c->depends_on.n);
    json_key_str(to, "created_at", c->created_at);
    json_key_str(to, "working_dir", c->working_dir);
    json_key(to, "assignment");
    json_open(to, '{');
    json_key_str(to, "title", c->title);
    json_key_str(to, "description", c->task);
    json_key_str(to, "assigned_role", c->roles.n ? c->roles.v[0] : "engineer");
    json_key_strs(to, "candidate_roles", c->roles.v, c->roles.n);
    json_key_str(to, "type", is_epic ? "epic" : "task");
    json_close(to, '}');
    json_key(to, "goals");
    json_open(to, '{');
    json_key_strs(to, "definition_of_done", c->done.v, c->done.n);
    json_key_strs(to, "acceptance_criteria", c->criteria.v, c->criteria.n);
    json_close(to, '}');
    json_key(to, "constraints");
    json_open(to, '{');
    json_key_int(to, "max_retries", c->max_retries);
    json_key(to, "timeout_seconds");
    buf_addf(to, "%.10g", (double)c->timeout_ms / 1000);
    json_close(to, '}');
    json_key(to, "status");
    json_open(to, '{');
    json_key_str(to, "current", ROOM_PENDING);
    json_key_int(to, "retries", 0);
    json_close(to, '}');
    json_close(to, '}');
}

static const char *
text_at(struct arena *a, const struct json *doc, const char *path, const char *otherwise)
{
    const char *s = json_dup_text(a, json_path(doc, path));

    return s && *s ? s : otherwise;
}

static enum status
read_list(struct arena *a, const struct json *v, const char *what, struct epic_list *to,
          struct err *e)
{
    *to = (struct epic_list){ 0 };
    if (!v || json_is(v, JSON_NULL))
        return ST_OK;
    if (json_is(v, JSON_STRING)) { /* PowerShell writes a list of one like that */
        const char *one = json_dup_text(a, v);
        if (!one || !(to->v = arena_alloc(a, sizeof *to->v)))
            return err_nomem(e);
        to->v[0] = one;
        to->n = *one != '\0';
        return ST_OK;
    }
    if (!json_is(v, JSON_ARRAY) || v->kids.count > EPIC_LISTS_MAX)
        return err_set(e, ST_INVALID, "config.json: %s must be a list of at most %d texts", what,
                       EPIC_LISTS_MAX);
    if (v->kids.count && !(to->v = arena_alloc(a, v->kids.count * sizeof *to->v)))
        return err_nomem(e);
    json_each (x, v) {
        if (!json_is(x, JSON_STRING))
            return err_set(e, ST_INVALID, "config.json: %s must hold texts only", what);
        if (!(to->v[to->n++] = json_dup_text(a, x)))
            return err_nomem(e);
    }
    return ST_OK;
}

static enum status
read_limits(const struct json *doc, struct room_config *c, struct err *e)
{
    const struct json *retries = json_path(doc, "constraints.max_retries");
    const struct json *timeout = json_path(doc, "constraints.timeout_seconds");
    int64_t n = LIFE_RETRIES;
    double seconds = (double)ROOM_TIMEOUT_MS / 1000;

    if (retries && (!json_int(retries, &n) || n < 1 || n > LIFE_RETRIES_MAX))
        return err_set(e, ST_INVALID,
                       "config.json: constraints.max_retries must be a whole number from 1 to %d",
                       LIFE_RETRIES_MAX);
    if (timeout && (!json_double(timeout, &seconds) || seconds < 0.001 || seconds > 1e8))
        return err_set(e, ST_INVALID,
                       "config.json: constraints.timeout_seconds must be a number above 0");
    c->max_retries = (unsigned)n;
    c->timeout_ms = (int64_t)(seconds * 1000);
    return ST_OK;
}

/* Adds a role once, without its suffix: "engineer:fe" is engineer. False: no memory. */
static bool
add_role(struct arena *a, struct epic_list *to, const char *role)
{
    char *name = arena_dup(a, role, strcspn(role, ":"));

    for (size_t i = 0; name && i < to->n; i++)
        if (strcmp(to->v[i], name) == 0)
            return true;
    if (name)
        to->v[to->n++] = name;
    return name;
}

/* The roles: candidate_roles, and before them the assigned one. */
static enum status
read_roles(struct arena *a, const struct json *doc, struct room_config *c, struct err *e)
{
    const char *first = text_at(a, doc, "assignment.assigned_role", "engineer");
    struct epic_list given;
    enum status s = read_list(a, json_path(doc, "assignment.candidate_roles"),
                              "assignment.candidate_roles", &given, e);

    if (s)
        return s;
    c->roles.v = arena_alloc(a, (given.n + 1) * sizeof *c->roles.v);
    bool is_good = c->roles.v && add_role(a, &c->roles, first);
    for (size_t i = 0; is_good && i < given.n; i++)
        is_good = add_role(a, &c->roles, given.v[i]);
    return is_good ? ST_OK : err_nomem(e);
}

/* config.json, or what stands for it in a room that the original's shell scripts made. */
static enum status
read_config(struct arena *a, int dir, struct buf *text, struct err *e)
{
    enum status s = state_dir_read_at(dir, "config.json", text, e);
    const char *ref = s == ST_NOT_FOUND ? room_word(a, dir, "task-ref") : "";
    struct buf task = { 0 };

    if (!*ref)
        return s;
    state_dir_read_at(dir, "task.md", &task, NULL);
    buf_reset(text);
    json_open(text, '{');
    json_key_str(text, "task_ref", ref);
    json_key(text, "assignment");
    json_open(text, '{');
    json_key_strn(text, "description", task.p ? task.p : "", task.len);
    json_close(text, '}');
    json_close(text, '}');
    buf_release(&task);
    return buf_status(text, "the room", e);
}

enum status
room_config_read(struct arena *a, int dir, const char *room, struct room_config *c, struct err *e)
{
    struct buf text = { 0 };
    struct json *doc = NULL;
    struct err why;
    enum status s = read_config(a, dir, &text, &why);

    *c = (struct room_config){ 0 };
    if (!s) {
        const char *kept = arena_dup(a, text.p ? text.p : "", text.len);
        s = kept ? json_parse_named(a, "config.json", kept, text.len, &doc, &why) : err_nomem(&why);
    }
    buf_release(&text);
    if (!s && !json_is(doc, JSON_OBJECT))
        s = err_set(&why, ST_INVALID, "config.json: an object is expected");
    if (!s) {
        c->room = arena_dup(a, room, strlen(room));
        c->ref = text_at(a, doc, "task_ref", c->room);
        c->title = text_at(a, doc, "assignment.title", c->ref);
        c->task = text_at(a, doc, "assignment.description", "");
        c->plan = text_at(a, doc, "plan_id", NULL);
        c->working_dir = text_at(a, doc, "working_dir", NULL);
        c->created_at = text_at(a, doc, "created_at", NULL);
        s = c->room && c->ref ? read_limits(doc, c, &why) : err_nomem(&why);
    }
    if (!s)
        s = read_roles(a, doc, c, &why);
    if (!s)
        s = read_list(a, json_get(doc, "depends_on"), "depends_on", &c->depends_on, &why);
    if (!s)
        s = read_list(a, json_path(doc, "goals.acceptance_criteria"), "goals.acceptance_criteria",
                      &c->criteria, &why);
    if (!s)
        s = read_list(a, json_path(doc, "goals.definition_of_done"), "goals.definition_of_done",
                      &c->done, &why);
    if (s == ST_NOT_FOUND)
        err_say(e,
                "room %s has no config.json: it is a conversation only; make rooms that run "
                "with cliq room create",
                room);
    else if (s)
        err_say(e, "room %s: %s", room, why.text);
    return s;
}

enum status
room_lifecycle_read(struct arena *a, int dir, const struct room_config *c, struct lifecycle *l,
                    struct err *e)
{
    struct buf text = { 0 };
    struct err why;
    enum status s = state_dir_read_at(dir, "lifecycle.json", &text, &why);

    if (!s) {
        const char *kept = arena_dup(a, text.p ? text.p : "", text.len);
        s = kept ? lifecycle_parse(l, a, "lifecycle.json", kept, text.len, &why) : err_nomem(&why);
    } else if (s == ST_NOT_FOUND) {
        s = lifecycle_default(l, a, c->roles.v, c->roles.n, c->max_retries, &why);
    }
    buf_release(&text);
    if (s)
        err_say(e, "room %s: %s", c->room, why.text);
    return s;
}

/* ---- the state for other tools ------------------------------------------- */

const char *
room_word(struct arena *a, int dir, const char *name)
{
    struct buf text = { 0 };
    const char *word = "";

    if (state_dir_read_at(dir, name, &text, NULL) == ST_OK && text.p) {
        size_t from = strspn(text.p, " \t\r\n"), n = strcspn(text.p + from, " \t\r\n");
        word = arena_dup(a, text.p + from, n);
    }
    buf_release(&text);
    return word ? word : "";
}

static enum status
write_word(int dir, const char *name, const char *word, struct err *e)
{
    struct buf text = { 0 };

    buf_addf(&text, "%s\n", word);
    enum status s = buf_status(&text, name, e);
    if (!s)
        s = state_dir_replace_at(dir, name, text.p, text.len, e);
    buf_release(&text);
    return s;
}

static enum status
write_number(int dir, const char *name, int64_t n, struct err *e)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRId64, n);
    return write_word(dir, name, text, e);
}

static void
add_audit(int dir, const char *from, const char *to)
{
    char at[CLOCK_ISO_SIZE];
    int fd = SYS_RETRY(
        sys->openat(dir, "audit.log",
                    O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));

    if (fd < 0)
        return;
    dprintf(fd, "%s STATUS %s -> %s\n", clock_iso(at, clock_wall_ns(), 0), from, to);
    close(fd);
}

enum status
room_files_tell(int dir, const char *state, unsigned retries, struct err *e)
{
    struct arena a = { 0 };
    const char *before = room_word(&a, dir, "status");
    bool is_new = strcmp(before, state) != 0;
    char number[16];
    enum status s = ST_OK;

    snprintf(number, sizeof number, "%u", retries);
    if (strcmp(room_word(&a, dir, "retries"), number) != 0)
        s = write_number(dir, "retries", retries, e);
    if (!s && is_new)
        s = write_word(dir, "status", state, e);
    if (!s && is_new)
        s = write_number(dir, "state_changed_at", clock_wall_ns() / 1000000000, e);
    if (!s && is_new)
        add_audit(dir, *before ? before : "new", state);
    arena_release(&a);
    return s;
}

/* ---- dependencies -------------------------------------------------------- */

/* The room with that reference, other than `self`; NULL: there is none. */
static const char *
find_ref(const struct rooms *r, struct arena *a, const char *self, const char *ref)
{
    const char **names;
    size_t n = 0;

    if (rooms_list(r, a, false, &names, &n, NULL))
        return NULL;
    for (size_t i = 0; i < n; i++) {
        struct room_config c;
        int dir;
        if (strcmp(names[i], self) == 0 || rooms_open_room(r, names[i], &dir, NULL))
            continue;
        bool is_it =
            room_config_read(a, dir, names[i], &c, NULL) == ST_OK && strcmp(c.ref, ref) == 0;
        close(dir);
        if (is_it)
            return names[i];
    }
    return NULL;
}

void
rooms_resolve(const struct rooms *r, struct arena *a, struct room_config *c)
{
    struct stat st;

    for (size_t i = 0; i < c->depends_on.n; i++) {
        const char *name = c->depends_on.v[i];
        if (r->dir < 0 || !path_is_name(name) ||
            sys->fstatat(r->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            continue;
        struct arena scratch = { 0 };
        const char *room = find_ref(r, &scratch, c->room, name);
        const char *kept = room ? arena_dup(a, room, strlen(room)) : NULL;
        if (kept)
            c->depends_on.v[i] = kept;
        arena_release(&scratch);
    }
}

enum status
rooms_check_circles(const struct rooms *r, const struct room_config *with, struct err *e)
{
    struct arena a = { 0 };
    struct buf circle = { 0 };
    const char **names;
    size_t n = 0, k = 0;
    enum status s = rooms_list(r, &a, false, &names, &n, e);
    struct room_node *nodes = arena_alloc(&a, (n + 2) * sizeof *nodes);

    if (!s && !nodes)
        s = err_nomem(e);
    if (!s && with)
        nodes[k++] = (struct room_node){ with->room, with->depends_on.v, with->depends_on.n };
    for (size_t i = 0; !s && i < n; i++) {
        struct room_config c;
        int dir;
        if (rooms_open_room(r, names[i], &dir, NULL))
            continue;
        if (room_config_read(&a, dir, names[i], &c, NULL) == ST_OK) {
            rooms_resolve(r, &a, &c);
            nodes[k++] = (struct room_node){ c.room, c.depends_on.v, c.depends_on.n };
        }
        close(dir);
    }
    if (!s && room_graph_cycle(nodes, k, &circle))
        s = err_set(e, ST_INVALID, "rooms depend on each other in a circle: %s", circle.p);
    buf_release(&circle);
    arena_release(&a);
    return s;
}

/* ---- making a room ------------------------------------------------------- */

/* JSON that people may edit. */
static enum status
write_pretty(int dir, const char *name, const struct buf *json, struct err *e)
{
    struct arena a = { 0 };
    struct buf text = { 0 };
    struct json *doc;
    enum status s = buf_status(json, name, e);

    if (!s)
        s = json_parse_named(&a, name, json->p, json->len, &doc, e);
    if (!s) {
        json_write_pretty(&text, doc, 0);
        buf_addc(&text, '\n');
        s = buf_status(&text, name, e);
    }
    if (!s)
        s = state_dir_replace_at(dir, name, text.p, text.len, e);
    buf_release(&text);
    arena_release(&a);
    return s;
}

static void
add_items(struct buf *to, const char *head, const struct epic_list *items)
{
    if (items->n)
        buf_addf(to, "\n## %s\n\n", head);
    for (size_t i = 0; i < items->n; i++)
        buf_addf(to, "- %s\n", items->v[i]);
}

/* brief.md, and the body of the task message. */
static void
write_brief(struct buf *to, const struct room_config *c)
{
    buf_addf(to, "# %s", c->ref);
    if (strcmp(c->title, c->ref) != 0)
        buf_addf(to, ": %s", c->title);
    buf_adds(to, "\n\n");
    buf_adds(to, c->task);
    if (to->len && to->p[to->len - 1] != '\n')
        buf_addc(to, '\n');
    if (!c->plan) { /* the section of a plan has them */
        add_items(to, "Acceptance criteria", &c->criteria);
        add_items(to, "Definition of done", &c->done);
    }
}

static enum status
post_task(const struct rooms *r, int dir, const struct room_config *c, const struct lifecycle *l,
          const struct buf *brief, struct err *e)
{
    const struct life_state *first = &l->states[l->initial];
    struct message m = { .from = LIFE_MANAGER,
                         .to = first->role ? first->role : lifecycle_worker(l),
                         .type = c->opening ? c->opening : "task",
                         .ref = c->ref,
                         .body = brief->p,
                         .body_len = brief->len };
    struct channel ch;
    char id[MESSAGE_ID_SIZE];
    size_t max;
    bool is_cut;
    enum status s = message_check(&m, false, e);

    if (!s)
        s = room_body_max_in(r->base, &max, e);
    if (!s)
        s = channel_open_in(&ch, dir, max, true, e);
    if (s)
        return s;
    s = channel_post(&ch, &m, id, &is_cut, e);
    channel_close(&ch);
    return s;
}

static enum status
fill(const struct rooms *r, int dir, const struct room_config *c, const struct buf *lifecycle,
     const struct lifecycle *l, struct err *e)
{
    struct buf config = { 0 }, states = { 0 }, brief = { 0 };

    write_config(&config, c);
    enum status s = write_pretty(dir, "config.json", &config, e);
    if (!lifecycle)
        lifecycle_write(&states, l);
    if (!s)
        s = write_pretty(dir, "lifecycle.json", lifecycle ? lifecycle : &states, e);
    write_brief(&brief, c);
    if (!s)
        s = buf_status(&brief, "the task", e);
    if (!s)
        s = state_dir_replace_at(dir, "brief.md", brief.p, brief.len, e);
    if (!s && strncmp(c->ref, "EPIC-", 5) == 0)
        s = state_dir_replace_at(dir, "TASKS.md", brief.p, brief.len, e);
    if (!s)
        s = write_word(dir, "task-ref", c->ref, e);
    if (!s)
        s = room_files_tell(dir, ROOM_PENDING, 0, e);
    if (!s)
        s = post_task(r, dir, c, l, &brief, e);
    if (!s && sys->fsync(dir) != 0)
        s = err_sys(e, "sync the room %s", c->room);
    buf_release(&config);
    buf_release(&states);
    buf_release(&brief);
    return s;
}

static void
remove_flat(int parent, const char *name)
{
    int fd =
        SYS_RETRY(sys->openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0));
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;

    for (struct dirent *x; d && (x = readdir(d));)
        unlinkat(fd, x->d_name, 0);
    if (d)
        closedir(d);
    unlinkat(parent, name, AT_REMOVEDIR);
}

/* So that a server finds the rooms. Under the id of its .cliq, else one of its path. A room is made
 * although it cannot be noted. */
static void
note_project(const struct rooms *r)
{
    struct state_dir f = { .dir = -1, .project_dir = r->project_dir };
    struct buf id = { 0 };

    if (r->state_dir && path_open_dir(r->state_dir, false, &f.dir, NULL) == ST_OK) {
        state_dir_read_at(f.dir, "cliq.id", &id, NULL);
        if (id.p)
            buf_cut(&id, strcspn(id.p, " \r\n"));
        close(f.dir);
    }
    if (!id.len) {
        buf_reset(&id);
        buf_addf(&id, "cliq-%06x",
                 (unsigned)(hash_bytes(r->project_dir, strlen(r->project_dir)) & 0xffffff));
    }
    if (!buf_failed(&id) && path_is_name(id.p))
        project_list_note(&f, id.p, NULL);
    buf_release(&id);
}

static enum status
check(const struct rooms *r, const struct room_config *c, const struct buf *text, struct arena *a,
      struct lifecycle *l, struct err *e)
{
    struct stat st;
    enum status s = path_check_name("room name", c->room, e);

    if (!s && !c->plan && !c->task[strspn(c->task, " \t\r\n")] && strcmp(c->title, c->ref) == 0)
        s = err_set(e, ST_INVALID, "the task of the room %s is empty: say what is to be done",
                    c->room);
    if (!s && strlen(c->ref) > MESSAGE_REF_MAX)
        s = err_set(e, ST_INVALID, "the reference is longer than %d bytes", MESSAGE_REF_MAX);
    if (!s && sys->fstatat(r->dir, c->room, &st, AT_SYMLINK_NOFOLLOW) == 0)
        s = err_set(e, ST_CONFLICT, "the room %s exists already: %s/%s", c->room, r->base, c->room);
    for (size_t i = 0; !s && i < c->depends_on.n; i++) {
        s = path_check_name("room name", c->depends_on.v[i], e);
        if (!s && strcmp(c->depends_on.v[i], c->room) == 0)
            s = err_set(e, ST_INVALID, "the room %s cannot depend on itself", c->room);
    }
    if (!s && c->depends_on.n && !c->plan) /* those of a plan were looked at together */
        s = rooms_check_circles(r, c, e);
    if (!s)
        s = text ? lifecycle_parse(l, a, "lifecycle.json", text->p ? text->p : "", text->len, e)
                 : lifecycle_default(l, a, c->roles.v, c->roles.n, c->max_retries, e);
    return s;
}

/* The first line with words, without the #s of a heading. */
static const char *
first_line(struct arena *a, const char *text)
{
    text += strspn(text, "# \t\r\n");
    return arena_dup(a, text, strcspn(text, "\r\n"));
}

enum status
rooms_create(const struct rooms *r, const struct room_config *given, const struct buf *lifecycle,
             struct err *e)
{
    struct room_config c = *given;
    struct arena a = { 0 };
    struct lifecycle l;
    char temp[64], at[CLOCK_ISO_SIZE];
    int dir = -1;

    c.title = c.title ? c.title : first_line(&a, c.task);
    if (c.title && !*c.title)
        c.title = c.ref;
    enum status s = c.title ? check(r, &c, lifecycle, &a, &l, e) : err_nomem(e);
    c.created_at = c.created_at ? c.created_at : clock_iso(at, clock_wall_ns(), 0);
    c.working_dir = c.working_dir ? c.working_dir : r->project_dir;
    if (!s) {
        snprintf(temp, sizeof temp, ".new-%d-%" PRId64, (int)getpid(), clock_mono_ns());
        s = path_open_dir_at(r->dir, temp, true, &dir, e);
    }
    if (!s) {
        s = fill(r, dir, &c, lifecycle, &l, e);
        close(dir);
        if (!s && renameat2(r->dir, temp, r->dir, c.room, RENAME_NOREPLACE) != 0)
            s = errno == EEXIST ? err_set(e, ST_CONFLICT, "the room %s exists already", c.room)
                                : err_sys(e, "make the room %s", c.room);
        if (s)
            remove_flat(r->dir, temp);
        else
            sys->fsync(r->dir);
    }
    if (!s)
        note_project(r);
    arena_release(&a);
    return s;
}

/* ---- archives ------------------------------------------------------------ */

enum status
rooms_archive(const struct rooms *r, const char *room, struct buf *path, struct err *e)
{
    char at[CLOCK_ISO_SIZE], stamp[32] = "", name[PATH_NAME_MAX + 48];
    int dir, archives = -1;
    size_t n = 0;
    enum status s = rooms_open_room(r, room, &dir, e);

    if (s)
        return s;
    close(dir);
    clock_iso(at, clock_wall_ns(), 0);
    for (const char *p = at; *p && *p != 'Z'; p++)
        if (*p >= '0' && *p <= '9')
            stamp[n++] = *p;
        else if (*p == 'T')
            stamp[n++] = '-';
    s = path_open_dir_at(r->dir, ARCHIVES, true, &archives, e);
    for (unsigned k = 1; !s; k++) {
        snprintf(name, sizeof name, k == 1 ? "%.64s-%.16s" : "%.64s-%.16s-%u", room, stamp, k);
        if (renameat2(r->dir, room, archives, name, RENAME_NOREPLACE) == 0)
            break;
        if (errno != EEXIST || k > 1000)
            s = err_sys(e, "archive the room %s", room);
    }
    if (!s) {
        sys->fsync(r->dir);
        buf_addf(path, "%s/" ARCHIVES "/%s", r->base, name);
        s = buf_status(path, "the path", e);
    }
    if (archives >= 0)
        close(archives);
    return s;
}

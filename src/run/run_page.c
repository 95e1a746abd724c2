#define _GNU_SOURCE
#include "run/run_page.h"

#include "base/path.h"
#include "base/sys.h"
#include "base/utf8.h"
#include "context/handoff.h"
#include "run/journal.h"
#include "run/run_picture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ---- */

/* Appends up to RUN_PAGE_TEXT_MAX bytes of the file, whole characters; *is_cut: there are more.
 */
static enum status
read_some(const struct state_dir *f, const char *path, int64_t from, struct buf *to, bool *is_cut,
          struct err *e)
{
    struct stat st;
    int fd = -1;
    enum status s = state_dir_open_file(f, path, &fd, &st, e);
    size_t begin = to->len;
    ssize_t n = 1;
    char piece[16 << 10];

    *is_cut = false;
    while (!s && n > 0 && to->len - begin < RUN_PAGE_TEXT_MAX) {
        size_t room = RUN_PAGE_TEXT_MAX - (to->len - begin);
        n = SYS_RETRY(pread(fd, piece, room < sizeof piece ? room : sizeof piece,
                            (off_t)(from + (int64_t)(to->len - begin))));
        if (n < 0)
            s = err_sys(e, "read %s", path);
        else
            buf_add(to, piece, (size_t)n);
    }
    if (fd >= 0)
        close(fd);
    if (s)
        return s;
    /* the last character may not be whole yet */
    size_t len = to->len - begin, tail = len < 3 ? len : 3;
    for (size_t k = 1; k <= tail && !buf_failed(to); k++)
        if (utf8_is_begun(to->p + to->len - k, k)) {
            buf_cut(to, to->len - k);
            break;
        }
    *is_cut = from + (int64_t)(to->len - begin) < (int64_t)st.st_size;
    return buf_status(to, path, e);
}

static int
by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in the directory `path` that the filter takes, sorted, in the arena. */
static size_t
list_names(const struct state_dir *f, const char *path, struct arena *a,
           bool (*is_wanted)(const char *name, const char *phase), const char *phase, char ***out)
{
    struct err e;
    char **names = NULL;
    size_t n = 0, cap = 0;
    int fd = -1;
    DIR *d = state_dir_open_dir(f, path, false, &fd, &e) == ST_OK ? fdopendir(fd) : NULL;

    if (!d && fd >= 0)
        close(fd);
    for (struct dirent *x; d && (x = readdir(d));) {
        if (!is_wanted(x->d_name, phase))
            continue;
        if (n == cap) {
            char **more = arena_alloc(a, (cap = cap ? cap * 2 : 16) * sizeof *more);
            if (!more)
                break;
            if (n)
                memcpy(more, names, n * sizeof *more);
            names = more;
        }
        if (!(names[n] = arena_dup(a, x->d_name, strlen(x->d_name))))
            break;
        n++;
    }
    if (d)
        closedir(d);
    if (n)
        qsort(names, n, sizeof *names, by_name);
    *out = names;
    return n;
}

/* "build.2.log", "build.2.r1.md", "build.1.checks.log": the attempt of `phase`; 0: not of it. */
static uint64_t
attempt_of(const char *name, const char *phase)
{
    size_t n = strlen(phase);

    return strncmp(name, phase, n) == 0 && name[n] == '.' ? strtoull(name + n + 1, NULL, 10) : 0;
}

static bool
has_attempt(const char *name, const char *phase)
{
    return attempt_of(name, phase) > 0;
}

static bool
is_log_of(const char *name, const char *phase)
{
    const char *dot = strrchr(name, '.');

    return attempt_of(name, phase) > 0 && dot && strcmp(dot, ".log") == 0;
}

/* Of its latest attempt (or that one), the last in the order of names but for .checks; NULL: none.
 */
static const char *
latest(char **names, size_t n, const char *phase, uint64_t attempt)
{
    const char *best = NULL;
    uint64_t of = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t k = attempt_of(names[i], phase);
        bool is_checks = strstr(names[i] + strlen(phase), ".checks") != NULL;
        if ((attempt && k != attempt) || k < of || (best && k == of && is_checks))
            continue;
        best = names[i];
        of = k;
    }
    return best;
}

/* ---- the page ---- */

struct phase_page {
    const struct state_dir *f;
    struct arena arena;
    struct buf *to;
    const char *cut[8]; /* members that were cut */
    size_t n_cut;
};

static void
add_text(struct phase_page *p, const struct state_dir *f, const char *key, const char *path)
{
    struct buf text = { 0 };
    bool is_cut;
    struct err e;

    if (read_some(f, path, 0, &text, &is_cut, &e) == ST_OK) {
        json_key_strn(p->to, key, text.p ? text.p : "", text.len);
        if (is_cut && p->n_cut < sizeof p->cut / sizeof *p->cut)
            p->cut[p->n_cut++] = key;
    }
    buf_release(&text);
}

/* The file as JSON, else as text; null when it is not there. */
static void
add_json(struct phase_page *p, const char *key, const char *path)
{
    struct arena a = { 0 };
    struct buf text = { 0 };
    struct json *doc;
    struct err e;

    if (state_dir_read(p->f, path, &text, &e) != ST_OK)
        json_key_raw(p->to, key, "null", 4);
    else if (json_parse(&a, text.p ? text.p : "", text.len, &doc, NULL))
        json_key_json(p->to, key, doc);
    else
        json_key_strn(p->to, key, text.p ? text.p : "", text.len);
    buf_release(&text);
    arena_release(&a);
}

static void
add_channel(struct phase_page *p, const char *key, const char *other, const char *from,
            const char *into)
{
    char path[2 * TEAM_PHASE_NAME_MAX + 40];

    snprintf(path, sizeof path, "channels/%.64s--%.64s/handoff.json", from, into);
    json_sep(p->to);
    json_open(p->to, '{');
    json_key_str(p->to, key, other);
    add_json(p, "handoff", path);
    json_close(p->to, '}');
}

static bool
is_channel(const char *name, const char *unused)
{
    (void)unused;
    return strstr(name, "--") != NULL && name[0] != '.';
}

/* The channels that end or begin at the phase. */
static void
add_channels(struct phase_page *p, const char *phase, bool is_in)
{
    char **names;
    size_t n = list_names(p->f, "channels", &p->arena, is_channel, phase, &names);

    json_key(p->to, is_in ? "in" : "out");
    json_open(p->to, '[');
    for (size_t i = 0; i < n; i++) {
        char *dashes = strstr(names[i], "--"), *into = dashes + 2;
        *dashes = '\0';
        if (strcmp(is_in ? into : names[i], phase) == 0)
            add_channel(p, is_in ? "from" : "to", is_in ? names[i] : into, names[i], into);
    }
    json_close(p->to, ']');
}

static void
add_attempts(struct phase_page *p, const char *phase)
{
    char **names, path[NAME_MAX + 32];
    size_t n = list_names(p->f, "run/prompts", &p->arena, has_attempt, phase, &names);
    const char *prompt = latest(names, n, phase, 0);

    if (prompt) {
        snprintf(path, sizeof path, "run/prompts/%s", prompt);
        add_text(p, p->f, "prompt", path);
    }
    n = list_names(p->f, "run/logs", &p->arena, is_log_of, phase, &names);
    json_key_strs(p->to, "logs", (const char *const *)names, n);
}

static void
write_phase(struct phase_page *p, const struct state_dir *project, const struct phase *ph)
{
    char path[TEAM_PHASE_NAME_MAX + 64];

    json_open(p->to, '{');
    json_key_str(p->to, "phase", ph->name);
    json_key_str(p->to, "type", phase_type_name(ph->type));
    snprintf(path, sizeof path, "roles/%.64s.md", ph->name);
    add_text(p, project, "role", path);
    add_attempts(p, ph->name);
    add_channels(p, ph->name, true);
    add_channels(p, ph->name, false);
    snprintf(path, sizeof path, "signals/%.64s_command_results.json", ph->name);
    add_json(p, "checks", path);
    if (ph->type == PHASE_GATE) {
        snprintf(path, sizeof path, "gates/%.64s/gate_context.md", ph->name);
        add_text(p, p->f, "gate_context", path);
    }
    json_key_strs(p->to, "is_cut", p->cut, p->n_cut);
    json_close(p->to, '}');
}

enum status
run_page_phase(const struct state_dir *f, const struct state_dir *project, const char *phase,
               struct buf *to, struct err *e)
{
    struct phase_page p = { .f = f, .to = to };
    struct workflow w;
    size_t i;
    enum status s = workflow_load(&w, f, e);

    if (!s)
        s = team_find_phase(&w.team, phase, &i, e);
    if (!s)
        write_phase(&p, project, &w.team.phases[i]);
    workflow_release(&w);
    arena_release(&p.arena);
    return s;
}

/* ---- the run ---- */

enum status
run_page_show(const struct state_dir *f, struct buf *to, struct err *e)
{
    struct run_picture p;
    enum status s = run_picture_load(&p, f, e);

    if (!s)
        run_picture_json(&p, "", to);
    run_picture_release(&p);
    return s;
}

enum status
run_page_journal(const struct state_dir *f, struct buf *to, struct err *e)
{
    struct buf text = { 0 };
    struct arena a = { 0 };
    enum status s = state_dir_read(f, "run/" JOURNAL_NAME, &text, e);
    size_t n = 0;

    json_open(to, '[');
    for (const char *p = text.p, *end = p + text.len, *nl; !s && p && p < end; p = nl + 1) {
        struct json *line;
        nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl || n == RUN_PAGE_EVENTS_MAX)
            break;
        arena_reset(&a);
        if (json_parse(&a, p, (size_t)(nl - p), &line, NULL) && json_is(line, JSON_OBJECT)) {
            json_sep(to);
            json_write(to, line);
            n++;
        }
    }
    json_close(to, ']');
    arena_release(&a);
    buf_release(&text);
    return s;
}

/* ---- editing ---- */

enum status
run_page_edit(const struct state_dir *f, const char *from, const char *to, const char *text,
              size_t len, struct err *e)
{
    struct arena a = { 0 };
    struct json *doc;
    char path[2 * TEAM_PHASE_NAME_MAX + 40];
    int fd = -1;

    if (!state_dir_is_phase_name(from) || !state_dir_is_phase_name(to))
        return err_set(e, ST_NOT_FOUND, "there is no channel %.64s--%.64s", from, to);
    snprintf(path, sizeof path, "channels/%s--%s", from, to);
    enum status s = state_dir_open_dir(f, path, false, &fd, e);
    if (s == ST_NOT_FOUND)
        err_say(e, "there is no channel %s--%s", from, to);
    if (!s)
        s = json_parse_named(&a, "handoff.json", text, len, &doc, e);
    if (!s)
        s = handoff_check(doc, e);
    if (!s)
        s = state_dir_replace_at(fd, "handoff.json", text, len, e);
    if (fd >= 0)
        close(fd);
    arena_release(&a);
    return s;
}

/* ---- logs ---- */

enum status
run_page_log(const struct state_dir *f, const char *phase, int64_t attempt, int64_t after,
             struct buf *text, int64_t *next, struct err *e)
{
    struct arena a = { 0 };
    char path[NAME_MAX + 32] = "orchestrator.log";
    bool is_cut;
    size_t begin = text->len;
    enum status s = ST_OK;

    if (phase) {
        char **names;
        size_t n = state_dir_is_phase_name(phase)
                       ? list_names(f, "run/logs", &a, is_log_of, phase, &names)
                       : 0;
        const char *name = n ? latest(names, n, phase, (uint64_t)attempt) : NULL;
        if (name)
            snprintf(path, sizeof path, "run/logs/%s", name);
        else
            s = err_set(e, ST_NOT_FOUND, "no log of phase %.64s%s", phase,
                        attempt ? " and that attempt" : ": it has not run yet");
    }
    if (!s)
        s = read_some(f, path, after, text, &is_cut, e);
    *next = after + (int64_t)(text->len - begin);
    arena_release(&a);
    return s;
}

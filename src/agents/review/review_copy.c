#define _GNU_SOURCE
#include "agents/review/review_copy.h"

#include "base/digest.h"
#include "base/path.h"
#include "base/sys.h"
#include "log/log.h"
#include "proc/child.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH_MAX = 32, GIT_LIMIT_MS = 30000 };

/* ---- artifacts ---- */

struct collection {
    struct context *c;
    const char *id;
    struct json *list, *last;
    int64_t n, left_out;
    int64_t bytes;  /* of the copies */
    bool has_match; /* the present pattern */
    enum status status;
    struct err *e;
};

static bool
is_listed(const struct collection *w, const char *path)
{
    json_each (v, w->list)
        if (json_eq(json_get(v, "path"), path))
            return true;
    return false;
}

/* Reads the file when it is not too large; writes the copy. */
static enum status
copy(struct collection *w, int fd, const char *path, struct json *entry, struct err *e)
{
    struct buf text = BUF_MAX((size_t)REVIEW_FILE_MAX + 1), to = { 0 };
    char hex[DIGEST_HEX_SIZE];
    struct arena *a = w->c->arena;

    buf_addf(&to, "reviews/%s/files/%s", w->id, path);
    enum status s = buf_status(&to, "the path", e);
    if (!s)
        s = path_read_fd(fd, path, &text, e);
    if (!s)
        s = state_dir_replace(&w->c->state, to.p, text.p ? text.p : "", text.len, e);
    digest_sha256_hex(hex, text.p ? text.p : "", text.len);
    if (!s && !json_set(entry, "sha256", json_new_copy(a, hex, strlen(hex))))
        s = err_nomem(e);
    buf_release(&text);
    buf_release(&to);
    return s;
}

static enum status
take_file(struct collection *w, int fd, const struct stat *st, const char *path)
{
    struct arena *a = w->c->arena;
    struct json *entry = json_new(a, JSON_OBJECT);

    w->has_match = true;
    if (is_listed(w, path))
        return ST_OK;
    if (w->n >= REVIEW_FILES) {
        w->left_out++;
        return ST_OK;
    }
    if (!entry || !json_set(entry, "path", json_new_copy(a, path, strlen(path))) ||
        !json_set(entry, "size", json_new_int(a, st->st_size)))
        return err_nomem(w->e);
    w->n++;
    json_add_behind(w->list, &w->last, entry);
    if (st->st_size > REVIEW_FILE_MAX || w->bytes + st->st_size > REVIEW_BYTES_MAX)
        return ST_OK;
    w->bytes += st->st_size;
    return copy(w, fd, path, entry, w->e);
}

static void match(struct collection *w, int dir, const char *at, const char *pattern, int depth);

/* The file or directory `name`, of which the rest of the pattern is to be found. */
static void
enter(struct collection *w, int dir, const char *at, const char *name, const char *rest, int depth)
{
    struct buf path = { 0 };
    struct stat st;
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return;
    buf_addf(&path, "%s%s%s", at, *at ? "/" : "", name);
    if (buf_failed(&path) || fstat(fd, &st) != 0)
        w->status = err_nomem(w->e);
    else if (S_ISDIR(st.st_mode))
        match(w, fd, path.p, rest && *rest ? rest : "**", depth + 1);
    else if (S_ISREG(st.st_mode) && !rest)
        w->status = take_file(w, fd, &st, path.p);
    close(fd);
    buf_release(&path);
}

/* All names of the directory that match; `is_any`: ** before them, so that directories keep it. */
static void
match_names(struct collection *w, int dir, const char *at, const char *word, const char *rest,
            bool is_any, int depth)
{
    struct dirent **names = NULL;
    int n = scandirat(dir, ".", &names, NULL, alphasort);

    for (int i = 0; i < n; i++) {
        const char *name = names[i]->d_name;
        bool is_dir = names[i]->d_type == DT_DIR || names[i]->d_type == DT_UNKNOWN;
        if (!w->status && fnmatch(word, name, FNM_PERIOD) == 0 && (!is_any || !is_dir))
            enter(w, dir, at, name, rest, depth);
        else if (!w->status && is_any && *name != '.' && is_dir)
            enter(w, dir, at, name, "**", depth);
        free(names[i]);
    }
    free(names);
}

static void
match(struct collection *w, int dir, const char *at, const char *pattern, int depth)
{
    size_t n = strcspn(pattern, "/");
    const char *rest = pattern[n] ? pattern + n + 1 : NULL;
    char *word = strndup(pattern, n);

    if (!word)
        w->status = err_nomem(w->e);
    else if (w->status || depth > DEPTH_MAX || !*word || strcmp(word, "..") == 0)
        ;
    else if (strcmp(word, ".") == 0 && rest)
        match(w, dir, at, rest, depth + 1);
    else if (strcmp(word, "**") != 0 && !strpbrk(word, "*?["))
        enter(w, dir, at, word, rest, depth);
    else if (strcmp(word, "**") != 0)
        match_names(w, dir, at, word, rest, false, depth);
    else if (!rest || !*rest)
        match_names(w, dir, at, "*", NULL, true, depth);
    else { /* no directory, or each with the same pattern */
        struct dirent **names = NULL;
        match(w, dir, at, rest, depth + 1);
        int k = scandirat(dir, ".", &names, NULL, alphasort);
        for (int i = 0; i < k; i++) {
            if (names[i]->d_name[0] != '.' && names[i]->d_type != DT_REG)
                enter(w, dir, at, names[i]->d_name, pattern, depth);
            free(names[i]);
        }
        free(names);
    }
    free(word);
}

enum status
review_copy_artifacts(struct context *c, const char *id, const struct json *patterns,
                      struct json *doc, struct err *e)
{
    struct json *unmatched = json_new(c->arena, JSON_ARRAY);
    struct collection w = { .c = c, .id = id, .list = json_new(c->arena, JSON_ARRAY), .e = e };
    int dir = open(c->work_dir ? c->work_dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (dir < 0)
        return err_sys(e, "open %s", c->work_dir ? c->work_dir : ".");
    json_each (v, patterns) {
        const char *pattern = json_dup_text(c->arena, v);
        w.has_match = false;
        if (pattern)
            match(&w, dir, "", pattern, 0);
        if (pattern && unmatched && !w.has_match)
            json_add(unmatched, json_new_str(c->arena, pattern, strlen(pattern)));
    }
    close(dir);
    if (w.status)
        return w.status;
    bool ok = json_set(doc, "artifacts", w.list) && unmatched;
    if (ok && json_first(unmatched))
        ok = json_set(doc, "unmatched", unmatched);
    if (ok && w.left_out)
        ok = json_set(doc, "left_out", json_new_int(c->arena, w.left_out));
    return ok ? ST_OK : err_nomem(e);
}

/* ---- changes ---- */

/* $1: when the run began; $2: an index of our own, so that new files can be shown. Prints the
 * commit, then the difference. */
static const char script[] =
    "export GIT_OPTIONAL_LOCKS=0 GIT_TERMINAL_PROMPT=0\n"
    "git() { command git -c core.fsmonitor=false -c core.quotePath=false \"$@\"; }\n"
    "base=$(git rev-parse -q --verify \"HEAD@{$1}^{commit}\" 2>/dev/null) || base=\n"
    "[ -n \"$base\" ] || base=$(git rev-parse -q --verify HEAD 2>/dev/null) || exit 1\n"
    "echo \"$base\"\n"
    "cp \"$(git rev-parse --git-path index)\" \"$2\" 2>/dev/null\n"
    "export GIT_INDEX_FILE=\"$2\"\n"
    "git add -N . 2>/dev/null\n"
    "git diff --no-color --no-ext-diff --no-textconv \"$base\" -- . ':(exclude,top).cliq'\n"
    "rm -f \"$2\"\n";

/* When the run began, in whole seconds; "now" when it cannot be told. */
static void
read_begin(const struct context *c, char at[32])
{
    struct log_reader r;
    struct log_record rec;
    int fd = openat(c->state.dir, "run/journal.jsonl", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    strcpy(at, "now");
    if (fd < 0)
        return;
    log_reader_init(&r, fd, 0);
    const struct json *v = log_next(&r, &rec) ? json_get(rec.json, "at") : NULL;
    if (json_is(v, JSON_STRING) && v->text.len >= 19) {
        memcpy(at, v->text.p, 19);
        strcpy(at + 19, "Z");
    }
    log_reader_release(&r);
    close(fd);
}

static void
take_output(void *ctx, const char *p, size_t n)
{
    struct buf *to = ctx;
    size_t room = REVIEW_DIFF_MAX > to->len ? REVIEW_DIFF_MAX - to->len : 0;

    buf_add(to, p, n < room ? n : room);
}

static enum status
keep_changes(struct context *c, const char *id, const struct buf *out, struct json *doc,
             struct err *e)
{
    const char *nl = memchr(out->p, '\n', out->len);
    struct json *diff = json_new(c->arena, JSON_OBJECT);
    struct buf path = { 0 };

    if (!nl)
        return ST_OK;
    size_t len = out->len - (size_t)(nl + 1 - out->p);
    buf_addf(&path, "reviews/%s/changes.diff", id);
    enum status s = buf_status(&path, "the path", e);
    if (!s)
        s = state_dir_replace(&c->state, path.p, nl + 1, len, e);
    if (!s && (!diff || !json_set(doc, "diff", diff) ||
               !json_set(diff, "since", json_new_copy(c->arena, out->p, (size_t)(nl - out->p))) ||
               !json_set(diff, "size", json_new_int(c->arena, (int64_t)len)) ||
               !json_set(diff, "is_cut",
                         json_new(c->arena, out->len >= REVIEW_DIFF_MAX ? JSON_TRUE : JSON_FALSE))))
        s = err_nomem(e);
    buf_release(&path);
    return s;
}

enum status
review_copy_changes(struct context *c, const char *id, struct json *doc, struct err *e)
{
    struct buf index = { 0 }, dir = { 0 }, out = BUF_MAX(REVIEW_DIFF_MAX + 1);
    struct child child = { 0 };
    char at[32];

    read_begin(c, at);
    buf_addf(&dir, "reviews/%s", id);
    buf_addf(&index, "%s/reviews/%s/.index", c->state.state_dir, id);
    enum status s = buf_status(&index, "the path", e);
    if (!s)
        s = state_dir_mkdir(&c->state, dir.p, e);
    const char *argv[] = { "sh", "-c", script, "sh", at, index.p, NULL };
    struct child_spec spec = { .proc = { .argv = argv, .dir = c->work_dir },
                               .keep = 4096,
                               .is_err_apart = true,
                               .on_output = take_output,
                               .ctx = &out,
                               .limit_ms = GIT_LIMIT_MS };
    struct err ignored; /* without git, or without a repository, there is no diff */
    if (!s && child_run(&child, &spec, &ignored) == ST_OK && child_exit_code(&child) == 0 &&
        !buf_failed(&out) && out.len)
        s = keep_changes(c, id, &out, doc, e);
    child_release(&child);
    buf_release(&dir);
    buf_release(&index);
    buf_release(&out);
    return s;
}

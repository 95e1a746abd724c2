#include "proc/proc_spec.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/path.h"
#include "base/sys.h"
#include "base/utf8.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Arguments and environment together may be a quarter of the stack, 2 MiB; in hex and escapes
 * they grow. */
#define SPEC_MAX ((size_t)16 << 20)

static void
put_text(struct buf *b, const char *s)
{
    size_t n = strlen(s);

    if (utf8_valid_len(s, n) == n) {
        json_write_str(b, s, n);
        return;
    }
    buf_adds(b, "{\"hex\":\"");
    for (; *s; s++)
        buf_addf(b, "%02x", (unsigned char)*s);
    buf_adds(b, "\"}");
}

static void
put_member(struct buf *b, const char *key, const char *s)
{
    if (!s)
        return;
    json_key(b, key);
    put_text(b, s);
}

static void
put_list(struct buf *b, const char *key, const char *const *list)
{
    json_key(b, key);
    json_open(b, '[');
    for (; *list; list++) {
        json_sep(b);
        put_text(b, *list);
    }
    json_close(b, ']');
}

enum status
proc_spec_write(const char *path, const struct proc_spec *spec, struct err *e)
{
    struct buf b = BUF_MAX(SPEC_MAX);
    int fd = -1;

    json_open(&b, '{');
    put_list(&b, "argv", spec->argv);
    put_list(&b, "env", spec->env);
    put_member(&b, "dir", spec->dir);
    put_member(&b, "in", spec->in);
    put_member(&b, "out", spec->out);
    put_member(&b, "attempt_file", spec->attempt_file);
    json_close(&b, '}');
    buf_addc(&b, '\n');
    enum status s = buf_status(&b, "the command", e);
    if (!s && unlink(path) != 0 && errno != ENOENT)
        s = err_sys(e, "replace %s", path);
    if (!s) {
        int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
        fd = SYS_RETRY(sys->openat(AT_FDCWD, path, flags, 0600));
        s = fd < 0 ? err_sys(e, "create %s", path) : ST_OK;
    }
    for (size_t at = 0; !s && at < b.len;) {
        ssize_t n = SYS_RETRY(sys->write(fd, b.p + at, b.len - at));
        if (n <= 0)
            s = err_sys(e, "write %s", path);
        else
            at += (size_t)n;
    }
    if (fd >= 0)
        close(fd);
    if (s && fd >= 0)
        unlink(path);
    buf_release(&b);
    return s;
}

static int
hex_digit(char c)
{
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;

    return at ? (int)(at - digits) : -1;
}

/* The text of a string or of {"hex":...}, NUL-ended; NULL when it is neither, or out of
 * memory. */
static const char *
get_text(struct arena *a, const struct json *v)
{
    const struct json *hex = json_get(v, "hex");

    if (json_is(v, JSON_STRING) && !memchr(v->text.p, '\0', v->text.len))
        return arena_dup(a, v->text.p, v->text.len);
    if (!json_is(hex, JSON_STRING) || hex->text.len % 2 != 0)
        return NULL;
    size_t n = hex->text.len / 2;
    char *to = arena_alloc(a, n + 1);
    for (size_t i = 0; to && i < n; i++) {
        int high = hex_digit(hex->text.p[2 * i]), low = hex_digit(hex->text.p[2 * i + 1]);
        if (high < 0 || low < 0 || (high | low) == 0)
            return NULL;
        to[i] = (char)(high << 4 | low);
    }
    if (to)
        to[n] = '\0';
    return to;
}

static enum status
get_member(struct arena *a, const char *path, const struct json *doc, const char *key,
           const char **out, struct err *e)
{
    const struct json *v = json_get(doc, key);

    *out = v ? get_text(a, v) : NULL;
    return v && !*out ? err_set(e, ST_INVALID, "%s: \"%s\" is not a text", path, key) : ST_OK;
}

static enum status
get_list(struct arena *a, const char *path, const struct json *doc, const char *key,
         const char *const **out, struct err *e)
{
    const struct json *v = json_get(doc, key);
    size_t n = 0, i = 0;

    if (v && !json_is(v, JSON_ARRAY))
        return err_set(e, ST_INVALID, "%s: \"%s\" is not a list", path, key);
    if (v)
        n = v->kids.count;
    const char **list = arena_alloc(a, (n + 1) * sizeof *list);
    if (!list)
        return err_set(e, ST_IO, "%s: out of memory", path);
    json_each (item, v) {
        list[i] = get_text(a, item);
        if (!list[i++])
            return err_set(e, ST_INVALID, "%s: \"%s\" holds what is not a text", path, key);
    }
    list[n] = NULL;
    *out = list;
    return ST_OK;
}

enum status
proc_spec_read(const char *path, struct arena *a, struct proc_spec *spec, struct err *e)
{
    struct buf text = BUF_MAX(SPEC_MAX);
    struct json *doc = NULL;

    memset(spec, 0, sizeof *spec);
    enum status s = path_read_file(AT_FDCWD, path, &text, e);
    if (!s)
        s = json_parse_named(a, path, text.p ? text.p : "", text.len, &doc, e);
    if (!s && !json_is(doc, JSON_OBJECT))
        s = err_set(e, ST_INVALID, "%s: not an object", path);
    if (!s)
        s = get_list(a, path, doc, "argv", &spec->argv, e);
    if (!s && !spec->argv[0])
        s = err_set(e, ST_INVALID, "%s: \"argv\" names no program", path);
    if (!s)
        s = get_list(a, path, doc, "env", &spec->env, e);
    if (!s)
        s = get_member(a, path, doc, "dir", &spec->dir, e);
    if (!s)
        s = get_member(a, path, doc, "in", &spec->in, e);
    if (!s)
        s = get_member(a, path, doc, "out", &spec->out, e);
    if (!s)
        s = get_member(a, path, doc, "attempt_file", &spec->attempt_file, e);
    buf_release(&text); /* every text was copied */
    return s;
}

/*
 * template - finds variables in a text, looks up their values, and expands into text. Shell
 * commands are in template_shell.c, conditions in template_when.c.
 */
#include "team/template.h"

#include "base/clock.h"
#include "base/path.h"
#include "team/template_form.h"

#include <string.h>

/* ---- the syntax of a variable ---- */

const struct field template_variables[] = {
    { "inputs.NAME", .says = "the input NAME of team.yml, as given with cliq req --input" },
    { "handoff.PHASE.PATH",
      .says = "a value of PHASE's handoff: text, data, or a path in data such as items[0].title; a "
              "value that is no text is written as JSON" },
    { "team_name", .says = "the team's name" },
    { "phase", .says = "the phase's name" },
    { "date", .says = "the day, UTC: 2026-04-03" },
    { "timestamp", .says = "the time, UTC: 2026-04-03T11:19:34.123Z" },
    { "run_id", .says = "the run's id" },
    { "dirs.project", .says = "the project's directory" },
    { "dirs.work", .says = "the working directory of agents and commands" },
    { "dirs.state", .says = "the run's directory: .cliq/" },
    { "dirs.files", .says = "the phase's files: .cliq/files/<phase>" },
    { 0 },
};

const struct field template_places[] = {
    { "commands[].run", .says = "as a variable of the shell, see below" },
    { "env", .says = "the values, as text" },
    { "inputs", .says = "the values, as text" },
    { "notify", .says = "the texts of receivers, when the event happens" },
    { "review", .says = "the texts" },
    { "sources", .says = "the texts" },
    { "target_entries", .says = "the texts" },
    { "when", .says = "as text, then it is compared, see below" },
    { "roles/<role>.md", .says = "the role's text" },
    { 0 },
};

bool
template_is_grouped(const struct field *row, size_t *len)
{
    size_t n = strcspn(row->key, ".");

    if (len)
        *len = n;
    return row->key[n] == '.';
}

static bool
begins(const char *p, const char *prefix)
{
    return strncmp(p, prefix, strlen(prefix)) == 0;
}

/* Keys of data may hold nearly any byte, except those that would make the name look like shell
 * code. */
static bool
is_name_byte(unsigned char c)
{
    return c > ' ' && c != 0x7F && !strchr("()$`'\"\\;|&<>{}", c);
}

struct form
template_form(const char *p)
{
    struct form f = { .kind = FORM_NONE };

    if (p[0] != '$' || p[1] != '(')
        return f;
    f.name = p + 2;
    for (const struct field *v = template_variables; v->key; v++) {
        size_t n;
        if (!template_is_grouped(v, &n) && begins(f.name, v->key) && f.name[n] == ')') {
            f.kind = FORM_USE;
            f.name_len = n;
            f.len = n + 3;
            return f;
        }
        if (!template_is_grouped(v, &n) || strncmp(f.name, v->key, n + 1) != 0)
            continue;
        size_t group = ++n;
        while (is_name_byte((unsigned char)f.name[n]))
            n++;
        f.kind = f.name[n] == ')' && n > group ? FORM_USE : FORM_BAD;
        if (f.kind == FORM_BAD)
            n = strcspn(f.name, ")\n");
        f.name_len = n;
        f.len = 2 + n + (f.name[n] == ')');
        break;
    }
    return f;
}

struct template_use *
template_uses(struct arena *a, const char *text, size_t *n)
{
    size_t count = 0;
    struct template_use *uses = NULL;

    *n = 0;
    for (const char *p = text; (p = strstr(p, "$(")); p += 2)
        count += template_form(p).kind != FORM_NONE;
    if (count)
        uses = arena_alloc(a, count * sizeof *uses);
    if (!uses)
        return NULL;
    for (const char *p = text; (p = strstr(p, "$("));) {
        struct form f = template_form(p);
        if (f.kind != FORM_NONE) {
            char *name = arena_dup(a, f.name, f.name_len);
            if (!name)
                return NULL;
            uses[(*n)++] = (struct template_use){ name, (size_t)(p - text), f.kind == FORM_BAD };
        }
        p += f.len ? f.len : 2;
    }
    return uses;
}

/* ---- values ---- */

enum { SHOWN = 200 }; /* bytes of a name that a sentence shows */

static int
shown(size_t n)
{
    return n < SHOWN ? (int)n : SHOWN;
}

enum status
template_bad(const struct form *f, struct err *e)
{
    return err_set(e, ST_INVALID,
                   "$(%.*s is not a template variable: write $(inputs.NAME), "
                   "$(handoff.PHASE.PATH) or $(dirs.NAME), or \"$( \" for the shell's own",
                   shown(f->name_len), f->name);
}

static enum status
unresolved(const struct form *f, const char *why, struct err *e)
{
    return err_set(e, ST_INVALID, "cannot resolve $(%.*s): %s", shown(f->name_len), f->name, why);
}

static void
add_json(struct buf *to, const struct json *v)
{
    if (json_is(v, JSON_STRING))
        buf_add(to, v->text.p, v->text.len);
    else
        json_write(to, v);
}

/*
 * Looks up the value at a dotted path. File names are keys too ("sources.report.json.file"), so at
 * each object the longest matching key is tried first. Each node has one parent and so is tried at
 * most once; the recursion is as deep as the tree.
 */
static const struct json *
find_value(const struct json *v, const char *path, size_t len)
{
    if (!len)
        return v;
    if (json_is(v, JSON_ARRAY)) {
        const char *close = memchr(path, ']', len);
        size_t n = 0;
        if (path[0] != '[' || !close || close == path + 1)
            return NULL;
        for (const char *p = path + 1; p < close; p++) {
            if (*p < '0' || *p > '9' || n >= v->kids.count)
                return NULL;
            n = n * 10 + (size_t)(*p - '0');
        }
        if (n >= v->kids.count)
            return NULL;
        const struct json *kid = v->kids.first;
        while (n--)
            kid = kid->next;
        size_t used = (size_t)(close + 1 - path);
        if (used < len && path[used] != '[' && (path[used] != '.' || ++used == len))
            return NULL;
        return find_value(kid, path + used, len - used);
    }
    size_t longest = len + 1;
    const struct json *found = NULL;
    while (!found && longest) {
        /* the longest matching key that is shorter than the last one tried */
        const struct json *best = NULL;
        json_each (kid, json_is(v, JSON_OBJECT) ? v : NULL) {
            size_t n = kid->key_len;
            if (!n || n >= longest || memcmp(kid->key, path, n) != 0)
                continue;
            if (n < len && path[n] != '.' && path[n] != '[')
                continue;
            if (!best || n > best->key_len)
                best = kid;
        }
        if (!best)
            return NULL;
        longest = best->key_len;
        size_t used = longest;
        if (used < len && path[used] == '.' && ++used == len)
            continue; /* "a." names nothing */
        found = find_value(best, path + used, len - used);
    }
    return found;
}

/*
 * Looks up a path in a handoff's envelope. "text" and "data" are members of the envelope; any other
 * name, and these two when the envelope lacks them, is a key in data. "data.x" is the same as "x".
 */
static const struct json *
find_in_envelope(const struct json *envelope, const char *path, size_t len)
{
    const struct json *data = json_get(envelope, "data");
    const struct json *v = NULL;

    if ((len == 4 && !memcmp(path, "text", 4)) || (len == 4 && !memcmp(path, "data", 4)))
        v = json_getn(envelope, path, len);
    if (!v)
        v = find_value(data, path, len);
    if (!v && len > 4 && !memcmp(path, "data", 4) && (path[4] == '.' || path[4] == '['))
        v = find_value(data, path + 4 + (path[4] == '.'), len - 4 - (path[4] == '.'));
    return v;
}

/* The first names in the handoff's data: "; its data has severity, files". An agent chose them, so
 * only those count that look like names. */
static void
add_names(struct buf *to, const struct json *data)
{
    enum { NAMES = 8, NAME_MAX_LEN = 40 };
    unsigned n = 0;

    json_each (kid, json_is(data, JSON_OBJECT) ? data : NULL) {
        if (!kid->key_len || kid->key_len > NAME_MAX_LEN)
            continue;
        char name[NAME_MAX_LEN + 1];
        memcpy(name, kid->key, kid->key_len);
        name[kid->key_len] = '\0';
        if (!path_is_name(name) || strlen(name) < kid->key_len)
            continue;
        if (n == NAMES) {
            buf_adds(to, ", …");
            break;
        }
        buf_addf(to, "%s%s", n++ ? ", " : "; its data has ", name);
    }
    if (!json_first(data))
        buf_adds(to, "; it has no data");
}

static enum status
no_such_value(const struct form *f, const char *phase, const struct json *envelope, struct err *e)
{
    struct buf names = { 0 };

    add_names(&names, json_get(envelope, "data"));
    enum status s = err_set(
        e, ST_INVALID, "cannot resolve $(%.*s): the handoff of phase %s has no such value%s",
        shown(f->name_len), f->name, phase, names.p && !buf_failed(&names) ? names.p : "");
    buf_release(&names);
    return s;
}

static enum status
handoff_value(struct buf *to, const struct form *f, const struct template_scope *s, struct err *e)
{
    const char *rest = f->name + strlen("handoff.");
    size_t len = f->name_len - strlen("handoff.");
    const char *dot = memchr(rest, '.', len);
    char phase[128];

    if (!dot || dot == rest || dot == rest + len - 1)
        return unresolved(f, "write $(handoff.PHASE.PATH)", e);
    size_t n = (size_t)(dot - rest);
    if (n >= sizeof phase)
        return unresolved(f, "no phase has so long a name", e);
    memcpy(phase, rest, n);
    phase[n] = '\0';
    const struct json *envelope = s->handoff ? s->handoff(s->ctx, phase) : NULL;
    if (!envelope)
        return err_set(e, ST_INVALID, "cannot resolve $(%.*s): phase %s left no handoff here",
                       shown(f->name_len), f->name, phase);
    const struct json *v = find_in_envelope(envelope, dot + 1, len - n - 1);
    if (!v)
        return no_such_value(f, phase, envelope, e);
    add_json(to, v);
    return ST_OK;
}

static enum status
dirs_value(struct buf *to, const struct form *f, const struct template_scope *s, struct err *e)
{
    const struct {
        const char *name, *value;
    } dirs[] = { { "dirs.project", s->project_dir },
                 { "dirs.work", s->work_dir },
                 { "dirs.state", s->state_dir },
                 { "dirs.files", s->files_dir } };

    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
        if (strlen(dirs[i].name) != f->name_len || memcmp(dirs[i].name, f->name, f->name_len) != 0)
            continue;
        if (!dirs[i].value)
            return unresolved(f, "it is not known here", e);
        buf_adds(to, dirs[i].value);
        return ST_OK;
    }
    return unresolved(f, "known ones are dirs.project, dirs.work, dirs.state and dirs.files", e);
}

enum status
template_value(struct buf *to, const struct form *f, const struct template_scope *s, struct err *e)
{
    char iso[CLOCK_ISO_SIZE];
    const char *value = NULL;

    if (begins(f->name, "inputs.")) {
        const struct json *v = json_getn(s->inputs, f->name + 7, f->name_len - 7);
        if (!v)
            return unresolved(f, "there is no such input; give it with cliq req --input", e);
        add_json(to, v);
        return ST_OK;
    }
    if (begins(f->name, "handoff."))
        return handoff_value(to, f, s, e);
    if (begins(f->name, "dirs."))
        return dirs_value(to, f, s, e);
    switch (f->name[0]) {
    case 'd':
    case 't':
        if (!begins(f->name, "team_name")) {
            bool is_date = f->name[0] == 'd';
            clock_iso(iso, s->now_ms * 1000000, 1);
            buf_add(to, iso, is_date ? 10 : strlen(iso));
            return ST_OK;
        }
        value = s->team_name;
        break;
    case 'p':
        value = s->phase;
        break;
    case 'r':
        value = s->run_id;
        break;
    }
    if (!value)
        return unresolved(f, "it is not known here", e);
    buf_adds(to, value);
    return ST_OK;
}

/* ---- expansion into text ---- */

enum status
template_expandn(struct buf *to, const char *text, size_t len, const struct template_scope *s,
                 struct err *e)
{
    const char *from = text, *end = text + len;

    for (const char *p = text; (p = strstr(p, "$(")) && p < end;) {
        struct form f = template_form(p);
        enum status st = ST_OK;
        if (f.kind == FORM_NONE) {
            p += 2;
            continue;
        }
        buf_add(to, from, (size_t)(p - from));
        st = f.kind == FORM_BAD ? template_bad(&f, e) : template_value(to, &f, s, e);
        if (st)
            return st;
        from = p += f.len;
    }
    buf_add(to, from, (size_t)(end - from));
    return buf_status(to, "the expanded text", e);
}

enum status
template_expand(struct buf *to, const char *text, const struct template_scope *s, struct err *e)
{
    return template_expandn(to, text, strlen(text), s, e);
}

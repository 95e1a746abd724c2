/* settings - shows and changes them. */
#include "team/settings.h"
#include "base/path.h"
#include "base/suggest.h"
#include "base/term.h"
#include "cmd/cmd.h"
#include "cmd/lib/settings_origin.h"
#include "cmd/lib/settings_unknown.h"
#include "context/state_dir.h"
#include "team/settings_check.h"
#include "team/trust.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct opt opts[] = {
    { "global", OPT_FLAG, NULL, "the user's own (~/.cliqrc/settings.json), not the project's" },
    { "unset", OPT_FLAG, NULL, "remove KEY" },
    { "info", OPT_FLAG, NULL, "list the keys: what each takes, its value in force and its file" },
    { "json", OPT_FLAG, NULL, "print JSON" },
    { 0 },
};

/* Is this row about the key, or (a section) about something in it? NULL: about any. */
static bool
is_about(const struct setting *row, const char *key)
{
    size_t n = key ? strlen(key) : 0;

    return !key || row == setting_find(key) ||
           (strncmp(row->key, key, n) == 0 && (row->key[n] == '.' || !row->key[n]));
}

/* `--info`. */
struct settings_info {
    struct settings *settings;
    const char *key, *state_dir; /* NULL: all keys; no project */
    const struct setting *row;   /* whose values are shown now; NULL: values without a row */
    struct buf *out;
    bool is_json;
    size_t n;       /* rows and values shown */
    bool has_value; /* the row has one */
};

static bool
is_below(const char *path, const char *key)
{
    size_t n = key ? strlen(key) : 0;

    return !key || (strncmp(path, key, n) == 0 && (path[n] == '.' || !path[n]));
}

static void
add_file(struct buf *out, const struct settings_info *x, bool is_project)
{
    if (!is_project)
        path_config(out, NULL);
    else
        buf_adds(out, x->state_dir ? x->state_dir : "");
    buf_adds(out, "/settings.json");
}

/* "    agents.codex.api_key = ******** (~/.cliqrc/settings.json)" */
static void
show_value(struct settings_info *x, const struct settings_value *value)
{
    struct buf text = { 0 }, file = { 0 };
    const struct json *v = settings_masked(&x->settings->arena, value->v, value->path);
    bool is_secret = json_is(value->v, JSON_STRING) && settings_is_secret(value->path);

    if (is_secret)
        buf_adds(&text, "\"********\"");
    else
        json_write(&text, v);
    add_file(&file, x, value->is_project);
    if (buf_failed(&text) || buf_failed(&file)) {
        x->out->is_starved = true;
    } else if (x->is_json) {
        json_sep(x->out);
        json_open(x->out, '{');
        json_key_str(x->out, "key", value->path);
        json_key_raw(x->out, "value", text.p, text.len);
        json_key_str(x->out, "file", file.p);
        json_key_bool(x->out, "hides_global", value->is_hiding);
        json_close(x->out, '}');
    } else {
        buf_adds(x->out, "    ");
        term_escape(x->out, value->path, strlen(value->path), false);
        buf_adds(x->out, " = ");
        term_escape(x->out, text.p, text.len, false);
        buf_addf(x->out, "  (%s%s)\n", file.p,
                 value->is_hiding ? ", instead of the user's own" : "");
    }
    buf_release(&text);
    buf_release(&file);
}

static bool
is_wanted(const struct settings_info *x, const struct settings_value *value)
{
    return setting_find(value->path) == x->row && is_below(value->path, x->key);
}

static void
take_value(void *ctx, const struct settings_value *value)
{
    struct settings_info *x = ctx;

    if (!is_wanted(x, value))
        return;
    show_value(x, value);
    x->n++;
}

/* Of agents.codex, the row agents.*.api_key is shown only when that key is set. */
static void
find_value(void *ctx, const struct settings_value *value)
{
    struct settings_info *x = ctx;

    x->has_value = x->has_value || is_wanted(x, value);
}

static void
show_row(struct settings_info *x)
{
    const struct setting *row = x->row;
    struct buf *out = x->out;

    x->n++;
    if (!x->is_json) {
        buf_addf(out, "%-32s %s\n%-32s %s", row->key, row->says, "", setting_kind_says(row->kind));
        if (row->otherwise)
            buf_addf(out, "; default: %s", row->otherwise);
        buf_addf(out, "; read by: %s\n", row->read_by);
        settings_each(x->settings, take_value, x);
        return;
    }
    json_sep(out);
    json_open(out, '{');
    json_key_str(out, "key", row->key);
    json_key_str(out, "says", row->says);
    json_key_str(out, "takes", setting_kind_says(row->kind));
    json_key_str(out, "default", row->otherwise);
    json_key_str(out, "read_by", row->read_by);
    json_key(out, "values");
    json_open(out, '[');
    settings_each(x->settings, take_value, x);
    json_close(out, ']');
    json_close(out, '}');
}

/* Values that agents of one's own have: no row knows them. */
static void
show_others(struct settings_info *x)
{
    struct buf own = { 0 }, *out = x->out;

    x->row = NULL;
    x->out = &own;
    settings_each(x->settings, take_value, x);
    x->out = out;
    if (own.len && x->is_json) {
        json_sep(out);
        buf_addf(out, "{\"says\":\"other keys\",\"values\":[%s]}", own.p);
    } else if (own.len) {
        buf_addf(out, "other keys\n%s", own.p);
    }
    buf_release(&own);
}

static enum status
show_info(const char *state_dir, const char *key, bool is_json, struct buf *out, struct err *e)
{
    struct suggest near = { .word = key ? key : "" };
    struct settings settings;
    struct settings_info x = { &settings, key, state_dir, NULL, out, is_json, 0, false };
    enum status s = settings_load(&settings, state_dir, e);

    if (s)
        return s;
    if (is_json)
        json_open(out, '[');
    for (x.row = settings_known; x.row->key; x.row++) {
        suggest_try(&near, x.row->key);
        x.has_value = false;
        settings_each(&settings, find_value, &x);
        if (is_about(x.row, key) || x.has_value)
            show_row(&x);
    }
    show_others(&x);
    if (is_json) {
        json_close(out, ']');
        buf_addc(out, '\n');
    }
    settings_release(&settings);
    if (x.n)
        return ST_OK;
    return err_set(e, ST_NOT_FOUND,
                   "cliq itself knows no setting \"%s\"%s%s%s; cliq settings --info lists all", key,
                   near.best ? " (did you mean " : "", near.best ? near.best : "",
                   near.best ? "?)" : "");
}

static void
warn_unknown(void *ctx, const struct settings_value *value)
{
    settings_unknown_key(ctx, value->path);
}

static enum status
show(const struct state_dir *f, const char *key, bool is_json, struct buf *out, struct err *e)
{
    struct settings s;
    enum status st = settings_load(&s, f->state_dir, e);

    if (st)
        return st;
    const struct json *v = key ? settings_get(&s, key) : s.merged;
    if (!v) {
        st = err_set(e, ST_NOT_FOUND, "%s is not set", key);
    } else if (key && v->type == JSON_STRING && !is_json) {
        if (settings_is_secret(key))
            buf_adds(out, "********");
        else
            buf_add(out, v->text.p, v->text.len);
        buf_addc(out, '\n');
    } else {
        json_write_pretty(out, settings_masked(&s.arena, v, key), 0);
        buf_addc(out, '\n');
    }
    if (!st && !key) /* the files may have been written by hand */
        settings_each(&s, warn_unknown, (void *)f);
    settings_release(&s);
    return st;
}

/* A value of - is read from standard input, so that secrets need not be arguments. */
static enum status
read_value(const char *word, struct buf *to, struct err *e)
{
    if (strcmp(word, "-") != 0) {
        buf_adds(to, word);
        return buf_status(to, "the value", e);
    }
    enum status s = path_read_fd(STDIN_FILENO, "the value on standard input", to, e);
    while (!s && to->len && to->p[to->len - 1] == '\n')
        buf_cut(to, to->len - 1);
    return s;
}

/* Sets it, or takes it away (value NULL). Who changes which programs are run trusts them: what was
 * trusted before is. */
static enum status
change(const struct state_dir *f, bool is_global, const char *key, const char *value, struct err *e)
{
    char hash[TRUST_HASH_SIZE];
    bool is_known = false;
    bool was_trusted = !is_global && trust_hash(f->dir, hash, NULL) == ST_OK &&
                       trust_is_known(hash, &is_known, NULL) == ST_OK && is_known;
    enum status s = settings_set(f->state_dir, is_global, key, value, e);

    if (!s && was_trusted)
        s = trust_hash(f->dir, hash, e);
    if (!s && was_trusted)
        s = trust_add(hash, f->state_dir, e);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    const char *key = a->n_words > 0 ? a->words[0] : NULL;
    bool is_global = args_has(a, "global"), is_change = a->n_words > 1 || args_has(a, "unset");
    struct state_dir f = { .dir = -1 };
    struct buf out = { 0 }, value = BUF_MAX(1 << 20);
    enum status s = is_global ? ST_OK : state_dir_find(&f, e);

    if ((s == ST_NOT_FOUND || s == ST_REFUSED) && !is_change)
        s = ST_OK; /* outside a project the user's own are all there is */
    else if (s == ST_NOT_FOUND)
        s = err_set(e, ST_NOT_FOUND,
                    "no project here (cliq init makes one); --global sets it for "
                    "all projects");
    if (!s && args_has(a, "unset") && a->n_words != 1)
        s = err_set(e, ST_INVALID, "--unset needs one KEY");
    if (!s && args_has(a, "info") && is_change)
        s = err_set(e, ST_INVALID, "--info changes nothing: leave VALUE and --unset away");
    if (!s && key)
        s = settings_check_key(key, e);
    if (!s && args_has(a, "info")) {
        s = show_info(f.state_dir, key, args_has(a, "json"), &out, e);
    } else if (!s && is_change) {
        if (a->n_words > 1)
            s = read_value(a->words[1], &value, e);
        if (!s)
            s = change(&f, is_global, key, a->n_words > 1 ? (value.p ? value.p : "") : NULL, e);
        if (!s && !args_has(a, "unset"))
            settings_unknown_key(&f, key);
        if (!s && value.len && strcmp(key, "default_agent") == 0)
            settings_unknown_agent(&f, value.p);
    } else if (!s) {
        s = show(&f, key, args_has(a, "json"), &out, e);
    }
    if (!s && out.len)
        s = cmd_print(&out, e);
    state_dir_close(&f);
    buf_release(&out);
    buf_release(&value);
    return s;
}

const struct cmd cmd_settings = {
    .name = "settings",
    .words = "[KEY [VALUE|-]]",
    .choose = "settings",
    .max_words = 2,
    .brief = "show or change settings",
    .about =
        "The project's settings (.cliq/settings.json) are merged over the user's own\n"
        "(~/.cliqrc/settings.json). Without a VALUE a key is shown, secrets masked. A VALUE\n"
        "that is a number, true, false, null, a list or an object is stored as such, - reads\n"
        "it from standard input. A value that is not what its key takes (--info lists them) is\n"
        "refused, exit code 2, and nothing is written; one that stands in a file is told with\n"
        "the file and the key. A key that nothing reads is stored, with a warning, which comes\n"
        "again when all settings are shown. Files are readable by their owner only.\n"
        "--unset of a key that is not in that file is exit code 4. A file that is no JSON object\n"
        "is exit code 1, for every command that reads it.",
    .examples = "cliq settings\n"
                "cliq settings default_agent script\n"
                "cliq settings --info notifications\n"
                "cliq settings --info agents.codex\n"
                "cliq settings agents.openai-analyst.api_key - --global < key.txt\n"
                "cliq settings notifications.on_escalate '[\"slack:ops\"]'\n"
                "cliq settings default_agent --unset",
    .opts = opts,
    .run = run,
};

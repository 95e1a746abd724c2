/* settings - shows and changes them. */
#include "team/settings.h"
#include "base/path.h"
#include "base/suggest.h"
#include "cmd/cmd.h"
#include "context/state_dir.h"
#include "team/settings_check.h"
#include "team/trust.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { N_NAMES = 64 }; /* more than there are rows */

static const struct opt opts[] = {
    { "global", OPT_FLAG, NULL, "the user's own (~/.cliqrc/settings.json), not the project's" },
    { "unset", OPT_FLAG, NULL, "remove KEY" },
    { "info", OPT_FLAG, NULL,
      "list the keys that cliq knows (of KEY, or in it), and what each takes" },
    { "json", OPT_FLAG, NULL, "print JSON" },
    { 0 },
};

/* An unknown section belongs to another program, or is a typing error. */
static void
warn_unknown(const char *key)
{
    char section[64];
    struct suggest near = { .word = section };
    size_t n = strcspn(key, ".");
    char names[N_NAMES][64];
    size_t n_names = 0;

    if (n >= sizeof section)
        return;
    memcpy(section, key, n);
    section[n] = '\0';
    for (const struct setting *s = settings_known; s->key && n_names < N_NAMES; s++) {
        char *name = names[n_names++];
        snprintf(name, sizeof names[0], "%.*s", (int)strcspn(s->key, "."), s->key);
        if (strcmp(name, section) == 0)
            return;
        suggest_try(&near, name);
    }
    cmd_warn("cliq itself knows no setting \"%s\"%s%s%s", section,
             near.best ? " (did you mean " : "", near.best ? near.best : "", near.best ? "?)" : "");
}

/* Is this row about the key, or (a section) about something in it? NULL: about any. */
static bool
is_about(const struct setting *row, const char *key)
{
    size_t n = key ? strlen(key) : 0;

    return !key || row == setting_find(key) ||
           (strncmp(row->key, key, n) == 0 && (row->key[n] == '.' || !row->key[n]));
}

static void
show_row(struct buf *out, const struct setting *row, bool is_json)
{
    if (!is_json) {
        buf_addf(out, "%-32s %s\n%-32s %s\n", row->key, row->says, "",
                 setting_kind_says(row->kind));
        return;
    }
    json_sep(out);
    json_open(out, '{');
    json_key_str(out, "key", row->key);
    json_key_str(out, "says", row->says);
    json_key_str(out, "takes", setting_kind_says(row->kind));
    json_close(out, '}');
}

static enum status
show_info(const char *key, bool is_json, struct buf *out, struct err *e)
{
    struct suggest near = { .word = key ? key : "" };
    size_t n = 0;

    if (is_json)
        json_open(out, '[');
    for (const struct setting *row = settings_known; row->key; row++) {
        suggest_try(&near, row->key);
        if (is_about(row, key)) {
            show_row(out, row, is_json);
            n++;
        }
    }
    if (is_json) {
        json_close(out, ']');
        buf_addc(out, '\n');
    }
    if (n)
        return ST_OK;
    return err_set(e, ST_NOT_FOUND,
                   "cliq itself knows no setting \"%s\"%s%s%s; cliq settings --info lists all", key,
                   near.best ? " (did you mean " : "", near.best ? near.best : "",
                   near.best ? "?)" : "");
}

static enum status
show(const char *state_dir, const char *key, bool is_json, struct buf *out, struct err *e)
{
    struct settings s;
    enum status st = settings_load(&s, state_dir, e);

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
        s = show_info(key, args_has(a, "json"), &out, e);
    } else if (!s && is_change) {
        if (!args_has(a, "unset"))
            warn_unknown(key);
        if (a->n_words > 1)
            s = read_value(a->words[1], &value, e);
        if (!s)
            s = change(&f, is_global, key, a->n_words > 1 ? (value.p ? value.p : "") : NULL, e);
    } else if (!s) {
        s = show(f.state_dir, key, args_has(a, "json"), &out, e);
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
    .max_words = 2,
    .brief = "show or change settings",
    .about =
        "The project's settings (.cliq/settings.json) are merged over the user's own\n"
        "(~/.cliqrc/settings.json). Without a VALUE a key is shown, secrets masked. A VALUE\n"
        "that is a number, true, false, null, a list or an object is stored as such, - reads\n"
        "it from standard input. A value that is not what its key takes (--info lists them) is\n"
        "refused, exit code 2, and nothing is written; one that stands in a file is told with\n"
        "the file and the key. Files are readable by their owner only.\n"
        "--unset of a key that is not in that file is exit code 4. A file that is no JSON object\n"
        "is exit code 1, for every command that reads it.",
    .examples = "cliq settings\n"
                "cliq settings default_agent script\n"
                "cliq settings --info notifications\n"
                "cliq settings agents.openai-analyst.api_key - --global < key.txt\n"
                "cliq settings notifications.on_escalate '[\"slack:ops\"]'\n"
                "cliq settings default_agent --unset",
    .opts = opts,
    .run = run,
};

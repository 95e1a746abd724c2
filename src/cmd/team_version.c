/* team version - the next version of a team, in its file. */
#include "base/path.h"
#include "base/term.h"
#include "cmd/cmd.h"
#include "cmd/lib/team_file.h"
#include "cmd/lib/team_find.h"
#include "team/version.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct opt opts[] = { { 0 } };

static enum status
read_part(const char *word, enum version_part *out, struct err *e)
{
    static const char *const names[] = { "major", "minor", "patch" };

    for (size_t i = 0; i < 3; i++) {
        if (strcmp(word, names[i]) == 0) {
            *out = (enum version_part)i;
            return ST_OK;
        }
    }
    return err_set(e, ST_INVALID, "\"%.80s\" is no part of a version: write patch, minor or major",
                   word);
}

/* The first version is 1.0.0, and so is the one after a text that is no version. */
static void
next_version(const char *now, enum version_part part, char to[64])
{
    struct version v;

    if (now && version_parse(now, &v))
        v = version_bump(&v, part);
    else
        v = (struct version){ .n = { 1, 0, 0 } };
    snprintf(to, 64, "%u.%u.%u", v.n[0], v.n[1], v.n[2]);
}

/* The offset of a line and a column, which counts characters. */
static size_t
offset_of(const struct buf *text, unsigned line, unsigned column)
{
    size_t at = 0;

    for (; line > 1 && at < text->len; at++)
        line -= text->p[at] == '\n';
    for (; column > 1 && at < text->len; column--)
        do
            at++;
        while (at < text->len && ((unsigned char)text->p[at] & 0xC0) == 0x80);
    return at;
}

/* The length of the value as written: with its quotes. */
static size_t
length_at(const struct buf *text, size_t at, const char *value)
{
    char quote = at < text->len ? text->p[at] : '\0';
    size_t n = strlen(value), begin = at + (quote == '"' || quote == '\'');

    if (begin + n > text->len || memcmp(text->p + begin, value, n) != 0)
        return 0;
    return begin == at ? n : n + 2;
}

static void
replace_part(const struct buf *text, size_t at, size_t len, const char *word, struct buf *to)
{
    buf_add(to, text->p, at);
    buf_adds(to, word);
    buf_add(to, text->p + at + len, text->len - at - len);
}

/* The file's text with the new version; all else stays as it is. */
static void
edit(const struct buf *text, const struct yaml *doc, const char *version, struct buf *to)
{
    const struct yaml *v = yaml_get(doc, "version"), *name = yaml_get(doc, "name");
    char line[80];

    if (v && v->type == YAML_SCALAR) {
        size_t at = offset_of(text, v->line, v->column), len = length_at(text, at, v->text);
        snprintf(line, sizeof line, "%s%s", *v->text ? "" : " ", version);
        replace_part(text, at, len, line, to);
        return;
    }
    size_t at = name && !v ? offset_of(text, name->line + 1, 1) : 0;
    snprintf(line, sizeof line, "%sversion: %s\n", at && text->p[at - 1] != '\n' ? "\n" : "",
             version);
    replace_part(text, at, 0, line, to);
}

/* Is the text the same team with this version? */
static bool
is_edited(const struct buf *text, const char *version)
{
    struct problems problems = { 0 };
    struct team t;

    team_load(&t, "team.yml", text->p, text->len, &problems, NULL);
    bool is_good = t.node && t.version && strcmp(t.version, version) == 0;
    team_release(&t);
    problems_release(&problems);
    return is_good;
}

static enum status
bump(struct found_team *f, enum version_part part, char now[64], struct err *e)
{
    struct buf text = BUF_MAX(YAML_MAX_BYTES), edited = { 0 };
    char *path = realpath(f->file.p, NULL); /* a link stays, and its file is changed */
    enum status s =
        path ? path_read_file(AT_FDCWD, path, &text, e) : err_sys(e, "open %s", f->file.p);

    next_version(f->team.version, part, now);
    if (!s) {
        edit(&text, f->team.node, now, &edited);
        s = buf_status(&edited, "team.yml", e);
    }
    if (!s && !is_edited(&edited, now))
        s = err_set(e, ST_INVALID, "%s: write version: %s yourself; its place was not found",
                    f->file.p, now);
    if (!s)
        s = team_file_write(AT_FDCWD, path, &edited, false, e);
    free(path);
    buf_release(&text);
    buf_release(&edited);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    struct found_team f = { .dir = -1 };
    struct buf out = { 0 };
    enum version_part part;
    char now[64];
    enum status s = read_part(a->words[0], &part, e);

    if (!s)
        s = team_find_own(&f, a->n_words > 1 ? a->words[1] : ".", e);
    if (!s)
        s = bump(&f, part, now, e);
    if (!s) {
        const char *name = f.team.name ? f.team.name : f.file.p;
        term_escape(&out, name, strlen(name), false);
        buf_addf(&out, ": %s", now);
        if (f.team.version) {
            buf_adds(&out, ", was ");
            term_escape(&out, f.team.version, strlen(f.team.version), false);
        }
        buf_addc(&out, '\n');
        s = cmd_print(&out, e);
    }
    team_find_release(&f);
    buf_release(&out);
    return s;
}

const struct cmd cmd_team_version = {
    .name = "team version",
    .words = "patch|minor|major [DIR]",
    .min_words = 1,
    .max_words = 2,
    .brief = "give a team its next version",
    .about =
        "Changes version: in team.yml and nothing else: comments and order stay. A team without\n"
        "a version, or with one that is not like 1.2.3, gets 1.0.0. Of a pre-release like\n"
        "2.0.0-rc.1 the next version is the release that it leads to.",
    .examples = "cliq team version patch\n"
                "cliq team version major ./my-team",
    .opts = opts,
    .run = run,
};

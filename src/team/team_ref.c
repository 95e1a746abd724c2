#include "team/team_ref.h"

#include "team/team.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HUB_SCHEME "hub://"

static bool
begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool
ends(const char *text, const char *with)
{
    size_t n = strlen(text), k = strlen(with);

    return n > k && strcmp(text + n - k, with) == 0;
}

static bool
is_path(const char *text)
{
    return text[0] == '.' || text[0] == '/' || (strchr(text, '/') && text[0] != '@');
}

/* Does git know the text as the URL of a repository? A local path is a directory to us. */
static bool
is_git(const char *text)
{
    static const char *const schemes[] = { "https://", "http://", "ssh://",
                                           "git://",   "file://", "git@" };

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (begins(text, schemes[i]))
            return true;
    return false;
}

/* The text up to its last `mark`, and what stands behind that. */
static void
split(struct team_ref *r, const char *text, char mark)
{
    const char *at = strrchr(text, mark);

    if (at == text)
        at = NULL;
    buf_add(&r->at, text, at ? (size_t)(at - text) : strlen(text));
    if (at)
        buf_adds(&r->version, at + 1);
}

/* Letters, digits and what a version, branch or tag may have besides; no dash before, which would
 * be an option. */
static bool
is_version(const char *v)
{
    return *v && *v != '-' &&
           v[strspn(v, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-/")] == 0;
}

static enum status
parse_name(struct team_ref *r, const char *text, struct err *e)
{
    const char *name = begins(text, HUB_SCHEME) ? text + strlen(HUB_SCHEME) : text;

    if (*name != '@')
        buf_adds(&r->at, "@local/");
    split(r, name, '@');
    enum status s = buf_status(&r->at, "the name", e);
    if (!s && !team_is_name(r->at.p))
        s = err_set(e, ST_INVALID,
                    "\"%.200s\" is no team: write a directory like ./my-team, a package like "
                    "./my-team.tgz, @scope/name, hub://@scope/name or the URL of a git repository",
                    text);
    return s;
}

/* A version that is asked for must be one. */
static enum status
check_asked(const struct team_ref *r, const char *text, struct err *e)
{
    bool is_asked = r->version.len || ends(text, "@") || ends(text, "#");

    return is_asked && !is_version(r->version.p ? r->version.p : "")
               ? err_set(e, ST_INVALID, "\"%.200s\" ends with no version", text)
               : ST_OK;
}

enum status
team_ref_parse_name(struct team_ref *r, const char *text, struct err *e)
{
    *r = (struct team_ref){ .kind = TEAM_REF_NAME };
    if (begins(text, HUB_SCHEME))
        return err_set(e, ST_INVALID,
                       "\"%.200s\": install it (cliq team install %.200s), then write its name",
                       text, text);
    enum status s = parse_name(r, text, e);
    if (!s)
        s = buf_status(&r->version, "the version", e);
    return s ? s : check_asked(r, text, e);
}

static bool
is_dir(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

enum status
team_ref_parse(struct team_ref *r, const char *text, struct err *e)
{
    enum status s = ST_OK;

    *r = (struct team_ref){ .kind = TEAM_REF_DIR };
    if (begins(text, HUB_SCHEME)) {
        r->kind = TEAM_REF_HUB;
        s = parse_name(r, text, e);
    } else if (is_git(text)) {
        r->kind = TEAM_REF_GIT;
        split(r, text, '#');
    } else if (is_path(text) || is_dir(text) || access(text, R_OK) == 0) {
        if (!is_dir(text) && (ends(text, ".tgz") || ends(text, ".tar.gz")))
            r->kind = TEAM_REF_PACKAGE;
        buf_adds(&r->at, text);
    } else {
        r->kind = TEAM_REF_NAME;
        s = parse_name(r, text, e);
    }
    if (!s)
        s = buf_status(&r->at, "the reference", e);
    if (!s)
        s = buf_status(&r->version, "the version", e);
    return !s && r->kind != TEAM_REF_DIR && r->kind != TEAM_REF_PACKAGE ? check_asked(r, text, e)
                                                                        : s;
}

void
team_ref_release(struct team_ref *r)
{
    buf_release(&r->at);
    buf_release(&r->version);
}

bool
team_ref_fits(const struct team_ref *r, const char *version)
{
    size_t n = r->version.len;

    if (!n)
        return true;
    return version && strncmp(version, r->version.p, n) == 0 && (!version[n] || version[n] == '.');
}

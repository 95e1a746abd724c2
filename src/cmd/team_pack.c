/* team pack - a team as one file. */
#include "base/digest.h"
#include "base/term.h"
#include "cmd/cmd.h"
#include "cmd/lib/team_file.h"
#include "cmd/lib/team_find.h"
#include "team/package.h"

#include <fcntl.h>
#include <string.h>

static const struct opt opts[] = {
    { "output", OPT_TEXT, "FILE", "the file to write, instead of SCOPE-NAME-VERSION.tgz here",
      .letter = 'o' },
    { "json", OPT_FLAG, NULL, "print JSON" },
    { 0 },
};

/* @scope/name and 1.2.0 are scope-name-1.2.0.tgz. */
static void
add_file_name(struct buf *to, const struct team *t)
{
    for (const char *p = t->name + (t->name[0] == '@'); *p; p++)
        buf_addc(to, *p == '/' ? '-' : *p);
    if (t->version)
        buf_addf(to, "-%s", t->version);
    buf_adds(to, ".tgz");
}

/* The problems go to standard error; with errors nothing is packed. */
static enum status
check(struct found_team *f, struct err *e)
{
    enum status s = team_find_tell(f, "packed", e);

    if (!s && f->team.version && strpbrk(f->team.version, "/\\"))
        return err_set(e, ST_INVALID, "the version \"%.80s\" cannot stand in a file name",
                       f->team.version);
    return s;
}

static void
tell(struct buf *out, const char *file, const char *sum, size_t len, bool is_json)
{
    if (is_json) {
        json_open(out, '{');
        json_key_str(out, "file", file);
        json_key_str(out, "sha256", sum);
        json_key_int(out, "bytes", (int64_t)len);
        json_close(out, '}');
    } else {
        buf_addf(out, "%s  ", sum);
        term_escape(out, file, strlen(file), false);
    }
    buf_addc(out, '\n');
}

static enum status
run(const struct args *a, struct err *e)
{
    const char *given = args_text(a, "output");
    struct found_team f = { .dir = -1 };
    struct buf bytes = BUF_MAX(PACKAGE_PACKED_MAX), file = { 0 }, out = { 0 };
    char sum[DIGEST_HEX_SIZE];
    enum status s = team_find_own(&f, a->n_words ? a->words[0] : ".", e);

    if (!s)
        s = check(&f, e);
    if (!s)
        s = package_pack(f.dir, &bytes, e);
    if (!s && given)
        buf_adds(&file, given);
    else if (!s)
        add_file_name(&file, &f.team);
    if (!s)
        s = buf_status(&file, "the path", e);
    if (!s)
        s = team_file_write(AT_FDCWD, file.p, &bytes, false, e);
    if (!s) {
        tell(&out, file.p, digest_sha256_hex(sum, bytes.p, bytes.len), bytes.len,
             args_has(a, "json"));
        s = cmd_print(&out, e);
    }
    team_find_release(&f);
    buf_release(&bytes);
    buf_release(&file);
    buf_release(&out);
    return s;
}

const struct cmd cmd_team_pack = {
    .name = "team pack",
    .words = "[DIR]",
    .max_words = 1,
    .brief = "make a package of a team: one .tgz",
    .about =
        "Validates the team, then writes team.yml, roles/*.md, agents/, the teams of its team\n"
        "phases in teams/ and, where they exist, README.md, LICENSE and CHANGELOG.md into a .tgz,\n"
        "and prints its SHA-256 and its path as sha256sum does. The same team gives the same\n"
        "bytes: names are sorted, times and modes are fixed. Links may be in agents/ only, and\n"
        "must stay inside. Limits: 10 MiB packed, 50 MiB unpacked, 10000 entries, names of\n"
        "printable ASCII. Nothing of the team is run.",
    .examples = "cliq team pack\n"
                "cliq team pack ./my-team -o my-team.tgz",
    .opts = opts,
    .run = run,
};

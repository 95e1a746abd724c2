/* doctor - can cliq work here? doctor/doctor.h has the checks; this prints what they found. */
#include "doctor/doctor.h"
#include "base/json.h"
#include "base/term.h"
#include "cmd/cmd.h"
#include "cmd/lib/doctor_show.h"

#include <string.h>
#include <unistd.h>

static const struct opt opts[] = {
    { "json", OPT_FLAG, NULL, "print JSON" },
    { "fix", OPT_FLAG, NULL,
      "mend what is safe: permissions, temporary files, index, directories" },
    { "offline", OPT_FLAG, NULL, "do not let agents test their connections" },
    { "timeout", OPT_TIME, "TIME", "of each connection test; default: 10s" },
    { 0 },
};

/* ---- text ---- */

static void
add_count(struct buf *out, size_t n, const char *what)
{
    buf_addf(out, "%zu %s%s", n, what, n == 1 ? "" : "s");
}

static void
add_verdict(struct buf *out, const struct doctor *d)
{
    bool is_mendable = false;

    for (const struct doctor_finding *f = d->first; f; f = f->next)
        is_mendable = is_mendable || f->is_mendable;
    buf_addc(out, '\n');
    if (d->errors)
        add_count(out, d->errors, "problem");
    else
        buf_adds(out, "No problems");
    if (d->warnings) {
        buf_adds(out, ", ");
        add_count(out, d->warnings, "warning");
    }
    if (d->mended)
        buf_addf(out, ", %zu mended", d->mended);
    buf_adds(out,
             is_mendable && !d->o.is_mending ? ". cliq doctor --fix mends some of it.\n" : ".\n");
}

static void
write_text(struct buf *out, const struct doctor *d)
{
    const char *section = "";
    bool has_color = term_has_color(STDOUT_FILENO);

    for (const struct doctor_finding *f = d->first; f; f = f->next) {
        if (strcmp(f->section, section) != 0) {
            bool is_first = !*section;
            section = f->section;
            if (strcmp(section, "Dependencies") == 0)
                buf_adds(out, "Checking dependencies...\n");
            else
                buf_addf(out, "%s%s:\n", is_first ? "" : "\n", section);
        }
        doctor_show(out, f, has_color);
    }
    add_verdict(out, d);
}

/* ---- JSON ---- */

static void
write_json(struct buf *out, const struct doctor *d)
{
    json_open(out, '{');
    json_key_bool(out, "ok", d->errors == 0);
    json_key_int(out, "problems", (int64_t)d->errors);
    json_key_int(out, "warnings", (int64_t)d->warnings);
    json_key_int(out, "mended", (int64_t)d->mended);
    json_key(out, "checks");
    json_open(out, '[');
    for (const struct doctor_finding *f = d->first; f; f = f->next) {
        json_sep(out);
        json_open(out, '{');
        json_key_str(out, "section", f->section);
        json_key_str(out, "agent", f->agent);
        json_key_str(out, "name", f->name);
        json_key_str(out, "level", doctor_level_name(f->level));
        json_key_str(out, "message", f->says);
        json_key_str(out, "fix", f->fix);
        json_key_bool(out, "fixable", f->is_mendable);
        json_close(out, '}');
    }
    json_close(out, ']');
    json_close(out, '}');
    buf_addc(out, '\n');
}

/* ---- the command ---- */

static enum status
read_words(const struct args *a, struct doctor_options *o, struct err *e)
{
    if (a->n_words == 0)
        return ST_OK;
    if (strcmp(a->words[0], "agent") != 0)
        return err_set(e, ST_INVALID,
                       "unexpected argument \"%s\": cliq doctor, or cliq doctor "
                       "agent NAME",
                       a->words[0]);
    if (a->n_words == 1)
        return err_set(e, ST_INVALID, "which agent? cliq doctor agent NAME");
    o->agent = a->words[1];
    return ST_OK;
}

static enum status
run(const struct args *a, struct err *e)
{
    struct doctor_options o = { .is_offline = args_has(a, "offline"),
                                .is_mending = args_has(a, "fix"),
                                .limit_ms = args_ms(a, "timeout", 0) };
    struct doctor d = { 0 };
    struct buf out = { 0 };
    enum status s = read_words(a, &o, e);

    if (s)
        return s;
    s = doctor_open(&d, &o, e);
    if (!s)
        s = doctor_examine(&d, e);
    if (!s) {
        (args_has(a, "json") ? write_json : write_text)(&out, &d);
        s = cmd_print(&out, e);
    }
    if (!s && d.errors)
        s = ST_FAILED;
    buf_release(&out);
    doctor_release(&d);
    return s;
}

const struct cmd cmd_doctor = {
    .name = "doctor",
    .words = "[agent NAME]",
    .max_words = 2,
    .brief = "check whether cliq and its agents can work here",
    .about =
        "Looks at tmux, node and git; at the agents: entry, programs, required settings, "
        "variables\n"
        "and their own connection test; at your files, the hub, the project, its runs, and the\n"
        "machine. In a project these are the agents of its workflow, its reviewers and its\n"
        "notifications, elsewhere the default agent and those of this machine. Each problem comes\n"
        "with the command that mends it.\n"
        "\n"
        "--fix does what loses nothing: permissions, temporary files that were left, an index or\n"
        "delayed.json to be made again, missing directories. Connection tests run side by side;\n"
        "--offline leaves them out. Nothing of a project that you have not trusted is started.\n"
        "\n"
        "Exit code 0: no problems (there may be notes and warnings); 1: problems.",
    .examples =
        "cliq doctor\n"
        "cliq doctor agent claude-code\n"
        "cliq doctor --fix\n"
        "cliq doctor --offline --json | jq -r '.checks[] | select(.level == \"error\").fix'",
    .opts = opts,
    .run = run,
};

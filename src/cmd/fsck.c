/* fsck - what is wrong with a log, line by line. */
#include "base/boot_id.h"
#include "base/json.h"
#include "base/path.h"
#include "base/sys.h"
#include "base/term.h"
#include "cmd/cmd.h"
#include "log/log.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct opt opts[] = {
    { "json", OPT_FLAG, NULL, "print a JSON array, one object a file" },
    { 0 },
};

struct fsck_findings {
    const char *file;
    struct buf *out; /* text or the elements of a JSON list */
    bool is_json;
};

static void
on_finding(void *ctx, const struct log_record *rec, bool is_note)
{
    struct fsck_findings *f = ctx;
    const char *level = is_note ? "note" : "error";

    if (f->is_json) {
        json_sep(f->out);
        json_open(f->out, '{');
        if (rec->line)
            json_key_int(f->out, "line", (int64_t)rec->line);
        if (rec->column)
            json_key_int(f->out, "column", rec->column);
        if (rec->end > rec->at) {
            json_key_int(f->out, "offset", rec->at);
            json_key_int(f->out, "bytes", rec->end - rec->at);
        }
        json_key_str(f->out, "level", level);
        json_key_str(f->out, "reason", rec->problem);
        json_close(f->out, '}');
        return;
    }
    term_escape(f->out, f->file, strlen(f->file), false);
    if (rec->line)
        buf_addf(f->out, ":%" PRIu64, rec->line);
    if (rec->column)
        buf_addf(f->out, ":%u", rec->column);
    buf_addf(f->out, ": %s: %s", level, rec->problem);
    if (rec->end > rec->at) /* else it is of no place in the file */
        buf_addf(f->out, " (%jd bytes at %jd)", (intmax_t)(rec->end - rec->at), (intmax_t)rec->at);
    buf_addc(f->out, '\n');
}

/* The file ahead stands beside the log itself, not beside a link to it. */
static enum status
check_ahead(const char *file, int fd, struct log_report *report, struct fsck_findings *f,
            struct err *e)
{
    char path[PATH_MAX], boot[BOOT_ID_SIZE];
    char *slash = realpath(file, path) ? strrchr(path, '/') : NULL;
    int dir = -1;

    if (!slash || boot_id_read(boot, NULL)) /* renamed meanwhile; or no way to tell */
        return ST_OK;
    *slash = '\0';
    enum status s = path_open_dir(slash > path ? path : "/", false, &dir, e);
    if (!s)
        s = log_fsck_presync(dir, slash + 1, fd, boot, report, on_finding, f, e);
    if (dir >= 0)
        close(dir);
    return s;
}

static enum status
check(const char *file, struct log_report *report, struct fsck_findings *f, struct err *e)
{
    struct stat st;
    int fd = SYS_RETRY(sys->openat(AT_FDCWD, file, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0));

    if (fd < 0)
        return path_open_failed(AT_FDCWD, file, file, e);
    enum status s = sys->fstat(fd, &st) != 0 ? err_sys(e, "look at %s", file)
                                             : path_check_regular(&st, file, e);
    if (!s)
        s = log_fsck(fd, -1, report, on_finding, f, e);
    if (!s)
        s = check_ahead(file, fd, report, f, e);
    close(fd);
    return s;
}

static void
print_verdict(struct buf *out, const char *file, const struct log_report *r)
{
    term_escape(out, file, strlen(file), false);
    buf_addf(out, ": %s: %" PRIu64 " records in %" PRIu64 " lines", r->problems ? "BAD" : "clean",
             r->good, r->lines);
    if (r->problems)
        buf_addf(out, ", %" PRIu64 " problem%s", r->problems, r->problems == 1 ? "" : "s");
    if (r->notes)
        buf_addf(out, ", %" PRIu64 " note%s", r->notes, r->notes == 1 ? "" : "s");
    buf_addc(out, '\n');
}

static void
print_json(struct buf *out, const char *file, const struct log_report *r, const struct buf *found)
{
    json_sep(out);
    json_open(out, '{');
    json_key_str(out, "file", file);
    json_key_str(out, "verdict", r->problems ? "bad" : "clean");
    json_key_int(out, "lines", (int64_t)r->lines);
    json_key_int(out, "records", (int64_t)r->good);
    json_key_int(out, "problems", (int64_t)r->problems);
    json_key_int(out, "notes", (int64_t)r->notes);
    json_key(out, "findings");
    buf_addf(out, "[%s]", found->p ? found->p : "");
    json_close(out, '}');
}

static enum status
run(const struct args *a, struct err *e)
{
    struct buf out = { 0 };
    bool is_json = args_has(a, "json"), is_bad = false;
    enum status s = ST_OK;

    if (is_json)
        json_open(&out, '[');
    for (size_t i = 0; !s && i < a->n_words; i++) {
        struct buf found = { 0 };
        struct fsck_findings f = { a->words[i], is_json ? &found : &out, is_json };
        struct log_report r = { 0 };
        s = check(a->words[i], &r, &f, e);
        if (!s && is_json)
            print_json(&out, a->words[i], &r, &found);
        else if (!s)
            print_verdict(&out, a->words[i], &r);
        is_bad = is_bad || (!s && r.problems > 0);
        if (!s)
            s = buf_status(&found, "the list of findings", e);
        buf_release(&found);
    }
    if (is_json) {
        json_close(&out, ']');
        buf_addc(&out, '\n');
    }
    if (!s)
        s = cmd_print(&out, e);
    buf_release(&out);
    return s ? s : is_bad ? ST_FAILED : ST_OK;
}

const struct cmd cmd_fsck = {
    .name = "fsck",
    .words = "FILE...",
    .min_words = 1,
    .max_words = SIZE_MAX,
    .brief = "check logs (channel.jsonl, signals, journals) line by line",
    .about =
        "Prints every line that is not a record, with its number and the reason, and a verdict\n"
        "for each file. A fragment that a crash left behind is a note, not a problem: it was\n"
        "never acknowledged and hurts no neighbour. Numbered logs have their numbers and\n"
        "checksums verified too. Nothing is changed.\n"
        "\n"
        "After a power cut, records may wait in the file beside the log that was synced in its\n"
        "place (events.ahead). That is a note, too: the next command that opens the store (cliq "
        "hub\n"
        "check) puts them back.\n"
        "\n"
        "The exit code is 0 when there are no problems (notes are fine), else 1.",
    .examples = "cliq fsck .war-rooms/*/channel.jsonl\n"
                "cliq fsck --json .war-rooms/room-001/channel.jsonl",
    .opts = opts,
    .run = run,
};

/*
 * fsck - the check of a whole log: reports every line that is not a good record.
 *
 * Notes are harmless: a fragment (a torn line of a record that was never
 * acknowledged), the lines of an incomplete group, a torn tail, lines that
 * are only in the pre-sync file after a power cut, because opening the log
 * restores them, and missing numbers that a line of the hub explains (op cut). Everything else is a
 * problem.
 */
#include "base/sys.h"
#include "log/log.h"
#include "log/presync.h"
#include "log/seal.h"

#include <stdio.h>
#include <string.h>

/* Are sequence numbers missing before this line? */
static bool
has_gap(const struct log_record *rec, uint64_t expected)
{
    return expected > 1 && rec->seq > expected;
}

/* Does the file have a sealed line? Foreign lines may precede it. */
static bool
is_sequenced(int fd)
{
    struct log_reader r;
    struct log_record rec;
    bool is_sealed = false;

    log_reader_init(&r, fd, 0);
    while (!is_sealed && log_next(&r, &rec))
        is_sealed = json_get(rec.json, "seq") && json_get(rec.json, "crc");
    log_reader_release(&r);
    return is_sealed;
}

/* Is it the kept file of dropped segments (log/segment.h)? There, missing numbers are normal. */
static bool
is_kept(int fd)
{
    struct log_reader r;
    struct log_record rec;

    log_reader_init(&r, fd, 0);
    r.is_sequenced = true;
    bool is_it = log_prev(&r, &rec) && rec.seq && json_eq(json_get(rec.json, "op"), "kept");
    log_reader_release(&r);
    return is_it;
}

enum status
log_fsck(int fd, off_t to, struct log_report *report, log_finding_fn *finding, void *ctx,
         struct err *e)
{
    struct log_reader r;
    struct log_record rec;
    struct stat st = { .st_size = to };
    uint64_t expected = 0;
    bool is_cut = false, may_jump = is_kept(fd);

    *report = (struct log_report){ 0 };
    log_reader_init(&r, fd, 0);
    r.wants_bad = true;
    r.is_sequenced = is_sequenced(fd);
    while (log_next(&r, &rec) && !(is_cut = to >= 0 && rec.end > to)) {
        if (rec.verdict == LOG_GOOD) {
            report->good++;
            if (!may_jump && has_gap(&rec, expected)) {
                bool is_told = json_eq(json_get(rec.json, "op"), "cut");
                rec.problem = is_told ? "lines before this one were lost: the file was cut short"
                                      : "sequence numbers are missing before this line";
                *(is_told ? &report->notes : &report->problems) += 1;
                finding(ctx, &rec, is_told);
            }
            if (expected || json_get(rec.json, "crc")) /* the first sealed line sets the number */
                expected = rec.seq + 1;
            continue;
        }
        bool is_note = rec.verdict == LOG_FRAGMENT || rec.verdict == LOG_UNGROUPED;
        *(is_note ? &report->notes : &report->problems) += 1;
        finding(ctx, &rec, is_note);
    }
    off_t at = !is_cut ? r.at : rec.at < to ? rec.at : to; /* the end of the lines checked */
    report->lines = (is_cut ? rec.line : r.line) - 1;
    enum status s = log_reader_status(&r, e);
    if (!s && to < 0 && sys->fstat(fd, &st) != 0)
        s = err_sys(e, "look at the log");
    if (!s && st.st_size > at && (is_cut || !r.is_rotated)) {
        rec = (struct log_record){
            .at = at,
            .end = st.st_size,
            .line = report->lines + 1,
            .verdict = LOG_FRAGMENT,
            .problem = "unfinished at the end of the file; the next writer ends the line",
        };
        report->notes++;
        finding(ctx, &rec, true);
    }
    log_reader_release(&r);
    return s;
}

/* "events.jsonl" -> "events.ahead". False: a log of this name has no pre-sync file. */
static bool
presync_name(char to[NAME_MAX + 1], const char *log)
{
    static const char end[] = ".jsonl";
    size_t n = strlen(log), len = strlen(end);

    return n > len && strcmp(log + n - len, end) == 0 &&
           snprintf(to, NAME_MAX + 1, "%.*s.ahead", (int)(n - len), log) <= NAME_MAX;
}

/* Describes what the next open of the log will do. */
static void
describe(char *to, size_t size, const char *name, const struct presync_finding *f)
{
    const char *kept = f->is_broken ? "; further lines are damaged, and the file is renamed" : "";

    if (f->step == PRESYNC_PUT_BACK)
        snprintf(to, size,
                 "%zu line%s from before a power cut %s only in %s: opening the log restores %s%s",
                 f->lines, f->lines == 1 ? "" : "s", f->lines == 1 ? "is" : "are", name,
                 f->lines == 1 ? "it" : "them", kept);
    else if (f->step == PRESYNC_SET_ASIDE)
        snprintf(to, size,
                 "%s has lines of another file (the log was replaced, copied or truncated): "
                 "opening the log renames it",
                 name);
    else
        snprintf(to, size, "%s has damaged lines: opening the log renames it", name);
}

enum status
log_fsck_presync(int dir, const char *name, int fd, const char *boot, struct log_report *report,
                 log_finding_fn *finding, void *ctx, struct err *e)
{
    char presync[NAME_MAX + 1], text[2 * NAME_MAX];
    struct log l = { .o = { .ahead_name = presync, .boot = boot }, .dir = dir, .fd = fd };
    struct presync_finding f;
    struct stat st;

    if (strlen(name) >= sizeof l.name || !presync_name(presync, name))
        return ST_OK;
    strcpy(l.name, name);
    if (sys->fstat(fd, &st) != 0)
        return err_sys(e, "look at %s", name);
    l.ino = st.st_ino;
    enum status s = presync_look(&l, &f, e);
    if (s || (f.step == PRESYNC_NOTHING && !f.is_broken))
        return s;
    describe(text, sizeof text, presync, &f);
    struct log_record rec = { .at = f.at, .end = f.end, .problem = text };
    report->notes++;
    finding(ctx, &rec, true);
    return ST_OK;
}

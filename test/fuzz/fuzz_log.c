/*
 * fuzz_log - compares log/ with a slow and simple model that reads the same bytes.
 *
 *     make build/fuzz/log
 *     build/fuzz/log -max_len=4096 NEW_CORPUS test/fuzz/corpus/log
 *
 * The input is the content of a log. It is read twice: unchanged, and with every checksum
 * corrected, so that the checks of numbers and groups are reached too. For every input, each in
 * a function of its own:
 *   - forward and backward reading see the same lines, good and bad
 *   - the numbers of a sequenced log are those of the model below, and grow
 *   - the counts of fsck add up
 *   - a record appended afterwards, plain or sequenced, is the last one that readers see,
 *     everything before it is still there, and its number is the one it was sealed with
 */
#define _GNU_SOURCE
#include "fuzz_dir.h"

#include "base/crc32c.h"
#include "log/log.h"
#include "log/seal.h"

#include <sys/mman.h>
#include <sys/stat.h>

#define NAME "events.jsonl"
#define OURS "{\"ours\":1"

static int
put_file(const char *p, size_t n)
{
    dir_empty();
    int fd = openat(dir, NAME, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    MUST(fd >= 0);
    MUST(write(fd, p, n) == (ssize_t)n);
    return fd;
}

/* ---- the model ---- */

struct line {
    size_t at, end; /* including '\n' */
    bool is_blank;
    bool is_json;    /* an object */
    bool is_sound;   /* and its seal, if it has one, is right */
    bool is_rotate;  /* sealed */
    bool is_counted; /* a reader of the sequenced log delivers it ... */
    uint64_t seq;    /* ... with this number */
    struct seal seal;
};

struct model {
    struct line *v;
    size_t n;
    bool is_consistent; /* sealed numbers never fall behind their positions */
    bool is_rotated;
    bool is_overrun; /* sealed lines follow a rotate line: no cliq writer does that */
};

/* Finds all lines and classifies each on its own. */
static struct model
split(const char *p, size_t size)
{
    struct model m = { .v = calloc(size + 1, sizeof *m.v), .is_consistent = true };
    struct arena a = { 0 };

    MUST(m.v);
    for (size_t at = 0, end; at < size; at = end) {
        const char *nl = memchr(p + at, '\n', size - at);
        if (!nl)
            break;
        end = (size_t)(nl + 1 - p);
        struct line *l = &m.v[m.n++];
        struct json *v;
        *l = (struct line){ .at = at, .end = end, .is_blank = true };
        for (const char *c = p + at; c < nl; c++)
            l->is_blank = l->is_blank && (*c == ' ' || *c == '\t' || *c == '\r');
        arena_reset(&a);
        if (l->is_blank || !json_parse(&a, p + at, end - 1 - at, &v, NULL) ||
            v->type != JSON_OBJECT)
            continue;
        l->is_json = true;
        l->is_sound = seal_read(p + at, end - 1 - at, v, &l->seal);
        l->is_rotate = l->is_sound && l->seal.seq && json_eq(json_get(v, "op"), "rotate");
    }
    arena_release(&a);
    for (size_t i = 0, rotates = 0; i < m.n; i++) {
        m.is_overrun = m.is_overrun || (rotates > 0 && m.v[i].is_sound && m.v[i].seal.seq);
        rotates += m.v[i].is_rotate;
    }
    return m;
}

/* The number of lines of the group at i; *is_open: more may follow. */
static size_t
group_len(const struct model *m, size_t i, bool *is_open)
{
    uint64_t k = 2;

    *is_open = false;
    for (; k <= m->v[i].seal.of; k++) {
        size_t j = i + (size_t)k - 1;
        if (j >= m->n) {
            *is_open = true;
            break;
        }
        const struct line *l = &m->v[j];
        if (!l->is_sound || l->seal.nth != k || l->seal.seq != m->v[i].seal.seq + k - 1)
            break;
    }
    return (size_t)k - 1;
}

static void
number(struct model *m)
{
    uint64_t next = 1;

    for (size_t i = 0; i < m->n;) {
        struct line *l = &m->v[i];
        size_t n = 1;
        if (!l->is_sound || l->seal.nth) {
            i++;
            continue;
        }
        if (l->seal.seq && l->seal.seq < next)
            m->is_consistent = false;
        if (l->seal.of) {
            bool is_open;
            n = group_len(m, i, &is_open);
            if (is_open)
                return; /* nothing after it is read before it is whole */
            if (n < l->seal.of) {
                i += n; /* incomplete: skip all of it */
                continue;
            }
        }
        for (; n > 0; n--, i++) {
            l = &m->v[i];
            l->is_counted = true;
            l->seq = l->seal.seq > next ? l->seal.seq : next;
            next = l->seq + 1;
            if (l->is_rotate) {
                m->is_rotated = true;
                return;
            }
        }
    }
}

/* ---- reading ---- */

static void
check_both_ways(int fd, const struct model *m)
{
    struct log_reader f, b;
    struct log_record x, y;
    size_t i = 0, bad = 0;

    log_reader_init(&f, fd, 0);
    f.wants_bad = true;
    for (; i < m->n; i++) {
        const struct line *l = &m->v[i];
        if (l->is_blank)
            continue;
        MUST(log_next(&f, &x));
        MUST(x.at == (off_t)l->at && x.end == (off_t)l->end && x.line == i + 1);
        MUST((x.verdict == LOG_GOOD) == l->is_json);
        MUST((x.json != NULL) == l->is_json && (x.problem == NULL) == l->is_json);
        bad += !l->is_json;
    }
    MUST(!log_next(&f, &x) && log_reader_status(&f, NULL) == ST_OK && f.bad == bad);
    log_reader_init(&b, fd, 0);
    b.wants_bad = true;
    while (i-- > 0) {
        const struct line *l = &m->v[i];
        if (l->is_blank)
            continue;
        MUST(log_prev(&b, &y));
        MUST(y.at == (off_t)l->at && y.end == (off_t)l->end);
        MUST((y.verdict == LOG_GOOD) == l->is_json);
    }
    MUST(!log_prev(&b, &y) && log_reader_status(&b, NULL) == ST_OK && b.bad == bad);
    log_reader_release(&f);
    log_reader_release(&b);
}

static void
check_numbers(int fd, const struct model *m)
{
    struct log_reader r;
    struct log_record rec;
    uint64_t last = 0;

    log_reader_init(&r, fd, 0);
    r.is_sequenced = true;
    for (size_t i = 0; i < m->n; i++) {
        if (!m->v[i].is_counted)
            continue;
        MUST(log_next(&r, &rec));
        MUST(rec.at == (off_t)m->v[i].at && rec.seq == m->v[i].seq);
        MUST(rec.seq > last);
        last = rec.seq;
    }
    MUST(!log_next(&r, &rec) && log_reader_status(&r, NULL) == ST_OK);
    MUST(r.is_rotated == m->is_rotated);
    log_reader_release(&r);

    log_reader_init(&r, fd, 0); /* backward: no numbers by position, and no crash */
    r.is_sequenced = true;
    while (log_prev(&r, &rec))
        ;
    log_reader_release(&r);
}

struct found {
    uint64_t notes, problems;
};

static void
count_finding(void *ctx, const struct log_record *rec, bool is_note)
{
    struct found *f = ctx;

    MUST(rec->problem && rec->line > 0);
    *(is_note ? &f->notes : &f->problems) += 1;
}

static void
check_fsck(int fd, const struct model *m)
{
    struct log_report report;
    struct found found = { 0 };
    uint64_t good = 0, counted = 0, blank = 0;

    MUST(log_fsck(fd, -1, &report, count_finding, &found, NULL) == ST_OK);
    MUST(found.notes == report.notes && found.problems == report.problems);
    MUST(report.lines <= m->n && report.good <= report.lines);
    for (size_t i = 0; i < m->n; i++) {
        good += m->v[i].is_json;
        counted += m->v[i].is_counted;
        blank += m->v[i].is_blank;
    }
    MUST(report.good == good || report.good == counted);
    MUST(report.lines - report.good <= blank + report.notes + report.problems);
}

/* ---- appending ---- */

static enum status
append(const struct log_options *o)
{
    struct log l;
    enum status s = log_open(&l, dir, NAME, o, NULL);

    MUST(s == ST_OK);
    s = log_append(&l, &(struct log_text){ OURS "}", strlen(OURS) + 1 }, 1, NULL);
    log_close(&l);
    return s;
}

static void
check_append_plain(const char *p, size_t size)
{
    struct log_options o = { 0 };
    struct log_reader r;
    struct log_record rec;
    struct stat st;
    int fd = put_file(p, size);
    bool is_torn = size > 0 && p[size - 1] != '\n';

    MUST(append(&o) == ST_OK);
    MUST(fstat(fd, &st) == 0 && st.st_size == (off_t)(size + is_torn + strlen(OURS) + 2));
    log_reader_init(&r, fd, 0);
    MUST(log_prev(&r, &rec));
    MUST(rec.len == strlen(OURS) + 1 && memcmp(rec.text, OURS, strlen(OURS)) == 0);
    log_reader_release(&r);
    char *now = malloc(size + 1);
    MUST(now && pread(fd, now, size, 0) == (ssize_t)size && memcmp(now, p, size) == 0);
    free(now);
    close(fd);
}

/* Appends a sequenced record; carries: the log also carries strays over. */
static void
check_append_sequenced(const char *p, size_t size, bool carries)
{
    struct log_options o = { .is_sequenced = true, .rotate_bytes = carries ? 1 << 30 : 0 };
    bool is_torn = size > 0 && p[size - 1] != '\n';

    /* the content once the tail is sealed */
    char *sealed = malloc(size + 1);
    MUST(sealed);
    memcpy(sealed, p, size);
    sealed[size] = '\n';
    struct model before = split(sealed, size + is_torn);
    number(&before);

    close(put_file(p, size));
    enum status s = append(&o);
    if (s) { /* no number is left: the append is rejected */
        MUST(s == ST_FAILED);
    } else if (!before.is_overrun) {
        int fd = openat(dir, NAME, O_RDONLY | O_CLOEXEC);
        struct log_reader r;
        struct log_record rec;
        uint64_t last = 0;
        bool is_ours = false;
        struct seal seal = { 0 };
        size_t n = 0, counted = 0;
        MUST(fd >= 0);
        log_reader_init(&r, fd, 0);
        r.is_sequenced = true;
        while (log_next(&r, &rec)) {
            last = rec.seq;
            is_ours = rec.len > strlen(OURS) && memcmp(rec.text, OURS, strlen(OURS)) == 0;
            MUST(seal_read(rec.text, rec.len, rec.json, &seal));
            n++;
        }
        MUST(is_ours);
        MUST(!before.is_consistent || before.is_rotated || seal.seq == last);
        for (size_t i = 0; i < before.n; i++)
            counted += before.v[i].is_counted;
        MUST(before.is_rotated || n == counted + 1);
        log_reader_release(&r);
        close(fd);
    }
    free(before.v);
    free(sealed);
}

/* ---- corrected checksums ---- */

static void
mend(char *p, size_t size)
{
    for (size_t at = 0; at < size;) {
        char *nl = memchr(p + at, '\n', size - at);
        size_t end = nl ? (size_t)(nl - p) : size, len = end - at;
        while (len > 0 && p[at + len - 1] != '}')
            len--;
        if (len >= 18 && memcmp(p + at + len - 18, ",\"crc\":\"", 8) == 0) {
            char hex[9];
            snprintf(hex, sizeof hex, "%08x", crc32c(p + at, len - 18));
            memcpy(p + at + len - 10, hex, 8);
        }
        at = end + 1;
    }
}

static void
check(const char *p, size_t size)
{
    struct model m = split(p, size);
    int fd = memfd_create("log", MFD_CLOEXEC);

    MUST(fd >= 0 && write(fd, p, size) == (ssize_t)size);
    check_both_ways(fd, &m);
    number(&m);
    check_numbers(fd, &m);
    check_fsck(fd, &m);
    close(fd);
    free(m.v);
    check_append_plain(p, size);
    check_append_sequenced(p, size, false);
    check_append_sequenced(p, size, true);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *p = malloc(size + 1);

    dir_make();
    MUST(p);
    memcpy(p, data, size);
    check(p, size);
    mend(p, size);
    if (memcmp(p, data, size) != 0)
        check(p, size);
    free(p);
    return 0;
}

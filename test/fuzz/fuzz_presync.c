/*
 * fuzz_presync - the reader of log/presync, and the recovery of a log from what it read.
 *
 *     make build/fuzz/presync
 *     build/fuzz/presync -max_len=16384 NEW_CORPUS test/fuzz/corpus/presync
 *
 * The input is two bytes, how much of the log is left, then a presync file. It is read
 * unchanged, and with corrected checksums and the log's inode, so that the code after those
 * checks is reached. For every input:
 *   - the lines that are read are in the file, with the length that it says
 *   - opening the log changes nothing before the restored lines
 *   - lines for this log are in it afterwards, at their offset, and opening it again changes
 *     nothing
 */
#define _GNU_SOURCE
#include "fuzz_dir.h"

#include "base/crc32c.h"
#include "log/log.h"
#include "log/presync.h"

#include <sys/stat.h>

#define NAME  "events.jsonl"
#define AHEAD "events.ahead"

static const char LOG[] = "{\"first\":1}\n{\"k\":1}\n{\"k\":22}\n{\"foreign\":1}\n";

static void
write_file(const char *name, const char *p, size_t n)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    MUST(fd >= 0 && write(fd, p, n) == (ssize_t)n);
    close(fd);
}

static size_t
read_file(const char *name, char *to, size_t max)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);

    MUST(fd >= 0);
    ssize_t n = read(fd, to, max);
    MUST(n >= 0);
    close(fd);
    return (size_t)n;
}

static void
put_number(char *to, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (char)(v >> 8 * i);
}

/* Corrects the checksum of every record that begins like one. */
static void
put_right(char *p, size_t n)
{
    struct stat st;
    uint64_t born;
    int fd = openat(dir, NAME, O_RDONLY | O_CLOEXEC);

    MUST(fd >= 0 && fstat(fd, &st) == 0);
    born = presync_born(fd);
    close(fd);
    for (size_t at = 0; at + PRESYNC_HEAD < n; at += PRESYNC_BLOCK) {
        char *r = p + at;
        size_t len = (unsigned char)r[12] | (size_t)(unsigned char)r[13] << 8;
        r[14] = r[15] = '\0';
        if (len > n - at - PRESYNC_HEAD)
            continue;
        put_number(r + 32, st.st_ino, 8);
        put_number(r + 40, born, 8);
        put_number(r + 8, crc32c(r + 12, PRESYNC_HEAD - 12 + len), 4);
    }
}

static void
open_log(void)
{
    static const struct log_options o = {
        .is_sequenced = true, .is_durable = false, .ahead_name = AHEAD, .boot = "now"
    };
    struct log l;
    struct err e;

    MUST(log_open(&l, dir, NAME, &o, &e) == ST_OK);
    log_close(&l);
}

/* Compares with the head of the first record only. */
static bool
is_same(const struct presync_chain *a, const struct presync_chain *b)
{
    return a->generation == b->generation && a->ino == b->ino && a->born == b->born &&
           a->at == b->at && strcmp(a->boot, b->boot) == 0;
}

static void
check(char *image, size_t n, size_t left, bool is_right)
{
    static char before[1 << 16], after[1 << 18], again[1 << 18];
    struct presync_chain c, head;
    struct buf lines = { 0 };

    write_file(NAME, LOG, left);
    if (is_right)
        put_right(image, n);
    write_file(AHEAD, image, n);
    bool is_chain = presync_read(image, n, &c, &lines);
    MUST(is_chain == (lines.len > 0) && lines.len <= n);
    if (is_chain)
        MUST(presync_read_head(image, n, &head) && is_same(&c, &head) &&
             memcmp(lines.p, image + PRESYNC_HEAD, 1) == 0);
    memcpy(before, LOG, left);
    open_log();
    size_t len = read_file(NAME, after, sizeof after);
    bool is_ours = is_chain && is_right && strcmp(c.boot, "now") != 0 && c.at <= (off_t)left;
    size_t first = is_ours && (size_t)c.at < left ? (size_t)c.at : left;
    MUST(len >= first && memcmp(before, after, first) == 0);
    if (is_ours)
        MUST(len >= (size_t)c.at + lines.len && memcmp(after + c.at, lines.p, lines.len) == 0);
    else if (!is_chain)
        MUST(len == left);
    open_log();
    MUST(read_file(NAME, again, sizeof again) == len && memcmp(after, again, len) == 0);
    buf_release(&lines);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char image[1 << 16];

    dir_make();
    if (size < 2 || size > sizeof image)
        return 0;
    size_t left = ((size_t)data[0] | (size_t)data[1] << 8) % sizeof LOG, n = size - 2;
    memcpy(image, data + 2, n);
    check(image, n, left, false);
    check(image, n, left, true);
    dir_empty(); /* removes files that were moved aside too */
    return 0;
}

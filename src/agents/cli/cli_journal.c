#include "agents/cli/cli_journal.h"

#include "base/sys.h"

#include <fcntl.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 16384 };

void
cli_journal_init(struct cli_journal *j, void (*take)(void *ctx, const char *p, size_t n), void *ctx)
{
    *j = (struct cli_journal){ .take = take, .ctx = ctx, .fd = -1 };
    j->line.max = CLI_JOURNAL_LINE_MAX + 1;
}

const char *
cli_journal_pattern(struct arena *a, const char *dir, const char *rest)
{
    struct buf b = { 0 };

    for (const char *p = dir; *p; p++) {
        if (strchr("\\*?[", *p))
            buf_addc(&b, '\\');
        buf_addc(&b, *p);
    }
    buf_addf(&b, "/%s", rest);
    const char *text = buf_failed(&b) ? NULL : arena_dup(a, b.p, b.len);
    buf_release(&b);
    return text;
}

/* A regular file, and nothing else: a FIFO would hold us up. */
static int
open_file(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

void
cli_journal_find(struct cli_journal *j, const char *pattern, bool is_continued)
{
    glob_t found;

    if (j->fd >= 0 || !pattern)
        return;
    if (glob(pattern, 0, NULL, &found) == 0) /* sorted: their names begin with the time */
        j->fd = open_file(found.gl_pathv[found.gl_pathc - 1]);
    globfree(&found);
    if (j->fd >= 0 && is_continued && lseek(j->fd, 0, SEEK_END) < 0)
        cli_journal_release(j);
}

static void
split(struct cli_journal *j, const char *p, size_t n)
{
    while (n > 0) {
        const char *end = memchr(p, '\n', n);
        size_t part = end ? (size_t)(end - p) : n;
        j->is_too_long = j->is_too_long || j->line.len + part > CLI_JOURNAL_LINE_MAX;
        if (!j->is_too_long)
            buf_add(&j->line, p, part);
        if (end) {
            if (!j->is_too_long && j->line.len)
                j->take(j->ctx, j->line.p, j->line.len);
            buf_reset(&j->line);
            j->is_too_long = false;
        }
        p += part + (end != NULL);
        n -= part + (end != NULL);
    }
}

void
cli_journal_read(struct cli_journal *j)
{
    char piece[PIECE];
    ssize_t n;

    while (j->fd >= 0 && (n = SYS_RETRY(read(j->fd, piece, sizeof piece))) > 0)
        split(j, piece, (size_t)n);
}

void
cli_journal_release(struct cli_journal *j)
{
    if (j->take && j->fd >= 0)
        close(j->fd);
    j->fd = -1;
    buf_release(&j->line);
}

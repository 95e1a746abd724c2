#include "agents/cli/cli_lines.h"

#include "base/sys.h"

#include <string.h>
#include <unistd.h>

enum status
cli_lines_init(struct cli_lines *l, const struct mask *m, struct err *e)
{
    l->line.max = CLI_LINE_MAX + 1;
    return mask_stream_init(&l->mask, m, e);
}

void
cli_lines_release(struct cli_lines *l)
{
    buf_release(&l->line);
    mask_stream_release(&l->mask);
}

void
cli_write(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t k = SYS_RETRY(write(fd, p, n));
        if (k <= 0)
            return;
        p += k;
        n -= (size_t)k;
    }
}

/* The line has its end. */
static void
end_line(struct cli_lines *l)
{
    if (l->skipped)
        l->too_long(l->ctx, l->line.len + l->skipped);
    else
        l->take(l->ctx, l->line.p ? l->line.p : "", l->line.len);
    buf_reset(&l->line);
    l->skipped = 0;
}

static void
split(struct cli_lines *l, const char *p, size_t n)
{
    while (n > 0) {
        const char *end = memchr(p, '\n', n);
        size_t part = end ? (size_t)(end - p) : n;
        if (l->skipped || l->line.len + part > CLI_LINE_MAX)
            l->skipped += part;
        else
            buf_add(&l->line, p, part);
        if (end)
            end_line(l);
        p += part + (end != NULL);
        n -= part + (end != NULL);
    }
}

static void
pass_on(struct cli_lines *l, struct buf *masked)
{
    if (l->copy >= 0)
        cli_write(l->copy, masked->p, masked->len);
    split(l, masked->p, masked->len);
    buf_release(masked);
}

void
cli_lines_write(struct cli_lines *l, const char *p, size_t n)
{
    struct buf masked = { 0 };

    mask_write(&l->mask, p, n, &masked);
    pass_on(l, &masked);
}

void
cli_lines_end(struct cli_lines *l)
{
    struct buf masked = { 0 };

    mask_end(&l->mask, &masked);
    pass_on(l, &masked);
    if (l->line.len || l->skipped)
        end_line(l);
}

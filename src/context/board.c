#include "context/board.h"

#include <string.h>

/*
 * `done` is the list of edits since the board was read; board_redo applies them to the file's
 * current text before it is written. Each edit is its letter, the phase and a text, both NUL-ended.
 *     'x' mark complete   ' ' mark incomplete   'n' note   'r' replace (phase is empty)
 */
static void
remember(struct board *b, char deed, const char *phase, const char *text)
{
    if (deed == 'r')
        buf_reset(&b->done); /* a replacement makes earlier edits moot */
    buf_addc(&b->done, deed);
    buf_add(&b->done, phase, strlen(phase) + 1);
    buf_add(&b->done, text, strlen(text) + 1);
    b->is_dirty = true;
}

/* Is there a "- [ ] " or "- [x] " at p? *mark is set to the character between the brackets. */
static bool
is_entry(const char *p, const char **mark)
{
    *mark = p + 3;
    return (p[0] == '-' || p[0] == '*') && p[1] == ' ' && p[2] == '[' &&
           (p[3] == ' ' || p[3] == 'x' || p[3] == 'X') && p[4] == ']' && p[5] == ' ';
}

static const char *
line_end(const char *p)
{
    return p + strcspn(p, "\n");
}

static const char *
next_line(const char *p)
{
    p = line_end(p);
    return *p ? p + 1 : p;
}

/* The line of the phase's entry, or NULL. Other text may follow the phase's name. */
static const char *
find(const struct board *b, const char *phase, const char **mark)
{
    size_t n = strlen(phase);

    for (const char *p = b->text.p; n && p && *p; p = next_line(p)) {
        if (!is_entry(p, mark))
            continue;
        const char *name = p + 6;
        while (*name == ' ')
            name++;
        if (!strncmp(name, phase, n) && strchr("\n\r\t :,.;", name[n])) /* or the NUL */
            return p;
    }
    return NULL;
}

static void
insert(struct board *b, size_t at, const char *p, size_t n)
{
    size_t rest = b->text.len - at;

    if (!buf_room(&b->text, n))
        return;
    buf_grew(&b->text, n);
    memmove(b->text.p + at + n, b->text.p + at, rest);
    memcpy(b->text.p + at, p, n);
    b->text.p[b->text.len] = '\0';
}

void
board_mark(struct board *b, const char *phase, bool is_complete)
{
    const char *mark;

    if (!find(b, phase, &mark) || (*mark != ' ') == is_complete)
        return;
    b->text.p[mark - b->text.p] = is_complete ? 'x' : ' ';
    remember(b, is_complete ? 'x' : ' ', phase, "");
}

/* Writes "  - note". Further lines of the note are indented deeper, so that none looks like an
 * entry. */
static void
write_note(struct buf *to, const char *note)
{
    size_t n = strlen(note);

    while (n && (note[n - 1] == '\n' || note[n - 1] == '\r' || note[n - 1] == ' '))
        n--;
    buf_adds(to, "  - ");
    for (size_t i = 0; i < n; i++) {
        if (note[i] == '\r')
            continue;
        buf_addc(to, note[i]);
        if (note[i] == '\n')
            buf_adds(to, "    ");
    }
    buf_addc(to, '\n');
}

void
board_note(struct board *b, const char *phase, const char *note)
{
    const char *mark, *p = find(b, phase, &mark);
    struct buf line = { 0 };

    if (!p || !note[strspn(note, " \t\r\n")])
        return;
    /* after the notes that are there: the latest comes last */
    if (!*line_end(p))
        buf_addc(&line, '\n');
    for (p = next_line(p); *p == ' ' || *p == '\t';) {
        if (!*line_end(p))
            buf_addc(&line, '\n');
        p = next_line(p);
    }
    write_note(&line, note);
    if (!buf_failed(&line))
        insert(b, (size_t)(p - b->text.p), line.p, line.len);
    buf_release(&line);
    remember(b, 'n', phase, note);
}

void
board_replace(struct board *b, const char *text)
{
    struct buf whole = { 0 };

    buf_adds(&whole, text); /* a copy first: text may be part of the old board */
    buf_release(&b->text);
    b->text = whole;
    remember(b, 'r', "", b->text.p ? b->text.p : "");
}

void
board_redo(struct board *b, const struct board *from)
{
    const char *p = from->done.p, *end = p ? p + from->done.len : NULL;

    while (p && p < end) {
        char deed = *p++;
        const char *phase = p, *text = p + strlen(p) + 1;
        p = text + strlen(text) + 1;
        if (deed == 'r')
            board_replace(b, text);
        else if (deed == 'n')
            board_note(b, phase, text);
        else
            board_mark(b, phase, deed == 'x');
    }
}

void
board_release(struct board *b)
{
    buf_release(&b->text);
    buf_release(&b->done);
    b->is_dirty = false;
}

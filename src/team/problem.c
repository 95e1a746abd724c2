#include "team/problem.h"

#include "base/json.h"
#include "base/term.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Strings are copied: problems are often printed after the team is released. */
static const char *
copy(struct problems *p, const char *text)
{
    return text ? arena_dup(&p->arena, text, strlen(text)) : NULL;
}

static const char *
format(struct problems *p, const char *fmt, va_list ap)
{
    va_list again;

    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    char *text = n < 0 ? NULL : arena_alloc(&p->arena, (size_t)n + 1);
    if (text)
        vsnprintf(text, (size_t)n + 1, fmt, ap);
    return text;
}

static void
add(struct problems *p, const struct problem_at *at, bool is_warning, const char *fmt, va_list ap)
{
    /* counted even without memory for the sentence: an error stays an error */
    *(is_warning ? &p->warnings : &p->errors) += 1;

    struct problem *x = arena_alloc(&p->arena, sizeof *x);
    const char *text = x ? format(p, fmt, ap) : NULL;
    if (!text)
        return;
    *x = (struct problem){ .file = copy(p, at->file),
                           .line = at->line,
                           .column = at->column,
                           .is_warning = is_warning,
                           .text = text,
                           .phase = copy(p, at->phase),
                           .field = copy(p, at->field) };
    if (!p->last)
        p->last = &p->first;
    *p->last = x;
    p->last = &x->next;
}

void
problem_error(struct problems *p, struct problem_at at, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    add(p, &at, false, fmt, ap);
    va_end(ap);
}

void
problem_warn(struct problems *p, struct problem_at at, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    add(p, &at, true, fmt, ap);
    va_end(ap);
}

/* Is a printed before b? Problems at the same place keep the order in which they were added. */
static bool
is_first(const struct problem *a, const struct problem *b)
{
    int d = strcmp(a->file ? a->file : "", b->file ? b->file : "");

    if (d != 0)
        return d < 0;
    return a->line != b->line ? a->line < b->line : a->column <= b->column;
}

static struct problem *
merge(struct problem *a, struct problem *b)
{
    struct problem *first = NULL, **tail = &first;

    while (a && b) {
        struct problem **from = is_first(a, b) ? &a : &b;
        *tail = *from;
        tail = &(*from)->next;
        *from = (*from)->next;
    }
    *tail = a ? a : b;
    return first;
}

/* Merge sort from the bottom: runs of 1, 2, 4 ... problems wait in `runs` for another as long. */
static void
sort(struct problems *p)
{
    struct problem *runs[64] = { 0 }, *all = NULL;
    size_t i;

    for (struct problem *x = p->first, *next; x; x = next) {
        next = x->next;
        x->next = NULL;
        for (i = 0; runs[i]; i++) {
            x = merge(runs[i], x);
            runs[i] = NULL;
        }
        runs[i] = x;
    }
    for (i = 0; i < 64; i++) /* higher runs are older: they win a tie */
        all = merge(runs[i], all);
    p->first = all;
    p->last = &p->first;
    while (*p->last)
        p->last = &(*p->last)->next;
}

static void
write_line(struct buf *to, const struct problem *x, const char *dir)
{
    if (x->file && dir) {
        term_escape(to, dir, strlen(dir), false);
        buf_adds(to, *dir && dir[strlen(dir) - 1] == '/' ? "" : "/");
    }
    if (x->file)
        term_escape(to, x->file, strlen(x->file), false);
    if (x->line)
        buf_addf(to, ":%u:%u", x->line, x->column);
    buf_addf(to, "%s%s: ", x->file ? ": " : "", x->is_warning ? "warning" : "error");
    term_escape(to, x->text, strlen(x->text), false);
    if (x->phase || x->field) {
        buf_adds(to, " (");
        if (x->phase) {
            buf_adds(to, "phase ");
            term_escape(to, x->phase, strlen(x->phase), false);
        }
        if (x->field) {
            buf_addf(to, "%sfield ", x->phase ? ", " : "");
            term_escape(to, x->field, strlen(x->field), false);
        }
        buf_addc(to, ')');
    }
    buf_addc(to, '\n');
}

void
problems_write(struct buf *to, struct problems *p)
{
    sort(p);
    for (const struct problem *x = p->first; x; x = x->next)
        write_line(to, x, p->dir);
}

void
problems_write_json(struct buf *to, struct problems *p)
{
    sort(p);
    json_open(to, '[');
    for (const struct problem *x = p->first; x; x = x->next) {
        json_sep(to);
        json_open(to, '{');
        json_key_str(to, "file", x->file);
        json_key_int(to, "line", x->line);
        json_key_int(to, "column", x->column);
        json_key_str(to, "level", x->is_warning ? "warning" : "error");
        json_key_str(to, "message", x->text);
        json_key_str(to, "phase", x->phase);
        json_key_str(to, "field", x->field);
        json_close(to, '}');
    }
    json_close(to, ']');
}

void
problems_release(struct problems *p)
{
    arena_release(&p->arena);
    *p = (struct problems){ 0 };
}

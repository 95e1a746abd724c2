#include "cmd/lib/doctor_show.h"

#include "base/term.h"

#include <string.h>

static const char *
mark(enum doctor_level level)
{
    static const char *const marks[] = { "✓", "-", "!", "✗" };

    return marks[level];
}

static const char *
colour(enum doctor_level level)
{
    static const char *const colours[] = { "\033[32m", "", "\033[33m", "\033[31m" };

    return colours[level];
}

static void
add_escaped(struct buf *out, const char *text)
{
    term_escape(out, text, strlen(text), false);
}

void
doctor_show(struct buf *out, const struct doctor_finding *f, bool has_color)
{
    int indent = f->agent && strcmp(f->agent, f->name) != 0 ? 4 : 2;
    const char *on = has_color ? colour(f->level) : "";

    buf_addf(out, "%*s", indent, "");
    add_escaped(out, f->name);
    buf_addf(out, "... %s%s%s", on, mark(f->level), *on ? "\033[0m" : "");
    if (f->says[0]) {
        buf_adds(out, f->level == DOCTOR_OK ? " (" : " ");
        add_escaped(out, f->says);
        buf_adds(out, f->level == DOCTOR_OK ? ")" : "");
    }
    buf_addc(out, '\n');
    if (f->level != DOCTOR_OK && f->fix) {
        buf_addf(out, "%*s", indent + 2, "");
        buf_adds(out, "Fix: ");
        add_escaped(out, f->fix);
        buf_addc(out, '\n');
    }
}

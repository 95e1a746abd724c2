#include "teams.h"

#include <time.h>

void
open_text(struct fixture *f, const char *text, size_t len, int dir)
{
    *f = (struct fixture){ 0 };
    f->s = team_load(&f->team, FILE_NAME, text, len, &f->problems, &f->e);
    team_validate(&f->team, dir, NULL, &f->problems);
    problems_write(&f->said, &f->problems);
    buf_addc(&f->said, '\0');
}

struct fixture
opened(const char *text)
{
    struct fixture f;

    open_text(&f, text, strlen(text), -1);
    return f;
}

void
done(struct fixture *f)
{
    team_release(&f->team);
    problems_release(&f->problems);
    buf_release(&f->said);
}

void
must_say(const struct fixture *f, const char *part)
{
    if (!strstr(f->said.p, part))
        fail_msg("nobody says\n%s\nbut:\n%s", part, f->said.p);
}

void
says_in(int dir, const char *text, const char *part)
{
    struct fixture f;
    char line[512];

    open_text(&f, text, strlen(text), dir);
    snprintf(line, sizeof line, "%s%s\n", *part == 'r' ? "" : FILE_NAME ":", part);
    must_say(&f, line);
    done(&f);
}

void
says(const char *text, const char *part)
{
    says_in(-1, text, part);
}

void
clean_in(int dir, const char *text)
{
    struct fixture f;

    open_text(&f, text, strlen(text), dir);
    if (f.s || f.problems.errors || f.problems.warnings)
        fail_msg("not clean:\n%s\n%s", f.said.p, text);
    done(&f);
}

void
clean(const char *text)
{
    clean_in(-1, text);
}

static double
cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void
ends_soon(const struct buf *text)
{
    struct fixture f;
    double before = cpu_seconds();

    open_text(&f, text->p, text->len, -1);
    double took = cpu_seconds() - before;
    if (took > 10)
        fail_msg("took %.1f s", took);
    done(&f);
}

#include "cmd/cmd.h"

#include "base/sys.h"
#include "base/term.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define GROUP(name, brief)
#define CMD(name) extern const struct cmd cmd_##name;
#include "cmd/cmds.def"
#undef CMD

#define CMD(name) &cmd_##name,
const struct cmd *const cmds[] = {
#include "cmd/cmds.def"
    NULL,
};
#undef GROUP
#undef CMD

/* SECTION_x is the number of the command before it. */
enum {
#define GROUP(name, brief)
#define CMD(name)          AT_##name,
#define SECTION(id, title) SECTION_##id##_NEXT, SECTION_##id = SECTION_##id##_NEXT - 1,
#include "cmd/cmds.def"
    N_CMDS
#undef GROUP
#undef CMD
};

#define GROUP(name, brief)
#define CMD(name)
#define SECTION(id, title) { title, SECTION_##id + 1, AT_agent_exec == SECTION_##id + 1 },
const struct cmd_section cmd_sections[] = {
#include "cmd/cmds.def"
    { NULL, N_CMDS, false },
};
#undef GROUP
#undef CMD

#define GROUP(name, brief) { #name, brief },
#define CMD(name)
const struct cmd_group cmd_groups[] = {
#include "cmd/cmds.def"
    { NULL, NULL },
};

/* How many of the words spell the name; 0 when they do not. */
static size_t
spells(const char *name, const char *const *words, size_t n)
{
    size_t i = 0;

    while (*name) {
        size_t len = strcspn(name, " ");
        if (i >= n || strlen(words[i]) != len || memcmp(words[i], name, len) != 0)
            return 0;
        name += len + (name[len] == ' ');
        i++;
    }
    return i;
}

const struct cmd *
cmd_find(const char *const *words, size_t n, size_t *used)
{
    for (const struct cmd *const *c = cmds; *c; c++)
        if ((*used = spells((*c)->name, words, n)))
            return *c;
    return NULL;
}

const struct cmd_group *
cmd_find_group(const char *name)
{
    for (const struct cmd_group *g = cmd_groups; g->name; g++)
        if (strcmp(g->name, name) == 0)
            return g;
    return NULL;
}

static enum status
write_out(int fd, const char *p, size_t n, struct err *e)
{
    while (n > 0) {
        ssize_t k = SYS_RETRY(sys->write(fd, p, n));
        if (k < 0)
            return err_sys(e, "write to standard output");
        p += k;
        n -= (size_t)k;
    }
    return ST_OK;
}

enum status
cmd_print(const struct buf *text, struct err *e)
{
    enum status s = buf_status(text, "the output", e);

    return s ? s : write_out(STDOUT_FILENO, text->p, text->len, e);
}

/* "cliq: TEXT" on standard error, escaped. */
static void
say(const char *text)
{
    struct buf line = { 0 };

    buf_adds(&line, "cliq: ");
    term_escape(&line, text, strlen(text), true);
    buf_addc(&line, '\n');
    if (!buf_failed(&line))
        write_out(STDERR_FILENO, line.p, line.len, NULL);
    buf_release(&line);
}

static void
say_as(const char *level, const char *what)
{
    struct buf text = { 0 };

    buf_addf(&text, "%s: %s", level, what);
    if (!buf_failed(&text))
        say(text.p);
    buf_release(&text);
}

void
cmd_warn(const char *fmt, ...)
{
    struct err e;
    va_list ap;

    va_start(ap, fmt);
    err_vsay(&e, fmt, ap);
    va_end(ap);
    say_as("warning", e.text);
}

void
cmd_note(const char *fmt, ...)
{
    struct err e;
    va_list ap;

    va_start(ap, fmt);
    err_vsay(&e, fmt, ap);
    va_end(ap);
    say_as("note", e.text);
}

/* A closed standard descriptor would go to the next file we open, and what we print
 * into that file: a channel. What takes its place refuses to be read or written, as a closed one
 * does: EBADF. */
static void
fill_standard_fds(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            (fd != STDIN_FILENO || open("/dev/null", O_WRONLY) < 0))
            (void)!open("/", O_RDONLY | O_DIRECTORY); /* takes the lowest free number: fd */
}

void
cmd_begin(void)
{
    sigset_t none;

    fill_standard_fds();
    /* The parent process may have blocked signals that we wait for. */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    /* Over a file size limit we want EFBIG and a sentence, not death. */
    signal(SIGXFSZ, SIG_IGN);
}

int
cmd_exit(enum status s, const struct err *e)
{
    if (s && e->text[0])
        say(e->text);
    return status_exit(s);
}

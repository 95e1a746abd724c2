#include "base/ask.h"

#include "base/sys.h"
#include "base/term.h"

#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { ANSWER_MAX = 64 << 10, CTRL_C = 3, CTRL_D = 4, BACKSPACE = 8, CTRL_U = 21, DELETE = 127 };

bool
ask_is_possible(void)
{
    return term_is_tty(STDIN_FILENO) && term_is_tty(STDERR_FILENO);
}

static void
say(const char *text)
{
    ssize_t n = SYS_RETRY(sys->write(STDERR_FILENO, text, strlen(text)));
    (void)n; /* a question that no person can read gets no answer */
}

static enum status
cancelled(struct err *e)
{
    say("\n");
    return err_set(e, ST_CANCELLED, "no answer: cancelled");
}

/* Byte by byte, so that the rest of the input is there for the next question. */
enum status
ask_line(const char *question, struct buf *answer, struct err *e)
{
    char c;

    say(question);
    buf_reset(answer);
    answer->max = ANSWER_MAX;
    for (;;) {
        ssize_t n = SYS_RETRY(sys->read(STDIN_FILENO, &c, 1));
        if (n <= 0)
            return cancelled(e);
        if (c == '\n')
            break;
        buf_addc(answer, c);
    }
    buf_adds(answer, "");
    return buf_status(answer, "the answer", e);
}

/* False: cancelled. The terminal gives each byte as it is typed, Ctrl-C too. */
static bool
read_hidden(struct buf *answer)
{
    char c;

    while (SYS_RETRY(sys->read(STDIN_FILENO, &c, 1)) == 1) {
        if (c == '\n' || c == '\r')
            return true;
        if (c == CTRL_C || (c == CTRL_D && !answer->len))
            return false;
        if ((c == BACKSPACE || c == DELETE) && answer->len)
            buf_cut(answer, answer->len - 1);
        else if (c == CTRL_U)
            buf_cut(answer, 0);
        else if ((unsigned char)c >= ' ' && c != DELETE)
            buf_addc(answer, c);
    }
    return false;
}

enum status
ask_secret(const char *question, struct buf *answer, struct err *e)
{
    struct termios before, hidden;

    buf_reset(answer);
    answer->max = ANSWER_MAX;
    if (tcgetattr(STDIN_FILENO, &before) != 0)
        return err_sys(e, "hide the answer");
    hidden = before;
    hidden.c_lflag &= ~(tcflag_t)(ECHO | ICANON | ISIG);
    hidden.c_cc[VMIN] = 1;
    hidden.c_cc[VTIME] = 0;
    if (tcsetattr(STDIN_FILENO, TCSANOW, &hidden) != 0)
        return err_sys(e, "hide the answer");
    say(question);
    bool is_given = read_hidden(answer);
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
    if (!is_given)
        return cancelled(e);
    say("\n");
    buf_adds(answer, "");
    return buf_status(answer, "the answer", e);
}

enum status
ask_yes(const char *question, bool *is_yes, struct err *e)
{
    struct buf answer = { 0 };
    enum status s = ask_line(question, &answer, e);

    *is_yes = !s && (!answer.len || answer.p[0] == 'y' || answer.p[0] == 'Y');
    buf_release(&answer);
    return s;
}

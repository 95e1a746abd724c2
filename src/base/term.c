#include "base/term.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Control and formatting characters: a terminal acts on them instead of showing them. */
static bool
is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E || c == 0x200F ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

void
term_escape(struct buf *to, const char *p, size_t len, bool is_multiline)
{
    for (size_t i = 0, n; i < len; i += n) {
        n = utf8_char(p + i, len - i);
        if (n == 0) {
            n = 1;
            buf_addf(to, "\\x%02x", (unsigned char)p[i]);
            continue;
        }
        uint32_t c = utf8_decode(p + i, n);
        if (c == '\n' || c == '\t')
            buf_addc(to, is_multiline ? (char)c : ' ');
        else if (!is_control(c))
            buf_add(to, p + i, n);
        else if (c < 0x100)
            buf_addf(to, "\\x%02x", (unsigned)c);
        else
            buf_addf(to, "\\u%04x", (unsigned)c);
    }
}

bool
term_is_tty(int fd)
{
    return isatty(fd) == 1;
}

static bool
is_set(const char *name)
{
    const char *v = getenv(name);

    return v && *v;
}

bool
term_has_color(int fd)
{
    const char *term = getenv("TERM");

    if (is_set("NO_COLOR"))
        return false;
    if (is_set("CLICOLOR_FORCE") || is_set("FORCE_COLOR"))
        return true;
    return term_is_tty(fd) && term && strcmp(term, "dumb") != 0;
}

unsigned
term_width(int fd)
{
    struct winsize w;
    const char *columns = getenv("COLUMNS");

    if (ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 0)
        return w.ws_col;
    return columns && atoi(columns) > 0 ? (unsigned)atoi(columns) : 80;
}

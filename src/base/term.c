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

/* The length of the escape sequence at p, which begins with ESC: colours and cursor movements
 * (ESC [ ... letter), titles (ESC ] ... BEL), and those of two bytes. */
static size_t
escape_len(const char *p, size_t len)
{
    size_t n = 2;

    if (len < 2 || (p[1] != '[' && p[1] != ']'))
        return len < 2 ? len : 2;
    if (p[1] == '[')
        while (n < len && (p[n] < 0x40 || p[n] > 0x7E))
            n++;
    else
        while (n < len && p[n] != '\a' && p[n] != '\033')
            n++;
    return n < len ? n + 1 : len;
}

/* Appends what a terminal would show of one line. */
static void
add_shown(struct buf *to, const char *p, size_t len)
{
    for (size_t i = 0, n; i < len; i += n) {
        if (p[i] == '\033') {
            n = escape_len(p + i, len - i);
            continue;
        }
        n = utf8_char(p + i, len - i);
        if (n == 0)
            n = 1;
        else if (p[i] == '\t')
            buf_addc(to, ' ');
        else if (!is_control(utf8_decode(p + i, n)))
            buf_add(to, p + i, n);
    }
}

/* What programs print behind the line that says what went wrong. */
static bool
is_hint(const char *line)
{
    static const char *const hints[] = {
        "note: run with `RUST_BACKTRACE=",
        "(Use `node --trace-",
        "npm error A complete log of this run",
    };

    if (strncmp(line, "Try '", 5) == 0 && strstr(line, "--help'"))
        return true;
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (strncmp(line, hints[i], strlen(hints[i])) == 0)
            return true;
    return false;
}

/* The end of a stack trace of node or Java, whose first line has the error:
 *
 *     Error: no such file
 *         at readFile (app.js:3:7) {
 *       code: 'ENOENT'
 *     }
 *
 *     Node.js v20.20.2 */
static bool
is_trace(const char *line)
{
    const char *word = line + strspn(line, " ");
    bool is_frame = word > line && strncmp(word, "at ", 3) == 0 && strchr(word, ':');

    return is_frame || strncmp(line, "Node.js v", 9) == 0;
}

static bool
is_inside_trace(const char *line)
{
    return *line == ' ' || strcmp(line, "}") == 0 || is_trace(line);
}

/* Puts the last line that counts into `line`, which stays empty when there is none. */
static void
find_last_line(struct buf *line, const char *p, size_t len, bool is_trace_shown)
{
    bool is_in_trace = false;

    do {
        size_t start = len;
        buf_cut(line, 0);
        while (start > 0 && p[start - 1] != '\n' && p[start - 1] != '\r')
            start--;
        add_shown(line, p + start, len - start);
        while (line->len > 0 && line->p[line->len - 1] == ' ')
            buf_cut(line, line->len - 1);
        len = start > 0 ? start - 1 : 0;
        is_in_trace |= !is_trace_shown && line->len && is_trace(line->p);
    } while (len > 0 &&
             (line->len == 0 || is_hint(line->p) || (is_in_trace && is_inside_trace(line->p))));
    if (line->len && is_in_trace && is_inside_trace(line->p))
        buf_cut(line, 0);
}

void
term_last_line(struct buf *to, const char *p, size_t len, size_t max)
{
    struct buf line = { 0 };

    find_last_line(&line, p, len, false);
    if (!line.len)
        find_last_line(&line, p, len, true); /* there is nothing but the trace */
    size_t skip = line.len ? strspn(line.p, " ") : 0;
    if (!buf_failed(&line) && line.len > skip) {
        size_t n = line.len - skip, kept = utf8_cut(line.p + skip, n, max);
        buf_add(to, line.p + skip, kept);
        buf_adds(to, kept < n ? "…" : "");
    }
    buf_release(&line);
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

static unsigned
number_in(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);

    return text && atoi(text) > 0 ? (unsigned)atoi(text) : otherwise;
}

unsigned
term_width(int fd)
{
    struct winsize w;

    return ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col : number_in("COLUMNS", 80);
}

unsigned
term_height(int fd)
{
    struct winsize w;

    return ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_row > 0 ? w.ws_row : number_in("LINES", 24);
}

#include "agents/notify/mail.h"

#include "base/digest.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    WORD_BYTES = 42,   /* of the text in one encoded word: 56 of base64, 68 with its frame */
    PLAIN_MAX = 60,    /* bytes of a value that is written as it is */
    QP_LINE = 75,      /* and the soft line break */
    ADDRESS_MAX = 254, /* RFC 5321 */
};

/* ---- addresses ---- */

static bool
is_address(const char *p, size_t len)
{
    size_t n_at = 0, at = 0;

    for (size_t i = 0; i < len; i++) {
        if (p[i] <= ' ' || p[i] > '~' || strchr("<>()[],;:\\\"", p[i]))
            return false;
        if (p[i] == '@') {
            n_at++;
            at = i;
        }
    }
    return n_at == 1 && at > 0 && at + 1 < len && len <= ADDRESS_MAX && p[0] != '-';
}

bool
mail_address_parse(struct arena *a, const char *text, struct mail_address *out)
{
    const char *open, *p;
    size_t len, name_len = 0;

    *out = (struct mail_address){ 0 };
    text += strspn(text, " \t");
    for (len = strlen(text); len && (text[len - 1] == ' ' || text[len - 1] == '\t'); len--)
        continue;
    p = text;
    open = memchr(text, '<', len);
    if (open && text[len - 1] == '>') {
        p = open + 1;
        for (name_len = (size_t)(open - text); name_len && text[name_len - 1] == ' '; name_len--)
            continue;
        len = (size_t)(text + len - 1 - p);
    }
    if (!is_address(p, len))
        return false;
    if (name_len >= 2 && text[0] == '"' && text[name_len - 1] == '"') {
        text++;
        name_len -= 2;
    }
    out->address = arena_dup(a, p, len);
    out->name = name_len ? arena_dup(a, text, name_len) : NULL;
    return out->address && (!name_len || out->name);
}

/* ---- headers ---- */

static bool
is_plain(const char *text)
{
    size_t len = strlen(text);

    for (size_t i = 0; i < len; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    return len <= PLAIN_MAX && !strstr(text, "=?");
}

/* "=?UTF-8?B?…?=", as many as it takes, each in a line of its own. */
static void
write_words(struct buf *to, const char *text)
{
    size_t len = strlen(text);

    for (size_t at = 0, n; at < len; at += n) {
        n = utf8_cut(text + at, len - at, WORD_BYTES);
        n = n ? n : 1;
        buf_adds(to, at ? "\r\n =?UTF-8?B?" : "=?UTF-8?B?");
        digest_base64(to, text + at, n);
        buf_adds(to, "?=");
    }
}

static void
write_text(struct buf *to, const char *text)
{
    if (is_plain(text))
        buf_adds(to, text);
    else
        write_words(to, text);
}

static void
write_address(struct buf *to, const struct mail_address *who)
{
    if (!who->name) {
        buf_adds(to, who->address);
        return;
    }
    if (is_plain(who->name) && !strpbrk(who->name, "\"\\"))
        buf_addf(to, "\"%s\"", who->name);
    else
        write_words(to, who->name);
    buf_addf(to, "\r\n <%s>", who->address);
}

/* "Fri, 29 May 2026 06:04:14 +0000" */
static void
write_date(struct buf *to, int64_t at_s)
{
    static const char *const days[] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
    static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
    time_t t = (time_t)at_s;
    struct tm tm = { 0 };

    gmtime_r(&t, &tm);
    buf_addf(to, "%s, %02d %s %04d %02d:%02d:%02d +0000", days[tm.tm_wday], tm.tm_mday,
             months[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static void
write_head(struct buf *to, const struct mail *m)
{
    buf_adds(to, "Date: ");
    write_date(to, m->at_s);
    buf_adds(to, "\r\nFrom: ");
    write_address(to, &m->from);
    buf_adds(to, "\r\nTo: ");
    for (size_t i = 0; i < m->n_to; i++) {
        buf_adds(to, i ? ",\r\n " : "");
        write_address(to, &m->to[i]);
    }
    buf_adds(to, "\r\nSubject: ");
    write_text(to, m->subject);
    buf_addf(to, "\r\nMessage-ID: <%s%s>\r\n", m->id, strchr(m->from.address, '@'));
    buf_adds(to, "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n");
}

/* ---- bodies ---- */

/* Quoted-printable. A blank at a line's end is encoded, since servers strip it. */
static void
write_quoted(struct buf *to, const char *text)
{
    size_t column = 0;

    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        bool is_last = !p[1] || p[1] == '\n';
        bool is_plain = (*p > ' ' && *p <= '~' && *p != '=') || (*p == ' ' && !is_last);
        if (*p == '\n') {
            buf_adds(to, "\r\n");
            column = 0;
            continue;
        }
        if (column + (is_plain ? 1 : 3) > QP_LINE) {
            buf_adds(to, "=\r\n");
            column = 0;
        }
        if (is_plain)
            buf_addc(to, (char)*p);
        else
            buf_addf(to, "=%02X", *p);
        column += is_plain ? 1 : 3;
    }
    buf_adds(to, "\r\n");
}

static void
write_part(struct buf *to, const struct mail *m, const char *type, const char *text)
{
    buf_addf(to,
             "--=_%s\r\nContent-Type: text/%s; charset=utf-8\r\n"
             "Content-Transfer-Encoding: quoted-printable\r\n\r\n",
             m->id, type);
    write_quoted(to, text);
}

void
mail_write(struct buf *to, const struct mail *m)
{
    write_head(to, m);
    /* "=_" is never in quoted-printable text */
    buf_addf(to, "Content-Type: multipart/alternative;\r\n boundary=\"=_%s\"\r\n\r\n", m->id);
    write_part(to, m, "plain", m->text);
    write_part(to, m, "html", m->html);
    buf_addf(to, "--=_%s--\r\n", m->id);
}

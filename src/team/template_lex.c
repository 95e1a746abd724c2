/*
 * template_lex - quotes, substitutions, arithmetic and here-documents of the shell.
 */
#include "team/template_lex.h"

#include <string.h>

enum {
    DEPTH_MAX = 64,
    SECOND_LOOKS = 200, /* times that "((" turned out not to be arithmetic; bounds the run time */
};

/* ---- errors with a position ---- */

struct lex_place {
    unsigned line, column;
};

static struct lex_place
place_of(const struct lexer *l, size_t offset)
{
    struct lex_place at = { 1, 1 };

    for (size_t i = 0; i < offset; i++) {
        at.column += ((unsigned char)l->text[i] & 0xC0) != 0x80;
        if (l->text[i] == '\n')
            at = (struct lex_place){ at.line + 1, 1 };
    }
    return at;
}

static bool
refuse(struct lexer *l, const char *p, const struct form *f, const char *why)
{
    struct lex_place at = place_of(l, (size_t)(p - l->text));
    int n = f->name_len < 200 ? (int)f->name_len : 200;

    err_say(l->e, "$(%.*s) at line %u, column %u %s", n, f->name, at.line, at.column, why);
    return false;
}

bool
lex_refuse(struct lexer *l, const char *p, const char *what)
{
    struct lex_place at = place_of(l, (size_t)(p - l->text));

    err_say(l->e, "the command cannot be read: %s at line %u, column %u", what, at.line, at.column);
    return false;
}

#define IN_SINGLE                                                                                  \
    "is in single quotes, where the shell replaces nothing: use double quotes (or \"$( \" "        \
    "for the shell's own command)"
#define IN_HEREDOC                                                                                 \
    "is in a here-document whose delimiter is quoted, where the shell replaces nothing: "          \
    "write the delimiter without quotes"

/* Refuses a use of a variable between `from` and `to`. */
static bool
check_none(struct lexer *l, const char *from, const char *to, const char *why)
{
    for (const char *p = from; p < to && (p = strstr(p, "$(")) && p < to; p += 2) {
        struct form f = template_form(p);
        if (f.kind != FORM_NONE)
            return refuse(l, p, &f, why);
    }
    return true;
}

/* ---- a use ---- */

static bool
add_use(struct lexer *l, const struct form *f, bool is_quoted)
{
    if (f->kind == FORM_BAD) {
        template_bad(f, l->e);
        return false;
    }
    if (l->doubt)
        return refuse(l, l->p, f, l->doubt);
    if (l->p + f->len > l->end)
        return lex_refuse(l, l->p, "a here-document ends too early");
    if (l->n == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 8;
        struct use *more = arena_alloc(l->a, cap * sizeof *more);
        if (!more) {
            err_say(l->e, "out of memory");
            return false;
        }
        if (l->n)
            memcpy(more, l->uses, l->n * sizeof *more);
        l->uses = more;
        l->cap = cap;
    }
    l->uses[l->n++] =
        (struct use){ *f, (size_t)(l->p - l->text), is_quoted, l->arith > 0 || l->is_number };
    if (l->risk && !l->warning)
        l->warning = l->risk;
    l->p += f->len;
    return true;
}

/* ---- quotes and substitutions ---- */

bool
lex_enter(struct lexer *l)
{
    return ++l->depth <= DEPTH_MAX || lex_refuse(l, l->p, "too deeply nested");
}

/* Skips a backslash and the character it escapes. In `...` the shell removes some backslashes
 * before it parses the text, so a use after one of those is refused. */
void
lex_escaped(struct lexer *l)
{
    if (l->backquotes && l->p + 1 < l->end && strchr("\\`$\"", l->p[1]))
        l->doubt = "is in backquotes after a backslash: write $(...) for `...`";
    l->p += l->p + 1 < l->end ? 2 : 1;
}

bool
lex_single(struct lexer *l)
{
    const char *from = l->p;
    const char *close = memchr(from, '\'', (size_t)(l->end - from));

    if (!close)
        return lex_refuse(l, from - 1, "a single quote that is not closed");
    /* the shell finds the end of `...` first and parses its inside later */
    if (l->backquotes && memchr(from, '`', (size_t)(close - from)))
        return lex_refuse(l, from - 1, "a backquote in single quotes in backquotes");
    l->p = close + 1;
    return check_none(l, from, close, IN_SINGLE);
}

/* $'...': bash and plain sh read a \' in it differently. */
static bool
lex_dollar_single(struct lexer *l)
{
    const char *from = l->p;

    if (!lex_single(l))
        return false;
    if (l->p - 2 >= from && l->p[-2] == '\\')
        l->doubt = "follows $'...\\'...', which shells read differently: avoid it";
    return true;
}

bool
lex_backquote(struct lexer *l)
{
    const char *doubt = l->doubt;

    if (l->backquotes)
        return lex_refuse(l, l->p - 1, "a backquote in the wrong place");
    l->backquotes = 1;
    bool is_good = lex_command(l, '`');
    l->backquotes = 0;
    l->doubt = doubt;
    return is_good;
}

/* Text in which the shell expands, as within double quotes: up to `until` or the end. */
static bool
lex_expanded(struct lexer *l, char until)
{
    bool is_good = true;

    while (is_good && l->p < l->end && *l->p != until) {
        if (*l->p == '\\')
            lex_escaped(l);
        else if (*l->p == '$')
            is_good = lex_dollar(l, true);
        else if (*l->p++ == '`')
            is_good = lex_backquote(l);
    }
    return is_good;
}

bool
lex_double(struct lexer *l)
{
    const char *open = l->p - 1;
    bool is_good = lex_enter(l) && lex_expanded(l, '"');

    if (is_good && l->p >= l->end)
        is_good = lex_refuse(l, open, "a double quote that is not closed");
    l->p++;
    l->depth--;
    return is_good;
}

/* ${NAME}, ${NAME:-word} and the other expansions. A use is accepted only in the word of - = ?
 * +: elsewhere a shell reads it as a pattern or, in bash, as arithmetic. */
static bool
lex_brace(struct lexer *l, bool is_quoted)
{
    const char *open = l->p - 2, *doubt = l->doubt;
    bool is_good = lex_enter(l);
    size_t n = strspn(l->p, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");

    if (!n && l->p < l->end && strchr("@*#?$!-", *l->p))
        n = 1;
    l->p += n;
    if (l->p > l->end)
        l->p = l->end;
    const char *op = l->p + (l->p < l->end && *l->p == ':');
    bool is_word = n && op < l->end && strchr("-=?+", *op);
    if (!is_word && !l->doubt)
        l->doubt = "is inside ${...}: put it into a shell variable first";
    while (is_good && l->p < l->end && *l->p != '}') {
        char c = *l->p;
        if (c == '\\') {
            lex_escaped(l);
        } else if (c == '$') {
            is_good = lex_dollar(l, is_quoted);
        } else if (c == '\'' && !(is_quoted && is_word)) {
            l->p++;
            is_good = lex_single(l);
        } else if (c == '"') {
            const char *outer = l->doubt;
            if (is_quoted && !outer)
                l->doubt = "is in double quotes inside \"${...}\": leave out the inner ones";
            l->p++;
            is_good = lex_double(l);
            l->doubt = outer;
        } else {
            l->p++;
            if (c == '`')
                is_good = lex_backquote(l);
        }
    }
    if (is_good && l->p >= l->end)
        is_good = lex_refuse(l, open, "a ${ that is not closed");
    l->p++;
    l->depth--;
    l->doubt = doubt;
    return is_good;
}

/* After "((": reads to "))", or returns NO_ARITH when the brackets turn out to be two subshells. */
static enum arith
read_arith(struct lexer *l)
{
    unsigned open = 0;
    bool is_good = lex_enter(l);
    enum arith found = NO_ARITH;

    l->arith++;
    while (is_good && found == NO_ARITH && l->p < l->end) {
        char c = *l->p;
        if (c == ')' && !open) {
            if (l->p + 1 >= l->end || l->p[1] != ')')
                break;
            l->p += 2;
            found = ARITH;
        } else if (c == '\\') {
            lex_escaped(l);
        } else if (c == '$') {
            is_good = lex_dollar(l, true);
        } else if (c == '\'' || c == '"' || c == '`') {
            l->p++;
            is_good = c == '"' ? lex_double(l) : c == '`' ? lex_backquote(l) : lex_single(l);
        } else {
            l->p++;
            if (c == '(')
                open++;
            else if (c == ')')
                open--;
        }
    }
    l->arith--;
    l->depth--;
    return is_good ? found : ARITH_BAD;
}

/* read_arith; on NO_ARITH the lexer is back where it began. */
enum arith
lex_arith(struct lexer *l)
{
    struct lexer before = *l;

    l->e = NULL; /* an error here may be none once the text is read as commands */
    enum arith found = read_arith(l);
    if (found == ARITH) {
        l->e = before.e;
        return found;
    }
    before.second_looks = l->second_looks + 1;
    *l = before;
    if (l->second_looks > SECOND_LOOKS) {
        lex_refuse(l, l->p, "too many brackets that are not closed");
        return ARITH_BAD;
    }
    return NO_ARITH;
}

/* At a '$'. is_quoted: inside double quotes or a here-document. */
bool
lex_dollar(struct lexer *l, bool is_quoted)
{
    struct form f = template_form(l->p);
    const char *rest = l->p + 1;
    char next = rest < l->end ? *rest : '\0';

    if (f.kind != FORM_NONE)
        return add_use(l, &f, is_quoted);
    l->p++;
    if (next == '$') {
        /* $$ is the process id; "$$(inputs.x)" would become "$${V}" */
        f = template_form(rest);
        if (f.kind != FORM_NONE)
            return refuse(l, rest, &f, "directly follows a $: write \\$ for the sign");
        l->p++;
        return true;
    }
    if (next == '(') {
        l->p++;
        if (l->p < l->end && *l->p == '(') {
            l->p++;
            enum arith found = lex_arith(l);
            if (found != NO_ARITH)
                return found == ARITH;
            l->p--;
        }
        /* a substitution starts a new command, but enclosing backquotes still apply */
        return lex_command(l, ')');
    }
    if (next == '{') {
        l->p++;
        return lex_brace(l, is_quoted);
    }
    if (next == '[' && !l->doubt)
        l->doubt =
            "follows \"$[\", which is arithmetic only in bash: write $((...)) or quote the $";
    if (next == '\'' && !is_quoted) {
        l->p++;
        return lex_dollar_single(l);
    }
    return true;
}

/* ---- here-documents ---- */

/* After "<<": reads the delimiter. */
bool
lex_mark(struct lexer *l, struct heredoc *h)
{
    const char *open = l->p;
    struct buf mark = { 0 };
    char quote = '\0';

    *h = (struct heredoc){ .is_tabbed = l->p < l->end && *l->p == '-' };
    l->p += h->is_tabbed;
    while (l->p < l->end && (*l->p == ' ' || *l->p == '\t'))
        l->p++;
    const char *from = l->p;
    for (; l->p < l->end; l->p++) {
        char c = *l->p;
        if (quote ? c == quote : c == '\'' || c == '"') {
            quote = quote ? '\0' : c;
            h->is_literal = true;
        } else if (c == '\\' && quote != '\'' && l->p + 1 < l->end) {
            h->is_literal = true;
            buf_addc(&mark, *++l->p);
        } else if (!quote && strchr(" \t\n;&|<>()", c)) {
            break;
        } else {
            buf_addc(&mark, c);
        }
    }
    bool is_good = check_none(l, from, l->p, "is the delimiter of a here-document");
    if (is_good && (l->p == from || quote))
        is_good = lex_refuse(l, open, "a here-document without a delimiter");
    if (is_good && !(h->mark = arena_dup(l->a, mark.p ? mark.p : "", mark.len))) {
        err_say(l->e, "out of memory");
        is_good = false;
    }
    buf_release(&mark);
    return is_good;
}

/* At the first line of the body: skips the body and the delimiter's line. */
bool
lex_heredoc(struct lexer *l, const struct heredoc *h)
{
    const char *from = l->p, *body_end = l->end, *after = l->end;
    bool is_joined = false; /* the line before ended in a backslash */

    for (const char *line = from; line < l->end;) {
        const char *nl = memchr(line, '\n', (size_t)(l->end - line));
        const char *stop = nl ? nl : l->end, *text = line;
        while (h->is_tabbed && text < stop && *text == '\t')
            text++;
        if (!is_joined && (size_t)(stop - text) == strlen(h->mark) &&
            !memcmp(text, h->mark, (size_t)(stop - text))) {
            body_end = line;
            after = nl ? nl + 1 : stop;
            break;
        }
        size_t slashes = 0;
        while (slashes < (size_t)(stop - line) && stop[-1 - (ptrdiff_t)slashes] == '\\')
            slashes++;
        is_joined = !h->is_literal && slashes % 2;
        line = nl ? nl + 1 : stop;
    }
    if (h->is_literal) {
        l->p = after;
        return check_none(l, from, body_end, IN_HEREDOC);
    }
    const char *end = l->end, *risk = l->risk;
    if (h->risk)
        l->risk = h->risk;
    l->end = body_end;
    bool is_good = lex_enter(l) && lex_expanded(l, '\0');
    l->end = end;
    l->risk = risk;
    l->p = after;
    l->depth--;
    return is_good;
}

/* Finds every use in the command and how it is quoted. */
enum status
template_lex(struct lexer *l, struct arena *a, const char *text, struct err *e)
{
    *l = (struct lexer){ .text = text, .p = text, .end = text + strlen(text), .a = a, .e = e };
    /* a command without uses concerns the shell alone, even when it is broken */
    const char *p = text;
    while ((p = strstr(p, "$(")) && template_form(p).kind == FORM_NONE)
        p += 2;
    return !p || lex_command(l, '\0') ? ST_OK : ST_INVALID;
}

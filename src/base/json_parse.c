/*
 * json_parse - the JSON parser: text to tree, or to an error with its place.
 *
 * One pass, no recursion: struct parser has a stack of JSON_MAX_DEPTH open
 * brackets, so deep nesting cannot exhaust the C stack.
 *
 *               .----------- ',' ------------.
 *               v                            |
 *   '{' '[' -> kid --> (key ':') value --> after -- '}' ']' --> after, one level up
 *                                  ^
 *   the text begins here ----------'
 *
 * Errors: each has the offset of one byte, and all go through stop(). An error
 * at the end of the text means that the text is a prefix of valid JSON: that
 * tells a torn line from garbage. So each check fails at the first byte that
 * excludes every continuation ("\udc" is a lone surrogate before its last two
 * digits are read), and stop() also looks for duplicate keys in open objects.
 *
 * Speed: strings are scanned 8 or 16 bytes at a time and borrowed from the text
 * unless they contain an escape. Numbers are checked but not converted.
 */
#include "base/json.h"
#include "base/utf8.h"

#include <assert.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

struct json_level {
    struct json *box;   /* an open array or object */
    struct json **tail; /* where its next kid is linked */
};

struct parser {
    struct arena *arena;
    const char *text, *end;
    struct json_fault *where; /* may be NULL */
    unsigned depth;
    struct json_level open[JSON_MAX_DEPTH];
};

/* ---- errors ---- */

static void *
starved(struct parser *ps)
{
    if (ps->where)
        *ps->where = (struct json_fault){ .what = "out of memory", .is_starved = true };
    return NULL;
}

/* The address of the key's opening quote. A decoded key is a copy outside the text, so decode()
 * stores the address in front of the copy. */
static const char *
key_at(const struct parser *ps, const struct json *v)
{
    const char *at;

    if (v->key >= ps->text && v->key < ps->end)
        return v->key - 1;
    memcpy(&at, v->key - sizeof at, sizeof at);
    return at;
}

static void
count_place(const char *text, const char *at, unsigned *line, unsigned *column)
{
    *line = *column = 1;
    for (const char *p = text; p < at; p++)
        if (*p == '\n') {
            ++*line;
            *column = 1;
        } else if (((unsigned char)*p & 0xC0) != 0x80) {
            ++*column;
        }
}

/* Fills the error; returns NULL so that the read_ functions can return it. */
static __attribute__((noinline, cold)) void *
stop(struct parser *ps, const char *at, const char *what)
{
    struct json_fault *w = ps->where;
    const struct json *twin;

    if (!w)
        return NULL;
    if (at == ps->end) {
        what = "the text ends too early";
        for (unsigned i = 0; i < ps->depth; i++) {
            if (!json_find_duplicate(ps->open[i].box, ps->arena, &twin))
                return starved(ps);
            if (twin && key_at(ps, twin) < at) {
                at = key_at(ps, twin);
                what = "duplicate key";
            }
        }
    }
    *w = (struct json_fault){ .what = what };
    w->offset = (size_t)(at - ps->text);
    w->is_cut_off = at == ps->end;
    count_place(ps->text, at, &w->line, &w->column);
    return NULL;
}

/* ---- strings ---- the read_ and check_ functions take the address of their first byte and return
 * the address after their last, or NULL after stop(). */

static const char escapes[256] = {
    ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
    ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t', /* and \u, by hand */
};

static inline bool
is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* Finds the first byte that needs a check: a quote, a backslash, a control character or a byte
 * outside ASCII. */
static inline const char *
skip_plain(const char *p, const char *end)
{
#ifdef __SSE2__
    for (; end - p >= 16; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i low = _mm_cmplt_epi8(v, _mm_set1_epi8(0x20)); /* non-ASCII bytes are negative */
        __m128i ends = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')),
                                    _mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
        int marks = _mm_movemask_epi8(_mm_or_si128(low, ends));
        if (marks)
            return p + __builtin_ctz((unsigned)marks);
    }
#endif
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define EACH(byte) (0x0101010101010101u * (uint64_t)(byte))
    for (; end - p >= 8; p += 8) {
        uint64_t w;
        memcpy(&w, p, sizeof w);
        /* A borrow may also mark bytes above a marked one; the lowest mark is exact. */
        uint64_t marks =
            (w - EACH(0x20)) | ((w ^ EACH('"')) - EACH(1)) | ((w ^ EACH('\\')) - EACH(1)) | w;
        marks &= EACH(0x80);
        if (marks)
            return p + __builtin_ctzll(marks) / 8;
    }
#endif
    while (p < end && is_plain((unsigned char)*p))
        p++;
    return p;
}

static int
hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads four hex digits. DC..DF in the first two means a low surrogate: required after a high one,
 * an error elsewhere. That is known before the other two digits are read. */
static const char *
check_unit(struct parser *ps, const char *escape, const char *p, bool wants_low, unsigned *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++, p++) {
        if (p == ps->end)
            return stop(ps, p, NULL);
        int digit = hex_digit(*p);
        if (digit < 0)
            return stop(ps, p, "expected four hex digits after \\u");
        *unit = *unit << 4 | (unsigned)digit;
        if ((i == 0 && wants_low && *unit != 0xD) ||
            (i == 1 && wants_low != ((*unit & 0xFC) == 0xDC)))
            return stop(ps, escape, "lone surrogate");
    }
    return p;
}

static const char *
check_escape(struct parser *ps, const char *escape)
{
    const char *p = escape + 1;
    unsigned unit;

    if (p == ps->end)
        return stop(ps, p, NULL);
    if (*p != 'u')
        return escapes[(unsigned char)*p] ? p + 1 : stop(ps, p, "unknown escape");
    p = check_unit(ps, escape, p + 1, false, &unit);
    if (!p || (unit & 0xFC00) != 0xD800)
        return p;
    for (const char *want = "\\u"; *want; want++, p++)
        if (p == ps->end || *p != *want)
            return stop(ps, p == ps->end ? p : escape, "lone surrogate");
    return check_unit(ps, escape, p, true, &unit);
}

static const char *
check_beyond_ascii(struct parser *ps, const char *p)
{
    size_t left = (size_t)(ps->end - p);
    size_t len = utf8_char(p, left);

    if (len)
        return p + len;
    return stop(ps, utf8_is_begun(p, left) ? ps->end : p, "not UTF-8");
}

static uint32_t
hex4(const char *p)
{
    return (uint32_t)(hex_digit(p[0]) << 12 | hex_digit(p[1]) << 8 | hex_digit(p[2]) << 4 |
                      hex_digit(p[3]));
}

/* Decodes one checked escape and advances both pointers. */
static inline void
decode_escape(char **to, const char **from)
{
    const char *p = *from + 1;

    *from += 2;
    if (*p != 'u') {
        *(*to)++ = escapes[(unsigned char)*p];
        return;
    }
    uint32_t c = hex4(p + 1);
    *from += 4;
    if ((c & 0xFC00) == 0xD800) {
        c = 0x10000 + ((c & 0x3FF) << 10) + (hex4(p + 7) & 0x3FF);
        *from += 6;
    }
    *to += utf8_encode(*to, c);
}

/* Decodes a checked string into a copy. A decoded escape is never longer than its source, so the
 * string's length is room enough. */
static char *
decode(struct parser *ps, const char *p, const char *end, size_t *len)
{
    const char *quote = p - 1, *escape;
    char *copy = arena_alloc(ps->arena, sizeof quote + (size_t)(end - p));

    if (!copy)
        return starved(ps);
    memcpy(copy, &quote, sizeof quote); /* for key_at() */
    copy += sizeof quote;
    char *to = copy;
    while ((escape = memchr(p, '\\', (size_t)(end - p)))) {
        memcpy(to, p, (size_t)(escape - p));
        to += escape - p;
        p = escape;
        decode_escape(&to, &p);
    }
    memcpy(to, p, (size_t)(end - p));
    *len = (size_t)(to - copy + (end - p));
    return copy;
}

static inline const char *
read_string(struct parser *ps, const char *p, const char **s, size_t *len)
{
    const char *from = ++p;
    bool has_escape = false;

    while ((p = skip_plain(p, ps->end)) < ps->end && *p != '"') {
        if (*p == '\\') {
            has_escape = true;
            p = check_escape(ps, p);
        } else if ((unsigned char)*p >= 0x80) {
            p = check_beyond_ascii(ps, p);
        } else {
            p = stop(ps, p, "control character in a string");
        }
        if (!p)
            return NULL;
    }
    if (p == ps->end)
        return stop(ps, p, NULL);
    *len = (size_t)(p - from);
    *s = has_escape ? decode(ps, from, p, len) : from;
    return *s ? p + 1 : NULL;
}

/* ---- numbers, literals, space ---- */

static inline bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *
check_digits(struct parser *ps, const char *p)
{
    if (p == ps->end || !is_digit(*p))
        return stop(ps, p, "expected a digit");
    while (p < ps->end && is_digit(*p))
        p++;
    return p;
}

static const char *
read_number(struct parser *ps, const char *p, struct json *v)
{
    const char *from = p;

    if (*p == '-')
        p++;
    if (p < ps->end && *p == '0') {
        p++;
        if (p < ps->end && is_digit(*p))
            return stop(ps, p, "leading zero");
    } else if (!(p = check_digits(ps, p))) {
        return NULL;
    }
    if (p < ps->end && *p == '.' && !(p = check_digits(ps, p + 1)))
        return NULL;
    if (p < ps->end && (*p | 0x20) == 'e') {
        p++;
        if (p < ps->end && (*p == '+' || *p == '-'))
            p++;
        if (!(p = check_digits(ps, p)))
            return NULL;
    }
    v->type = JSON_NUMBER;
    v->text.p = from;
    v->text.len = (size_t)(p - from);
    return p;
}

static const char *
read_literal(struct parser *ps, const char *p, struct json *v)
{
    const char *word = *p == 't' ? "true" : *p == 'f' ? "false" : "null";

    v->type = *p == 't' ? JSON_TRUE : *p == 'f' ? JSON_FALSE : JSON_NULL;
    for (; *word; word++, p++)
        if (p == ps->end || *p != *word)
            return stop(ps, p, "expected true, false or null");
    return p;
}

static inline const char *
skip_white(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r'))
        p++;
    return p;
}

/* ---- the document ---- */

static inline struct json *
new_value(struct parser *ps, const char *key, size_t key_len)
{
    struct json *v = arena_alloc(ps->arena, sizeof *v);

    if (!v)
        return starved(ps);
    *v = (struct json){ .key = key, .key_len = (uint32_t)key_len, .type = JSON_NULL };
    if (ps->depth) {
        struct json_level *f = &ps->open[ps->depth - 1];
        *f->tail = v;
        f->tail = &v->next;
        f->box->kids.count++;
    }
    return v;
}

static inline bool
open_box(struct parser *ps, const char *p, struct json *v)
{
    if (ps->depth == JSON_MAX_DEPTH)
        return stop(ps, p, "nested too deep");
    v->type = *p == '{' ? JSON_OBJECT : JSON_ARRAY;
    v->kids.first = NULL;
    v->kids.count = 0;
    ps->open[ps->depth++] = (struct json_level){ .box = v, .tail = &v->kids.first };
    return true;
}

static inline char
closing(const struct json *box)
{
    return box->type == JSON_OBJECT ? '}' : ']';
}

static inline bool
close_box(struct parser *ps)
{
    const struct json *twin;

    if (!json_find_duplicate(ps->open[ps->depth - 1].box, ps->arena, &twin))
        return starved(ps);
    if (twin)
        return stop(ps, key_at(ps, twin), "duplicate key");
    ps->depth--;
    return true;
}

/* Reads a key and its colon and links the new member, which has no value yet. */
static inline const char *
read_key(struct parser *ps, const char *p, struct json **v)
{
    const char *key, *quote = p;
    size_t key_len;

    if (p == ps->end || *p != '"')
        return stop(ps, p, "expected a key in double quotes");
    if (!(p = read_string(ps, p, &key, &key_len)))
        return NULL;
    if (key_len > UINT32_MAX)
        return stop(ps, quote, "key too long");
    if (!(*v = new_value(ps, key, key_len)))
        return NULL;
    p = skip_white(p, ps->end);
    if (p == ps->end || *p != ':')
        return stop(ps, p, "expected ':'");
    return p + 1;
}

static bool
read_document(struct parser *ps, struct json *v)
{
    const char *p = ps->text, *end = ps->end;
    const struct json *box;

    if (end - p >= 3 && !memcmp(p, "\xEF\xBB\xBF", 3))
        return stop(ps, p, "byte order mark");

value:
    p = skip_white(p, end);
    if (p == end)
        return stop(ps, p, NULL);
    switch (*p) {
    case '"':
        v->type = JSON_STRING;
        p = read_string(ps, p, &v->text.p, &v->text.len);
        break;
    case '{':
    case '[':
        if (!open_box(ps, p, v))
            return false;
        p = skip_white(p + 1, end);
        if (p == end || *p != closing(v))
            goto kid;
        p++;
        ps->depth--; /* empty: no keys to compare */
        break;
    case 't':
    case 'f':
    case 'n':
        p = read_literal(ps, p, v);
        break;
    default:
        if (*p != '-' && !is_digit(*p))
            return stop(ps, p, "expected a value");
        p = read_number(ps, p, v);
    }
    if (!p)
        return false;

after:
    p = skip_white(p, end);
    if (!ps->depth)
        return p == end || stop(ps, p, "text after the value");
    box = ps->open[ps->depth - 1].box;
    if (p < end && *p == ',') {
        p = skip_white(p + 1, end);
        goto kid;
    }
    if (p == end || *p != closing(box))
        return stop(ps, p, closing(box) == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
    if (!close_box(ps))
        return false;
    p++;
    goto after;

kid:
    if (ps->open[ps->depth - 1].box->type == JSON_OBJECT)
        p = read_key(ps, p, &v);
    else
        v = new_value(ps, NULL, 0);
    if (!p || !v)
        return false;
    goto value;
}

bool
json_parse(struct arena *a, const char *text, size_t len, struct json **out,
           struct json_fault *where)
{
    struct parser ps; /* not cleared: levels above depth are never read */

    assert(text || !len);
    ps.arena = a;
    ps.text = text ? text : "";
    ps.end = ps.text + len;
    ps.where = where;
    ps.depth = 0;
    struct json *root = new_value(&ps, NULL, 0);
    if (!root || !read_document(&ps, root))
        return false;
    assert(ps.depth == 0);
    *out = root;
    return true;
}

enum status
json_parse_named(struct arena *a, const char *name, const char *text, size_t len, struct json **out,
                 struct err *e)
{
    struct json_fault f;

    if (json_parse(a, text, len, out, &f))
        return ST_OK;
    if (f.is_starved)
        return err_set(e, ST_IO, "%s: out of memory while reading JSON", name);
    return err_set(e, ST_INVALID, "%s:%u:%u: %s", name, f.line, f.column, f.what);
}

/* ---- positions ---- values have the same order in the text as in the tree, so the n-th value of
 * the tree is the n-th value of the text. */

/* Adds to *n the number of values before v. */
static bool
count_before(const struct json *tree, const struct json *v, size_t *n)
{
    if (tree == v)
        return true;
    ++*n;
    json_each (kid, tree)
        if (count_before(kid, v, n))
            return true;
    return false;
}

static const char *
after_string(const char *p, const char *end)
{
    for (p++; p < end && *p != '"'; p++)
        p += *p == '\\';
    return p + 1;
}

void
json_place(const char *text, size_t len, const struct json *root, const struct json *v,
           unsigned *line, unsigned *column)
{
    const char *end = text + len, *key = NULL, *at = text;
    size_t n = 0;

    count_before(root, v, &n);
    for (const char *p = text; p < end;) {
        const char *start = p;
        if (memchr(" \t\r\n,]}", *p, 7)) {
            p++;
            continue;
        }
        if (*p == '"') {
            p = after_string(p, end);
            while (p < end && memchr(" \t\r\n", *p, 4))
                p++;
            if (p < end && *p == ':') {
                p++;
                key = start;
                continue;
            }
        } else if (*p == '{' || *p == '[') {
            p++;
        } else {
            while (p < end && !memchr(" \t\r\n,]}", *p, 7))
                p++;
        }
        at = key ? key : start;
        if (!n--)
            break;
        key = NULL;
    }
    count_place(text, at, line, column);
}

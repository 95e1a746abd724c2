/*
 * json_write - the JSON writer: a tree, or single members, to text in a buf.
 *
 * Output: no spaces unless pretty, "\n" rather than "\u000a", UTF-8 unchanged,
 * U+FFFD for each byte that is not UTF-8. The same tree always gives the same
 * bytes, and they parse back to the same tree.
 *
 * Speed: struct out writes straight into the free room of the buf. Most writes
 * only compare two pointers; buf_room is called when the room is used up, and
 * buf_grew once, at the end. Strings are copied 8 or 16 bytes at a time. Each
 * write reserves only bytes that are certain to follow, so the buf's limit is
 * enforced exactly.
 *
 * Recursion is as deep as the tree: at most JSON_MAX_DEPTH for a parsed tree.
 */
#include "base/json.h"
#include "base/utf8.h"

#include <assert.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* ---- output position ---- */

struct out {
    struct buf *b;
    char *at;  /* where the next byte goes */
    char *end; /* of the room; its last byte is for the NUL. Both NULL: no room */
};

static inline void
out_begin(struct out *o, struct buf *b)
{
    *o = (struct out){ .b = b };
    if (b->p && !buf_failed(b)) {
        o->at = b->p + b->len;
        o->end = b->p + b->cap;
    }
}

/* Updates the buf's length. The room may be larger than the buf's limit: checks the limit here. */
static inline void
out_end(struct out *o)
{
    struct buf *b = o->b;

    if (!o->at)
        return;
    buf_grew(b, (size_t)(o->at - (b->p + b->len)));
    if (b->len > (b->max ? b->max : BUF_DEFAULT_MAX))
        b->is_over = true;
}

static __attribute__((noinline, cold)) bool
out_more(struct out *o, size_t n)
{
    out_end(o);
    char *room = buf_room(o->b, n);
    out_begin(o, o->b);
    return room != NULL;
}

/* Makes room for n bytes at o->at. After false, always false. */
static inline bool
out_want(struct out *o, size_t n)
{
    return n < (size_t)(o->end - o->at) || out_more(o, n);
}

static inline void
put(struct out *o, const char *p, size_t n)
{
    if (out_want(o, n)) {
        memcpy(o->at, p, n);
        o->at += n;
    }
}

static inline void
putch(struct out *o, char c)
{
    if (out_want(o, 1))
        *o->at++ = c;
}

/* ---- strings ---- */

#define EACH(byte) (0x0101010101010101u * (uint64_t)(byte))

static inline bool
is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

/* Marks control characters, '"', '\\', DEL and non-ASCII among eight bytes. The lowest mark is
 * exact; higher ones may come from a borrow or carry. */
static inline uint64_t
marks_of(uint64_t w)
{
    return ((w - EACH(0x20)) | ((w ^ EACH('"')) - EACH(1)) | ((w ^ EACH('\\')) - EACH(1)) |
            (w + EACH(1)) | w) &
           EACH(0x80);
}

#ifdef __SSE2__
/* The same for sixteen bytes, one bit each. Non-ASCII bytes are negative here. */
static inline unsigned
marks_of_16(__m128i v)
{
    __m128i odd = _mm_or_si128(_mm_cmplt_epi8(v, _mm_set1_epi8(0x20)),
                               _mm_cmpeq_epi8(v, _mm_set1_epi8(0x7F)));
    __m128i escaped =
        _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));

    return (unsigned)_mm_movemask_epi8(_mm_or_si128(odd, escaped));
}
#endif

/* Copies bytes up to the first that needs an escape, or all n; returns how many. `to` has room for
 * n bytes, and the bytes behind the copy may be overwritten. */
static inline size_t
copy_plain(char *to, const char *p, size_t n)
{
    size_t i = 0;

#ifdef __SSE2__
    for (; n - i >= 16; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
        unsigned marks = marks_of_16(v);
        _mm_storeu_si128((__m128i *)(void *)(to + i), v);
        if (marks)
            return i + (size_t)__builtin_ctz(marks);
    }
#endif
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t w;
    for (; n - i >= 8; i += 8) {
        memcpy(&w, p + i, sizeof w);
        uint64_t marks = marks_of(w);
        memcpy(to + i, &w, sizeof w);
        if (marks)
            return i + (size_t)__builtin_ctzll(marks) / 8;
    }
    if (n >= 8 && i < n) { /* the last 8 bytes; the first of them were copied already */
        memcpy(&w, p + n - 8, sizeof w);
        if (!marks_of(w)) {
            memcpy(to + n - 8, &w, sizeof w);
            return n;
        }
    } else if (n >= 4 && i < n) { /* the first 4 and the last 4 bytes, which may overlap */
        uint32_t low, high;
        memcpy(&low, p, sizeof low);
        memcpy(&high, p + n - 4, sizeof high);
        if (!marks_of((uint64_t)high << 32 | low)) {
            memcpy(to, &low, sizeof low);
            memcpy(to + n - 4, &high, sizeof high);
            return n;
        }
    }
#endif
    for (; i < n && is_plain((unsigned char)p[i]); i++)
        to[i] = p[i];
    return i;
}

/* Writes the escape (or UTF-8) of the character at p to `spelling` and returns its length, at most
 * 6. *used is the length of the character at p. */
static size_t
spell(char spelling[8], const char *p, size_t n, size_t *used)
{
    static const char hex[] = "0123456789abcdef";
    static const char letter[0x20] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'
    };
    unsigned char c = (unsigned char)*p;

    *used = 1;
    if (c >= 0x80) {
        size_t len = utf8_char(p, n);
        if (!len)
            return utf8_encode(spelling, 0xFFFD);
        memcpy(spelling, p, len);
        return *used = len;
    }
    spelling[0] = '\\';
    spelling[1] = c < 0x20 ? letter[c] : c == 0x7F ? '\0' : (char)c;
    if (spelling[1])
        return 2;
    memcpy(spelling + 1, "u00", 3);
    spelling[4] = hex[c >> 4];
    spelling[5] = hex[c & 15];
    return 6;
}

static inline void
put_str(struct out *o, const char *p, size_t n)
{
    if (!out_want(o, n + 2))
        return;
    *o->at++ = '"';
    for (;;) {
        /* Invariant: there is room for the n remaining bytes and the closing quote. */
        size_t plain = copy_plain(o->at, p, n);
        o->at += plain;
        p += plain;
        n -= plain;
        if (!n)
            break;
        char spelling[8];
        size_t used, len = spell(spelling, p, n, &used);
        p += used;
        n -= used;
        if (!out_want(o, len + n + 1))
            return;
        memcpy(o->at, spelling, len);
        o->at += len;
    }
    *o->at++ = '"';
}

/* ---- trees ---- */

enum { COMPACT = -1 };

static void
put_line(struct out *o, int level)
{
    if (level == COMPACT)
        return;
    putch(o, '\n');
    while (level-- > 0)
        put(o, "  ", 2);
}

/* level: the depth of v, or COMPACT. */
static void
put_value(struct out *o, const struct json *v, int level)
{
    int inner = level == COMPACT ? COMPACT : level + 1;
    bool is_object = v->type == JSON_OBJECT;

    switch (v->type) {
    case JSON_NULL:
        put(o, "null", 4);
        return;
    case JSON_FALSE:
        put(o, "false", 5);
        return;
    case JSON_TRUE:
        put(o, "true", 4);
        return;
    case JSON_NUMBER:
        put(o, v->text.p, v->text.len);
        return;
    case JSON_STRING:
        put_str(o, v->text.p, v->text.len);
        return;
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    putch(o, is_object ? '{' : '[');
    for (const struct json *kid = v->kids.first; kid; kid = kid->next) {
        if (kid != v->kids.first)
            putch(o, ',');
        put_line(o, inner);
        if (is_object) {
            put_str(o, kid->key, kid->key_len);
            put(o, ": ", level == COMPACT ? 1 : 2);
        }
        put_value(o, kid, inner);
    }
    if (v->kids.first)
        put_line(o, level);
    putch(o, is_object ? '}' : ']');
}

static void
write_at(struct buf *b, const struct json *v, int level)
{
    static const struct json null = { .type = JSON_NULL };
    struct out o;

    out_begin(&o, b);
    put_value(&o, v ? v : &null, level);
    out_end(&o);
}

void
json_write(struct buf *b, const struct json *v)
{
    write_at(b, v, COMPACT);
}

void
json_write_pretty(struct buf *b, const struct json *v, unsigned indent)
{
    assert(indent <= 1024);
    write_at(b, v, (int)indent);
}

void
json_write_str(struct buf *b, const char *p, size_t len)
{
    struct out o;

    assert(p || !len);
    out_begin(&o, b);
    put_str(&o, len ? p : "", len);
    out_end(&o);
}

/* ---- writing without a tree ---- */

void
json_open(struct buf *b, char bracket)
{
    assert(bracket == '{' || bracket == '[');
    buf_addc(b, bracket);
}

void
json_close(struct buf *b, char bracket)
{
    assert(bracket == '}' || bracket == ']');
    buf_addc(b, bracket);
}

/* A string ends in a quote, so a '{' or '[' at the end is always an opening bracket. */
static inline void
put_sep(struct out *o)
{
    if (o->at && o->at > o->b->p && o->at[-1] != '{' && o->at[-1] != '[')
        putch(o, ',');
}

/* Reserves room for a comma, two quotes and a colon. If no comma is needed, the value uses the
 * byte. */
static inline void
put_key(struct out *o, const char *key)
{
    size_t n = strlen(key);

    if (!out_want(o, n + 4))
        return;
    put_sep(o);
    o->at[0] = '"';
    if (copy_plain(o->at + 1, key, n) < n) {
        put_str(o, key, n);
        putch(o, ':');
        return;
    }
    memcpy(o->at + 1 + n, "\":", 2);
    o->at += n + 3;
}

void
json_sep(struct buf *b)
{
    struct out o;

    out_begin(&o, b);
    put_sep(&o);
    out_end(&o);
}

void
json_key(struct buf *b, const char *key)
{
    struct out o;

    out_begin(&o, b);
    put_key(&o, key);
    out_end(&o);
}

void
json_key_strn(struct buf *b, const char *key, const char *p, size_t len)
{
    struct out o;

    assert(p || !len);
    out_begin(&o, b);
    put_key(&o, key);
    put_str(&o, len ? p : "", len);
    out_end(&o);
}

void
json_key_str(struct buf *b, const char *key, const char *s)
{
    if (s)
        json_key_strn(b, key, s, strlen(s));
}

void
json_key_strs(struct buf *b, const char *key, const char *const *v, size_t n)
{
    json_key(b, key);
    json_open(b, '[');
    for (size_t i = 0; i < n; i++) {
        json_sep(b);
        json_write_str(b, v[i], strlen(v[i]));
    }
    json_close(b, ']');
}

void
json_key_int(struct buf *b, const char *key, int64_t n)
{
    char digits[20]; /* "-9223372036854775808" */
    char *p = digits + sizeof digits;
    uint64_t left = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    struct out o;

    for (; left >= 100; left /= 100) {
        unsigned two = (unsigned)(left % 100);
        *--p = (char)('0' + two % 10);
        *--p = (char)('0' + two / 10);
    }
    if (left >= 10)
        *--p = (char)('0' + left % 10);
    *--p = (char)('0' + (left >= 10 ? left / 10 : left));
    if (n < 0)
        *--p = '-';
    out_begin(&o, b);
    put_key(&o, key);
    put(&o, p, (size_t)(digits + sizeof digits - p));
    out_end(&o);
}

void
json_key_raw(struct buf *b, const char *key, const char *p, size_t len)
{
    struct out o;

    out_begin(&o, b);
    put_key(&o, key);
    put(&o, p, len);
    out_end(&o);
}

void
json_key_bool(struct buf *b, const char *key, bool v)
{
    json_key_raw(b, key, v ? "true" : "false", v ? 4 : 5);
}

void
json_key_json(struct buf *b, const char *key, const struct json *v)
{
    struct out o;

    if (!v)
        return;
    out_begin(&o, b);
    put_key(&o, key);
    put_value(&o, v, COMPACT);
    out_end(&o);
}

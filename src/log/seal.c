#include "log/seal.h"

#include "base/crc32c.h"

#include <assert.h>
#include <string.h>

/* ,"crc":"hhhhhhhh"} */
enum { CRC_HEAD = 8, CRC_HEX = 8, CRC_TAIL = 2, CRC_SIZE = CRC_HEAD + CRC_HEX + CRC_TAIL };

static void
hex8(char to[CRC_HEX], uint32_t v)
{
    for (int i = CRC_HEX - 1; i >= 0; i--, v >>= 4)
        to[i] = "0123456789abcdef"[v & 15];
}

void
seal_write(struct buf *to, const char *text, size_t len, size_t nth, size_t of, uint64_t seq)
{
    size_t start = to->len;

    while (len > 0 && text[len - 1] != '}')
        len--; /* white space after the object */
    assert(len >= 2);
    len--;
    while (len > 1 && strchr(" \t\r", text[len - 1]))
        len--; /* white space before its end: "{ }" must get no comma */
    buf_add(to, text, len);
    if (of > 1 && nth == 1)
        json_key_int(to, "of", (int64_t)of);
    else if (nth > 1)
        json_key_int(to, "nth", (int64_t)nth);
    json_key_int(to, "seq", (int64_t)seq);
    if (buf_failed(to))
        return;
    char hex[CRC_HEX];
    hex8(hex, crc32c(to->p + start, to->len - start));
    json_key_strn(to, "crc", hex, sizeof hex);
    buf_adds(to, "}\n");
}

/* Does the text contain a quoted key of a seal? A fast filter: it may be a value. */
static bool
may_clash(const char *text, size_t len)
{
    const char *end = text + len;

    for (const char *p = text; (p = memchr(p, '"', (size_t)(end - p))); p++) {
        size_t left = (size_t)(end - p);
        if (left < 4 || (p[3] != '"' && p[4 - (left == 4)] != '"'))
            continue; /* no key of a seal is longer: the common case */
        if ((left >= 5 && (memcmp(p, "\"seq\"", 5) == 0 || memcmp(p, "\"crc\"", 5) == 0 ||
                           memcmp(p, "\"nth\"", 5) == 0)) ||
            (left >= 4 && memcmp(p, "\"of\"", 4) == 0))
            return true;
    }
    return false;
}

bool
seal_clashes(const char *text, size_t len)
{
    struct arena a = { 0 };
    struct json *v;

    if (!may_clash(text, len))
        return false; /* the common case, without parsing */
    bool is_taken =
        json_parse(&a, text, len, &v, NULL) &&
        (json_get(v, "seq") || json_get(v, "crc") || json_get(v, "of") || json_get(v, "nth"));
    arena_release(&a);
    return is_taken;
}

/* Reads an optional member (absent: 0). False: not a whole number >= min. */
static bool
read_count(const struct json *object, const char *key, int64_t min, uint64_t *out)
{
    const struct json *v = json_get(object, key);
    int64_t n;

    *out = 0;
    if (!v)
        return true;
    if (!json_int(v, &n) || n < min)
        return false;
    *out = (uint64_t)n;
    return true;
}

bool
seal_read(const char *text, size_t len, const struct json *object, struct seal *out)
{
    *out = (struct seal){ 0 };
    if (!json_get(object, "crc"))
        return true;
    while (len > 0 && text[len - 1] != '}')
        len--;
    if (len < CRC_SIZE)
        return false;

    const char *crc = text + len - CRC_SIZE;
    char hex[CRC_HEX];
    hex8(hex, crc32c(text, len - CRC_SIZE));
    return memcmp(crc, ",\"crc\":\"", CRC_HEAD) == 0 && memcmp(crc + CRC_HEAD, hex, CRC_HEX) == 0 &&
           read_count(object, "seq", 1, &out->seq) && out->seq > 0 &&
           read_count(object, "of", 2, &out->of) && read_count(object, "nth", 2, &out->nth);
}

/* The length of the text without a final `,"key":123`. */
static size_t
cut_count(const char *text, size_t len, const char *key)
{
    size_t n = len, key_len = strlen(key);

    while (n > 0 && text[n - 1] >= '0' && text[n - 1] <= '9')
        n--;
    return n < len && n >= key_len && memcmp(text + n - key_len, key, key_len) == 0 ? n - key_len
                                                                                    : len;
}

size_t
seal_strip(const char *text, size_t len)
{
    while (len > 0 && text[len - 1] != '}')
        len--;
    if (len < CRC_SIZE || memcmp(text + len - CRC_SIZE, ",\"crc\":\"", CRC_HEAD) != 0)
        return 0;
    size_t end = len - CRC_SIZE, n = cut_count(text, end, ",\"seq\":");
    if (n == end)
        return 0;
    n = cut_count(text, n, ",\"of\":");
    return cut_count(text, n, ",\"nth\":");
}

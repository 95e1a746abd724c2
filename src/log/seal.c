#define _GNU_SOURCE
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

bool
seal_clashes(const char *text, size_t len)
{
    static const char *const keys[] = { "\"seq\"", "\"crc\"", "\"of\"", "\"nth\"" };
    struct arena a = { 0 };
    struct json *v;
    bool is_taken = false;

    for (size_t i = 0; i < sizeof keys / sizeof *keys && !is_taken; i++) {
        /* Rarely anywhere in the text; only then is it worth parsing. */
        if (!memmem(text, len, keys[i], strlen(keys[i])) || !json_parse(&a, text, len, &v, NULL))
            continue;
        is_taken = json_getn(v, keys[i] + 1, strlen(keys[i]) - 2) != NULL;
    }
    arena_release(&a);
    return is_taken;
}

/* A member that, if it is there, must be a whole number of at least `min`. */
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

/*
 * utf8 - validation, decoding and encoding of UTF-8.
 *
 * The table of RFC 3629, which utf8_char follows line by line:
 *
 *     first    second   third    fourth      code points
 *     00..7F                                 U+0000..U+007F
 *     C2..DF   80..BF                        U+0080..U+07FF
 *     E0       A0..BF   80..BF               U+0800..U+0FFF     (80..9F: overlong)
 *     E1..EC   80..BF   80..BF               U+1000..U+CFFF
 *     ED       80..9F   80..BF               U+D000..U+D7FF     (A0..BF: surrogates)
 *     EE..EF   80..BF   80..BF               U+E000..U+FFFF
 *     F0       90..BF   80..BF   80..BF      U+10000..U+3FFFF   (80..8F: overlong)
 *     F1..F3   80..BF   80..BF   80..BF      U+40000..U+FFFFF
 *     F4       80..8F   80..BF   80..BF      U+100000..U+10FFFF (90..BF: beyond)
 */
#include "base/utf8.h"

#include <assert.h>
#include <string.h>

static bool
is_tail(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

static bool
is_between(char c, unsigned char low, unsigned char high)
{
    return (unsigned char)c >= low && (unsigned char)c <= high;
}

size_t
utf8_char(const char *p, size_t n)
{
    assert(n > 0);
    unsigned char first = (unsigned char)p[0];

    if (first < 0x80)
        return 1;
    if (first < 0xC2 || first > 0xF4)
        return 0;
    if (first < 0xE0)
        return n >= 2 && is_tail(p[1]) ? 2 : 0;
    if (first < 0xF0) {
        unsigned char low = first == 0xE0 ? 0xA0 : 0x80;
        unsigned char high = first == 0xED ? 0x9F : 0xBF;
        return n >= 3 && is_between(p[1], low, high) && is_tail(p[2]) ? 3 : 0;
    }
    unsigned char low = first == 0xF0 ? 0x90 : 0x80;
    unsigned char high = first == 0xF4 ? 0x8F : 0xBF;
    return n >= 4 && is_between(p[1], low, high) && is_tail(p[2]) && is_tail(p[3]) ? 4 : 0;
}

bool
utf8_is_begun(const char *p, size_t n)
{
    char low[4], high[4];

    assert(n > 0);
    if (n > 3)
        return false;
    /* The range of a second byte is narrowed at one end of 80..BF, never at both. So a completion
     * by 80s or by BFs is well-formed if any completion is. */
    memset(low, 0x80, sizeof low);
    memset(high, 0xBF, sizeof high);
    memcpy(low, p, n);
    memcpy(high, p, n);
    return utf8_char(low, sizeof low) > n || utf8_char(high, sizeof high) > n;
}

uint32_t
utf8_decode(const char *p, size_t len)
{
    static const unsigned char payload[] = { 0, 0x7F, 0x1F, 0x0F, 0x07 };

    assert(len >= 1 && len <= 4);
    uint32_t c = (unsigned char)p[0] & payload[len];
    for (size_t i = 1; i < len; i++)
        c = c << 6 | ((unsigned char)p[i] & 0x3F);
    return c;
}

size_t
utf8_encode(char *to, uint32_t c)
{
    assert(c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF));
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xC0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xE0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 0x3F));
        to[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    to[0] = (char)(0xF0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 0x3F));
    to[2] = (char)(0x80 | (c >> 6 & 0x3F));
    to[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

size_t
utf8_valid_len(const char *p, size_t n)
{
    size_t at = 0;

    while (at < n) {
        /* Fast path for ASCII: eight bytes at a time while no top bit is set. */
        uint64_t word;
        if (n - at >= sizeof word) {
            memcpy(&word, p + at, sizeof word);
            if (!(word & 0x8080808080808080u)) {
                at += sizeof word;
                continue;
            }
        }
        size_t len = utf8_char(p + at, n - at);
        if (!len)
            break;
        at += len;
    }
    return at;
}

size_t
utf8_half(const char *p, size_t n)
{
    size_t i = 0;

    while (i < n && i < 3 && ((unsigned char)p[i] & 0xC0) == 0x80)
        i++;
    return i;
}

size_t
utf8_cut(const char *p, size_t n, size_t max)
{
    if (n <= max)
        return n;
    while (max > 0 && is_tail(p[max]))
        max--;
    return max;
}

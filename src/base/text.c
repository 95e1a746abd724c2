#include "base/text.h"

#include "base/utf8.h"

static bool
is_space(uint32_t c)
{
    return (c >= 0x09 && c <= 0x0D) || c == ' ' || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
           c == 0x205F || c == 0x3000 || c == 0xFEFF;
}

/* The length of the white space that the text begins with, 0 when it begins otherwise. */
static size_t
space_at(const char *p, size_t n)
{
    size_t len = n ? utf8_char(p, n) : 0;

    return len && is_space(utf8_decode(p, len)) ? len : 0;
}

struct text
text_trim(struct text t)
{
    size_t n;

    while ((n = space_at(t.p, t.len))) {
        t.p += n;
        t.len -= n;
    }
    do { /* white space is one to three bytes long */
        for (n = 1; n <= 3 && n <= t.len; n++)
            if (space_at(t.p + t.len - n, n) == n)
                break;
        if (n > 3 || n > t.len)
            n = 0;
        t.len -= n;
    } while (n);
    return t;
}

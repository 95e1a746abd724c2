#include "agents/base_url.h"

#include <string.h>

static size_t
without_slashes(const char *url, size_t n)
{
    while (n > 1 && url[n - 1] == '/' && url[n - 2] != ':')
        n--;
    return n;
}

void
base_url_without(struct buf *to, const char *url, const char *const *endings)
{
    size_t n = without_slashes(url, strlen(url));

    for (; *endings; endings++) {
        size_t k = strlen(*endings);
        if (n > k && memcmp(url + n - k, *endings, k) == 0) {
            n = without_slashes(url, n - k);
            break;
        }
    }
    buf_add(to, url, n);
}

void
base_url_openai(struct buf *to, const char *url)
{
    static const char *const endings[] = { "/chat/completions", "/responses", NULL };
    const char *sign = strstr(url, "://"), *host = sign ? sign + 3 : url;
    size_t at = to->len + (size_t)(host - url);

    base_url_without(to, url, endings);
    if (to->len > at && !memchr(to->p + at, '/', to->len - at))
        buf_adds(to, "/v1");
}

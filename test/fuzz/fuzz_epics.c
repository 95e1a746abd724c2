/*
 * fuzz_epics - room/epics and room/review_verdict on any bytes: no crash, an accepted plan has
 * names that can be rooms.
 */

#include "fuzz.h"

#include "base/path.h"
#include "room/epics.h"
#include "room/review_verdict.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const char *const words[] = { "PASS", "FAIL" };
    struct arena a = { 0 };
    struct epic *v;
    size_t n;
    struct err e = { "" };
    char *text = fuzz_copy(data, len);
    enum status s = epics_parse(&a, "plan.md", text, len, &v, &n, &e);

    MUST(s == ST_OK || (s == ST_INVALID && e.text[0]));
    for (size_t i = 0; !s && i < n; i++)
        MUST(path_is_name(v[i].room) && v[i].text);
    size_t verdict = review_verdict(text, len, words, 2);
    MUST(verdict == SIZE_MAX || verdict < 2);
    free(text);
    arena_release(&a);
    return 0;
}

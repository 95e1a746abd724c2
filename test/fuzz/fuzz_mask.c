/*
 * fuzz_mask - base/mask on any values and text. The input is lines: values up to an empty line,
 * then the text.
 *
 * For every input:
 *   - written byte by byte, in steps of seven and at once, the result is the same
 *   - it is the text with every byte of every occurrence hidden, by a search that is slow and plain
 *   - a failure is only "too large"
 */

#include "fuzz.h"

#include "base/mask.h"

struct hidden {
    const char *text;
    bool *at;
    size_t n;
};

static void
hide(struct hidden *h, const char *value, size_t n)
{
    for (size_t i = 0; n >= MASK_MIN && i + n <= h->n; i++)
        if (memcmp(h->text + i, value, n) == 0)
            memset(h->at + i, true, n);
}

static void
hide_both_forms(struct hidden *h, const char *value, size_t n)
{
    struct buf quoted = { 0 };

    if (n < MASK_MIN)
        return;
    hide(h, value, n);
    json_write_str(&quoted, value, n);
    hide(h, quoted.p + 1, quoted.len - 2);
    buf_release(&quoted);
}

static void
write_hidden(const struct hidden *h, struct buf *to)
{
    for (size_t i = 0; i < h->n; i++) {
        if (!h->at[i])
            buf_addc(to, h->text[i]);
        else if (!i || !h->at[i - 1])
            buf_adds(to, "***");
    }
}

static void
is_written_so(const struct mask *m, const char *text, size_t n, size_t step, const struct buf *want)
{
    struct mask_stream in;
    struct buf out = { 0 };
    struct err e;

    MUST(mask_stream_init(&in, m, &e) == ST_OK);
    for (size_t i = 0; i < n; i += step)
        mask_write(&in, text + i, n - i < step ? n - i : step, &out);
    mask_end(&in, &out);
    MUST(out.len == want->len && (!out.len || !memcmp(out.p, want->p, out.len)));
    mask_stream_release(&in);
    buf_release(&out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *input = fuzz_copy(data, len);
    struct mask m = { 0 };
    struct buf want = { 0 };
    struct err e;
    size_t at = 0;

    while (at < len && input[at] != '\n') { /* the values */
        const char *end = memchr(input + at, '\n', len - at);
        size_t n = end ? (size_t)(end - input) - at : len - at;
        mask_add(&m, input + at, n);
        at += n + (end != NULL);
    }
    at += at < len;
    struct hidden h = { input + at, calloc(len - at + 1, 1), len - at };
    MUST(h.at);
    if (mask_build(&m, &e)) {
        MUST(len > MASK_VALUES_MAX / 8);
    } else {
        for (size_t i = 0; i < at;) {
            const char *end = memchr(input + i, '\n', at - i);
            size_t n = end ? (size_t)(end - input) - i : at - i;
            hide_both_forms(&h, input + i, n);
            i += n + 1;
        }
        write_hidden(&h, &want);
        is_written_so(&m, h.text, h.n, 1, &want);
        is_written_so(&m, h.text, h.n, 7, &want);
        is_written_so(&m, h.text, h.n, len + 1, &want);
    }
    free(h.at);
    buf_release(&want);
    mask_release(&m);
    free(input);
    return 0;
}

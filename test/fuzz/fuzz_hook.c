/* fuzz_hook - any event of a client is read or refused, and its answer is one line of JSON. */
#include "fuzz.h"

#include "hook/hook_event.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct arena a = { 0 };
    struct buf out = { 0 };
    struct hook_event ev;
    struct json *answer;
    struct err e = { "" };
    char *text = malloc(len + 1);

    MUST(text);
    memcpy(text, data, len);
    text[len] = '\0';
    if (hook_event_read(&a, text, len, NULL, &ev, &e)) {
        MUST(e.text[0]);
    } else {
        MUST(ev.client && ev.name && ev.n_files <= HOOK_FILES_MAX);
        hook_answer_write(&out, &ev, ev.n_files ? ev.files[0] : ev.name);
        MUST(!buf_failed(&out) && memchr(out.p, '\n', out.len) == out.p + out.len - 1);
        MUST(json_parse(&a, out.p, out.len - 1, &answer, NULL));
    }
    buf_release(&out);
    arena_release(&a);
    free(text);
    return 0;
}

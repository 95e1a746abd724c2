/*
 * fuzz_cli - the parsers of the CLI agents' streams on any bytes: no crash, and what they leave for
 * people is text. The first byte chooses the vendor.
 */

#include "fuzz.h"

#include "agents/cli/cli.h"
#include "base/utf8.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const struct cli_vendor *const vendors[] = { &cli_claude_code, &cli_codex, &cli_gemini,
                                                        &cli_cursor, &cli_opencode };
    static struct arena a;
    struct turn t = { 0 };

    if (len < 1)
        return 0;
    const struct cli_vendor *v = vendors[data[0] % (sizeof vendors / sizeof *vendors)];
    char *text = fuzz_copy(data + 1, len - 1);
    for (size_t at = 0; at < len - 1;) {
        const char *end = memchr(text + at, '\n', len - 1 - at);
        size_t n = end ? (size_t)(end - text) - at : len - 1 - at;
        struct json *doc = NULL;
        arena_reset(&a);
        t.arena = &a;
        bool is_json = json_parse(&a, text + at, n, &doc, NULL) && json_is(doc, JSON_OBJECT);
        if (is_json)
            v->line(&t, doc);
        if (is_json && v->journal_line)
            v->journal_line(&t, doc);
        if (v->error_line)
            v->error_line(&t, text + at, n);
        MUST(!t.log.len || utf8_valid_len(t.log.p, t.log.len) == t.log.len);
        MUST(!t.said.len || t.said.p[t.said.len - 1] == '\0');
        MUST(!(t.is_done && t.is_failed));
        MUST(t.usage.input_tokens >= 0 && t.usage.output_tokens >= 0);
        at += n + 1;
    }
    turn_release(&t);
    free(text);
    return 0;
}

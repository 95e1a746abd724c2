/*
 * fuzz_template - team/template on any bytes.
 *
 * The input is a command, a zero byte and a value. For each:
 *   - nothing crashes, and the check without values agrees with the expansion
 *   - in an accepted command the value's text never appears unless the command had it
 *   - all text outside of uses stays the same
 *   - expansion into text fails only for a variable that the error names
 */

#include "fuzz.h"

#include "team/template.h"

static const struct json *
any_handoff(void *ctx, const char *phase)
{
    return strcmp(phase, "none") == 0 ? NULL : ctx;
}

/* Puts the value between marks that a fuzzer cannot guess: if they are found, the value was pasted.
 */
static const char MARK[] = "zQ7\"'$(x)`zQ7";

static void
commands_never_hold_values(struct arena *a, const char *text, const struct template_scope *s)
{
    struct buf to = { 0 };
    struct err e = { "" };
    struct template_env *env = NULL;
    const char *warning;
    size_t n = 0;
    enum status checked = template_check_shell(text, &warning, &e);

    MUST(!checked || e.text[0]);
    e.text[0] = '\0';
    enum status st = template_shell(a, &to, text, s, &env, &n, &e);
    if (checked)
        MUST(st == checked);
    if (st) {
        MUST(e.text[0]);
    } else {
        MUST(!strstr(to.p, MARK) || strstr(text, MARK));
        if (!n)
            MUST(strcmp(to.p, text) == 0);
        for (size_t i = 0; i < n; i++) {
            char use[64];
            snprintf(use, sizeof use, "${CLIQ_T_%zu}", i + 1);
            MUST(strstr(to.p, use) && strncmp(env[i].name, use + 2, strlen(env[i].name)) == 0);
            MUST(strlen(env[i].value) <= TEMPLATE_ENV_MAX);
        }
    }
    buf_release(&to);
}

/* The checks of validation give an offset in the text and a message, and read nothing past the
 * end. */
static void
slips_are_told(struct arena *a, const char *text)
{
    const char *warning;
    struct err e = { "" };
    size_t n;

    for (int is_shell = 0; is_shell < 2; is_shell++) {
        struct template_miss *m = template_misses(a, text, is_shell, &n);
        for (size_t i = 0; m && i < n; i++) {
            MUST(!strncmp(text + m[i].offset, "$(", 2) &&
                 !strncmp(text + m[i].offset + 2, m[i].name, strlen(m[i].name)));
            MUST(!is_shell || m[i].meant);
        }
    }
    if (template_check_when(text, &warning, &e))
        MUST(e.text[0] != '\0');
}

static void
texts_expand_or_say_why(struct arena *a, const char *text, const struct template_scope *s)
{
    struct buf to = { 0 };
    struct err e = { "" };
    bool is_true;
    size_t n;
    struct template_use *uses = template_uses(a, text, &n);

    MUST(!uses == !n);
    for (size_t i = 0; i < n; i++)
        MUST(!strncmp(text + uses[i].offset, "$(", 2) &&
             !strncmp(text + uses[i].offset + 2, uses[i].name, strlen(uses[i].name)));
    enum status st = template_expand(&to, text, s, &e);
    MUST(st ? e.text[0] != '\0' : to.p != NULL);
    if (!n)
        MUST(!st && strcmp(to.p, text) == 0);
    (void)template_when(text, s, &is_true, &e);
    slips_are_told(a, text);
    buf_release(&to);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct arena a;
    const uint8_t *zero = memchr(data, 0, len);
    size_t text_len = zero ? (size_t)(zero - data) : len;
    struct buf value = { 0 };

    arena_reset(&a);
    char *text = malloc(text_len + 1); /* so that ASan detects a read past the end */
    MUST(text);
    memcpy(text, data, text_len);
    text[text_len] = '\0';
    buf_adds(&value, MARK);
    if (zero)
        buf_add(&value, zero + 1, len - text_len - 1);
    buf_adds(&value, MARK);

    struct json *inputs = json_new(&a, JSON_OBJECT), *envelope = json_new(&a, JSON_OBJECT);
    struct json *list = json_new(&a, JSON_ARRAY), *in_data = json_new(&a, JSON_OBJECT);
    json_set(inputs, "x", json_new_str(&a, value.p, value.len));
    json_set(inputs, "n", json_new_int(&a, 7));
    json_add(list, json_new_str(&a, value.p, value.len));
    json_set(in_data, "a", list);
    json_set(in_data, "a.b", json_new_str(&a, value.p, value.len));
    json_set(envelope, "data", in_data);
    json_set(envelope, "text", json_new_str(&a, value.p, value.len));
    struct template_scope s = { .inputs = inputs,
                                .handoff = any_handoff,
                                .ctx = envelope,
                                .phase = value.p,
                                .work_dir = "/w",
                                .now_ms = 1 };
    commands_never_hold_values(&a, text, &s);
    texts_expand_or_say_why(&a, text, &s);
    free(text);
    buf_release(&value);
    return 0;
}

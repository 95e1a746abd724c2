#include "jsons.h"

bool
parse(struct arena *a, const char *p, size_t len, struct json **doc, struct json_fault *where)
{
    char *exact = malloc(len ? len : 1);
    assert_non_null(exact);
    memcpy(exact, p, len);
    struct json *tree = NULL;
    bool is_good = json_parse(a, exact, len, &tree, where);
    if (is_good && doc) { /* the tree borrows the text: parse the lasting one */
        assert_true(json_parse(a, p, len, doc, NULL));
        assert_true(json_same(tree, *doc));
    }
    free(exact);
    return is_good;
}

void
accept_one(const char *p, size_t len)
{
    struct arena a = { 0 };
    struct json *doc;
    struct json_fault f;

    if (!parse(&a, p, len, &doc, &f))
        fail_msg("refused: %.*s\nat %u:%u: %s", (int)len, p, f.line, f.column, f.what);
    arena_release(&a);
}

void
accept_all(const struct text *t, size_t n)
{
    for (size_t i = 0; i < n; i++)
        accept_one(t[i].p, t[i].len);
}

void
refuse_all(const struct bad *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct arena a = { 0 };
        struct json_fault f;
        if (parse(&a, t[i].p, t[i].len, NULL, &f))
            fail_msg("accepted: %.*s", (int)t[i].len, t[i].p);
        const char *what = t[i].what ? t[i].what : "the text ends too early";
        if (f.line != t[i].line || f.column != t[i].column || strcmp(f.what, what) ||
            f.is_cut_off != !t[i].what || f.is_cut_off != (f.offset == t[i].len) || f.is_starved)
            fail_msg("%.*s\nwant %u:%u: %s\ngot  %u:%u: %s%s", (int)t[i].len, t[i].p, t[i].line,
                     t[i].column, what, f.line, f.column, f.what, f.is_cut_off ? " (cut off)" : "");
        arena_release(&a);
    }
}

struct arena arena;

const struct json *
doc_of(const char *text)
{
    struct json *doc = NULL;

    assert_true(json_parse(&arena, text, strlen(text), &doc, NULL));
    return doc;
}

void
is_written(const struct json *v, const char *want)
{
    struct buf b = { 0 };

    json_write(&b, v);
    assert_int_equal(buf_status(&b, "it", NULL), ST_OK);
    assert_string_equal(b.p, want);
    assert_int_equal(b.len, strlen(want));
    buf_release(&b);
}

int
json_leave(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

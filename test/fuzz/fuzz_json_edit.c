/*
 * fuzz_json_edit - a member that is added to any JSONC is there, can be removed again, and leaves
 * the rest of the tree as it was.
 */
#include "fuzz.h"

#include "base/json_edit.h"

static void
read_again(struct arena *a, const struct buf *text, struct json **tree)
{
    MUST(json_edit_read(a, "x", text, tree, NULL) == ST_OK);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const char *const path[] = { "a", "zz", NULL }, *const list[] = { "l", NULL };
    struct arena a = { 0 };
    struct buf text = { 0 }, old = { 0 };
    struct json *before, *after;
    struct err e = { "" };

    buf_add(&text, data, len);
    buf_add(&old, data, len);
    if (json_edit_read(&a, "x", &text, &before, &e)) {
        MUST(e.text[0]);
        goto out;
    }
    bool was_there = json_get(json_get(before, "a"), "zz") != NULL;
    enum status s = json_edit_add(&text, path, "{\"k\":[1,{}]}", &e);
    if (s) {
        MUST(s == ST_CONFLICT && text.len == old.len && !memcmp(text.p, old.p, len));
    } else {
        read_again(&a, &text, &after);
        MUST(!was_there && json_get(json_get(after, "a"), "zz"));
        json_each (m, before)
            if (strncmp(m->key, "a", m->key_len) != 0)
                MUST(json_same(m, json_getn(after, m->key, m->key_len)));
        json_each (m, json_get(before, "a"))
            MUST(json_same(m, json_getn(json_get(after, "a"), m->key, m->key_len)));
        MUST(json_edit_remove(&text, path, &e) == ST_OK);
        read_again(&a, &text, &after);
        MUST(!json_get(json_get(after, "a"), "zz"));
        json_each (m, before)
            if (strncmp(m->key, "a", m->key_len) != 0)
                MUST(json_same(m, json_getn(after, m->key, m->key_len)));
    }
    if (json_edit_append(&text, list, "7", &e) == ST_OK) {
        read_again(&a, &text, &after);
        const struct json *l = json_get(after, "l");
        MUST(json_is(l, JSON_ARRAY) && l->kids.count);
        MUST(json_edit_remove_nth(&text, list, l->kids.count - 1, &e) == ST_OK);
        read_again(&a, &text, &after);
    }
out:
    buf_release(&text);
    buf_release(&old);
    arena_release(&a);
    return 0;
}

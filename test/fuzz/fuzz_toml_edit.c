/* fuzz_toml_edit - a table that is added to any TOML is found, and removing it gives the text back.
 */
#include "fuzz.h"

#include "base/toml_edit.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const char *const path[] = { "zz", "y", NULL };
    struct arena a = { 0 };
    struct buf text = { 0 };
    struct toml_doc doc;
    struct err e = { "" };

    buf_add(&text, data, len);
    if (toml_edit_read(&a, "x", &text, &doc, &e)) {
        MUST(e.text[0]);
        goto out;
    }
    for (const struct toml_item *i = doc.first; i; i = i->next)
        MUST(i->from < i->end && i->end <= len && i->n_keys &&
             (!i->next || i->end <= i->next->from));
    if (toml_edit_find(&doc, path))
        goto out;
    MUST(toml_edit_add(&text, "[zz.y]\nk = [1]\n", &e) == ST_OK);
    MUST(text.len > len && (!len || !memcmp(text.p, data, len)));
    MUST(toml_edit_read(&a, "x", &text, &doc, &e) == ST_OK && toml_edit_find(&doc, path));
    MUST(toml_edit_remove(&text, &doc, path, &e) == ST_OK);
    MUST(text.len >= len && text.len <= len + 2 && (!len || !memcmp(text.p, data, len)));
out:
    buf_release(&text);
    arena_release(&a);
    return 0;
}

/*
 * fuzz_lifecycle - room/lifecycle on any bytes: no crash; an accepted file is written so that it is
 * read again as the same, and can be drawn and lived.
 */

#include "fuzz.h"

#include "room/lifecycle.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct arena a = { 0 };
    struct lifecycle c, again;
    struct err e = { "" };
    char *text = fuzz_copy(data, len);
    enum status s = lifecycle_parse(&c, &a, "lifecycle.json", text, len, &e);

    if (s) {
        MUST(s == ST_INVALID && e.text[0]);
    } else {
        struct buf one = { 0 }, two = { 0 };
        struct life l;
        struct life_move m;
        lifecycle_write(&one, &c);
        MUST(lifecycle_parse(&again, &a, "again", one.p, one.len, &e) == ST_OK);
        lifecycle_write(&two, &again);
        MUST(one.len == two.len && memcmp(one.p, two.p, one.len) == 0);
        lifecycle_draw(&one, &c, LIFECYCLE_TEXT, c.initial);
        life_begin(&l, &c);
        for (unsigned i = 0; i < 4 * LIFE_VISITS_MAX && !life_is_over(&l); i++)
            life_apply(&l, &(struct life_event){ LIFE_MESSAGE, i % life_state_of(&l)->n_signals },
                       &m);
        MUST(life_is_over(&l));
        buf_release(&one);
        buf_release(&two);
    }
    free(text);
    arena_release(&a);
    return 0;
}

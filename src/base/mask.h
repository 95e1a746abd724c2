/*
 * mask - hides known secrets in bytes that flow through: every occurrence becomes "***".
 *
 *     struct mask m = { 0 };
 *     mask_add(&m, key, strlen(key));           each secret
 *     s = mask_build(&m, e);                    after the last one; again when more were added
 *
 *     struct mask_stream in = { 0 };
 *     s = mask_stream_init(&in, &m, e);
 *     mask_write(&in, p, n, &out);              any number of times
 *     mask_end(&in, &out);                      what was held back
 *     mask_stream_release(&in);
 *     mask_release(&m);
 *
 * A secret is found wherever it is split over writes: mask_write holds back the bytes that may be
 * the beginning of one (fewer than the longest secret has), mask_end gives them out. Every byte of
 * every occurrence is hidden, also where occurrences overlap. Neighbours become one "***".
 *
 * Values shorter than MASK_MIN are ignored, since ordinary text would be hidden. The form that a
 * value has inside a JSON string is hidden, too. A mask without values copies.
 *
 * The values are one automaton (Aho-Corasick): the time does not depend on how many they are.
 *
 * Ownership: the mask owns copies of the values and must outlive its streams. Zero is a valid
 * empty mask; release is safe in any state, and twice.
 *
 * Tests: test/unit/test_mask.c test/fuzz/fuzz_mask.c
 */
#ifndef CLIQ_BASE_MASK_H
#define CLIQ_BASE_MASK_H

#include "base/buf.h"
#include "base/json.h"

enum {
    MASK_MIN = 6,               /* bytes of the shortest value that is hidden */
    MASK_VALUES_MAX = 64 << 10, /* bytes of all values together */
};

struct mask {
    struct buf values; /* one after the other */
    size_t *ends;      /* of each in values */
    size_t n, cap;
    /* built: */
    size_t n_built;              /* values of which the rest is made */
    unsigned char class_of[256]; /* bytes that no value holds share class 0 */
    unsigned n_classes, n_states;
    unsigned *next;    /* [state * n_classes + class] */
    unsigned *depth;   /* [state]: bytes that may be the beginning of a value */
    unsigned *matched; /* [state]: length of the longest value that ends here; 0: none */
    bool is_failed;    /* mask_add had no memory: mask_build says so */
};

struct mask_stream {
    const struct mask *mask;
    unsigned state;
    unsigned short *held; /* a ring of bytes, HIDDEN ones marked */
    size_t size, from, to;
    bool is_hiding;  /* the last byte given out was hidden */
    size_t n_hidden; /* how many "***" were given out */
};

void mask_add(struct mask *m, const char *value, size_t n);
/* No stream may be open. ST_INVALID: the values are too large together. ST_IO: out of memory. */
enum status mask_build(struct mask *m, struct err *e);
bool mask_is_empty(const struct mask *m);
void mask_release(struct mask *m);

enum status mask_stream_init(struct mask_stream *s, const struct mask *m, struct err *e);
void mask_write(struct mask_stream *s, const char *p, size_t n, struct buf *to);
void mask_end(struct mask_stream *s, struct buf *to);
void mask_stream_release(struct mask_stream *s);

/* A whole text. */
enum status mask_text(const struct mask *m, const char *p, size_t n, struct buf *to, struct err *e);
/* A copy of the tree without secrets in texts, keys and numbers, in the arena; v itself when
 * the mask is empty. NULL: out of memory. */
const struct json *mask_json(const struct mask *m, struct arena *a, const struct json *v);

#endif

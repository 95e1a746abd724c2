#include "base/mask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HIDDEN = 0x100, ROOT = 0 };

static const char stars[] = "***";

/* ---- values ---- */

static bool
has_value(const struct mask *m, const char *value, size_t n)
{
    for (size_t i = 0, at = 0; i < m->n; at = m->ends[i++])
        if (m->ends[i] - at == n && memcmp(m->values.p + at, value, n) == 0)
            return true;
    return false;
}

static void
add_value(struct mask *m, const char *value, size_t n)
{
    if (n < MASK_MIN || has_value(m, value, n))
        return;
    if (m->n == m->cap) {
        size_t cap = m->cap ? 2 * m->cap : 16;
        size_t *ends = realloc(m->ends, cap * sizeof *ends);
        if (!ends) {
            m->is_failed = true;
            return;
        }
        m->ends = ends;
        m->cap = cap;
    }
    m->values.max = MASK_VALUES_MAX;
    buf_add(&m->values, value, n);
    if (!buf_failed(&m->values))
        m->ends[m->n++] = m->values.len;
}

void
mask_add(struct mask *m, const char *value, size_t n)
{
    struct buf quoted = { 0 };

    add_value(m, value, n);
    if (n < MASK_MIN)
        return;
    json_write_str(&quoted, value, n);
    if (buf_failed(&quoted))
        m->is_failed = true;
    else
        add_value(m, quoted.p + 1, quoted.len - 2); /* the same, unless bytes are escaped */
    buf_release(&quoted);
}

bool
mask_is_empty(const struct mask *m)
{
    return !m || !m->n_built;
}

static void
drop_automaton(struct mask *m)
{
    free(m->next);
    free(m->depth);
    free(m->matched);
    m->next = m->depth = m->matched = NULL;
}

void
mask_release(struct mask *m)
{
    drop_automaton(m);
    buf_release(&m->values);
    free(m->ends);
    *m = (struct mask){ 0 };
}

/* ---- the automaton ---- */

static unsigned *
cell(struct mask *m, unsigned state, unsigned char c)
{
    return &m->next[(size_t)state * m->n_classes + m->class_of[c]];
}

static void
number_classes(struct mask *m)
{
    m->n_classes = 1;
    memset(m->class_of, 0, sizeof m->class_of);
    for (size_t i = 0; i < m->values.len; i++) {
        unsigned char *class_of = &m->class_of[(unsigned char)m->values.p[i]];
        if (!*class_of && m->n_classes < 256) /* the 256th different byte shares class 0 */
            *class_of = (unsigned char)m->n_classes++;
    }
}

/* The tree of the values; a cell that is 0 leads nowhere yet. */
static void
grow_tree(struct mask *m)
{
    m->n_states = 1;
    for (size_t i = 0, at = 0; i < m->n; at = m->ends[i++]) {
        unsigned state = ROOT;
        for (size_t k = at; k < m->ends[i]; k++) {
            unsigned *to = cell(m, state, (unsigned char)m->values.p[k]);
            if (!*to) {
                m->depth[m->n_states] = m->depth[state] + 1;
                *to = m->n_states++;
            }
            state = *to;
        }
        m->matched[state] = m->depth[state];
    }
}

/* Breadth first: each state's missing cells lead where those of its longest proper suffix do. */
static void
link_suffixes(struct mask *m, unsigned *suffix, unsigned *queue)
{
    size_t n = 0;

    for (unsigned c = 0; c < m->n_classes; c++)
        if (m->next[c]) {
            suffix[m->next[c]] = ROOT;
            queue[n++] = m->next[c];
        }
    for (size_t i = 0; i < n; i++) {
        const unsigned *fallback = &m->next[(size_t)suffix[queue[i]] * m->n_classes];
        unsigned *row = &m->next[(size_t)queue[i] * m->n_classes];
        if (!m->matched[queue[i]])
            m->matched[queue[i]] = m->matched[suffix[queue[i]]];
        for (unsigned c = 0; c < m->n_classes; c++) {
            if (row[c]) {
                suffix[row[c]] = fallback[c];
                queue[n++] = row[c];
            } else {
                row[c] = fallback[c];
            }
        }
    }
}

enum status
mask_build(struct mask *m, struct err *e)
{
    enum status s = m->is_failed ? err_nomem(e) : buf_status(&m->values, "the list of secrets", e);
    size_t states = m->values.len + 1;

    if (s || m->n == m->n_built)
        return s;
    drop_automaton(m);
    number_classes(m);
    m->next = calloc(states * m->n_classes, sizeof *m->next);
    m->depth = calloc(states, sizeof *m->depth);
    m->matched = calloc(states, sizeof *m->matched);
    unsigned *scratch = calloc(2 * states, sizeof *scratch);
    if (m->next && m->depth && m->matched && scratch) {
        grow_tree(m);
        link_suffixes(m, scratch, scratch + states);
        m->n_built = m->n;
    } else {
        s = err_nomem(e);
    }
    free(scratch);
    return s;
}

/* ---- a stream ---- */

/* The longest value, and one byte more. */
static size_t
room_for(const struct mask *m)
{
    size_t longest = 0;

    for (size_t i = 0, at = 0; i < m->n; at = m->ends[i++])
        if (m->ends[i] - at > longest)
            longest = m->ends[i] - at;
    return longest + 1;
}

enum status
mask_stream_init(struct mask_stream *s, const struct mask *m, struct err *e)
{
    *s = (struct mask_stream){ .mask = m };
    if (mask_is_empty(m))
        return ST_OK;
    s->size = room_for(m);
    s->held = calloc(s->size, sizeof *s->held);
    return s->held ? ST_OK : err_nomem(e);
}

void
mask_stream_release(struct mask_stream *s)
{
    free(s->held);
    *s = (struct mask_stream){ 0 };
}

/* The bytes of the ring are numbered as they came, from 0. */
static unsigned short *
held_at(struct mask_stream *s, size_t i)
{
    return &s->held[i % s->size];
}

/* Gives out all but the last `kept` bytes. */
static void
give_out(struct mask_stream *s, size_t kept, struct buf *to)
{
    for (; s->to - s->from > kept; s->from++) {
        unsigned short c = *held_at(s, s->from);
        if (!(c & HIDDEN))
            buf_addc(to, (char)c);
        else if (!s->is_hiding) {
            buf_adds(to, stars);
            s->n_hidden++;
        }
        s->is_hiding = c & HIDDEN;
    }
}

static void
take_byte(struct mask_stream *s, unsigned char c, struct buf *to)
{
    const struct mask *m = s->mask;

    s->state = m->next[(size_t)s->state * m->n_classes + m->class_of[c]];
    *held_at(s, s->to++) = c;
    for (unsigned k = 1; k <= m->matched[s->state]; k++)
        *held_at(s, s->to - k) |= HIDDEN;
    give_out(s, m->depth[s->state], to);
}

/* The bytes at p with which no value begins. */
static size_t
plain_len(const struct mask *m, const char *p, size_t n)
{
    size_t i = 0;

    while (i < n && !m->next[m->class_of[(unsigned char)p[i]]])
        i++;
    return i;
}

void
mask_write(struct mask_stream *s, const char *p, size_t n, struct buf *to)
{
    if (mask_is_empty(s->mask)) {
        buf_add(to, p, n);
        return;
    }
    for (size_t i = 0; i < n;) {
        size_t plain = s->state == ROOT ? plain_len(s->mask, p + i, n - i) : 0;
        if (plain) {
            buf_add(to, p + i, plain);
            s->is_hiding = false;
            i += plain;
        } else {
            take_byte(s, (unsigned char)p[i++], to);
        }
    }
}

void
mask_end(struct mask_stream *s, struct buf *to)
{
    if (s->held)
        give_out(s, 0, to);
    s->state = ROOT;
    s->is_hiding = false;
}

/* ---- whole texts ---- */

enum status
mask_text(const struct mask *m, const char *p, size_t n, struct buf *to, struct err *e)
{
    struct mask_stream in;
    enum status s = mask_stream_init(&in, m, e);

    if (s)
        return s;
    mask_write(&in, p, n, to);
    mask_end(&in, to);
    mask_stream_release(&in);
    return buf_status(to, "the masked text", e);
}

/* *p itself when it holds no secret. False: out of memory. */
static bool
mask_chars(const struct mask *m, struct arena *a, const char **p, size_t *n)
{
    struct buf b = { 0 };
    bool is_good = !mask_text(m, *p, *n, &b, NULL);

    if (is_good && (b.len != *n || (*n && memcmp(b.p, *p, *n) != 0))) {
        *p = arena_dup(a, b.p, b.len);
        *n = b.len;
        is_good = *p;
    }
    buf_release(&b);
    return is_good;
}

/* The masked key of a new member: where two keys were secrets, the second is "***2", since an
 * object has no key twice. False: out of memory. */
static bool
mask_key(const struct mask *m, struct arena *a, const struct json *object, const char **key,
         size_t *len)
{
    const char *before = *key;

    if (!mask_chars(m, a, key, len))
        return false;
    for (unsigned i = 2; *key != before && json_getn(object, *key, *len); i++) {
        char text[16];
        int n = snprintf(text, sizeof text, "***%u", i);
        *key = arena_dup(a, text, (size_t)n);
        *len = (size_t)n;
        if (!*key)
            return false;
    }
    return true;
}

static struct json *
copy_masked(const struct mask *m, struct arena *a, const struct json *v)
{
    struct json *copy = json_new(a, v->type), **end;

    if (!copy)
        return NULL;
    if (v->type == JSON_STRING || v->type == JSON_NUMBER) {
        copy->text = v->text;
        if (!mask_chars(m, a, &copy->text.p, &copy->text.len))
            return NULL;
        if (copy->text.p != v->text.p)
            copy->type = JSON_STRING;
        return copy;
    }
    if (v->type != JSON_ARRAY && v->type != JSON_OBJECT)
        return copy;
    end = &copy->kids.first;
    json_each (kid, v) {
        struct json *one = copy_masked(m, a, kid);
        size_t key_len = kid->key_len;
        const char *key = kid->key;
        if (!one || (key && !mask_key(m, a, copy, &key, &key_len)))
            return NULL;
        one->key = key;
        one->key_len = (uint32_t)key_len;
        *end = one;
        end = &one->next;
        copy->kids.count++;
    }
    return copy;
}

const struct json *
mask_json(const struct mask *m, struct arena *a, const struct json *v)
{
    return mask_is_empty(m) || !v ? v : copy_masked(m, a, v);
}

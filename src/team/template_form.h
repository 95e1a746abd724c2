/*
 * template_form (private to template*.c) - the syntax of a variable, and its value.
 *
 *     $(inputs.NAME)  $(handoff.PHASE.PATH)  $(dirs.work)
 *     $(team_name)  $(phase)  $(date)  $(timestamp)  $(run_id)
 *
 * template_variables lists them all.
 *
 * Any other "$(" is ordinary text; in a command it is a command substitution. So is "$( date )".
 * For validation, template_suggest.c finds misspelt variables.
 *
 * Tests: test/unit/test_template.c
 */
#ifndef CLIQ_TEAM_TEMPLATE_FORM_H
#define CLIQ_TEAM_TEMPLATE_FORM_H

#include "team/template.h"

enum form_kind {
    FORM_NONE, /* ordinary text */
    FORM_USE,
    FORM_BAD, /* begins like a variable, but the name is invalid: "$(inputs.a b)" */
};

struct form {
    enum form_kind kind;
    size_t len;       /* length from '$' to ')' */
    const char *name; /* between the brackets; not NUL-ended */
    size_t name_len;
};

/* Is the row a variable of a group: one with a dot, such as inputs.NAME? *len, which may be NULL,
 * is the length of the group's name. */
bool template_is_grouped(const struct field *row, size_t *len);

/* Reads the form at p, a NUL-ended text. */
struct form template_form(const char *p);

/* Appends the form's value. ST_INVALID names a form without a value. */
enum status
template_value(struct buf *to, const struct form *f, const struct template_scope *s, struct err *e);
/* The error for FORM_BAD. */
enum status template_bad(const struct form *f, struct err *e);

/* template_expand for the first `len` bytes. */
enum status template_expandn(struct buf *to, const char *text, size_t len,
                             const struct template_scope *s, struct err *e);

#endif

/*
 * template_form (of template only) - how a variable is spelt, and what it stands for.
 *
 *     $(inputs.NAME)  $(handoff.PHASE.PATH)  $(dirs.NAME)
 *     $(team_name)  $(phase)  $(date)  $(timestamp)  $(run_id)
 *
 * Any other "$(" is ordinary text: in a command, the shell's own. So is "$( date )". Slips are
 * found by template_suggest.c, for validation.
 *
 * Tests: test/unit/test_template.c
 */
#ifndef CLIQ_TEAM_TEMPLATE_FORM_H
#define CLIQ_TEAM_TEMPLATE_FORM_H

#include "team/template.h"

enum form_kind {
    FORM_NONE, /* ordinary text */
    FORM_USE,
    FORM_BAD, /* begins like one of ours, but its name is not one: "$(inputs.a b)" */
};

struct form {
    enum form_kind kind;
    size_t len;       /* of all of it, from '$' to ')' */
    const char *name; /* between the brackets; not NUL-ended */
    size_t name_len;
};

/* The form that begins at p, a NUL-ended text. */
struct form template_form(const char *p);

/* Appends the form's value. ST_INVALID names it when it has none. */
enum status
template_value(struct buf *to, const struct form *f, const struct template_scope *s, struct err *e);
/* The sentence for FORM_BAD. */
enum status template_bad(const struct form *f, struct err *e);

/* template_expand of the first `len` bytes. */
enum status template_expandn(struct buf *to, const char *text, size_t len,
                             const struct template_scope *s, struct err *e);

#endif

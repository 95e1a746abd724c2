/*
 * template_when - conditions: `when: "$(handoff.triage.severity) == high"`.
 *
 *     A == B, A != B    texts that are equal, or not
 *     A                 true unless empty, "false", "0", "no" or "null"
 *
 * There is no other operator, no "and", no "not". A condition with one would be a text that is
 * always true, so template_check_when refuses it and says what to write instead.
 */
#include "team/template_form.h"

#include <string.h>
#include <strings.h>

/* ---- the two sides ---- */

static bool
is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct side {
    const char *p;
    size_t len;
    bool is_quoted; /* p is after the quote */
};

static struct side
side_of(const char *p, const char *end)
{
    while (p < end && is_space(*p))
        p++;
    while (p < end && is_space(end[-1]))
        end--;
    bool is_quoted = end - p >= 2 && (*p == '"' || *p == '\'') && end[-1] == *p;
    if (is_quoted)
        p++, end--;
    return (struct side){ p, (size_t)(end - p), is_quoted };
}

/* The value of a side. Quoted text counts exactly as written; otherwise space around the text or
 * the value is ignored. */
static enum status
side_value(struct buf *to, const char *p, const char *end, const struct template_scope *s,
           struct err *e)
{
    struct side d = side_of(p, end);
    enum status st = template_expandn(to, d.p, d.len, s, e);
    if (st || d.is_quoted)
        return st;
    size_t lead = 0;
    while (lead < to->len && is_space(to->p[lead]))
        lead++;
    buf_drop(to, lead);
    while (to->len && is_space(to->p[to->len - 1]))
        buf_cut(to, to->len - 1);
    return ST_OK;
}

/* The first "==" or "!=" that is not part of a variable's name. */
static const char *
find_operator(const char *p)
{
    while (*p) {
        struct form f = template_form(p);
        if (f.kind == FORM_NONE && (p[0] == '=' || p[0] == '!') && p[1] == '=')
            return p;
        p += f.kind == FORM_NONE ? 1 : f.len;
    }
    return NULL;
}

enum status
template_when(const char *text, const struct template_scope *s, bool *is_true, struct err *e)
{
    static const char *const no[] = { "", "false", "0", "no", "null" };
    struct buf left = { 0 }, right = { 0 };
    const char *op = find_operator(text);
    enum status st = side_value(&left, text, op ? op : text + strlen(text), s, e);

    *is_true = true;
    if (op) {
        if (!st && find_operator(op + 2))
            st =
                err_set(e, ST_INVALID, "the condition \"%.200s\" has more than one == or !=", text);
        if (!st)
            st = side_value(&right, op + 2, op + strlen(op), s, e);
        if (!st) {
            bool is_same = left.len == right.len && !memcmp(left.p, right.p, left.len);
            *is_true = is_same == (*op == '=');
        }
    } else if (!st) {
        for (size_t i = 0; i < sizeof no / sizeof *no; i++)
            if (left.len == strlen(no[i]) && !strncasecmp(left.p, no[i], left.len))
                *is_true = false;
    }
    buf_release(&left);
    buf_release(&right);
    return st;
}

/* ---- conditions that are surely mistakes ---- */

/* The content of a text outside its quoted parts and variables. */
struct bare {
    bool has_use, has_unknown; /* $(…) that is a variable, and $(…) that is none */
    bool has_text;             /* anything else except space */
    const char *sign;          /* the first operator of another language */
};

static const char *
sign_at(const char *p)
{
    static const char *const signs[] = { "&&", "||", "=~", "<=", ">=", "=", "<", ">", "!" };

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strncmp(p, signs[i], strlen(signs[i])) == 0)
            return signs[i];
    return NULL;
}

static struct bare
look(struct side d)
{
    struct bare b = { 0 };
    char quote = '\0';

    for (const char *p = d.p, *end = d.p + d.len; p < end;) {
        struct form f = template_form(p);
        if (f.kind != FORM_NONE) {
            b.has_use = true;
            p += f.len;
            continue;
        }
        b.has_unknown |= p[0] == '$' && p[1] == '(';
        b.has_text |= !is_space(*p);
        if (quote ? *p == quote : *p == '"' || *p == '\'')
            quote = quote ? '\0' : *p;
        else if (!quote && (p[0] == '=' || p[0] == '!') && p[1] == '=')
            p++; /* a second operator: reported elsewhere */
        else if (!quote && !d.is_quoted && !b.sign)
            b.sign = sign_at(p);
        p++;
    }
    return b;
}

/* Is it a variable without its $(), such as "handoff.a.x", "inputs.x" or "run_id"? */
static bool
is_naked(struct side d)
{
    char text[128];

    if (d.is_quoted || !d.len || d.len + 4 > sizeof text)
        return false;
    memcpy(text, "$(", 2);
    memcpy(text + 2, d.p, d.len);
    memcpy(text + 2 + d.len, ")", 2);
    struct form f = template_form(text);
    return f.kind == FORM_USE && f.len == d.len + 3;
}

#define SHOWN(d) ((d).len < 100 ? (int)(d).len : 100), (d).p

static enum status
refuse_naked(struct side d, struct err *e)
{
    return err_set(e, ST_INVALID, "\"%.*s\" is only a text here: write $(%.*s)", SHOWN(d),
                   SHOWN(d));
}

static enum status
refuse_sign(const char *sign, struct err *e)
{
    if (strcmp(sign, "=") == 0)
        return err_set(e, ST_INVALID, "\"=\" compares nothing: write ==");
    if (strcmp(sign, "!") == 0)
        return err_set(e, ST_INVALID,
                       "there is no \"!\" in a condition: compare with !=, as in $(inputs.x) != "
                       "true");
    if (strcmp(sign, "&&") == 0 || strcmp(sign, "||") == 0)
        return err_set(
            e, ST_INVALID,
            "there is no \"%s\" in a condition: only one == or !=, or one value; let an "
            "earlier phase decide and hand over the answer (text with %s goes in quotes)",
            sign, sign);
    return err_set(e, ST_INVALID,
                   "there is no \"%s\" in a condition: only == and != of texts; let an earlier "
                   "phase compare and hand over the answer",
                   sign);
}

/* Without an operator the condition must be a value, not a constant. */
static enum status
check_value(struct side d, struct err *e)
{
    static const char *const answers[] = { "true", "false", "yes", "no", "1", "0" };
    struct bare b = look(d);

    if (!d.len)
        return err_set(e, ST_INVALID,
                       "the condition is empty, so the phase would never run: leave when out, or "
                       "write false");
    if (b.sign)
        return refuse_sign(b.sign, e);
    if (b.has_unknown || (b.has_use && !b.has_text))
        return ST_OK;
    if (b.has_use)
        return err_set(e, ST_INVALID,
                       "the condition \"%.*s\" is always true, as there is text beside the "
                       "variable: compare it with == or !=",
                       SHOWN(d));
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (d.len == strlen(answers[i]) && !strncasecmp(d.p, answers[i], d.len))
            return ST_OK;
    if (is_naked(d))
        return refuse_naked(d, e);
    return err_set(e, ST_INVALID,
                   "the condition \"%.*s\" is a fixed text: write true or false, or compare a "
                   "variable, as in $(inputs.x) == high",
                   SHOWN(d));
}

enum status
template_check_when(const char *text, const char **warning, struct err *e)
{
    const char *op = find_operator(text);

    *warning = NULL;
    if (!op)
        return check_value(side_of(text, text + strlen(text)), e);
    struct side sides[] = { side_of(text, op), side_of(op + 2, op + strlen(op)) };
    struct bare left = look(sides[0]), right = look(sides[1]);
    bool is_fixed = !left.has_use && !right.has_use && !left.has_unknown && !right.has_unknown;
    if (op[2] == '=')
        return err_set(e, ST_INVALID, "\"%.3s\" compares nothing: write %.2s", op, op);
    if (left.sign || right.sign)
        return refuse_sign(left.sign ? left.sign : right.sign, e);
    if (find_operator(op + 2))
        return err_set(e, ST_INVALID, "more than one == or !=: only one comparison can be made");
    if (!sides[0].len && !sides[0].is_quoted)
        return err_set(e, ST_INVALID,
                       "nothing comes before %.2s: write the variable there, as in $(inputs.x) "
                       "%.2s high",
                       op, op);
    for (size_t i = 0; i < 2; i++)
        if (is_naked(sides[i]) && (is_fixed || memchr(sides[i].p, '.', sides[i].len)))
            return refuse_naked(sides[i], e);
    if (!sides[1].len && !sides[1].is_quoted)
        *warning = "nothing follows the operator: write '' for an empty text";
    else if (is_fixed)
        *warning = "both sides are fixed texts, so it is always the same: write true or false, or "
                   "compare a variable";
    return ST_OK;
}

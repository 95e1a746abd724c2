/* The lifecycle as a picture: text, mermaid or dot. */
#include "room/lifecycle.h"

#include <string.h>

/* mermaid's names of states have no '-'. */
static void
add_id(struct buf *to, const char *name)
{
    for (; *name; name++)
        buf_addc(to, *name == '-' ? '_' : *name);
}

static void
add_label(struct buf *to, const struct life_signal *x)
{
    buf_adds(to, x->type);
    if (x->is_retry)
        buf_adds(to, " (+1)");
}

static void
draw_text(struct buf *to, const struct lifecycle *c, size_t here)
{
    for (size_t i = 0; i < c->n_states; i++) {
        const struct life_state *s = &c->states[i];
        buf_addf(to, "%s %-14s %-9s %s\n", i == here ? "=>" : "  ", s->name,
                 life_type_name(s->type), s->role ? s->role : "");
        for (size_t k = 0; k < s->n_signals; k++) {
            struct buf label = { 0 };
            add_label(&label, &s->signals[k]);
            buf_addf(to, "       %s %-16s -> %s\n", k + 1 < s->n_signals ? "|-" : "`-",
                     label.p ? label.p : "", c->states[s->signals[k].target].name);
            buf_release(&label);
        }
    }
    buf_addf(to, "   max_retries %u; (+1) counts one\n", c->max_retries);
}

static void
draw_mermaid(struct buf *to, const struct lifecycle *c, size_t here)
{
    buf_adds(to, "stateDiagram-v2\n    [*] --> ");
    add_id(to, c->states[c->initial].name);
    buf_addc(to, '\n');
    for (size_t i = 0; i < c->n_states; i++) {
        const struct life_state *s = &c->states[i];
        buf_adds(to, "    ");
        add_id(to, s->name);
        buf_addf(to, " : %s%s%s%s\n", s->name, s->role ? " (" : "", s->role ? s->role : "",
                 s->role ? ")" : "");
        for (size_t k = 0; k < s->n_signals; k++) {
            buf_adds(to, "    ");
            add_id(to, s->name);
            buf_adds(to, " --> ");
            add_id(to, c->states[s->signals[k].target].name);
            buf_adds(to, " : ");
            add_label(to, &s->signals[k]);
            buf_addc(to, '\n');
        }
        if (s->type == LIFE_TERMINAL) {
            buf_adds(to, "    ");
            add_id(to, s->name);
            buf_adds(to, " --> [*]\n");
        }
    }
    if (here < c->n_states) {
        buf_adds(to, "    classDef here stroke-width:4px\n    class ");
        add_id(to, c->states[here].name);
        buf_adds(to, " here\n");
    }
}

static void
draw_dot(struct buf *to, const struct lifecycle *c, size_t here)
{
    buf_adds(to, "digraph lifecycle {\n    rankdir=LR;\n");
    for (size_t i = 0; i < c->n_states; i++) {
        const struct life_state *s = &c->states[i];
        buf_addf(to, "    \"%s\" [label=\"%s%s%s\", shape=%s%s];\n", s->name, s->name,
                 s->role ? "\\n" : "", s->role ? s->role : "",
                 s->type == LIFE_TERMINAL ? "doublecircle" : "box",
                 i == here ? ", penwidth=3" : "");
        for (size_t k = 0; k < s->n_signals; k++) {
            buf_addf(to, "    \"%s\" -> \"%s\" [label=\"", s->name,
                     c->states[s->signals[k].target].name);
            add_label(to, &s->signals[k]);
            buf_adds(to, "\"];\n");
        }
    }
    buf_adds(to, "}\n");
}

void
lifecycle_draw(struct buf *to, const struct lifecycle *c, enum lifecycle_form form, size_t here)
{
    if (form == LIFECYCLE_MERMAID)
        draw_mermaid(to, c, here);
    else if (form == LIFECYCLE_DOT)
        draw_dot(to, c, here);
    else
        draw_text(to, c, here);
}

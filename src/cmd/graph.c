/* graph - the phases and who waits for whom, as text or a picture. */
#include "base/table.h"
#include "cmd/cmd.h"
#include "cmd/workflow.h"
#include "run/dag.h"

#include <stdio.h>
#include <string.h>

static const struct opt opts[] = {
    { "format", OPT_TEXT, "FORMAT", "ascii (the default), mermaid, dot or svg" },
    { 0 },
};

/* Steps from left to right are lines from top to bottom:
 *     plan
 *     `- build, docs          (what each step waits for)  */
static void
write_ascii(struct buf *to, const struct team *t, const struct dag *d)
{
    size_t n_steps = 0;

    for (size_t i = 0; i < t->n_main; i++)
        if (d->step[i] + 1u > n_steps)
            n_steps = d->step[i] + 1u;
    for (size_t s = 0; s < n_steps; s++) {
        buf_addf(to, "%s step %zu\n", s ? "|\nv" : " ", s + 1);
        for (size_t k = 0; k < t->n_phases; k++) {
            size_t i = d->order[k];
            const struct phase *ph = &t->phases[i];
            if (ph->is_support || d->step[i] != s)
                continue;
            buf_addf(to, "    %s%s%s", ph->type == PHASE_GATE ? "<" : "[", ph->name,
                     ph->type == PHASE_GATE ? ">" : "]");
            for (size_t x = 0; x < ph->n_depends_on; x++)
                buf_addf(to, "%s%s", x ? ", " : "  <- ", ph->depends_on[x]);
            buf_addc(to, '\n');
        }
    }
    for (size_t i = t->n_main; i < t->n_phases; i++)
        buf_addf(to, "%s    (%s)\n",
                 i == t->n_main ? "\nsupport, run when a gate routes to it\n" : "",
                 t->phases[i].name);
}

static void
write_mermaid(struct buf *to, const struct team *t)
{
    buf_adds(to, "flowchart LR\n");
    for (size_t i = 0; i < t->n_phases; i++) {
        const struct phase *ph = &t->phases[i];
        buf_addf(to, ph->type == PHASE_GATE ? "    %s{%s}\n" : "    %s[%s]\n", ph->name, ph->name);
        for (size_t x = 0; x < ph->n_depends_on; x++)
            buf_addf(to, "    %s --> %s\n", ph->depends_on[x], ph->name);
        if (ph->type == PHASE_GATE)
            for (size_t x = 0; x < ph->n_depends_on; x++)
                buf_addf(to, "    %s -.-> %s\n", ph->name, ph->depends_on[x]);
    }
}

static void
write_dot(struct buf *to, const struct team *t)
{
    buf_adds(to, "digraph team {\n    rankdir=LR;\n    node [shape=box];\n");
    for (size_t i = 0; i < t->n_phases; i++) {
        const struct phase *ph = &t->phases[i];
        buf_addf(to, "    \"%s\"%s%s;\n", ph->name,
                 ph->type == PHASE_GATE ? " [shape=diamond]" : "",
                 ph->is_support ? " [style=dashed]" : "");
        for (size_t x = 0; x < ph->n_depends_on; x++) {
            buf_addf(to, "    \"%s\" -> \"%s\";\n", ph->depends_on[x], ph->name);
            if (ph->type == PHASE_GATE)
                buf_addf(to, "    \"%s\" -> \"%s\" [style=dotted];\n", ph->name, ph->depends_on[x]);
        }
    }
    buf_adds(to, "}\n");
}

enum { BOX_W = 150, BOX_H = 40, GAP_X = 60, GAP_Y = 24, MARGIN = 20 };

struct place {
    int x, y;
};

/* Steps are columns, phases of a step stand below each other. */
static struct place
place_of(const struct team *t, const struct dag *d, size_t phase)
{
    int row = 0;

    for (size_t k = 0; k < d->rank[phase]; k++)
        row += d->step[d->order[k]] == d->step[phase] &&
               t->phases[d->order[k]].is_support == t->phases[phase].is_support;
    struct place p = { MARGIN + (int)d->step[phase] * (BOX_W + GAP_X),
                       MARGIN + row * (BOX_H + GAP_Y) };
    return p;
}

static void
write_svg(struct buf *to, const struct team *t, const struct dag *d)
{
    struct buf boxes = { 0 };
    int width = 0, height = 0;

    for (size_t i = 0; i < t->n_main; i++) {
        struct place p = place_of(t, d, i);
        const struct phase *ph = &t->phases[i];
        width = p.x + BOX_W + MARGIN > width ? p.x + BOX_W + MARGIN : width;
        height = p.y + BOX_H + MARGIN > height ? p.y + BOX_H + MARGIN : height;
        for (size_t x = 0; x < ph->n_depends_on; x++) {
            struct place q = place_of(t, d, ph->deps[x]);
            buf_addf(&boxes, "<path class=\"edge\" d=\"M%d %d C%d %d %d %d %d %d\"/>\n",
                     q.x + BOX_W, q.y + BOX_H / 2, q.x + BOX_W + GAP_X / 2, q.y + BOX_H / 2,
                     p.x - GAP_X / 2, p.y + BOX_H / 2, p.x, p.y + BOX_H / 2);
        }
        buf_addf(&boxes,
                 "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\"/>\n"
                 "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
                 phase_type_name(ph->type), p.x, p.y, BOX_W, BOX_H,
                 ph->type == PHASE_GATE ? BOX_H / 2 : 4, p.x + BOX_W / 2, p.y + BOX_H / 2 + 5,
                 ph->name);
    }
    buf_addf(to,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\">\n"
             "<style>rect{fill:#fff;stroke:#333}rect.gate{stroke:#b60}text{font:14px sans-serif}"
             ".edge{fill:none;stroke:#888}</style>\n%s</svg>\n",
             width, height, boxes.p ? boxes.p : "");
    buf_release(&boxes);
}

static enum status
write_graph(struct buf *to, const char *format, struct workflow *w, const struct frame *f,
            struct err *e)
{
    const struct team *t = &w->team;
    struct dag *d = dag_new(t);
    enum status s = ST_OK;

    if (!d && (s = workflow_check(w, f, e)))
        return s;
    if (!d)
        return err_set(e, ST_IO, "out of memory");
    if (!format || strcmp(format, "ascii") == 0)
        write_ascii(to, t, d);
    else if (strcmp(format, "mermaid") == 0)
        write_mermaid(to, t);
    else if (strcmp(format, "dot") == 0)
        write_dot(to, t);
    else if (strcmp(format, "svg") == 0)
        write_svg(to, t, d);
    else
        s = err_set(e, ST_INVALID, "unknown format \"%s\": choose ascii, mermaid, dot or svg",
                    format);
    dag_free(d);
    return s;
}

static enum status
run(const struct args *a, struct err *e)
{
    struct frame f = { .dir = -1 };
    struct workflow w = { 0 };
    struct buf out = { 0 };
    enum status s = frame_find(&f, e);

    if (!s)
        s = workflow_load(&w, &f, e);
    if (!s)
        s = write_graph(&out, args_text(a, "format"), &w, &f, e);
    if (!s)
        s = cmd_print(&out, e);
    frame_close(&f);
    workflow_release(&w);
    buf_release(&out);
    return s;
}

const struct cmd cmd_graph = {
    .name = "graph",
    .brief = "draw the phases and who waits for whom",
    .about = "Gates stand in < >, other phases in [ ], support phases in ( ).",
    .examples = "cliq graph\n"
                "cliq graph --format mermaid\n"
                "cliq graph --format svg > team.svg",
    .opts = opts,
    .run = run,
};

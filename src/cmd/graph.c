/* graph - the phases and their dependencies, as text or a picture. */
#include "base/table.h"
#include "cmd/cmd.h"
#include "cmd/lib/workflow_tell.h"
#include "context/frames.h"
#include "run/dag.h"
#include "run/history.h"
#include "run/run_picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct opt opts[] = {
    { "format", OPT_TEXT, "FORMAT", "ascii (the default), mermaid, dot or svg" },
    { "run", OPT_TEXT, "ID", "an earlier run, with the states of its phases; ID as in cliq runs",
      .choose = "runs" },
    { 0 },
};

/* The drawing of a team, and of the teams of its team phases. */
struct graph {
    const struct team *team;
    struct dag *dag;
    const struct run_picture *run; /* whose states are shown; NULL: only the workflow */
    bool has_run;                  /* a run is shown, which may not have come here */
    const char *way;               /* "build/": before the names of its phases */
    char *own_way;
    struct graph **subs;      /* one a phase; NULL: no phase runs a team that is assembled */
    struct workflow workflow; /* of such a team */
    struct state_dir frame;
};

/* "build", or with a run "build: done". */
static void
add_label(struct buf *to, const struct graph *g, size_t i)
{
    buf_addf(to, "%s%s", g->way, g->team->phases[i].name);
    if (g->run)
        buf_addf(to, ": %s", run_picture_phase_state(g->run, i));
    else if (g->has_run)
        buf_adds(to, ": waiting");
}

static const struct graph *
sub_of(const struct graph *g, size_t i)
{
    return g->subs ? g->subs[i] : NULL;
}

static void
release_subs(struct graph *g)
{
    for (size_t i = 0; g->subs && i < g->team->n_phases; i++) {
        struct graph *sub = g->subs[i];
        if (!sub)
            continue;
        release_subs(sub);
        dag_free(sub->dag);
        workflow_release(&sub->workflow);
        state_dir_close(&sub->frame);
        free(sub->own_way);
        free(sub);
    }
    free(g->subs);
    g->subs = NULL;
}

/* The teams of team phases, where they can be read. */
static void
load_subs(struct graph *g, const struct state_dir *f)
{
    for (size_t i = 0; i < g->team->n_phases; i++) {
        const struct phase *ph = &g->team->phases[i];
        struct buf way = { 0 };
        if (ph->type != PHASE_TEAM)
            continue;
        if (!g->subs && !(g->subs = calloc(g->team->n_phases, sizeof(struct graph *))))
            return;
        struct graph *sub = calloc(1, sizeof *sub);
        if (!sub)
            return;
        sub->frame.dir = -1;
        buf_addf(&way, "%s%s/", g->way, ph->name);
        bool is_there = frame_open(&sub->frame, f, ph->name, false, NULL) == ST_OK &&
                        workflow_load(&sub->workflow, &sub->frame, NULL) == ST_OK &&
                        (sub->dag = dag_new(&sub->workflow.team)) != NULL && !buf_failed(&way);
        sub->team = &sub->workflow.team;
        if (is_there && (sub->own_way = strdup(way.p))) {
            sub->way = sub->own_way;
            sub->run = g->run ? run_picture_sub(g->run, i) : NULL;
            sub->has_run = g->has_run;
            g->subs[i] = sub;
            load_subs(sub, &sub->frame);
        } else {
            dag_free(sub->dag);
            workflow_release(&sub->workflow);
            state_dir_close(&sub->frame);
            free(sub);
        }
        buf_release(&way);
    }
}

/*
 * A gate may send work back to all before it and to every support phase. Drawn are the ways to
 * those it waits for itself, and to support phases; all would hide the rest.
 */

/* Calls draw for each phase that a way back is drawn to. */
static void
each_way_back(void *to, const struct team *t, size_t gate,
              void (*draw)(void *to, const struct team *t, size_t gate, size_t target))
{
    const struct phase *ph = &t->phases[gate];

    if (ph->type != PHASE_GATE)
        return;
    for (size_t x = 0; x < ph->n_depends_on; x++)
        draw(to, t, gate, ph->deps[x]);
    for (size_t i = t->n_main; i < t->n_phases; i++)
        draw(to, t, gate, i);
}

/* "  <- review, ship": the gates that may send work to support phases. */
static void
add_gates(struct buf *to, const struct team *t)
{
    const char *before = "  <- ";

    for (size_t i = 0; i < t->n_main; i++)
        if (t->phases[i].type == PHASE_GATE) {
            buf_addf(to, "%s%s", before, t->phases[i].name);
            before = ", ";
        }
}

/* Steps from left to right are lines from top to bottom:
 *     plan
 *     `- build, docs          (what each step waits for)  */
static void
write_ascii(struct buf *to, const struct graph *g)
{
    const struct team *t = g->team;
    const struct dag *d = g->dag;
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
            buf_adds(to, ph->type == PHASE_GATE ? "    <" : "    [");
            add_label(to, g, i);
            buf_adds(to, ph->type == PHASE_GATE ? ">" : "]");
            for (size_t x = 0; x < ph->n_depends_on; x++)
                buf_addf(to, "%s%s", x ? ", " : "  <- ", ph->depends_on[x]);
            buf_addc(to, '\n');
        }
    }
    for (size_t i = t->n_main; i < t->n_phases; i++) {
        buf_adds(to, i == t->n_main ? "\nsupport, run when a gate routes to it\n    (" : "    (");
        add_label(to, g, i);
        buf_addc(to, ')');
        add_gates(to, t);
        buf_addc(to, '\n');
    }
    for (size_t i = 0; i < t->n_phases; i++)
        if (sub_of(g, i)) {
            buf_addf(to, "\n%s%s is a team:\n", g->way, t->phases[i].name);
            write_ascii(to, sub_of(g, i));
        }
}

/* "build__test": a node's id has no slash. */
static void
add_node(struct buf *to, const struct graph *g, const char *name)
{
    for (const char *p = g->way; *p; p++)
        *p == '/' ? buf_adds(to, "__") : buf_addc(to, *p);
    buf_adds(to, name);
}

struct mermaid {
    struct buf *to;
    const struct graph *g;
};

static void
mermaid_arrow(struct buf *to, const struct graph *g, const char *from, const char *arrow,
              const char *behind)
{
    buf_adds(to, "    ");
    add_node(to, g, from);
    buf_addf(to, " %s ", arrow);
    add_node(to, g, behind);
    buf_addc(to, '\n');
}

static void
mermaid_back(void *to, const struct team *t, size_t gate, size_t target)
{
    const struct mermaid *m = to;

    mermaid_arrow(m->to, m->g, t->phases[gate].name, "-.->", t->phases[target].name);
}

static void
mermaid_level(struct buf *to, const struct graph *g)
{
    const struct team *t = g->team;
    bool is_quoted = g->has_run || *g->way; /* a colon or a slash needs quotes */

    for (size_t i = 0; i < t->n_phases; i++) {
        const struct phase *ph = &t->phases[i];
        buf_adds(to, sub_of(g, i) ? "    subgraph " : "    ");
        add_node(to, g, ph->name);
        buf_adds(to, ph->type == PHASE_GATE ? "{" : "[");
        if (is_quoted)
            buf_addc(to, '"');
        add_label(to, g, i);
        if (is_quoted)
            buf_addc(to, '"');
        buf_adds(to, ph->type == PHASE_GATE ? "}\n" : "]\n");
        if (sub_of(g, i)) {
            mermaid_level(to, sub_of(g, i));
            buf_adds(to, "    end\n");
        }
        for (size_t x = 0; x < ph->n_depends_on; x++)
            mermaid_arrow(to, g, ph->depends_on[x], "-->", ph->name);
        each_way_back(&(struct mermaid){ to, g }, t, i, mermaid_back);
    }
}

static void
write_mermaid(struct buf *to, const struct graph *g)
{
    buf_adds(to, "flowchart LR\n");
    mermaid_level(to, g);
}

static void
dot_back(void *to, const struct team *t, size_t gate, size_t target)
{
    const struct mermaid *m = to;

    buf_addf(m->to, "    \"%s%s\" -> \"%s%s\" [style=dotted];\n", m->g->way, t->phases[gate].name,
             m->g->way, t->phases[target].name);
}

/* The team of a phase is a cluster around it. */
static void
dot_level(struct buf *to, const struct graph *g)
{
    const struct team *t = g->team;

    for (size_t i = 0; i < t->n_phases; i++) {
        const struct phase *ph = &t->phases[i];
        if (sub_of(g, i)) {
            buf_adds(to, "    subgraph \"cluster_");
            add_node(to, g, ph->name);
            buf_addf(to, "\" {\n    label=\"%s%s\";\n", g->way, ph->name);
        }
        buf_addf(to, "    \"%s%s\"%s%s%s", g->way, ph->name,
                 ph->type == PHASE_GATE ? " [shape=diamond]" : "",
                 sub_of(g, i) ? " [shape=folder]" : "", ph->is_support ? " [style=dashed]" : "");
        if (g->has_run) {
            buf_adds(to, " [label=\"");
            add_label(to, g, i);
            buf_adds(to, "\"]");
        }
        buf_adds(to, ";\n");
        if (sub_of(g, i)) {
            dot_level(to, sub_of(g, i));
            buf_adds(to, "    }\n");
        }
        for (size_t x = 0; x < ph->n_depends_on; x++)
            buf_addf(to, "    \"%s%s\" -> \"%s%s\";\n", g->way, ph->depends_on[x], g->way,
                     ph->name);
        each_way_back(&(struct mermaid){ to, g }, t, i, dot_back);
    }
}

static void
write_dot(struct buf *to, const struct graph *g)
{
    buf_adds(to, "digraph team {\n    rankdir=LR;\n    node [shape=box];\n");
    dot_level(to, g);
    buf_adds(to, "}\n");
}

enum { BOX_W = 150, BOX_H = 40, GAP_X = 60, GAP_Y = 24, MARGIN = 20 };

struct graph_place {
    int x, y;
};

struct svg {
    struct buf shapes;
    struct graph_place *places; /* by phase */
    int width, height;          /* of what has a place */
    int top;                    /* where the team begins: below those that it is in */
};

/* Steps are columns, phases of a step stand below each other; support phases side by side below
 * all. */
static void
svg_place(struct svg *v, const struct team *t, const struct dag *d, int *rows)
{
    int below;

    for (size_t k = 0; k < t->n_phases; k++) {
        size_t i = d->order[k];
        if (i < t->n_main)
            v->places[i] =
                (struct graph_place){ MARGIN + (int)d->step[i] * (BOX_W + GAP_X),
                                      v->top + MARGIN + rows[d->step[i]]++ * (BOX_H + GAP_Y) };
    }
    below = v->top + MARGIN;
    for (size_t i = 0; i < t->n_main; i++)
        if (v->places[i].y + BOX_H + 2 * GAP_Y > below)
            below = v->places[i].y + BOX_H + 2 * GAP_Y;
    for (size_t i = t->n_main; i < t->n_phases; i++)
        v->places[i] =
            (struct graph_place){ MARGIN + (int)(i - t->n_main) * (BOX_W + GAP_X), below };
    for (size_t i = 0; i < t->n_phases; i++) {
        struct graph_place p = v->places[i];
        v->width = p.x + BOX_W + MARGIN > v->width ? p.x + BOX_W + MARGIN : v->width;
        v->height = p.y + BOX_H + MARGIN > v->height ? p.y + BOX_H + MARGIN : v->height;
    }
}

static void
svg_curve(struct svg *v, const char *kind, const char *title, struct graph_place from,
          struct graph_place bend, struct graph_place bend_to, struct graph_place end)
{
    buf_addf(&v->shapes,
             "<path class=\"%s\" d=\"M%d %d C%d %d %d %d %d %d\"><title>%s</title></path>\n", kind,
             from.x, from.y, bend.x, bend.y, bend_to.x, bend_to.y, end.x, end.y, title);
}

/* From the right side of one to the left side of the other. */
static void
svg_edge(struct svg *v, const struct team *t, size_t from, size_t to)
{
    struct graph_place a = v->places[from], b = v->places[to];
    int from_y = a.y + BOX_H / 2, to_y = b.y + BOX_H / 2;
    struct buf title = { 0 };

    buf_addf(&title, "%s to %s", t->phases[from].name, t->phases[to].name);
    svg_curve(v, "edge", title.p ? title.p : "", (struct graph_place){ a.x + BOX_W, from_y },
              (struct graph_place){ a.x + BOX_W + GAP_X / 2, from_y },
              (struct graph_place){ b.x - GAP_X / 2, to_y }, (struct graph_place){ b.x, to_y });
    buf_release(&title);
}

/* From below the gate to below a phase before it, or to the top of a support phase. */
static void
svg_back(void *to, const struct team *t, size_t gate, size_t target)
{
    struct svg *v = to;
    struct graph_place a = v->places[gate], b = v->places[target];
    bool is_support = target >= t->n_main;
    int from_y = a.y + BOX_H, to_y = is_support ? b.y : b.y + BOX_H;
    struct buf title = { 0 };

    buf_addf(&title, "%s back to %s", t->phases[gate].name, t->phases[target].name);
    svg_curve(v, "back", title.p ? title.p : "", (struct graph_place){ a.x + BOX_W / 2, from_y },
              (struct graph_place){ a.x + BOX_W / 2, from_y + GAP_Y },
              (struct graph_place){ b.x + BOX_W / 2, to_y + (is_support ? -GAP_Y : GAP_Y) },
              (struct graph_place){ b.x + BOX_W / 2, to_y });
    buf_release(&title);
}

static void
svg_phase(struct svg *v, const struct graph *g, size_t i)
{
    const struct team *t = g->team;
    const struct phase *ph = &t->phases[i];
    struct graph_place p = v->places[i];

    for (size_t x = 0; x < ph->n_depends_on; x++)
        svg_edge(v, t, ph->deps[x], i);
    buf_addf(&v->shapes,
             "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\"/>\n"
             "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
             ph->is_support ? "support" : phase_type_name(ph->type), p.x, p.y, BOX_W, BOX_H,
             ph->type == PHASE_GATE ? BOX_H / 2 : 4, p.x + BOX_W / 2, p.y + BOX_H / 2 + 5);
    add_label(&v->shapes, g, i);
    buf_adds(&v->shapes, "</text>\n");
    each_way_back(v, t, i, svg_back);
}

/* A team, and below it those of its team phases, each with its name. */
static bool
svg_level(struct svg *v, const struct graph *g)
{
    const struct team *t = g->team;
    struct graph_place *places = calloc(t->n_phases + 1, sizeof *places);
    int *rows = calloc(t->n_phases + 1, sizeof *rows);
    bool is_good = places && rows;

    v->places = places;
    if (is_good) {
        svg_place(v, t, g->dag, rows);
        for (size_t i = 0; i < t->n_phases; i++)
            svg_phase(v, g, i);
    }
    free(places);
    free(rows);
    for (size_t i = 0; is_good && i < t->n_phases; i++) {
        if (!sub_of(g, i))
            continue;
        buf_addf(&v->shapes, "<text x=\"%d\" y=\"%d\">%s%s</text>\n", MARGIN, v->height + GAP_Y,
                 g->way, t->phases[i].name);
        v->top = v->height + GAP_Y;
        is_good = svg_level(v, sub_of(g, i));
    }
    return is_good;
}

static void
write_svg(struct buf *to, const struct graph *g)
{
    struct svg v = { 0 };
    bool is_good = svg_level(&v, g);

    if (is_good)
        buf_addf(
            to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\">\n"
            "<style>rect{fill:#fff;stroke:#333}rect.gate{stroke:#b60}"
            "rect.support{stroke-dasharray:6 3}text{font:14px sans-serif}"
            ".edge,.back{fill:none;stroke:#888}.back{stroke-dasharray:2 3}</style>\n%s</svg>\n",
            v.width, v.height, v.shapes.p ? v.shapes.p : "");
    to->is_starved = to->is_starved || !is_good || v.shapes.is_starved;
    buf_release(&v.shapes);
}

static enum status
write_graph(struct buf *to, const char *format, const struct graph *g, struct err *e)
{
    if (!format || strcmp(format, "ascii") == 0)
        write_ascii(to, g);
    else if (strcmp(format, "mermaid") == 0)
        write_mermaid(to, g);
    else if (strcmp(format, "dot") == 0)
        write_dot(to, g);
    else if (strcmp(format, "svg") == 0)
        write_svg(to, g);
    else
        return err_set(e, ST_INVALID, "unknown format \"%s\": choose ascii, mermaid, dot or svg",
                       format);
    return ST_OK;
}

/* A workflow with a cycle has no graph. */
static enum status
make_dag(struct dag **d, struct workflow *w, const struct state_dir *f, struct err *e)
{
    *d = dag_new(&w->team);
    if (*d)
        return ST_OK;
    enum status s = workflow_check(w, f, e);
    return s ? s : err_nomem(e);
}

static enum status
run(const struct args *a, struct err *e)
{
    struct state_dir project = { .dir = -1 }, f = { .dir = -1 };
    struct run_picture p = { 0 };
    struct dag *d = NULL;
    struct buf out = { 0 };
    const char *id = args_text(a, "run");
    bool is_present = true;
    enum status s = state_dir_find(&project, e);

    if (!s)
        s = history_open(&project, id, &f, &is_present, e);
    if (!s)
        s = id ? run_picture_load(&p, &f, e) : workflow_load(&p.workflow, &f, e);
    if (!s)
        s = make_dag(&d, &p.workflow, &f, e);
    if (!s) {
        struct graph g = { .team = &p.workflow.team,
                           .dag = d,
                           .run = id ? &p : NULL,
                           .has_run = id != NULL,
                           .way = "" };
        load_subs(&g, &f);
        s = write_graph(&out, args_text(a, "format"), &g, e);
        release_subs(&g);
    }
    if (!s)
        s = cmd_print(&out, e);
    workflow_tell(&p.workflow);
    dag_free(d);
    run_picture_release(&p);
    state_dir_close(&f);
    state_dir_close(&project);
    buf_release(&out);
    return s;
}

const struct cmd cmd_graph = {
    .name = "graph",
    .brief = "draw the phases and their dependencies",
    .about =
        "Gates stand in < >, other phases in [ ], support phases in ( ). Dotted\n"
        "are the ways on which a gate sends work back: to the phases it waits for and to support\n"
        "phases; it may also choose any phase before those. --run draws the workflow as that\n"
        "run had it, and the states in which its phases are or ended. The team of a team phase is\n"
        "drawn with it: build/test.",
    .examples = "cliq graph\n"
                "cliq graph --format mermaid\n"
                "cliq graph --format svg > team.svg",
    .opts = opts,
    .run = run,
};

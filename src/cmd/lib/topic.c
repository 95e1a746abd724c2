#include "cmd/lib/topic.h"

#include "cliq.h"
#include "cmd/lib/scdoc.h"
#include "context/agent_env.h"
#include "context/agent_message.h"
#include "context/handoff.h"
#include "context/status_line.h"
#include "context/usage.h"
#include "team/load.h"
#include "team/manifest.h"
#include "team/settings_check.h"
#include "team/template.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 80 };

/* ---- the texts ---- */

/* man/topic/<id>.scd, with a NUL after it. make runs in the directory above src/. */
#define TOPIC(id, name, section, brief)                                                            \
    extern const char topic_text_##id[];                                                           \
    __asm__(".pushsection .rodata\n.hidden topic_text_" #id "\n.globl topic_text_" #id             \
            "\ntopic_text_" #id ":\n.incbin \"man/topic/" #id ".scd\"\n.byte 0\n.popsection\n");
#include "cmd/topics.def"
#undef TOPIC

const struct topic topics[] = {
#define TOPIC(id, name, section, brief) { #id, name, section, brief, topic_text_##id },
#include "cmd/topics.def"
#undef TOPIC
    { 0 },
};

const struct topic *
topic_find(const char *name, bool is_page)
{
    char page[64];

    for (const struct topic *t = topics; t->id; t++) {
        snprintf(page, sizeof page, "%s.%u", t->id, t->section);
        if (strcmp(is_page ? page : t->name, name) == 0)
            return t;
    }
    return NULL;
}

/* ---- the tables ---- */

static struct field
plain_at(struct arena *a, const void *rows, size_t i)
{
    (void)a;
    return ((const struct field *)rows)[i];
}

static struct field
load_at_row(struct arena *a, const void *rows, size_t i)
{
    const struct load_field *f = (const struct load_field *)rows + i;

    return f->key ? load_describe(a, f) : (struct field){ 0 };
}

static struct field
manifest_at(struct arena *a, const void *rows, size_t i)
{
    const struct manifest_field *f = (const struct manifest_field *)rows + i;

    (void)a;
    return f->key ? (struct field){ f->key, manifest_takes(f->shape), NULL, f->says }
                  : (struct field){ 0 };
}

static struct field
capability_at(struct arena *a, const void *rows, size_t i)
{
    struct field row = manifest_at(a, rows, i);

    row.takes = NULL;
    return row;
}

/* "the time limit of one try; read by: the agent curl" */
static struct field
setting_at(struct arena *a, const void *rows, size_t i)
{
    const struct setting *s = (const struct setting *)rows + i;
    struct buf says = { 0 };

    if (!s->key)
        return (struct field){ 0 };
    buf_addf(&says, "%s; read by: %s", s->says, s->read_by);
    const char *text = buf_failed(&says) ? NULL : arena_dup(a, says.p, says.len);
    buf_release(&says);
    return (struct field){ s->key, setting_kind_says(s->kind), s->otherwise,
                           text ? text : s->says };
}

/* A table; `at` gives its rows, one after the other, a NULL key at the end. */
struct topic_table {
    const char *name;
    struct field (*at)(struct arena *a, const void *rows, size_t i);
    const void *rows;
};

static const struct topic_table tables[] = {
    { "template_variables", plain_at, template_variables },
    { "template_places", plain_at, template_places },
    { "message", plain_at, agent_message_fields },
    { "message_phase", plain_at, agent_message_phase },
    { "message_gate", plain_at, agent_message_gate },
    { "message_notify", plain_at, agent_message_notify },
    { "message_test", plain_at, agent_message_test },
    { "status_line", plain_at, status_line_fields },
    { "statuses", plain_at, status_line_statuses },
    { "usage", plain_at, usage_fields },
    { "handoff", plain_at, handoff_fields },
    { "environment_inherited", plain_at, agent_env_inherited },
    { "environment_set", plain_at, agent_env_set },
    { "manifest", manifest_at, manifest_fields },
    { "manifest_settings", manifest_at, manifest_settings },
    { "manifest_schema", manifest_at, manifest_schema },
    { "capabilities", capability_at, manifest_capabilities },
    { "settings", setting_at, settings_known },
};

/* False: there is no such table. */
static bool
find_table(const char *name, struct topic_table *out)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (strcmp(tables[i].name, name) == 0) {
            *out = tables[i];
            return true;
        }
    }
    for (const struct load_table *t = team_tables; t->path; t++) {
        if (strcmp(t->path, name) == 0) {
            *out = (struct topic_table){ name, load_at_row, t->fields };
            return true;
        }
    }
    return false;
}

/* ---- writing ---- */

/* "*key* - a text; default: x", and below it what it means. */
static void
add_row(struct buf *to, const struct field *f)
{
    buf_adds(to, "*");
    scdoc_text(to, f->key);
    buf_adds(to, f->takes || f->otherwise ? "* - " : "*");
    if (f->takes)
        scdoc_text(to, f->takes);
    if (f->otherwise) {
        bool is_required = strcmp(f->otherwise, FIELD_REQUIRED) == 0;
        buf_adds(to, f->takes ? "; " : "");
        buf_adds(to, is_required ? "" : "default: ");
        scdoc_text(to, f->otherwise);
    }
    buf_adds(to, "\n\t");
    scdoc_text(to, f->says);
    buf_adds(to, "\n\n");
}

static void
add_table(struct buf *to, struct arena *a, const struct topic_table *t)
{
    struct field f;

    for (size_t i = 0; (f = t->at(a, t->rows, i)).key; i++)
        add_row(to, &f);
}

/* Every map of team.yml, each below a heading. */
static void
add_team(struct buf *to, struct arena *a)
{
    for (const struct load_table *t = team_tables; t->path; t++) {
        const struct topic_table rows = { t->path, load_at_row, t->fields };
        buf_adds(to, "## ");
        scdoc_text(to, *t->path ? t->path : "the top");
        buf_adds(to, "\n\n");
        scdoc_text(to, t->says);
        buf_adds(to, ":\n\n");
        add_table(to, a, &rows);
    }
}

static void
add_body(struct buf *to, const struct topic *t)
{
    static const char MARK[] = "@fields ";
    struct arena a = { 0 };
    char name[64];

    for (const char *p = t->text, *next; *p; p = next) {
        size_t n = strcspn(p, "\n");
        next = p + n + (p[n] == '\n');
        if (strncmp(p, MARK, strlen(MARK)) != 0) {
            buf_add(to, p, (size_t)(next - p));
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)(n - strlen(MARK)), p + strlen(MARK));
        struct topic_table table;
        if (strcmp(name, "team") == 0)
            add_team(to, &a);
        else if (find_table(name, &table))
            add_table(to, &a, &table);
        else
            buf_add(to, p, (size_t)(next - p)); /* a test finds it */
    }
    arena_release(&a);
}

void
topic_page(struct buf *to, const struct topic *t)
{
    buf_addf(to, "cliq-%s(%u) \"cliq %s\" \"cliq manual\"\n\n# NAME\n\ncliq-%s - ", t->id,
             t->section, CLIQ_VERSION, t->id);
    scdoc_text(to, t->brief);
    buf_adds(to, "\n\n");
    add_body(to, t);
}

void
topic_text(struct buf *to, const struct topic *t)
{
    struct buf page = { 0 };

    buf_addf(to, "%s - %s\n\n", t->name, t->brief);
    add_body(&page, t);
    if (buf_failed(&page))
        to->is_starved = true;
    else
        scdoc_render(to, page.p ? page.p : "", WIDTH);
    buf_release(&page);
}

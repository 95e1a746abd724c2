/* complete - what could stand here? Asked by the completion scripts. */
#include "base/path.h"
#include "cmd/lib/hub_show.h"
#include "cmd/lib/topic.h"
#include "room/room.h"
#include "run/history.h"
#include "run/workflow.h"
#include "team/settings_check.h"

#include <dirent.h>
#include <string.h>

static const struct opt opts[] = { { 0 } };

struct answer {
    const char *typed; /* so far, of the word at the cursor */
    struct buf out;    /* "word\twhat it is\n" */
};

static void
offer(struct answer *a, const char *word, size_t len, const char *says)
{
    size_t typed = strlen(a->typed);

    if (typed <= len && strncmp(word, a->typed, typed) == 0)
        buf_addf(&a->out, "%.*s\t%s\n", (int)len, word, says);
}

/* The word that comes after those that are there, for each command they begin. */
static void
offer_commands(struct answer *a, const char *const *words, size_t n)
{
    for (const struct cmd_group *g = cmd_groups; g->name && n == 0; g++)
        offer(a, g->name, strlen(g->name), g->brief);
    for (const struct cmd *const *c = cmds; *c; c++) {
        const char *name = (*c)->name, *space = strchr(name, ' ');
        if ((*c)->is_hidden)
            continue;
        if (n == 0 && !space)
            offer(a, name, strlen(name), (*c)->brief);
        else if (n == 1 && space && strlen(words[0]) == (size_t)(space - name) &&
                 strncmp(name, words[0], (size_t)(space - name)) == 0)
            offer(a, space + 1, strlen(space + 1), (*c)->brief);
    }
}

/* After "help": commands, and as the first word topics. */
static void
offer_topics(struct answer *a, const char *const *words, size_t n)
{
    for (const struct topic *t = topics; t->id && n == 0; t++)
        if (!cmd_find(&t->name, 1, &(size_t){ 0 }))
            offer(a, t->name, strlen(t->name), t->brief);
    offer_commands(a, words, n);
}

static void
offer_options(struct answer *a, const struct cmd *c, const char *const *words, size_t n)
{
    char spelt[64] = "--";

    for (const struct opt *o = c->opts; o->name; o++) {
        bool is_used = false;
        strcpy(spelt + 2, o->name);
        for (size_t i = 0; i < n; i++)
            is_used = is_used || strcmp(words[i], spelt) == 0;
        if (!is_used || o->is_many)
            offer(a, spelt, strlen(spelt), o->help);
    }
    offer(a, "--help", 6, "show help");
}

static void
offer_rooms(struct answer *a)
{
    struct buf base = { 0 };
    DIR *d = room_base(&base, NULL) == ST_OK ? opendir(base.p) : NULL;

    for (struct dirent *f; d && (f = readdir(d));)
        if (path_is_name(f->d_name) && f->d_type == DT_DIR)
            offer(a, f->d_name, strlen(f->d_name), "room");
    if (d)
        closedir(d);
    buf_release(&base);
}

/* ---- what the hub has ---- */

/* Open signals: the end of the id, and what it says. Once a whole id is begun: whole ids. */
static void
offer_signal(struct answer *a, const struct json *v)
{
    enum { END = 8 };
    const struct json *id = json_get(v, "id");
    struct buf says = { 0 };

    if (!json_is(id, JSON_STRING) || id->text.len < END)
        return;
    bool is_whole = strncmp(a->typed, "signal", strlen("signal")) == 0;
    size_t skip = is_whole ? 0 : id->text.len - END;
    hub_show_cell(&says, v, "signal_type");
    buf_addc(&says, ' ');
    hub_show_cell(&says, v, "content");
    if (!buf_failed(&says))
        offer(a, id->text.p + skip, id->text.len - skip, says.p);
    buf_release(&says);
}

/* Asks the hub for a list, of which `key` (NULL: nothing) is `value`. */
static void
offer_hub(struct answer *a, enum hub_op op, const char *key, const char *value, const char *says)
{
    static const struct args none = { .opts = hub_opts };
    struct hub_call c;
    struct hub_reply reply;
    struct json *args;
    bool is_there =
        hub_call_begin(&c, &none, NULL) == ST_OK && hub_args(&c, NULL, NULL, &args, NULL) == ST_OK;

    if (is_there && key)
        is_there = hub_args_add(&c, args, key, value, NULL) == ST_OK;
    if (is_there && hub_call(&c, op, args, &reply, NULL) == ST_OK)
        json_each (v, reply.data) {
            const char *id = hub_text(&c, json_get(v, "id"));
            if (op == HUB_LIST)
                offer_signal(a, v);
            else if (id)
                offer(a, id, strlen(id), says);
        }
    hub_call_end(&c);
}

static void
offer_roles(struct answer *a)
{
    offer_hub(a, HUB_ROLES, NULL, NULL, "role");
}

static void
offer_rings(struct answer *a)
{
    offer_hub(a, HUB_RINGS, NULL, NULL, "ring");
}

static void
offer_identities(struct answer *a)
{
    offer_hub(a, HUB_IDENTITIES, NULL, NULL, "identity");
}

static void
offer_open(struct answer *a)
{
    offer_hub(a, HUB_LIST, "task_status", "open", NULL);
}

static void
offer_held(struct answer *a)
{
    offer_hub(a, HUB_LIST, "task_status", "claimed", NULL);
    offer_hub(a, HUB_LIST, "task_status", "in_progress", NULL);
    offer_hub(a, HUB_LIST, "task_status", "blocked", NULL);
}

static void
offer_tasks(struct answer *a)
{
    offer_open(a);
    offer_held(a);
}

static void
offer_dead(struct answer *a)
{
    offer_hub(a, HUB_LIST, "delivery_state", "dead_letter", NULL);
    offer_hub(a, HUB_LIST, "delivery_state", "failed", NULL);
}

/* ---- what the project has ---- */

static void
offer_phases(struct answer *a)
{
    struct state_dir f = { .dir = -1 };
    struct workflow w = { 0 };

    if (state_dir_find(&f, NULL) == ST_OK && workflow_load(&w, &f, NULL) == ST_OK)
        for (size_t i = 0; i < w.team.n_phases; i++)
            offer(a, w.team.phases[i].name, strlen(w.team.phases[i].name), "phase");
    workflow_release(&w);
    state_dir_close(&f);
}

/* The end of an id: the beginning is the project's. Once a whole id is begun: whole ids. */
static void
offer_runs(struct answer *a)
{
    struct state_dir f = { .dir = -1 };
    struct history h = { 0 };
    bool is_whole = strncmp(a->typed, "cliq-", 5) == 0;

    if (state_dir_find(&f, NULL) == ST_OK && history_list(&f, &h, NULL) == ST_OK)
        for (size_t i = 0; i < h.n; i++) {
            const char *id = h.runs[i].id, *end = strrchr(id, '-');
            const char *shown = end && !is_whole ? end + 1 : id;
            offer(a, shown, strlen(shown), h.runs[i].is_present ? "the latest run" : "run");
        }
    history_release(&h);
    state_dir_close(&f);
}

static void
offer_settings(struct answer *a)
{
    for (const struct setting *s = settings_known; s->key; s++)
        if (!strchr(s->key, '*'))
            offer(a, s->key, strlen(s->key), s->says);
}

static void
offer_types(struct answer *a)
{
    const char *type, *says;

    for (size_t i = 0; (type = message_type(i, &says)); i++)
        offer(a, type, strlen(type), says);
}

/* What `choose` of a command or an option may be. */
static void
offer_values(struct answer *a, const char *choose)
{
    static const struct {
        const char *name;
        void (*offer)(struct answer *a);
    } lists[] = {
        { "rooms", offer_rooms },
        { "types", offer_types },
        { "roles", offer_roles },
        { "rings", offer_rings },
        { "identities", offer_identities },
        { "open tasks", offer_open },
        { "held tasks", offer_held },
        { "tasks", offer_tasks },
        { "dead letters", offer_dead },
        { "phases", offer_phases },
        { "runs", offer_runs },
        { "settings", offer_settings },
    };

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strcmp(choose, lists[i].name) == 0)
            lists[i].offer(a);
}

/* The option whose value is being typed, or NULL. */
static const struct opt *
option_before(const struct cmd *c, const char *word)
{
    for (const struct opt *o = c->opts; o->name; o++)
        if (o->kind != OPT_FLAG && strncmp(word, "--", 2) == 0 && strcmp(word + 2, o->name) == 0)
            return o;
    return NULL;
}

static enum status
run(const struct args *args, struct err *e)
{
    size_t n = args->n_words ? args->n_words - 1 : 0; /* words before the cursor */
    struct answer a = { .typed = args->n_words ? args->words[n] : "" };
    size_t used;
    const struct cmd *c = cmd_find(args->words, n, &used);
    const struct opt *o = c && n > 0 ? option_before(c, args->words[n - 1]) : NULL;
    if (!c)
        offer_commands(&a, args->words, n);
    else if (o && o->choose)
        offer_values(&a, o->choose);
    else if (!o && a.typed[0] != '-' && c->choose && n == used)
        offer_values(&a, c->choose);
    else if (o)
        ;
    else if (a.typed[0] != '-' && strcmp(c->name, "help") == 0)
        offer_topics(&a, args->words + 1, n - 1);
    else if (a.typed[0] == '-' || !c->words)
        offer_options(&a, c, args->words, n);
    enum status s = a.out.len ? cmd_print(&a.out, e) : ST_OK;
    buf_release(&a.out);
    return s;
}

const struct cmd cmd_complete = {
    .name = "complete",
    .words = "-- WORD...",
    .max_words = SIZE_MAX,
    .brief = "what could stand at the cursor (for completion scripts)",
    .about = "Prints candidates for the last WORD, each with a tab and what it is.",
    .opts = opts,
    .is_hidden = true,
    .run = run,
};

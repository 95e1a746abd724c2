/* complete - what could stand here? Asked by the completion scripts. */
#include "base/path.h"
#include "cmd/cmd.h"
#include "room/room.h"

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

static void
offer_values(struct answer *a, const struct opt *o)
{
    const char *type, *says;

    if (o->choose && strcmp(o->choose, "rooms") == 0)
        offer_rooms(a);
    if (o->choose && strcmp(o->choose, "types") == 0)
        for (size_t i = 0; (type = message_type(i, &says)); i++)
            offer(a, type, strlen(type), says);
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
    else if (o)
        offer_values(&a, o);
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

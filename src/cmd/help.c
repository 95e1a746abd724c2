/* help - texts made from the command table; lib/topic.h has the topics. */
#include "cmd/help.h"

#include "base/suggest.h"
#include "base/term.h"
#include "cliq.h"
#include "cmd/lib/scdoc.h"
#include "cmd/lib/standing.h"
#include "cmd/lib/topic.h"
#include "team/builtin_agents.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct opt opts[] = {
    { "all", OPT_FLAG, NULL, "list every command, also those that programs call" },
    { "scdoc", OPT_FLAG, NULL, "print the source of the man page (scdoc) instead" },
    { 0 },
};

static const struct {
    const char *name, *says;
} environment[] = {
    { "WARROOMS_DIR", "the directory of the war-rooms; default: the nearest .war-rooms/" },
    { "CLIQ_HOME", "the user's own directory; default: ~/.cliqrc" },
    { "CLIQ_EXECUTOR", "of cliq run and retry: tmux or process; default: tmux on a terminal" },
    { "CLIQ_SDK_MESSAGE", "set by cliq sdk begin: where the shell SDK keeps the message" },
    { "TMPDIR", "where it keeps it; default: /tmp" },
    { "CLIQ_IDENTITY", "who you are to the hub; default: your user's name" },
    { "CLIQ_URL", "a server of signals to ask, instead of the files in CLIQ_HOME" },
    { "CLIQ_KEY", "the key for it; default, at the server of CLIQ_HOME: what cliq serve made" },
    { "NO_COLOR", "no colours; CLICOLOR_FORCE and FORCE_COLOR: colours everywhere" },
};

static const struct {
    const char *name, *says;
} files[] = {
    { ".war-rooms/<room>/channel.jsonl", "a room's channel: cliq-channel(5)" },
    { ".war-rooms/config.json", "settings of these rooms: channel.max_message_size_bytes" },
    { ".cliq/settings.json", "settings of the project" },
    { "~/.cliqrc/settings.json", "settings of the user" },
    { "~/.cliqrc/signals/events.jsonl", "signals and all that happened to them: cliq-hub(7)" },
};

#define N(table) (sizeof table / sizeof *table)

static const char INTRO[] =
    "cliq joins agents and people: every hand-over between them is a line or a file\n"
    "you can read, and everything else is a view of those lines. Every command works\n"
    "on plain files, from many processes at once, with nothing running.";

/* ---- plain text ---- */

static void
add_lines(struct buf *to, const char *indent, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        if (n)
            buf_addf(to, "%s%.*s", indent, (int)n, text);
        buf_addc(to, '\n');
        text += n + (text[n] == '\n');
    }
}

/* "--room ROOM [--type TYPE]... FILE..." */
static void
add_usage(struct buf *to, const struct cmd *c)
{
    for (int is_required = 1; is_required >= 0; is_required--) {
        for (const struct opt *o = c->opts; o->name; o++) {
            if (o->is_required != (bool)is_required)
                continue;
            buf_addf(to, is_required ? " --%s" : " [--%s", o->name);
            if (o->value)
                buf_addf(to, " %s", o->value);
            buf_adds(to, is_required ? "" : "]");
            buf_adds(to, o->is_many ? "..." : "");
        }
    }
    if (c->words)
        buf_addf(to, " %s", c->words);
}

static void
add_option(struct buf *to, const char *spelt, const char *help)
{
    buf_addf(to, "  %-18s %s\n", spelt, help);
}

static void
add_options(struct buf *to, const struct cmd *c)
{
    char spelt[64];

    for (const struct opt *o = c->opts; o->name; o++) {
        char letter[8] = "";
        if (o->letter)
            snprintf(letter, sizeof letter, "-%c, ", o->letter);
        snprintf(spelt, sizeof spelt, "%s--%s%s%s", letter, o->name, o->value ? " " : "",
                 o->value ? o->value : "");
        add_option(to, spelt, o->help);
    }
    add_option(to, "-h, --help", "show this help");
}

static void
write_command(struct buf *to, const struct cmd *c)
{
    buf_addf(to, "cliq %s - %s\n\nUsage: cliq %s", c->name, c->brief, c->name);
    add_usage(to, c);
    buf_adds(to, "\n\nOptions:\n");
    add_options(to, c);
    if (c->about) {
        buf_addc(to, '\n');
        add_lines(to, "", c->about);
    }
    if (c->examples) {
        buf_adds(to, "\nExamples:\n");
        add_lines(to, "  ", c->examples);
    }
}

static bool
is_in_group(const struct cmd *c, const char *group)
{
    size_t n = strlen(group);

    return strncmp(c->name, group, n) == 0 && c->name[n] == ' ';
}

static void
list_group(struct buf *to, const char *group)
{
    for (const struct cmd *const *c = cmds; *c; c++)
        if (is_in_group(*c, group))
            add_option(to, (*c)->name, (*c)->brief);
}

/* The group of a command whose first one it is; NULL: none begins here. */
static const struct cmd_group *
group_that_begins(size_t i)
{
    for (const struct cmd_group *g = cmd_groups; g->name; g++)
        if (is_in_group(cmds[i], g->name))
            return i == 0 || !is_in_group(cmds[i - 1], g->name) ? g : NULL;
    return NULL;
}

/* "  channel COMMAND    talk in a war-room's channel: post, read, wait" */
static void
add_group(struct buf *to, const struct cmd_group *g)
{
    size_t n = strlen(g->name);
    struct buf names = { 0 }, spelt = { 0 };

    for (const struct cmd *const *c = cmds; *c; c++)
        if (is_in_group(*c, g->name))
            buf_addf(&names, "%s%s", names.len ? ", " : "", (*c)->name + n + 1);
    buf_addf(&spelt, "%s ...", g->name);
    buf_adds(&names, "");
    if (!buf_failed(&names) && !buf_failed(&spelt)) {
        add_option(to, spelt.p, g->brief);
        buf_addf(to, "  %-18s %s\n", "", names.p ? names.p : "");
    }
    buf_release(&names);
    buf_release(&spelt);
}

/* The commands of a part; a group is one entry unless all are wanted. */
static void
list_section(struct buf *to, const struct cmd_section *part, bool is_all)
{
    buf_addf(to, "\n%s:\n", part->title);
    for (size_t i = part->first; i < part[1].first; i++) {
        const struct cmd *c = cmds[i];
        const struct cmd_group *g = is_all ? NULL : group_that_begins(i);
        if (g)
            add_group(to, g);
        else if (!c->is_hidden && (is_all || !strchr(c->name, ' ')))
            add_option(to, c->name, c->brief);
    }
}

static void
write_group(struct buf *to, const struct cmd_group *g)
{
    buf_addf(to, "cliq %s - %s\n\nUsage: cliq %s COMMAND [options]\n\nCommands:\n", g->name,
             g->brief, g->name);
    list_group(to, g->name);
    buf_addf(to, "\nRun 'cliq %s COMMAND --help' for more on a command.\n", g->name);
}

static void
write_exit_codes(struct buf *to)
{
    buf_adds(to, "Exit codes, of every command:\n");
    for (enum status s = 0; s < ST_COUNT; s++)
        buf_addf(to, "  %3d  %s\n", status_exit(s), status_text(s));
    buf_adds(to, "Checks such as fsck: 0 clean or notes only, 1 problems.\n");
}

static void
write_environment(struct buf *to)
{
    for (size_t i = 0; i < N(environment); i++)
        add_option(to, environment[i].name, environment[i].says);
}

/* The topics that are made from tables of this file. */
static const struct {
    const char *name, *brief;
    void (*write)(struct buf *to);
} short_topics[] = {
    { "exit-codes", "what the exit codes of every command mean", write_exit_codes },
    { "environment", "the variables that cliq reads", write_environment },
};

static void
list_topics(struct buf *to)
{
    for (const struct topic *t = topics; t->id; t++)
        add_option(to, t->name, t->brief);
    for (size_t i = 0; i < N(short_topics); i++)
        add_option(to, short_topics[i].name, short_topics[i].brief);
}

static void
write_all(struct buf *to, bool is_all)
{
    add_lines(to, "", INTRO);
    buf_adds(to, "\nUsage: cliq COMMAND [options]\n");
    for (const struct cmd_section *part = cmd_sections; part->title; part++)
        if (is_all || !part->is_for_programs)
            list_section(to, part, is_all);
    buf_adds(to, "\nTopics:\n");
    list_topics(to);
    if (is_all) {
        buf_adds(to, "\nEnvironment:\n");
        write_environment(to);
    }
    buf_adds(to,
             "\nRun 'cliq COMMAND --help' for more on a command, 'cliq help TOPIC' for a topic.\n");
    if (!is_all)
        buf_adds(to, "'cliq help --all' lists every command, also those that programs call.\n");
}

/* ---- man pages: scdoc ---- */

static void
scd_command(struct buf *to, const struct cmd *c)
{
    struct buf usage = { 0 };
    char page[64], option[64];

    snprintf(page, sizeof page, "cliq-%s", c->name);
    for (char *p = page; *p; p++)
        *p = *p == ' ' ? '-' : *p;
    buf_addf(to, "%s(1) \"cliq %s\" \"cliq manual\"\n\n# NAME\n\n%s - ", page, CLIQ_VERSION, page);
    scdoc_text(to, c->brief);
    buf_addf(to, "\n\n# SYNOPSIS\n\n*cliq %s*", c->name);
    add_usage(&usage, c);
    scdoc_text(to, usage.p ? usage.p : "");
    buf_release(&usage);
    buf_adds(to, "\n\n# DESCRIPTION\n\n");
    scdoc_text(to, c->about);
    buf_adds(to, "\n\n# OPTIONS\n\n");
    for (const struct opt *o = c->opts; o->name; o++) {
        if (o->letter)
            snprintf(option, sizeof option, "-%c, --%s", o->letter, o->name);
        else
            snprintf(option, sizeof option, "--%s", o->name);
        scdoc_item(to, option, o->value, o->help);
    }
    scdoc_item(to, "-h, --help", NULL, "Show a short help.");
    if (c->examples)
        buf_addf(to, "# EXAMPLES\n\n```\n%s\n```\n\n", c->examples);
    buf_adds(to, "# EXIT STATUS\n\nSee *cliq*(1).\n\n# SEE ALSO\n\n*cliq*(1)\n");
}

static void
scd_all(struct buf *to)
{
    char code[64];

    buf_addf(to,
             "cliq(1) \"cliq %s\" \"cliq manual\"\n\n# NAME\n\ncliq - coordination of agents and "
             "people\n\n# SYNOPSIS\n\n*cliq* _COMMAND_ [options]\n\n# DESCRIPTION\n\n",
             CLIQ_VERSION);
    scdoc_text(to, INTRO);
    buf_adds(to, "\n\n# COMMANDS\n\n");
    for (const struct cmd *const *c = cmds; *c; c++)
        if (!(*c)->is_hidden)
            scdoc_item(to, (*c)->name, NULL, (*c)->brief);
    buf_adds(to, "# ENVIRONMENT\n\n");
    for (size_t i = 0; i < N(environment); i++)
        scdoc_item(to, environment[i].name, NULL, environment[i].says);
    buf_adds(to, "# FILES\n\n");
    for (size_t i = 0; i < N(files); i++)
        scdoc_item(to, files[i].name, NULL, files[i].says);
    buf_adds(to, "# EXIT STATUS\n\n");
    for (enum status s = 0; s < ST_COUNT; s++) {
        snprintf(code, sizeof code, "%d", status_exit(s));
        scdoc_item(to, code, NULL, status_text(s));
    }
    buf_adds(to, "# SEE ALSO\n\n");
    for (const struct topic *t = topics; t->id; t++)
        buf_addf(to, "*cliq-%s*(%u), ", t->id, t->section);
    buf_adds(to, "*cliq-channel*(5), *cliq-log*(5), *cliq-hub*(7), *cliq-sdk*(3)\n");
}

/* ---- the entries ---- */

static enum status
print(struct buf *text, struct err *e)
{
    enum status s = cmd_print(text, e);

    buf_release(text);
    return s;
}

enum status
help_command(const struct cmd *c, struct err *e)
{
    struct buf text = { 0 };

    write_command(&text, c);
    return print(&text, e);
}

void
help_hint(const char *name, struct err *e)
{
    size_t n = strlen(e->text);

    snprintf(e->text + n, sizeof e->text - n, "\nTry 'cliq%s%s --help'.", *name ? " " : "", name);
}

/* Appends the commands of groups whose second word this is: `"signal subscribe"`. */
static void
add_by_second_word(struct buf *to, const char *word)
{
    for (const struct cmd *const *c = cmds; *c; c++) {
        const char *space = strchr((*c)->name, ' ');
        if (space && !(*c)->is_hidden && strcmp(space + 1, word) == 0 &&
            strncmp((*c)->name, "agent ", 6) != 0)
            buf_addf(to, "%s\"%s\"", to->len ? ", " : "", (*c)->name);
    }
}

/* "channel pots" is no command: what was meant? is_help: topics count, too. */
static enum status
unknown_command(const char *first, const char *second, bool is_help, struct err *e)
{
    const struct cmd_group *g = cmd_find_group(first);
    char given[160];
    struct suggest near = { .word = given };
    struct buf longer = { 0 };

    const struct builtin *b = g && strcmp(g->name, "agent") == 0 ? builtin_find(second) : NULL;
    if (b && b->acp)
        return err_set(
            e, ST_INVALID,
            "the agent acp drives %s: cliq agent acp --help, and cliq team info --agents "
            "%s",
            b->name, b->name);
    snprintf(given, sizeof given, "%s%s%s", first, g ? " " : "", g ? second : "");
    for (const struct cmd *const *c = cmds; *c; c++)
        if (!(*c)->is_hidden)
            suggest_try(&near, (*c)->name);
    for (const struct cmd_group *h = cmd_groups; h->name && !g; h++)
        suggest_try(&near, h->name);
    for (const struct topic *t = topics; t->id && is_help; t++)
        suggest_try(&near, t->name);
    if (!g)
        add_by_second_word(&longer, first);
    if (longer.len)
        err_set(e, ST_INVALID, "unknown command \"%s\" (did you mean %s?)", given, longer.p);
    else if (near.best)
        err_set(e, ST_INVALID, "unknown command \"%s\" (did you mean \"%s\"?)", given, near.best);
    else
        err_set(e, ST_INVALID, "unknown command \"%s\"", given);
    help_hint(g ? g->name : "", e);
    buf_release(&longer);
    return ST_INVALID;
}

/* A group, or an overview, on standard output because it was asked for, or on
 * standard error because a command is missing. */
static enum status
show_list(const struct cmd_group *g, bool is_asked, struct err *e)
{
    struct buf text = { 0 };

    if (g)
        write_group(&text, g);
    else
        write_all(&text, false);
    if (is_asked)
        return print(&text, e);
    fprintf(stderr, "%s\n", text.p ? text.p : "");
    buf_release(&text);
    return err_set(e, ST_INVALID, "a command is missing");
}

static bool
is_help_flag(const char *s)
{
    return strcmp(s, "--help") == 0 || strcmp(s, "-h") == 0;
}

enum status
help_without_command(int argc, char **argv, struct err *e)
{
    const char *first = argc > 1 ? argv[1] : NULL, *second = argc > 2 ? argv[2] : NULL;
    struct buf text = { 0 };

    if (!first)
        return standing_print(e);
    if (is_help_flag(first))
        return show_list(NULL, true, e);
    if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
        buf_addf(&text, "cliq %s\n", CLIQ_VERSION);
        return print(&text, e);
    }
    if (first[0] == '-') {
        err_set(e, ST_INVALID, "unknown option %s", first);
        help_hint("", e);
        return ST_INVALID;
    }
    const struct cmd_group *g = cmd_find_group(first);
    if (g && (!second || is_help_flag(second)))
        return show_list(g, second != NULL, e);
    return unknown_command(first, second, false, e);
}

/* "sdk-write-file": a command as its man page is called. */
static const struct cmd *
find_page(const char *page)
{
    for (const struct cmd *const *c = cmds; *c; c++) {
        const char *a = (*c)->name, *b = page;
        while (*a && (*a == ' ' ? '-' : *a) == *b)
            a++, b++;
        if (!*a && !*b)
            return *c;
    }
    return NULL;
}

/* Writes the topic of that name. False: there is none. */
static bool
write_topic(struct buf *to, const char *name, bool is_scdoc)
{
    const struct topic *t = topic_find(name, is_scdoc);

    for (size_t i = 0; i < N(short_topics); i++) {
        if (strcmp(short_topics[i].name, name) == 0) {
            short_topics[i].write(to);
            return true;
        }
    }
    if (t)
        (is_scdoc ? topic_page : topic_text)(to, t);
    return t;
}

static enum status
help_about(const struct args *a, struct buf *text, struct err *e)
{
    bool is_scdoc = args_has(a, "scdoc");
    struct buf topic = { 0 };
    size_t used = 0;

    if (a->n_words == 0) {
        if (is_scdoc)
            scd_all(text);
        else
            write_all(text, args_has(a, "all"));
        return ST_OK;
    }
    const struct cmd *c = cmd_find(a->words, a->n_words, &used);
    const struct cmd_group *g = cmd_find_group(a->words[0]);

    if (!c && (c = find_page(a->words[0])))
        used = 1;
    if (used < 2 && write_topic(&topic, a->words[0], is_scdoc))
        used = 1;
    if (used && used < a->n_words) {
        buf_release(&topic);
        err_set(e, ST_INVALID, "unexpected argument \"%s\"", a->words[used]);
        help_hint("help", e);
        return ST_INVALID;
    }
    if (c)
        (is_scdoc ? scd_command : write_command)(text, c);
    else if (g && a->n_words == 1)
        write_group(text, g);
    else if (!topic.len)
        return unknown_command(a->words[0], a->n_words > 1 ? a->words[1] : "", true, e);
    if (topic.len) /* "settings" is a command and a topic */
        buf_addf(text, "%s%s", text->len ? "\n" : "", topic.p);
    buf_release(&topic);
    return ST_OK;
}

static enum status
run(const struct args *a, struct err *e)
{
    struct buf text = { 0 };
    enum status s = help_about(a, &text, e);

    if (s)
        buf_release(&text);
    return s ? s : print(&text, e);
}

const struct cmd cmd_help = {
    .name = "help",
    .words = "[COMMAND|TOPIC]",
    .max_words = 2,
    .brief = "explain a command, or a topic such as team.yml",
    .about =
        "Without a word, lists the commands and the topics, a group of commands as one; --all\n"
        "lists each, also those that only programs call, and the variables. Each topic but the\n"
        "short ones is a man page, too: cliq-tutorial(7), cliq-team(5), cliq-templates(7),\n"
        "cliq-protocol(7), cliq-manifest(5), cliq-settings(5).",
    .examples = "cliq help\n"
                "cliq help tutorial\n"
                "cliq help channel post\n"
                "cliq help team.yml\n"
                "cliq help protocol\n"
                "cliq help exit-codes",
    .opts = opts,
    .run = run,
};

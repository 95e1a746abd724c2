/*
 * cmd - a subcommand as data.
 *
 * Adding one is two moves: write src/cmd/<name>.c with a `const struct cmd
 * cmd_<name>`, and add its line to cmds.def. From this descriptor come parsing,
 * --help, `cliq help`, shell completion and the man page.
 */
#ifndef CLIQ_CMD_CMD_H
#define CLIQ_CMD_CMD_H

#include "base/buf.h"
#include "base/opt.h"

struct hub_simple;

struct cmd {
    const char *name;  /* one or two words: "fsck", "channel post" */
    const char *words; /* what stands behind the options: "FILE..."; NULL: nothing */
    size_t min_words, max_words;
    const char *choose;   /* what completion offers for the first of them: "signals"; or NULL */
    const char *brief;    /* one line, no full stop */
    const char *about;    /* paragraphs for --help and the man page */
    const char *examples; /* lines that can be pasted */
    const struct opt *opts;
    bool is_hidden; /* for scripts of ours, not for people */
    enum status (*run)(const struct args *a, struct err *e);
    const struct hub_simple *hub; /* instead of run: a question to the hub, as data (hub_show.h) */
};

struct cmd_group {
    const char *name, *brief;
};

/* A part of `cliq help`: the commands from `first` to the next part's. */
struct cmd_section {
    const char *title;
    size_t first;
    bool is_for_programs; /* people do not call these */
};

extern const struct cmd *const cmds[];      /* NULL behind the last */
extern const struct cmd_group cmd_groups[]; /* name NULL behind the last */
extern const struct cmd_section
    cmd_sections[]; /* title NULL behind the last, whose first is the end */

/* The command that the first of n words name, and how many they are; NULL: none. */
const struct cmd *cmd_find(const char *const *words, size_t n, size_t *used);
const struct cmd_group *cmd_find_group(const char *name);

/* Before anything else in main; and the last: says what failed, gives the exit code. */
void cmd_begin(void);
int cmd_exit(enum status s, const struct err *e);

/* A warning for people on standard error, escaped. Errors are returned, not said. */
void cmd_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same for what is no fault: an option that changes nothing. */
void cmd_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Writes the text to standard output at once. */
enum status cmd_print(const struct buf *text, struct err *e);

#endif

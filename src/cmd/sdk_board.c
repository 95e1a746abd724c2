/* sdk board - the pipeline's task board, without its format. */
#include "cmd/lib/sdk_session.h"

#include <string.h>

static const struct opt opts[] = {
    { "phase", OPT_TEXT, "PHASE", "the entry it is about; without: this phase" },
    { 0 },
};

static const char *const needs_text[] = { "note", "replace" };

static enum status
change(struct sdk_session *k, const char *what, const char *phase, const char *text, struct err *e)
{
    struct board *b = &k->c.board;

    if (strcmp(what, "mark") == 0)
        board_mark(b, phase, true);
    else if (strcmp(what, "unmark") == 0)
        board_mark(b, phase, false);
    else if (strcmp(what, "note") == 0)
        board_note(b, phase, text);
    else if (strcmp(what, "replace") == 0)
        board_replace(b, text);
    else
        return err_set(e, ST_INVALID,
                       "bad request \"%.100s\": it must be mark, unmark, note, replace or show",
                       what);
    return context_write_board(&k->c, e);
}

static enum status
run(const struct args *a, struct err *e)
{
    struct sdk_session k;
    struct buf text = { 0 };
    const char *what = a->words[0], *phase = args_text(a, "phase");
    bool has_text = a->n_words > 1, wants_text = false;
    enum status s = sdk_open(&k, e);

    for (size_t i = 0; i < 2; i++)
        wants_text |= strcmp(what, needs_text[i]) == 0;
    if (!s && !k.c.phase)
        s = err_set(e, ST_INVALID, "board: a %s message has no phase", k.msg.type);
    if (!s && wants_text != has_text)
        s = err_set(e, ST_INVALID, wants_text ? "board %s needs a TEXT" : "board %s takes no TEXT",
                    what);
    if (!s && has_text)
        s = sdk_text_arg(a->words[1], "the text", &text, e);
    if (!s && strcmp(what, "show") == 0)
        s = cmd_print(&k.c.board.text, e);
    else if (!s)
        s = change(&k, what, phase ? phase : k.c.phase, text.p, e);
    buf_release(&text);
    sdk_close(&k);
    return s;
}

const struct cmd cmd_sdk_board = {
    .name = "sdk board",
    .words = "mark|unmark|note|replace|show [TEXT|-]",
    .min_words = 1,
    .max_words = 2,
    .brief = "mark, note or show the task board",
    .about =
        "mark and unmark tick the phase's entry; note puts a line below it; replace is a whole\n"
        "new board; show prints it. An entry that is not there, or marked so already, is left\n"
        "alone. What others change meanwhile is kept.",
    .examples = "cliq sdk board mark\n"
                "cliq sdk board note \"OAuth2 PKCE flow implemented\"\n"
                "cliq sdk board show",
    .opts = opts,
    .run = run,
};

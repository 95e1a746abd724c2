/*
 * template_lex (of template_shell only) - commands for sh read the way a shell reads them,
 * only far enough to know how each use of a variable is quoted.
 *
 *     where                                   becomes
 *     unquoted, in $(...) and `...` too       "${CLIQ_T_1}"
 *     in "...", in <<EOF                      ${CLIQ_T_1}
 *     in $((...)), ((...)), [[ -eq ]], let    the same, and the value must be a whole number:
 *                                             bash runs what stands in a[$(here)]
 *     in a comment, after a backslash         nothing: it stays as it is
 *     in '...', in <<'EOF'                    an error: the shell would not look at it
 *     where shells differ                     an error that says what to write instead
 *
 * Whatever this reader gets wrong, a value is never part of the command's text: the worst
 * is a word split where it should not be. Words that read their arguments again as code
 * (eval, sh -c, ssh) make a warning.
 *
 * The reader is a recursive descent, DEPTH_MAX deep. Each function begins behind its
 * opening bracket or quote and ends behind the closing one; false means that the
 * sentence is in l->e.
 *
 * Files: template_lex.c quotes, substitutions, here-documents · template_words.c commands
 * and their words.
 *
 * Tests: test/unit/test_template.c
 */
#ifndef CLIQ_TEAM_TEMPLATE_LEX_H
#define CLIQ_TEAM_TEMPLATE_LEX_H

#include "team/template_form.h"

struct use {
    struct form form;
    size_t offset;
    bool is_quoted; /* by what stands around it */
    bool is_number; /* only a whole number may stand there */
};

struct lexer {
    const char *text, *p, *end;
    struct arena *a;
    struct use *uses;
    size_t n, cap;
    unsigned depth, second_looks;
    unsigned arith;      /* arithmetic around us */
    unsigned backquotes; /* `...` around us: 0 or 1 */
    bool is_number;      /* the present command takes its words as arithmetic */
    const char *doubt;   /* why a use cannot be judged here; NULL: it can */
    const char *risk;    /* of the present command, or of one around it */
    const char *warning; /* the first risk that a use was under */
    struct err *e;
};

struct heredoc {
    const char *mark; /* the delimiter, unquoted; in the arena */
    bool is_literal;  /* it was quoted */
    bool is_tabbed;   /* <<- */
    const char *risk;
};

/* Every use in the text, judged; they are in l->uses, in the arena. ST_INVALID says which
 * use cannot be replaced, and where. */
enum status template_lex(struct lexer *l, struct arena *a, const char *text, struct err *e);

/* ---- between the two files ---- */

/* A list of commands up to `until`, ')' or '`', and over it; '\0': to the end. */
bool lex_command(struct lexer *l, char until);
bool lex_single(struct lexer *l);
bool lex_double(struct lexer *l);
bool lex_backquote(struct lexer *l);
/* At a '$'. is_quoted: double quotes or their like are around it. */
bool lex_dollar(struct lexer *l, bool is_quoted);
/* Over a backslash and what it protects. */
void lex_escaped(struct lexer *l);

enum arith { ARITH, NO_ARITH, ARITH_BAD };
/* Behind "((": over "))", or NO_ARITH, moved nowhere, when these are brackets of commands. */
enum arith lex_arith(struct lexer *l);

/* Behind "<<": the delimiter. */
bool lex_mark(struct lexer *l, struct heredoc *h);
/* At the first line of the body: over it and the delimiter's line. */
bool lex_heredoc(struct lexer *l, const struct heredoc *h);

bool lex_enter(struct lexer *l); /* one level deeper; l->depth-- leaves it */
/* The sentence that this text cannot be read; false. */
bool lex_refuse(struct lexer *l, const char *p, const char *what);

#endif

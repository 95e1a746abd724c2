/*
 * template_lex (private to template_shell.c) - parses a command as sh does, only far enough to know
 * how each use of a variable is quoted.
 *
 *     where                                   becomes
 *     unquoted, in $(...) and `...` too       "${CLIQ_T_1}"
 *     in "...", in <<EOF                      ${CLIQ_T_1}
 *     in $((...)), ((...)), [[ -eq ]], let    the same, and the value must be a whole number:
 *                                             bash runs the command in a[$(here)]
 *     in a comment, after a backslash         nothing: the text stays
 *     in '...', in <<'EOF'                    an error: the shell would not expand it
 *     where shells differ                     an error that says what to write instead
 *
 * Even if this parser is wrong, a value is never part of the command's text: the worst case is a
 * word that is split. A use in the arguments of a command that runs them as code (eval, sh -c,
 * ssh), or in a program of awk, sed or jq, is a warning.
 *
 * The parser is a recursive descent, at most DEPTH_MAX deep. Each function begins after its opening
 * bracket or quote and ends after the closing one. False: the error is in l->e.
 *
 * Files: template_lex.c quotes, substitutions, here-documents · template_words.c commands
 * and their words · template_program.c which word is a program of awk, sed or jq.
 *
 * Tests: test/unit/test_template.c
 */
#ifndef CLIQ_TEAM_TEMPLATE_LEX_H
#define CLIQ_TEAM_TEMPLATE_LEX_H

#include "team/template_form.h"

struct use {
    struct form form;
    size_t offset;
    bool is_quoted; /* how it is quoted */
    bool is_number; /* the value must be a whole number */
};

struct lexer {
    const char *text, *p, *end;
    struct arena *a;
    struct use *uses;
    size_t n, cap;
    unsigned depth, second_looks;
    unsigned arith;      /* enclosing arithmetic levels */
    unsigned backquotes; /* enclosing `...`: 0 or 1 */
    bool is_number;      /* the current command reads its words as arithmetic */
    const char *doubt;   /* why a use cannot be replaced here; NULL: it can */
    const char *risk;    /* the warning of the current or an enclosing command */
    const char *warning; /* the first warning that applied to a use */
    struct err *e;
};

struct heredoc {
    const char *mark; /* the delimiter, unquoted; in the arena */
    bool is_literal;  /* it was quoted */
    bool is_tabbed;   /* <<- */
    const char *risk;
};

/* Finds every use in the text and how it is quoted; l->uses, in the arena. ST_INVALID says which
 * use cannot be replaced, and where. */
enum status template_lex(struct lexer *l, struct arena *a, const char *text, struct err *e);

/* ---- template_program.c ---- */

/* The meaning of a command's next words. */
enum program_next { NEXT_ANY, NEXT_CODE, NEXT_FILE, NEXT_DATA };

struct language;

/* The words of one command, as far as they were read. */
struct program {
    const struct language *language; /* NULL: the command runs no such program */
    enum program_next next;          /* of the next n_next words */
    unsigned n_next;
    bool is_found; /* the program, or its file, was given */
    bool is_plain; /* after --: no options follow */
};

/* The command's name, without its directory. */
void program_begin(struct program *p, const char *name, size_t n);
/* The warning for a use in the present word, of which n bytes come before the use; NULL: none. */
const char *program_risk(const struct program *p, const char *word, size_t n);
/* The word has ended. */
void program_word(struct program *p, const char *word, size_t n);

/* ---- shared by template_lex.c and template_words.c ---- */

/* Reads a list of commands up to and including `until`, ')' or '`'; '\0': to the end. */
bool lex_command(struct lexer *l, char until);
bool lex_single(struct lexer *l);
bool lex_double(struct lexer *l);
bool lex_backquote(struct lexer *l);
/* At a '$'. is_quoted: inside double quotes or a here-document. */
bool lex_dollar(struct lexer *l, bool is_quoted);
/* Skips a backslash and the character it escapes. */
void lex_escaped(struct lexer *l);

enum arith { ARITH, NO_ARITH, ARITH_BAD };
/* After "((": reads up to and including "))". NO_ARITH, position unchanged: these are subshells. */
enum arith lex_arith(struct lexer *l);

/* After "<<": reads the delimiter. */
bool lex_mark(struct lexer *l, struct heredoc *h);
/* At the first line of the body: skips the body and the delimiter's line. */
bool lex_heredoc(struct lexer *l, const struct heredoc *h);

bool lex_enter(struct lexer *l); /* one level deeper; l->depth-- leaves it */
/* Sets the error that this text cannot be parsed; returns false. */
bool lex_refuse(struct lexer *l, const char *p, const char *what);

#endif

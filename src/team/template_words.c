/*
 * template_words - parses the words of shell commands: which word is a command's name, which
 * commands run their words as code, where a list of commands ends.
 */
#include "team/template_lex.h"

#include <string.h>

enum { HEREDOC_MAX = 16 }; /* here-documents begun on one line */

/* Commands that evaluate their words a second time. The texts are the warnings. */
#define RISK_EVAL "a template value under eval is read as shell code once more"
#define RISK_CODE "a template value in the code given to an interpreter (sh -c) is run as code"
#define RISK_SSH  "a template value given to ssh is read as code by the shell on the other side"
#define RISK_ENV  "a template value in env -S is split into the words of a command"
#define RISK_NAME "a template value as the name of a variable: bash runs the command in a[$(here)]"

enum position { AT_COMMAND, AFTER_WRAPPER, AT_ARGUMENT };

/* One list of commands: the whole text, or the inside of $(...) or `...`. */
struct list {
    const char *word;  /* where the current word begins; NULL: between words */
    const char *risk;  /* the enclosing list */
    size_t pipe_uses;  /* uses before the current pipeline */
    size_t test_uses;  /* uses before [[; SIZE_MAX: not in [[ ]] */
    size_t n_heredocs; /* here-documents whose bodies are still to come */
    struct heredoc heredocs[HEREDOC_MAX];
    unsigned open, cases; /* open brackets, case ... esac */
    enum position position;
    struct program program; /* of awk, sed, jq */
    char flag;              /* the option letter that makes the command run its words as code */
    bool is_flag_number;    /* the option letter that makes its words arithmetic */
    bool is_naming;         /* its words are names of variables */
    bool may_name;          /* some of its words may be names of variables */
    bool is_env;            /* its wrapper is env */
    bool is_env_split;      /* the next word is that of env -S */
    bool is_list;           /* in a=( ... ), a list of values */
    bool is_shell;          /* it reads code from standard input */
    bool is_piped;          /* it comes after a | */
    bool is_in_due;         /* "in" of a case is still to come */
    bool is_target;         /* the next word is the target of a redirection */
    bool is_test_number;    /* an arithmetic operator was seen in [[ ]] */
    bool is_number;         /* the enclosing list: its words are arithmetic */
};

static bool
is_word(const char *p, size_t n, const char *const *list)
{
    for (; *list; list++)
        if (strlen(*list) == n && !memcmp(*list, p, n))
            return true;
    return false;
}
#define IS(p, n, ...) is_word(p, n, (const char *const[]){ __VA_ARGS__, NULL })

static bool
is_assignment(const char *p, size_t n)
{
    size_t name = strspn(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");

    return name && name < n && (p[name] == '=' || p[name] == '[' || p[name] == '+') &&
           (p[0] < '0' || p[0] > '9');
}

/* Does this shell, in a pipeline, read commands from the pipe? */
static bool
reads_stdin(const struct lexer *l)
{
    const char *p = l->p;

    while (p < l->end && (*p == ' ' || *p == '\t'))
        p++;
    return p == l->end || strchr("\n;&|)-", *p);
}

/* Does the command take names of variables? True too when the command itself is not known. */
static bool
takes_names(const char *p, size_t n)
{
    return IS(p, n, "printf", "wait", "unset", "let", "test", "[") || strcspn(p, "$`\"'\\*?[") < n;
}

/* "/bin/sh" is sh. */
static void
drop_directory(const char **p, size_t *n)
{
    for (const char *s; (s = memchr(*p, '/', *n)); *p = s + 1)
        *n -= (size_t)(s + 1 - *p);
}

struct risky {
    const char *name;
    char flag; /* 0: always */
    const char *risk;
};

/* The warning for a command that runs its words, or the words after an option, as code; NULL:
 * none. */
static const struct risky *
find_risky(const char *p, size_t n)
{
    static const struct risky risky[] = {
        { "eval", 0, RISK_EVAL },     { "ssh", 0, RISK_SSH },       { "sh", 'c', RISK_CODE },
        { "bash", 'c', RISK_CODE },   { "dash", 'c', RISK_CODE },   { "zsh", 'c', RISK_CODE },
        { "ksh", 'c', RISK_CODE },    { "fish", 'c', RISK_CODE },   { "su", 'c', RISK_CODE },
        { "ash", 'c', RISK_CODE },    { "python", 'c', RISK_CODE }, { "python3", 'c', RISK_CODE },
        { "perl", 'e', RISK_CODE },   { "ruby", 'e', RISK_CODE },   { "node", 'e', RISK_CODE },
        { "php", 'r', RISK_CODE },    { "trap", 0, RISK_EVAL },     { "$SHELL", 'c', RISK_CODE },
        { "script", 'c', RISK_CODE }, { "flock", 'c', RISK_CODE },  { "runuser", 'c', RISK_CODE },
    };

    if (n > 1 && *p == '\\') { /* \sh is sh without an alias */
        p++;
        n--;
    }
    if (n > 2 && (*p == '"' || *p == '\'') && p[n - 1] == *p) {
        p++;
        n -= 2;
    }
    drop_directory(&p, &n);
    for (size_t i = 0; i < sizeof risky / sizeof *risky; i++)
        if (strlen(risky[i].name) == n && memcmp(risky[i].name, p, n) == 0)
            return &risky[i];
    return NULL;
}

static void
command_word(struct lexer *l, struct list *c, const char *p, size_t n)
{
    const struct risky *risky = find_risky(p, n);
    /* builtins of bash that evaluate words, or names with [subscripts], as arithmetic */
    static const struct {
        const char *name;
        char flag;
    } numbers[] = {
        { "let", 0 },       { "unset", 0 },  { "declare", 'i' }, { "local", 'i' },
        { "typeset", 'i' }, { "test", 'v' }, { "[", 'v' },
    };

    c->position = AT_ARGUMENT;
    c->is_naming = IS(p, n, "declare", "typeset", "local", "export", "readonly", "read",
                      "readarray", "mapfile", "getopts");
    c->may_name = c->is_naming || takes_names(p, n);
    drop_directory(&p, &n);
    program_begin(&c->program, p, n);
    if (risky) {
        c->flag = risky->flag;
        c->is_flag_number = false;
        c->is_shell = risky->flag == 'c' && risky->name[strlen(risky->name) - 1] == 'h';
        if (!c->flag)
            l->risk = risky->risk;
        if (c->is_shell && c->is_piped && l->n > c->pipe_uses && !l->warning && reads_stdin(l))
            l->warning = RISK_CODE;
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (strlen(numbers[i].name) != n || memcmp(numbers[i].name, p, n) != 0)
            continue;
        c->flag = numbers[i].flag;
        c->is_flag_number = true;
        if (!c->flag)
            l->is_number = true;
    }
}

/* Does this option of env, "-iS" or "--split-string", make the next text a command? */
static bool
is_env_split(const char *p, size_t n)
{
    static const char split[] = "--split-string";

    if (n < 2 || p[0] != '-')
        return false;
    if (p[1] == '-')
        return n >= strlen(split) && !memcmp(p, split, strlen(split));
    for (size_t i = 1; i < n && p[i] != 'u' && p[i] != 'C'; i++)
        if (p[i] == 'S')
            return true;
    return false;
}

static bool
is_wrapper(const char *p, size_t n)
{
    drop_directory(&p, &n);
    return IS(p, n, "sudo", "doas", "env", "exec", "command", "builtin", "nohup", "nice", "timeout",
              "xargs", "setsid", "stdbuf", "ionice", "chroot");
}

static void
end_word(struct lexer *l, struct list *c)
{
    const char *p = c->word;

    if (!p)
        return;
    c->word = NULL;
    size_t n = (size_t)(l->p - p);
    if (c->is_target) {
        c->is_target = false;
        return;
    }
    if (c->test_uses != SIZE_MAX) {
        if (IS(p, n, "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v"))
            c->is_test_number = true;
        if (IS(p, n, "]]")) {
            for (size_t i = c->test_uses; i < l->n && c->is_test_number; i++)
                l->uses[i].is_number = true;
            c->test_uses = SIZE_MAX;
            c->position = AT_ARGUMENT;
        }
        return;
    }
    c->is_env_split = false;
    if (c->position == AFTER_WRAPPER && !(*p == '-' || (*p >= '0' && *p <= '9')))
        c->position = AT_COMMAND;
    switch (c->position) {
    case AT_COMMAND:
        if (is_assignment(p, n) || IS(p, n, "if", "then", "else", "elif", "do", "while", "until",
                                      "!", "{", "time", "fi", "done", "}"))
            return;
        if (is_wrapper(p, n)) {
            c->position = AFTER_WRAPPER;
            c->is_env = n >= 3 && !memcmp(p + n - 3, "env", 3);
        } else if (IS(p, n, "case")) {
            c->cases++;
            c->is_in_due = true;
            c->position = AT_ARGUMENT;
        } else if (IS(p, n, "esac")) {
            c->cases -= c->cases > 0;
            c->position = AT_ARGUMENT;
        } else if (IS(p, n, "[[")) {
            c->test_uses = l->n;
            c->is_test_number = false;
        } else {
            command_word(l, c, p, n);
        }
        return;
    case AFTER_WRAPPER:
        c->is_env_split = c->is_env && is_env_split(p, n);
        return;
    case AT_ARGUMENT:
        if (c->is_in_due && IS(p, n, "in")) {
            c->is_in_due = false;
            c->position = AT_COMMAND; /* a pattern, or esac */
        }
        program_word(&c->program, p, n);
        if (IS(p, n, "-exec", "-execdir", "-ok", "-okdir")) { /* of find */
            c->position = AT_COMMAND;
            return;
        }
        const struct risky *inner = find_risky(p, n); /* find -exec sh -c, docker exec x sh -c */
        if (inner && inner->flag) {
            c->flag = inner->flag;
            c->is_flag_number = false;
        }
        if (c->flag && n > 1 && p[0] == '-' && p[1] != '-' && memchr(p, c->flag, n)) {
            if (c->is_flag_number)
                l->is_number = true;
            else
                l->risk = RISK_CODE;
        }
        return;
    }
}

static void
end_command(struct lexer *l, struct list *c)
{
    end_word(l, c);
    c->is_target = false;
    if (c->test_uses != SIZE_MAX)
        return; /* && and || in [[ ]] */
    c->position = AT_COMMAND;
    c->flag = '\0';
    c->is_naming = c->may_name = c->is_shell = c->is_piped = c->is_env = c->is_env_split = false;
    c->program = (struct program){ 0 };
    l->risk = c->risk;
    l->is_number = c->is_number;
}

static bool
lex_newline(struct lexer *l, struct list *c)
{
    bool is_good = true;

    end_command(l, c);
    c->pipe_uses = l->n;
    l->p++;
    for (size_t i = 0; i < c->n_heredocs && is_good; i++)
        is_good = lex_heredoc(l, &c->heredocs[i]);
    c->n_heredocs = 0;
    return is_good;
}

/* At one of ; & | ( ) < > */
static bool
lex_operator(struct lexer *l, struct list *c)
{
    char op = *l->p, next = l->p + 1 < l->end ? l->p[1] : '\0';

    if (op == '&' && next == '>') { /* &>file of bash */
        end_word(l, c);
        l->p++;
        return true;
    }
    if (op == '<' || op == '>') {
        if (c->word && strspn(c->word, "0123456789") >= (size_t)(l->p - c->word))
            c->word = NULL; /* 2>file */
        end_word(l, c);
        if (op != '<' || next != '<') {
            bool is_pair = next && strchr("&>|", next);
            l->p += is_pair ? 2 : 1;
            c->is_target = next != '(';
            return true;
        }
        l->p += 2;
        if (l->p < l->end && *l->p == '<') { /* <<< word */
            l->p++;
            return true;
        }
        if (l->backquotes)
            return lex_refuse(l, l->p - 2, "a here-document in backquotes (write $(...))");
        if (c->n_heredocs == HEREDOC_MAX)
            return lex_refuse(l, l->p, "too many here-documents");
        struct heredoc *h = &c->heredocs[c->n_heredocs++];
        bool is_good = lex_mark(l, h);
        h->risk = c->is_shell ? RISK_CODE : l->risk;
        return is_good;
    }
    c->is_list =
        op == '(' && c->word && l->p[-1] == '=' && is_assignment(c->word, (size_t)(l->p - c->word));
    end_command(l, c);
    l->p++;
    switch (op) {
    case '|':
        c->is_piped = next != '|';
        if (next == '|') {
            l->p++;
            c->pipe_uses = l->n;
        }
        break;
    case '(':
        if (next == '(') {
            l->p++;
            enum arith found = lex_arith(l);
            if (found == ARITH_BAD)
                return false;
            if (found == ARITH)
                break;
            l->p--;
        }
        c->open++;
        break;
    case ')':
        c->open -= c->open > 0;
        break;
    default:
        c->pipe_uses = l->n;
    }
    return true;
}

/* Does the current word begin like a[, where a variable's name may be, or, in a list of values,
 * like [? Then arithmetic follows. Elsewhere [ begins a pattern or text. */
static bool
is_in_subscript(const struct list *c, size_t n)
{
    const char *open = n ? memchr(c->word, '[', n) : NULL;

    if (!open || memchr(open, ']', n - (size_t)(open - c->word)))
        return false;
    if (open == c->word)
        return c->is_list;
    return (c->position != AT_ARGUMENT || c->may_name) && is_assignment(c->word, n) &&
           !memchr(c->word, '=', (size_t)(open - c->word));
}

/* The warning for a variable in the current word, by how the word begins; NULL: none. */
static const char *
word_risk(const struct list *c, const char *word, size_t n)
{
    static const char *const run[] = { "PS4=", "ENV=", "BASH_ENV=", "PROMPT_COMMAND=" };

    for (size_t i = 0; i < sizeof run / sizeof *run; i++)
        if (n >= strlen(run[i]) && !memcmp(word, run[i], strlen(run[i])))
            return RISK_EVAL;
    if (c->is_env_split || (c->position == AFTER_WRAPPER && c->is_env && is_env_split(word, n)))
        return RISK_ENV;
    if (c->position == AT_ARGUMENT && !c->is_target && program_risk(&c->program, word, n))
        return program_risk(&c->program, word, n);
    return c->is_naming && !memchr(word, '=', n) ? RISK_NAME : NULL;
}

/* One piece of a word: a quoted part, a substitution, or a character. */
static bool
lex_piece(struct lexer *l, struct list *c)
{
    size_t n = (size_t)(l->p - c->word);
    const char *risk = l->risk, *more = word_risk(c, c->word, n);
    bool is_number = l->is_number, is_good = true;

    l->is_number |= is_in_subscript(c, n);
    if (more)
        l->risk = more;
    switch (*l->p) {
    case '\\':
        lex_escaped(l);
        break;
    case '$':
        is_good = lex_dollar(l, false);
        break;
    case '\'':
        l->p++;
        is_good = lex_single(l);
        break;
    case '"':
        l->p++;
        is_good = lex_double(l);
        break;
    case '`':
        l->p++;
        is_good = lex_backquote(l);
        break;
    default:
        l->p++;
    }
    l->risk = risk;
    l->is_number = is_number;
    return is_good;
}

/* Reads up to and including `until`; '\0': to the end. */
bool
lex_command(struct lexer *l, char until)
{
    struct list c = {
        .test_uses = SIZE_MAX, .pipe_uses = l->n, .risk = l->risk, .is_number = l->is_number
    };
    const char *open = l->p;
    bool is_good = lex_enter(l), is_closed = !until;

    while (is_good && l->p < l->end) {
        char ch = *l->p;
        if (ch == ')')
            end_word(l, &c); /* it may be esac */
        if (ch == until && (until == '`' || (!c.open && !c.cases))) {
            is_closed = true;
            break;
        }
        if (ch == ' ' || ch == '\t') {
            end_word(l, &c);
            l->p++;
            continue;
        }
        if (ch == '\n') {
            is_good = lex_newline(l, &c);
            continue;
        }
        if (strchr(";&|()<>", ch)) {
            is_good = lex_operator(l, &c);
            continue;
        }
        if (ch == '#' && !c.word) {
            while (l->p < l->end && *l->p != '\n' && !(l->backquotes && *l->p == '`'))
                l->p++;
            continue;
        }
        if (ch == '\\' && l->p + 1 < l->end && l->p[1] == '\n') {
            l->p += 2;
            continue;
        }
        if (!c.word)
            c.word = l->p;
        is_good = lex_piece(l, &c);
    }
    if (is_good)
        end_command(l, &c);
    if (is_good && !is_closed)
        is_good =
            lex_refuse(l, open - 1,
                       until == '`' ? "a backquote that is not closed" : "a $( that is not closed");
    if (until)
        l->p++;
    l->depth--;
    l->risk = c.risk;
    l->is_number = c.is_number;
    return is_good;
}

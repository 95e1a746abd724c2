/*
 * arg - what an argument may be: its name, kind, limits and a line for people.
 *
 * The operations of the hub (ops.def), the streams and teams of the server, and the tools of MCP
 * are tables of these. A request is checked against its table (args.h), and its JSON Schema is made
 * from it (arg_schema.h), so /openapi.json, the tools and the errors say the same.
 *
 * Tests: test/unit/test_hub_query.c test/unit/test_arg_schema.c
 */
#ifndef CLIQ_HUB_MODEL_ARG_H
#define CLIQ_HUB_MODEL_ARG_H

#include <stdbool.h>

/* What an argument may be. A query has only texts: there "20" is a number, "a,b" a list. */
enum hub_arg_kind {
    ARG_TEXT,           /* 1 to 4,096 bytes, no NUL */
    ARG_STRING,         /* any text */
    ARG_TRIMMED,        /* a text that is not empty without the blanks around it */
    ARG_NAME,           /* 1 to 64 of A-Z a-z 0-9 . _ -, also with @ before it */
    ARG_ID,             /* of a signal, with or without "signal:" */
    ARG_INT,            /* min to max */
    ARG_NUMBER,         /* min to max */
    ARG_FLAG,           /* true or false */
    ARG_TIME,           /* hub/model/time_arg.h */
    ARG_WORD,           /* one of words */
    ARG_WORDS,          /* a list of them */
    ARG_TEXTS,          /* a list of texts */
    ARG_LIST,           /* any list */
    ARG_OBJECT,         /* any object */
    ARG_TEXT_OR_OBJECT, /* either */
    ARG_SOURCE,         /* hub/model/hub_event.h, or its type alone */
    ARG_SIGNALS,        /* a list of what emit takes */
    ARG_ANY,
};

/* A list of them ends with name NULL. */
struct hub_arg {
    const char *name;
    enum hub_arg_kind kind;
    double min, max;
    const char *words; /* "now recent": with one blank between them */
    bool is_required;
    const char *brief;
};

/* For tables of them. */
#define A_TEXT           .kind = ARG_TEXT
#define A_STRING         .kind = ARG_STRING
#define A_TRIMMED        .kind = ARG_TRIMMED
#define A_NAME           .kind = ARG_NAME
#define A_ID             .kind = ARG_ID
#define A_INT(lo, hi)    .kind = ARG_INT, .min = (lo), .max = (hi)
#define A_NUMBER(lo, hi) .kind = ARG_NUMBER, .min = (lo), .max = (hi)
#define A_FLAG           .kind = ARG_FLAG
#define A_TIME           .kind = ARG_TIME
#define A_WORD(list)     .kind = ARG_WORD, .words = list
#define A_WORDS(list)    .kind = ARG_WORDS, .words = list
#define A_TEXTS          .kind = ARG_TEXTS
#define A_LIST           .kind = ARG_LIST
#define A_OBJECT         .kind = ARG_OBJECT
#define A_TEXT_OR_OBJECT .kind = ARG_TEXT_OR_OBJECT
#define A_SOURCE         .kind = ARG_SOURCE
#define A_SIGNALS        .kind = ARG_SIGNALS
#define A_ANY            .kind = ARG_ANY

#endif

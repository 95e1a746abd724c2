/*
 * args - the arguments of a request, checked: each call reads one member, or refuses the request
 * with a sentence that names the member and its wrong value.
 *
 * A table (ops.def for the hub's operations) lists the members, their kinds and limits: args_known
 * refuses members that are not in it, and the other calls check against it. Reading a member that
 * is not in the table, or as another kind, is a bug. A query's values are texts: with `is_query`,
 * "20" counts as 20 and "a,b" as ["a","b"]; in a body a wrong type is refused.
 */
#ifndef CLIQ_HUB_MODEL_ARGS_H
#define CLIQ_HUB_MODEL_ARGS_H

#include "hub/model/decide.h"

struct args_in {
    const struct json *object;
    const struct hub_arg *known;
    const struct hub_arg *last; /* the last one found; NULL: none */
    bool is_query;
    const char *code;   /* of refusals; NULL: VALIDATION_… */
    const char *prefix; /* before names in sentences: "signals[3]." or "" */
    int64_t now_ms;
    struct arena *arena;
    struct refusal *refusal;
};

/* Refuses an unknown member, and suggests the one that may be meant. null counts as absent. `what`
 * is the operation: "emit". */
bool args_known(struct args_in *in, const char *what);
/* Refuses a number, however deep, that readers in other languages die of: Python takes integers of
 * up to 4,300 digits; JavaScript, and most others, only what a double holds. */
bool args_numbers(struct args_in *in);

/* All: true with *out as it was when the member is absent or null. */
bool arg_text(struct args_in *in, const char *key, const char **out); /* not empty, no NUL */
/* Without the blanks around it; blanks alone count as absent. */
bool arg_trimmed(struct args_in *in, const char *key, const char **out);
bool arg_name(struct args_in *in, const char *key, const char **out); /* path_is_name */
bool arg_id(struct args_in *in, const char *key, const char **out);   /* bare */
bool arg_int(struct args_in *in, const char *key, int64_t *out);
bool arg_number(struct args_in *in, const char *key, double *out);
bool arg_flag(struct args_in *in, const char *key, enum hub_event_flag *out);
bool arg_texts(struct args_in *in, const char *key, const struct json **out); /* a list */
/* A value of the JSON type that its kind says. */
bool arg_json(struct args_in *in, const char *key, const struct json **out);
bool arg_time(struct args_in *in, const char *key, int64_t *out); /* hub/model/time_arg.h */
bool arg_word(struct args_in *in, const char *key, const char **out);

bool arg_missing(struct args_in *in, const char *key); /* refuses */
bool arg_wrong(struct args_in *in, const char *key, const char *what);

#endif

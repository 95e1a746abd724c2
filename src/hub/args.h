/*
 * args - the arguments of a request, checked: each call takes one member, or refuses the
 * request with a sentence that names it and the value that is wrong.
 *
 * Members that nobody asks for are ignored. A query's values are texts, so where `is_query`,
 * "20" is as good as 20, and "a,b" as ["a","b"]; in a body a wrong type is refused.
 */
#ifndef CLIQ_HUB_ARGS_H
#define CLIQ_HUB_ARGS_H

#include "hub/decide.h"

struct args_in {
    const struct json *object;
    bool is_query;
    const char *code;   /* of refusals; NULL: VALIDATION_… */
    const char *prefix; /* before names in sentences: "signals[3]." or "" */
    int64_t now_ms;
    struct arena *arena;
    struct refusal *refusal;
};

/* All: true with *out as it was when the member is absent or null. */
bool arg_text(struct args_in *in, const char *key, const char **out); /* not empty, no NUL */
bool arg_name(struct args_in *in, const char *key, const char **out); /* path_is_name */
bool arg_id(struct args_in *in, const char *key, const char **out);   /* bare */
bool arg_int(struct args_in *in, const char *key, int64_t min, int64_t max, int64_t *out);
bool arg_number(struct args_in *in, const char *key, double min, double max, double *out);
bool arg_flag(struct args_in *in, const char *key, enum event_flag *out);
bool arg_list(struct args_in *in, const char *key, const struct json **out); /* of texts */
bool arg_typed(struct args_in *in, const char *key, enum json_type type, const struct json **out);
/* hub/when.h */
bool arg_time(struct args_in *in, const char *key, int64_t *out);
/* One of these words; the last is NULL. */
bool arg_word(struct args_in *in, const char *key, const char *const *words, const char **out);

bool arg_missing(struct args_in *in, const char *key); /* refuses */
bool arg_wrong(struct args_in *in, const char *key, const char *what);

#endif

/*
 * source - who a signal comes from.
 *
 *     {"type":"system"}                      cliq itself
 *     {"type":"agent","id":"builder"}        the id is required
 *     {"type":"webhook","id":"github"}       the id may be left out
 *     {"type":"process","id":"ci-4711"}      the id may be left out
 */
#ifndef CLIQ_HUB_MODEL_SIGNAL_SOURCE_H
#define CLIQ_HUB_MODEL_SIGNAL_SOURCE_H

#include "base/json.h"
#include "hub/model/text.h"

enum signal_source_kind { SOURCE_SYSTEM, SOURCE_AGENT, SOURCE_WEBHOOK, SOURCE_PROCESS };

struct signal_source { /* zero: the system */
    enum signal_source_kind kind;
    struct text id; /* trimmed; length 0: none */
};

/* Strict: a key that is not named above is ST_INVALID, as is an id that is not UTF-8. Ids are
 * trimmed. Borrows from v, which may be NULL: the system. */
enum status signal_source_read(const struct json *v, struct signal_source *out, struct err *e);
/* A kind alone, by its name. */
enum status
signal_source_read_kind(const struct json *v, enum signal_source_kind *out, struct err *e);
/* Borrows from s; NULL when memory is out. */
struct json *signal_source_json(struct arena *a, const struct signal_source *s);

#endif

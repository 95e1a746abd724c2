/*
 * handoff - the envelope one phase leaves for another: channels/<from>--<to>/handoff.json.
 *
 *     {"version":1,"phase_type":"standard","phase":"analyzer","agent":"cursor",
 *      "data":{…},"text":"…"}
 *
 * Written by temp file + rename, so a reader sees an old or a new one, whole. A person
 * may edit it: what stands in the file is what the next phase reads.
 */
#ifndef CLIQ_CONTEXT_HANDOFF_H
#define CLIQ_CONTEXT_HANDOFF_H

#include "base/json.h"

struct handoff {
    const char *phase_type, *phase, *agent; /* "standard", "gate" or "team" */
    const struct json *data;                /* NULL: none */
    const char *text;                       /* NULL: none */
    size_t text_len;
};

/* Writes handoff.json into the channel directory `channel` (an absolute path), which is
 * made when it is not there. */
enum status handoff_write(const char *channel, const struct handoff *h, struct err *e);
/* Reads it; strings go into the arena. ST_NOT_FOUND when there is none; ST_INVALID with
 * file:line:column when it is not an envelope. */
enum status handoff_read(struct arena *a, const char *channel, struct handoff *h, struct err *e);
/* The envelope as a tree, and as text for a prompt: data as JSON, then text. */
struct json *handoff_json(struct arena *a, const struct handoff *h);
void handoff_render(struct buf *to, const struct handoff *h);

#endif

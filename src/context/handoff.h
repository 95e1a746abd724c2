/*
 * handoff - the envelope one phase leaves for another: channels/<from>--<to>/handoff.json.
 *
 *     {"version":1,"phase_type":"standard","phase":"analyzer","agent":"cursor",
 *      "data":{…},"text":"…"}
 *
 * The file is written by temp file + rename, so a reader sees the old or the new envelope, whole. A
 * person may edit it: the next phase reads the file as it is.
 */
#ifndef CLIQ_CONTEXT_HANDOFF_H
#define CLIQ_CONTEXT_HANDOFF_H

#include "base/field.h"
#include "base/json.h"

/* The members, in the order in which they are written; the last row has a NULL key. */
extern const struct field handoff_fields[];

struct handoff {
    const char *phase_type, *phase, *agent; /* "standard", "gate" or "team" */
    const struct json *data;                /* NULL: none */
    const char *text;                       /* NULL: none */
    size_t text_len;
};

/* Writes handoff.json into the channel directory `channel` (an absolute path), which is created
 * when missing. */
enum status handoff_write(const char *channel, const struct handoff *h, struct err *e);
/* Reads handoff.json; strings go into the arena. ST_NOT_FOUND: there is no such file.
 * ST_INVALID, with file:line:column: it is not an envelope. */
enum status handoff_read(struct arena *a, const char *channel, struct handoff *h, struct err *e);
/* Is the document an envelope? ST_INVALID says why not. */
enum status handoff_check(const struct json *doc, struct err *e);
/* handoff_json: the envelope as a JSON tree. handoff_render: as text for a prompt, first data as
 * JSON, then text. */
struct json *handoff_json(struct arena *a, const struct handoff *h);
void handoff_render(struct buf *to, const struct handoff *h);

#endif

/*
 * render - the JSON of signals: the one place where answers, inboxes, streams and broadcasts get
 * it.
 *
 * Every function appends text to a buf, and a list is many of them in one buf, so no answer is ever
 * built as a tree. Callers that need a tree parse the text (hub_reply_data).
 *
 * A signal is shown from its event, which is in memory when it was just emitted and is parsed from
 * the signal's line otherwise, and from its state:
 *
 *     {"id":"signal:...", "signal_type":..., ... "delivery_state":"pending", ... "created_at":...}
 *
 * Tests: test/unit/test_hub_render.c test/fuzz/fuzz_event.c
 */
#ifndef CLIQ_HUB_REQUEST_RENDER_H
#define CLIQ_HUB_REQUEST_RENDER_H

#include "hub/index/fold.h"

/* thread: NULL when it is the signal's own id. key and value: one member more, "claim_id" or
 * "receipt_state"; value NULL: none. */
void render_signal(struct buf *to, const struct hub_event *ev, const struct item *it,
                   const char *thread, const char *key, const char *value);
/* The same from a row of the index. False: its line is no signal, or no memory; nothing is written.
 */
bool render_row(struct buf *to, const struct signal_row *x, const char *key, const char *value,
                struct arena *scratch);

/* A broadcast: {id, type, source, data?, createdAt}. The event that schedules one gives the delayed
 * signal: also deliverAt, repeatKey? and updatedAt. */
void render_broadcast(struct buf *to, const struct hub_event *ev, bool with_content);
/* The same from the text of its line, which may be NULL. False as for render_row. */
bool
render_broadcast_line(struct buf *to, const char *line, bool with_content, struct arena *scratch);

/* One member of an object. */
void render_text(struct buf *to, const char *key, const char *s); /* NULL: null */
void render_time(struct buf *to, const char *key, int64_t ms);    /* ISO 8601; 0: null */
void render_id(struct buf *to, const char *key, const char *id);  /* with "signal:"; NULL: null */
void render_scopes(struct buf *to, const char *key, unsigned scopes);

#endif

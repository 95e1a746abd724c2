/*
 * envelope - the body of an answer. Pure.
 *
 *     {"data":…,"meta":{"request_id":"…","cursor":null}}
 *     {"error":{"code":"…","message":"…","request_id":"…","details":null,"docs_url":"…"}}
 *
 * The broadcast door (/v1/engine/…) has its own: {"ok":true,"signal":…}, {"ok":false,"error":"…"}.
 */
#ifndef CLIQ_SERVE_ENVELOPE_H
#define CLIQ_SERVE_ENVELOPE_H

#include "base/buf.h"
#include "serve/route.h"

void envelope_write(struct buf *to, const struct route *route, const struct hub_reply *reply,
                    const char *request_id);

/* The same for what was refused before it came to the hub; route may be NULL. */
void envelope_refuse(struct buf *to, const struct route *route, const char *code,
                     const char *message, const char *request_id);

#endif

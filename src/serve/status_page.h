/* status_page - how the server is: health, metrics. */
#ifndef CLIQ_SERVE_STATUS_PAGE_H
#define CLIQ_SERVE_STATUS_PAGE_H

#include "serve/reply.h"
#include "serve/serve_impl.h"

void status_page_metrics(struct serve *s, struct buf *to);
/* Answers /health: 200, or 503 with the reason. Looks at the disk, too: an idle server notices that
 * it is full or mounted read-only. */
void status_page_health(const struct reply_to *to);

#endif

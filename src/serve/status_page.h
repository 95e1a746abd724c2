/* status_page - the server's own pages: home, health, metrics. */
#ifndef CLIQ_SERVE_STATUS_PAGE_H
#define CLIQ_SERVE_STATUS_PAGE_H

#include "serve/serve_impl.h"

void status_page_metrics(struct serve *s, struct buf *to);
void status_page_health(struct serve *s, struct buf *to);
extern const char status_page_home[];

#endif

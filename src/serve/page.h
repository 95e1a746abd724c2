/* page - what the server says about itself. */
#ifndef CLIQ_SERVE_PAGE_H
#define CLIQ_SERVE_PAGE_H

#include "serve/serve_impl.h"

void page_metrics(struct serve *s, struct buf *to);
void page_health(struct serve *s, struct buf *to);
extern const char page_home[];

#endif

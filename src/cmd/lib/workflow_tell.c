#include "cmd/lib/workflow_tell.h"

#include <stdio.h>

void
workflow_tell(struct workflow *w)
{
    if (w->said.len)
        fputs(w->said.p, stderr);
    buf_reset(&w->said);
}

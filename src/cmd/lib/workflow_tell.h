/* workflow_tell - prints what is wrong with a workflow on standard error. */
#ifndef CLIQ_CMD_LIB_WORKFLOW_TELL_H
#define CLIQ_CMD_LIB_WORKFLOW_TELL_H

#include "run/workflow.h"

/* Prints `said`, once: it is empty afterwards. */
void workflow_tell(struct workflow *w);

#endif

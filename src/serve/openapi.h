/*
 * openapi - /openapi.json: every route with its arguments, its answers and its errors, made from
 * the tables that the server works by: route.h (and so hub/model/ops.def), schemas.def, and the
 * codes below. Pure.
 */
#ifndef CLIQ_SERVE_OPENAPI_H
#define CLIQ_SERVE_OPENAPI_H

#include "base/buf.h"

void openapi_write(struct buf *to);

#endif

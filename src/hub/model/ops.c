/* ops - ops.def as tables. */
#include "hub/hub.h"

const struct hub_op_info hub_ops[HUB_N_OPS] = {
#define OP(id, name, method, path, scope, writes, answer, brief)                                   \
    [HUB_##id] = { name, method, path, scope, writes, answer, brief },
#include "hub/model/ops.def"
};

/* All arguments in one row: each operation's end where the next operation stands. */
enum {
#define OP(id, ...)         AT_##id,
#define MUST(id, name, ...) AT_##id##_##name,
#define MAY(id, name, ...)  AT_##id##_##name,
#include "hub/model/ops.def"
};

static const struct hub_arg args[] = {
#define OP(...)                   { .name = NULL },
#define MUST(id, arg, what, says) { .name = #arg, what, .is_required = true, .brief = says },
#define MAY(id, arg, what, says)  { .name = #arg, what, .brief = says },
#include "hub/model/ops.def"
    { .name = NULL },
};

const struct hub_arg *
hub_op_args(enum hub_op op)
{
    static const short first[HUB_N_OPS] = {
#define OP(id, ...) [HUB_##id] = AT_##id + 1,
#include "hub/model/ops.def"
    };

    return &args[first[op]];
}

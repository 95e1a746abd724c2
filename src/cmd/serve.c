/* serve - the hub over HTTP. */
#include "serve/serve.h"
#include "base/path.h"
#include "cmd/cmd.h"

#include <string.h>

static const struct opt opts[] = {
    { "listen", OPT_TEXT, "ADDRESS", "a TCP address, default 127.0.0.1:3000; port 0: any free one",
      .is_many = true },
    { "unix", OPT_TEXT, "PATH", "a Unix socket, 0600", .is_many = true },
    { "config", OPT_TEXT, "DIR", "where the signals are; default $CLIQ_HOME, else ~/.cliqrc" },
    { "host", OPT_TEXT, "NAME", "another name that requests may come for", .is_many = true },
    { "allow-elsewhere", OPT_FLAG, NULL, "listen on addresses that are not of this machine alone" },
    { "no-token", OPT_FLAG, NULL, "take no ?token= on streams: a ticket or a header only" },
    { "access-log", OPT_TEXT, "FILE", "a line a request, without keys; - is standard error" },
    { 0 },
};

static const char *const *
list(struct args *a, const char *name)
{
    size_t n;
    const char *const *v = args_many(a, name, &n);
    const char **copy = n ? arena_alloc(&a->arena, (n + 1) * sizeof *copy) : NULL;

    if (copy) {
        memcpy(copy, v, n * sizeof *copy);
        copy[n] = NULL;
    }
    return copy;
}

static enum status
run(const struct args *args, struct err *e)
{
    struct args *a = (struct args *)args; /* its arena only */
    struct buf home = { 0 };
    enum status s = args_text(a, "config") ? ST_OK : path_config(&home, e);

    if (s)
        return s;
    s = serve_run(
        &(struct serve_options){ .config = args_text(a, "config") ? args_text(a, "config") : home.p,
                                 .listen = list(a, "listen"),
                                 .unix_paths = list(a, "unix"),
                                 .extra_hosts = list(a, "host"),
                                 .allows_elsewhere = args_has(a, "allow-elsewhere"),
                                 .refuses_tokens = args_has(a, "no-token"),
                                 .access_log = args_text(a, "access-log") },
        e);
    buf_release(&home);
    return s;
}

const struct cmd cmd_serve = {
    .name = "serve",
    .brief = "serve signals and tasks over HTTP",
    .about =
        "Answers on the store that the commands use, at the same time as they. The first start\n"
        "makes the identity admin and prints its key once. GET /openapi.json tells what can be\n"
        "asked. SIGTERM ends it when what was begun is answered.",
    .opts = opts,
    .run = run,
};

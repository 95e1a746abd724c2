/* serve - the hub over HTTP. */
#define _GNU_SOURCE
#include "serve/serve.h"
#include "base/path.h"
#include "cmd/cmd.h"
#include "proc/proc.h"
#include "team/agent.h"
#include "team/settings.h"

#include <string.h>
#include <unistd.h>

static const struct opt opts[] = {
    { "listen", OPT_TEXT, "ADDRESS", "a TCP address, default 127.0.0.1:3000; port 0: any free one",
      .is_many = true },
    { "unix", OPT_TEXT, "PATH", "a Unix socket, 0600", .is_many = true },
    { "config", OPT_TEXT, "DIR", "where the signals are; default $CLIQ_HOME, else ~/.cliqrc" },
    { "host", OPT_TEXT, "NAME", "another name that requests may come for: that of a reverse proxy",
      .is_many = true },
    { "allow-elsewhere", OPT_FLAG, NULL, "listen on addresses that are not of this machine alone" },
    { "no-token", OPT_FLAG, NULL, "take no ?token= on streams: a ticket or a header only" },
    { "rate", OPT_NUMBER, "N", "requests a second that each key may make; default: any number" },
    { "burst", OPT_NUMBER, "N", "how many of them at once; default: as many as --rate" },
    { "open", OPT_TEXT, "HOW", "open the page as cliq web does: browser, or print its address" },
    { "web-dir", OPT_TEXT, "DIR", "serve the page from this directory, as its files are now" },
    { "access-log", OPT_TEXT, "FILE",
      "a line a request, with its time and without keys; - is standard error" },
    { 0 },
};

enum { RATE_MAX = 1000000 };

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

/* 0 when it is not given; it must not be. */
static enum status
take_count(const struct args *a, const char *name, unsigned *out, struct err *e)
{
    uint64_t n = args_number(a, name, 0);

    if (args_has(a, name) && (n < 1 || n > RATE_MAX))
        return err_set(e, ST_INVALID, "--%s must be from 1 to %d, not %s", name, RATE_MAX,
                       args_text(a, name));
    *out = (unsigned)n;
    return ST_OK;
}

/* By a process of its own: it asks this server. */
static void
start_web(const char *option)
{
    struct arena a = { 0 };
    struct err e;
    struct proc_id id;
    struct proc_spec spec = { .argv = (const char *[]){ agent_self(&a), "web", option, NULL },
                              .env = (const char *const *)environ };

    if (!spec.argv[0] || proc_spawn(&spec, &id, &e) != ST_OK)
        cmd_warn("the page is not opened: cliq web does so");
    arena_release(&a);
}

static void
open_page(void)
{
    start_web(NULL);
}

static void
print_page(void)
{
    start_web("--print");
}

static enum status
take_open(const struct args *a, void (**fn)(void), struct err *e)
{
    const char *how = args_text(a, "open");

    *fn = how && strcmp(how, "print") == 0 ? print_page : how ? open_page : NULL;
    return how && *fn == open_page && strcmp(how, "browser") != 0
               ? err_set(e, ST_INVALID, "--open must be browser or print, not %s", how)
               : ST_OK;
}

static enum status
run(const struct args *args, struct err *e)
{
    struct args *a = (struct args *)args; /* its arena only */
    struct buf home = { 0 };
    unsigned rate = 0, burst = 0;
    void (*on_ready)(void) = NULL;
    enum status s = take_count(a, "rate", &rate, e);

    if (!s)
        s = take_count(a, "burst", &burst, e);
    if (!s)
        s = take_open(a, &on_ready, e);
    if (s)
        return s;
    if (burst && !rate)
        return err_set(e, ST_INVALID, "--burst needs --rate: without it nothing is limited");
    s = args_text(a, "config") ? ST_OK : path_config(&home, e);
    if (s)
        return s;
    const char *config = args_text(a, "config") ? args_text(a, "config") : home.p;
    struct settings settings = { 0 };
    int64_t per_key = 0;
    s = settings_load(&settings, config, e);
    if (s) {
        buf_release(&home);
        return s;
    }
    json_int(settings_get(&settings, "hub.streams_per_key"), &per_key);
    s = serve_run(
        &(struct serve_options){ .config = config,
                                 .retention_ms = settings_ms(&settings, "hub.retention", 0),
                                 .streams_per_key = (unsigned)per_key,
                                 .listen = list(a, "listen"),
                                 .unix_paths = list(a, "unix"),
                                 .extra_hosts = list(a, "host"),
                                 .allows_elsewhere = args_has(a, "allow-elsewhere"),
                                 .refuses_tokens = args_has(a, "no-token"),
                                 .access_log = args_text(a, "access-log"),
                                 .on_ready = on_ready,
                                 .web_dir = args_text(a, "web-dir"),
                                 .rate = rate,
                                 .burst = burst },
        e);
    settings_release(&settings);
    buf_release(&home);
    return s;
}

const struct cmd cmd_serve = {
    .name = "serve",
    .brief = "serve signals and tasks over HTTP",
    .about =
        "Answers on the store that the commands use, at the same time as they, and shows people "
        "the\n"
        "page: runs, what waits for them, signals. cliq web opens it. The first start\n"
        "makes the identity admin; its key is printed to a terminal, and kept in admin.key, which\n"
        "commands send to this server alone. GET /openapi.json tells what can be asked. SIGTERM\n"
        "ends it when what was begun is answered.\n"
        "\n"
        "TLS is a reverse proxy's: it passes the Host on, serve gets that name by --host, and\n"
        "pages at https://NAME may ask, too. It must not buffer answers of type\n"
        "text/event-stream; nginx is told so by each.\n"
        "\n"
        "With --rate, a key that asks more often is answered 429 and told in Retry-After how many\n"
        "seconds to wait; nothing is done for it. All requests without a known key share one such\n"
        "limit, /health among them. A stream counts once, when it begins.\n"
        "\n"
        "It raises its limit of open files as far as it may. When as many connections are open as "
        "that\n"
        "allows, 8192 at most, new ones get 503, and standard error tells it once; some are kept "
        "for\n"
        "/health and for admin keys.\n"
        "\n"
        "A line of the access log is the time, the request's id (X-Request-Id), the caller, "
        "method,\n"
        "path and status. What was no HTTP has a - for method and path.\n"
        "\n"
        "When the disk fails to sync, everything that writes is answered 503, and so is /health,\n"
        "with the reason; the server tries by itself, every 10 s at least, and goes on when it\n"
        "can. When only the index cannot be written (a full disk), /health says so, too, but what\n"
        "is emitted is stored, and streams are told of it as soon as the index can be written.",
    .examples = "cliq serve --listen 127.0.0.1:3000\n"
                "cliq serve --rate 50 --burst 200 --access-log access.log",
    .opts = opts,
    .run = run,
};

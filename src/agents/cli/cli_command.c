/* cli_command - the command line and environment of a CLI agent's program. */
#define _GNU_SOURCE /* environ */
#include "agents/base_url.h"
#include "agents/cli/cli.h"
#include "agents/model_agent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

void
cli_arg(struct cli_command *k, const char *text)
{
    if (!text)
        return;
    if (k->n_args < CLI_ARGS_MAX)
        k->argv[k->n_args++] = text;
    else
        k->is_over = true;
}

void
cli_option(struct cli_command *k, const char *name, const char *value)
{
    if (value) {
        cli_arg(k, name);
        cli_arg(k, value);
    }
}

const char *
cli_format(struct cli_command *k, const char *fmt, ...)
{
    char text[4096];
    va_list args;

    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    const char *kept =
        n >= 0 && (size_t)n < sizeof text ? arena_dup(k->arena, text, (size_t)n) : NULL;
    if (!kept)
        k->is_over = true;
    return kept;
}

void
cli_env(struct cli_command *k, const char *name, const char *value)
{
    if (!value)
        return;
    if (k->n_env < CLI_ENV_MAX)
        k->env[k->n_env++] = cli_format(k, "%s=%s", name, value);
    else
        k->is_over = true;
}

const char *
cli_env_of(const struct cli_command *k, const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < k->n_env; i++)
        if (k->env[i] && strncmp(k->env[i], name, n) == 0 && k->env[i][n] == '=')
            return k->env[i] + n + 1;
    return getenv(name);
}

/* Takes b's text into the arena. */
static const char *
take_text(struct cli_command *k, struct buf *b)
{
    const char *text = buf_failed(b) ? NULL : arena_dup(k->arena, b->p ? b->p : "", b->len);

    k->is_over = k->is_over || !text;
    buf_release(b);
    return text;
}

const char *
cli_openai_url(struct cli_command *k, const struct cli_request *r)
{
    struct buf b = { 0 };

    if (!r->base_url)
        return NULL;
    base_url_openai(&b, r->base_url);
    return take_text(k, &b);
}

const char *
cli_bare_url(struct cli_command *k, const struct cli_request *r, const char *version)
{
    const char *const endings[] = { version, NULL };
    struct buf b = { 0 };

    if (!r->base_url)
        return NULL;
    base_url_without(&b, r->base_url, endings);
    return take_text(k, &b);
}

void
cli_file(struct cli_command *k, const struct context *c, const char *name, const char *text)
{
    char path[256];
    size_t n = strlen(text);
    int len = snprintf(path, sizeof path, "run/%s", name);

    k->is_over = k->is_over || len < 0 || (size_t)len >= sizeof path;
    for (char *slash = strchr(path, '/'); slash && !k->is_over; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        k->is_over = mkdirat(c->state.dir, path, 0700) != 0 && errno != EEXIST;
        *slash = '/';
    }
    int fd = k->is_over ? -1
                        : openat(c->state.dir, path,
                                 O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, text, n) != (ssize_t)n)
        k->is_over = true;
    if (fd >= 0)
        close(fd);
}

void
cli_args_of(struct cli_command *k, const struct context *c, const char *key)
{
    const struct json *v = model_agent_option(c, key);

    if (json_is(v, JSON_STRING))
        cli_arg(k, json_dup_text(k->arena, v));
    json_each (item, v)
        cli_arg(k, json_dup_text(k->arena, item));
}

void
cli_list_option(struct cli_command *k, const char *name, const struct context *c, const char *key)
{
    const struct json *v = model_agent_option(c, key);
    struct buf all = { 0 };

    if (json_is(v, JSON_STRING))
        buf_add(&all, v->text.p, v->text.len);
    json_each (item, v)
        if (json_is(item, JSON_STRING))
            buf_addf(&all, "%s%.*s", all.len ? "," : "", (int)item->text.len, item->text.p);
    if (buf_failed(&all))
        k->is_over = true;
    else if (all.len)
        cli_option(k, name, arena_dup(k->arena, all.p, all.len));
    buf_release(&all);
}

/* ---- starting it ---- */

static bool
is_replaced(const struct cli_command *k, const char *pair)
{
    size_t n = strcspn(pair, "=") + 1;

    for (size_t i = 0; i < k->n_env; i++)
        if (strncmp(k->env[i], pair, n) == 0)
            return true;
    return false;
}

void
cli_build_env(const struct cli_command *k, const char *env[CLI_ENVIRON_MAX + CLI_ENV_MAX + 1])
{
    size_t n = 0;

    for (size_t i = 0; environ[i] && n < CLI_ENVIRON_MAX; i++)
        if (!is_replaced(k, environ[i]))
            env[n++] = environ[i];
    for (size_t i = 0; i < k->n_env; i++)
        env[n++] = k->env[i];
    env[n] = NULL;
}

const char *
cli_find_binary(struct arena *a, const char *names)
{
    const char *path = getenv("PATH");

    for (const char *name = names; name && *name;) {
        size_t n = strcspn(name, "|");
        for (const char *dir = path; dir && *dir;) {
            size_t len = strcspn(dir, ":");
            char full[PATH_MAX];
            snprintf(full, sizeof full, "%.*s/%.*s", (int)len, dir, (int)n, name);
            if (len && access(full, X_OK) == 0)
                return arena_dup(a, name, n);
            dir += len + (dir[len] == ':');
        }
        name += n + (name[n] == '|');
    }
    return arena_dup(a, names, strcspn(names, "|"));
}

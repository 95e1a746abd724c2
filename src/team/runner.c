#include "team/runner.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *ending;
    struct runner runner;
} runners[] = {
    { ".js", { "node", NULL } },
    { ".mjs", { "node", NULL } },
    { ".py", { "python3", NULL } },
    { ".sh", { "sh", NULL } },
    { ".ts", { "node", "--experimental-strip-types" } },
};

bool
runner_has(const char *program)
{
    const char *path = getenv("PATH");
    char full[PATH_MAX];

    if (strchr(program, '/'))
        return access(program, X_OK) == 0;
    while (path && *path) {
        size_t n = strcspn(path, ":");
        snprintf(full, sizeof full, "%.*s/%s", (int)n, path, program);
        if (access(full, X_OK) == 0)
            return true;
        path += n + (path[n] == ':');
    }
    return false;
}

enum status
runner_find(const char *entry, struct runner *out, struct err *e)
{
    const char *dot = strrchr(entry, '.');
    size_t i = 0, n = sizeof runners / sizeof *runners;

    *out = (struct runner){ 0 };
    while (dot && i < n && strcmp(dot, runners[i].ending) != 0)
        i++;
    if (!dot || i == n)
        return ST_OK;
    *out = runners[i].runner;
    if (out->flag && runner_has("tsx"))
        *out = (struct runner){ "tsx", NULL };
    if (!runner_has(out->program))
        return err_set(e, ST_NOT_FOUND, "%s needs the program %s, which is not on PATH", entry,
                       out->program);
    return ST_OK;
}

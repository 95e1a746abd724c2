#define _GNU_SOURCE /* scandirat */
#include "base/tree.h"

#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int
is_entry(const struct dirent *d)
{
    return strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
}

static enum status
empty(int dir, const char *path, int depth, struct err *e)
{
    struct dirent **found = NULL;
    int n = scandirat(dir, ".", &found, is_entry, alphasort);
    enum status s = n < 0 ? err_sys(e, "list %s", path) : ST_OK;

    if (depth > TREE_DEPTH_MAX)
        s = err_set(e, ST_INVALID, "%s is nested too deeply", path);
    for (int i = 0; i < n; i++) {
        const char *name = found[i]->d_name;
        int fd;
        if (!s && unlinkat(dir, name, 0) != 0 && errno != EISDIR && errno != EPERM)
            s = err_sys(e, "remove %s/%s", path, name);
        else if (!s && path_open_dir_at(dir, name, false, &fd, NULL) == ST_OK) {
            s = empty(fd, path, depth + 1, e);
            close(fd);
            if (!s && unlinkat(dir, name, AT_REMOVEDIR) != 0)
                s = err_sys(e, "remove %s/%s", path, name);
        }
        free(found[i]);
    }
    free(found);
    return s;
}

enum status
tree_empty(int dir, const char *path, struct err *e)
{
    return empty(dir, path, 0, e);
}

enum status
tree_remove(int dir, const char *name, struct err *e)
{
    int fd;
    enum status s = path_open_dir_at(dir, name, false, &fd, e);

    if (s)
        return s == ST_NOT_FOUND ? ST_OK : s;
    s = tree_empty(fd, name, e);
    close(fd);
    if (!s && unlinkat(dir, name, AT_REMOVEDIR) != 0)
        s = err_sys(e, "remove %s", name);
    return s;
}

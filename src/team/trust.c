#define _GNU_SOURCE /* scandirat */
#include "team/trust.h"

#include "base/json.h"
#include "base/path.h"
#include "base/sys.h"
#include "team/agent_files.h"
#include "team/team_subs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX = 50 << 20 };

#define LINK_BIT (UINT64_C(1) << 63) /* in the length: a link and a file never hash the same */

/* Hashes a name and its content, each with its length, so that no byte can move from one to the
 * other. */
static void
add(crypto_generichash_state *h, const char *name, const char *text, size_t len, bool is_link)
{
    uint64_t sizes[2] = { strlen(name), len | (is_link ? LINK_BIT : 0) };

    crypto_generichash_update(h, (const unsigned char *)sizes, sizeof sizes);
    crypto_generichash_update(h, (const unsigned char *)name, sizes[0]);
    crypto_generichash_update(h, (const unsigned char *)(text ? text : ""), len);
}

static enum status
add_file(crypto_generichash_state *h, int dir, const char *name, const char *path, struct err *e)
{
    struct buf text = BUF_MAX(FILE_MAX);
    enum status s = path_read_file(dir, name, &text, e);

    if (!s)
        add(h, path, text.p, text.len, false);
    buf_release(&text);
    return s == ST_NOT_FOUND ? ST_OK : s;
}

/* A file of agents/ by its path and content, a link by its path and target. */
static enum status
add_agent_file(void *ctx, const struct agent_file *f, struct err *e)
{
    crypto_generichash_state *h = ctx;
    struct buf text = BUF_MAX(FILE_MAX);
    enum status s = ST_OK;

    if (f->kind == AGENT_FILE_LINK) {
        add(h, f->path, f->target, strlen(f->target), true);
    } else if (f->kind == AGENT_FILE_TEXT) {
        s = path_read_fd(f->fd, f->path, &text, e);
        if (!s)
            add(h, f->path, text.p, text.len, false);
    }
    buf_release(&text);
    return s;
}

/* The project's settings may replace the agents' programs. Errors in the file are reported by
 * settings_load. */
static enum status
add_entries(crypto_generichash_state *h, int dir, struct err *e)
{
    struct buf text = BUF_MAX(FILE_MAX);
    struct arena a = { 0 };
    struct json *settings = NULL;
    enum status s = path_read_file(dir, "settings.json", &text, e);

    if (!s && text.len)
        json_parse(&a, text.p, text.len, &settings, NULL);
    json_each (agent, json_get(settings, "agents")) {
        const struct json *entry = json_get(agent, "entry");
        if (s || !json_is(entry, JSON_STRING))
            continue;
        const char *path = arena_dup(&a, entry->text.p, entry->text.len);
        const char *name = arena_dup(&a, agent->key, agent->key_len);
        if (!path || !name) {
            s = err_nomem(e);
            continue;
        }
        add(h, name, path, entry->text.len, false);
        if (path[0] != '/') /* a missing file will not be started */
            s = add_file(h, dir, path, path, e);
    }
    arena_release(&a);
    buf_release(&text);
    return s == ST_NOT_FOUND ? ST_OK : s;
}

static enum status hash_level(int dir, unsigned depth, char hash[TRUST_HASH_SIZE], struct err *e);

static int
is_name(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

/* The hash of a frame of a team phase, by its name. Others in frames/ hold no programs. */
static enum status
add_frame(crypto_generichash_state *h, int frames, const char *name, unsigned depth, struct err *e)
{
    char hash[TRUST_HASH_SIZE];
    struct stat st;
    int dir =
        SYS_RETRY(sys->openat(frames, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0));

    if (dir < 0)
        return errno == ENOTDIR || errno == ELOOP || errno == ENOENT
                   ? ST_OK
                   : err_sys(e, "open frames/%s", name);
    enum status s = ST_OK;
    if (sys->fstatat(dir, "workflow.yml", &st, AT_SYMLINK_NOFOLLOW) == 0) {
        s = hash_level(dir, depth, hash, e);
        if (!s)
            add(h, name, hash, strlen(hash), false);
    }
    close(dir);
    return s;
}

/* The programs of the teams of team phases. */
static enum status
add_frames(crypto_generichash_state *h, int dir, unsigned depth, struct err *e)
{
    struct dirent **found = NULL;
    int frames =
        SYS_RETRY(sys->openat(dir, "frames", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0));

    if (frames < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? ST_OK
                                                                     : err_sys(e, "open frames");
    int n = scandirat(frames, ".", &found, is_name, alphasort);
    enum status s = n < 0 ? err_sys(e, "list frames") : ST_OK;
    for (int i = 0; i < n; i++) {
        if (!s)
            s = add_frame(h, frames, found[i]->d_name, depth, e);
        free(found[i]);
    }
    free(found);
    close(frames);
    return s;
}

enum status
trust_hash(int dir, char hash[TRUST_HASH_SIZE], struct err *e)
{
    if (sodium_init() < 0)
        return err_set(e, ST_IO, "the crypto library cannot start");
    return hash_level(dir, 0, hash, e);
}

static enum status
hash_level(int dir, unsigned depth, char hash[TRUST_HASH_SIZE], struct err *e)
{
    crypto_generichash_state h;
    unsigned char sum[32];
    enum status s;

    crypto_generichash_init(&h, NULL, 0, sizeof sum);
    s = add_file(&h, dir, "workflow.yml", "workflow.yml", e);
    if (!s)
        s = add_file(&h, dir, "agents.json", "agents.json", e);
    if (!s)
        s = add_entries(&h, dir, e);
    if (!s)
        s = agent_files_walk(dir, add_agent_file, &h, e);
    if (!s && depth < TEAM_DEPTH_MAX)
        s = add_frames(&h, dir, depth + 1, e);
    crypto_generichash_final(&h, sum, sizeof sum);
    sodium_bin2hex(hash, TRUST_HASH_SIZE, sum, sizeof sum);
    return s;
}

static enum status
trust_path(struct buf *to, struct err *e)
{
    enum status s = path_config(to, e);

    if (!s)
        buf_adds(to, "/trusted");
    return s ? s : buf_status(to, "the path", e);
}

enum status
trust_is_known(const char *hash, bool *is_known, struct err *e)
{
    struct buf path = { 0 }, text = BUF_MAX(16 << 20);
    enum status s = trust_path(&path, e);

    *is_known = false;
    if (!s)
        s = path_read_file(AT_FDCWD, path.p, &text, e);
    if (!s)
        *is_known = text.p && strstr(text.p, hash);
    buf_release(&path);
    buf_release(&text);
    return s == ST_NOT_FOUND ? ST_OK : s;
}

enum status
trust_add(const char *hash, const char *what, struct err *e)
{
    struct buf base = { 0 }, line = { 0 };
    bool is_known = false;
    int dir = -1, fd = -1;
    enum status s = trust_is_known(hash, &is_known, e);

    if (s || is_known)
        return s;
    s = path_config(&base, e);
    if (!s)
        s = path_open_dir(base.p, true, &dir, e);
    if (!s) {
        buf_addf(&line, "%s %s\n", hash, what);
        fd = SYS_RETRY(sys->openat(dir, "trusted",
                                   O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
        if (fd < 0 || SYS_RETRY(sys->write(fd, line.p, line.len)) != (ssize_t)line.len ||
            SYS_RETRY(sys->fdatasync(fd)) != 0)
            s = err_sys(e, "write %s/trusted", base.p);
    }
    if (fd >= 0)
        close(fd);
    if (dir >= 0)
        close(dir);
    buf_release(&base);
    buf_release(&line);
    return s;
}

enum status
trust_check(int dir, const char *state_dir, struct err *e)
{
    char hash[TRUST_HASH_SIZE];
    bool is_known = false;
    struct stat st;
    enum status s;

    if (sys->fstat(dir, &st) != 0)
        return err_sys(e, "look at %s", state_dir);
    if (st.st_uid != geteuid())
        return err_set(e, ST_REFUSED, "%s belongs to another user; its programs are not run",
                       state_dir);
    s = trust_hash(dir, hash, e);
    if (!s)
        s = trust_is_known(hash, &is_known, e);
    if (!s && !is_known)
        s = err_set(
            e, ST_REFUSED,
            "you have not trusted the workflow and agents in %s, or those that its settings.json "
            "names instead (they came from elsewhere, or were changed since). Read them, then say: "
            "cliq team trust %s",
            state_dir, state_dir);
    return s;
}

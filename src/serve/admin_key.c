#include "serve/admin_key.h"

#include "base/path.h"
#include "base/sys.h"
#include "hub/api_key.h"
#include "hub/hub.h"
#include "net/own_server.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Writes the admin's key to its file before it is in the store, so that a start that was cut short
 * leaves no store whose key is lost. The next start uses that file, unless the store has the admin
 * already (is_known): then the key may have been revoked. */
static enum status
keep_key(const char *config, bool is_known, char key[SECRET_KEY_SIZE], struct err *e)
{
    struct buf path = { 0 }, text = { 0 };

    buf_addf(&path, "%s/" OWN_SERVER_KEY, config);
    enum status st = buf_status(&path, "the path", e);
    if (!st && !is_known && path_read_file(AT_FDCWD, path.p, &text, NULL) == ST_OK && text.len) {
        buf_cut(&text, strcspn(text.p, "\n"));
        if (api_key_is(text.p)) {
            snprintf(key, SECRET_KEY_SIZE, "%s", text.p);
            buf_release(&text);
            buf_release(&path);
            return ST_OK;
        }
    }
    api_key_new(key);
    buf_reset(&text);
    buf_addf(&text, "%s\n", key);
    if (!st)
        st = buf_status(&text, "the key", e);
    int fd =
        st ? -1
           : SYS_RETRY(sys->openat(AT_FDCWD, path.p,
                                   O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!st && (fd < 0 || SYS_RETRY(sys->write(fd, text.p, text.len)) != (ssize_t)text.len ||
                SYS_RETRY(sys->fdatasync(fd)) != 0))
        st = err_sys(e, "write %s", path.p);
    if (fd >= 0)
        close(fd);
    buf_release(&text);
    buf_release(&path);
    return st;
}

/* Has the list an element with that id? */
static bool
has_id(const struct json *list, const char *id)
{
    json_each (v, list)
        if (json_eq(json_get(v, "id"), id))
            return true;
    return false;
}

/* Is one of these keys an admin's? */
static bool
has_admin(const struct json *keys)
{
    json_each (k, keys)
        json_each (scope, json_get(k, "scopes"))
            if (json_eq(scope, "admin"))
                return true;
    return false;
}

/* The key itself only to a person: what is not a terminal may be a log that others read. */
static void
tell(const char *config, const char *key)
{
    if (isatty(STDOUT_FILENO))
        printf("made the identity admin; its key, shown this once and kept in %s/" OWN_SERVER_KEY
               ":\n%s\n",
               config, key);
    else
        printf("made the identity admin; its key is in %s/" OWN_SERVER_KEY "\n", config);
}

enum status
admin_key_make(struct hub *hub, const char *config, struct err *e)
{
    struct arena a = { 0 };
    struct json *none = json_new(&a, JSON_OBJECT), *args;
    struct hub_request list = {
        .op = HUB_KEYS, .identity = "admin", .is_admin = true, .args = none
    };
    struct hub_reply reply;
    enum status st = ST_OK;
    static const char wanted[] = "{\"identity\":\"admin\",\"scopes\":[\"admin\"]}";
    char key[SECRET_KEY_SIZE];

    hub_read(hub, &list, &a, &reply);
    if (reply.status < 300 && !has_admin(hub_reply_data(&reply, &a)) &&
        json_parse(&a, wanted, sizeof wanted - 1, &args, NULL)) {
        list.op = HUB_IDENTITIES;
        hub_read(hub, &list, &a, &reply);
        bool is_known = reply.status >= 300 || has_id(hub_reply_data(&reply, &a), "admin");
        st = keep_key(config, is_known, key, e);
        struct hub_request make = { .op = HUB_KEY_CREATE,
                                    .identity = "admin",
                                    .is_admin = true,
                                    .is_system = true,
                                    .args = args,
                                    .new_key = key };
        if (!st)
            hub_submit(hub, &make, 1, &a, &reply);
        if (!st && reply.status >= 300)
            st = err_set(e, ST_IO, "make the first key: %s", reply.message);
        if (!st)
            tell(config, key);
    }
    arena_release(&a);
    return st;
}

#include "agents/connector/unfinished.h"

#include <signal.h>
#include <string.h>

static const int listened[] = { SIGTERM, SIGINT, SIGHUP };
enum { N_LISTENED = sizeof listened / sizeof *listened };

static volatile sig_atomic_t came; /* the signal; a process has one upload at a time */
static struct sigaction before[N_LISTENED];

static void
note_signal(int number)
{
    came = number;
}

/* The path of the phase's record in the state directory; NULL: this is no phase of a run. */
static const char *
record_of(struct connection *x)
{
    return x->c->phase && x->c->state.dir >= 0
               ? connection_text(x, "run/uploads/%.64s.json", x->c->phase)
               : NULL;
}

enum status
unfinished_begin(struct connection *x, struct json *names, struct err *e)
{
    const char *path = record_of(x);
    struct sigaction note = { .sa_handler = note_signal };
    struct buf text = { 0 };
    enum status s = ST_OK;

    if (!json_set(names, "base_url", json_new_copy(x->c->arena, x->base_url, strlen(x->base_url))))
        return err_nomem(e);
    json_write(&text, names);
    if (path)
        s = buf_status(&text, path, e);
    if (path && !s)
        s = state_dir_replace(&x->c->state, path, text.p, text.len, e);
    buf_release(&text);
    came = 0;
    sigemptyset(&note.sa_mask);
    for (size_t i = 0; i < N_LISTENED; i++)
        sigaction(listened[i], &note, &before[i]);
    x->stop = &came;
    return s;
}

void
unfinished_stop_listening(struct connection *x)
{
    if (!x->stop)
        return;
    for (size_t i = 0; i < N_LISTENED; i++)
        sigaction(listened[i], &before[i], NULL);
    x->stop = NULL;
}

enum status
unfinished_end(struct connection *x, enum status s, struct err *e)
{
    const char *path = record_of(x);

    unfinished_stop_listening(x);
    if (path)
        state_dir_remove(&x->c->state, path, NULL);
    if (came && s)
        return err_set(e, ST_CANCELLED, "stopped by signal %d: the upload was aborted", (int)came);
    if (came)
        raise(came);
    return s;
}

const struct json *
unfinished_take(struct connection *x)
{
    const char *path = record_of(x);
    struct buf text = { 0 };
    struct json *doc = NULL;
    enum status s = path ? state_dir_read(&x->c->state, path, &text, NULL) : ST_NOT_FOUND;
    const char *kept = s ? NULL : arena_dup(x->c->arena, text.p ? text.p : "", text.len);

    if (!kept || !json_parse_foreign(x->c->arena, kept, text.len, &doc, NULL) ||
        !json_eq(json_get(doc, "base_url"), x->base_url))
        doc = NULL;
    buf_release(&text);
    if (!s)
        state_dir_remove(&x->c->state, path, NULL);
    return doc;
}

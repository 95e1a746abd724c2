#define _GNU_SOURCE
#include "mcp/claim_thread.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { PROGRESS_MS = 2000 };

struct claim_thread {
    pthread_t thread;
    struct hubclient_options options;
    char *text;
    struct arena arena; /* of the request */
    struct mcp_request request;
    int64_t wait_s, began_ms, progress_at;
    int over; /* an eventfd: it has ended */
    struct cancel cancel;
    bool is_cancelled;
    /* the thread's, until it has ended: */
    struct arena reply_arena;
    struct hub_reply reply;
    enum status status;
    struct err why;
};

/* The task came together with the cancellation. */
static void
release(struct claim_thread *t, struct hubclient *d, struct arena *a)
{
    const struct json *id = json_get(t->reply.data, "id");
    const struct json *claim = json_get(t->reply.data, "claim_id");
    struct json *args = json_new(a, JSON_OBJECT);
    char *id_text = json_dup_text(a, id), *claim_text = json_dup_text(a, claim);
    struct hub_reply reply;

    if (!args || !id_text || !claim_text)
        return;
    json_set(args, "signal_id", json_new_str(a, id_text, strlen(id_text)));
    json_set(args, "claim_id", json_new_str(a, claim_text, strlen(claim_text)));
    hubclient_call(d, a, HUB_RELEASE, args, &reply, NULL);
}

static bool
was_cancelled(struct claim_thread *t)
{
    struct pollfd p = { .fd = t->cancel.fd[0], .events = POLLIN };

    return poll(&p, 1, 0) > 0;
}

static void *
run(void *ctx)
{
    struct claim_thread *t = ctx;
    struct hubclient d;
    struct arena late = { 0 };
    /* hubclient_claim may add wait_seconds */
    struct json *args = (struct json *)(uintptr_t)t->request.args;

    t->status = hubclient_open(&d, &t->options, &t->why);
    if (!t->status)
        t->status =
            hubclient_claim(&d, &t->reply_arena, args, t->wait_s * 1000, &t->reply, &t->why);
    if (!t->status && t->reply.data && was_cancelled(t))
        release(t, &d, &late);
    arena_release(&late);
    hubclient_close(&d);
    eventfd_write(t->over, 1);
    return NULL;
}

static void
free_thread(struct claim_thread *t)
{
    if (t->over >= 0)
        close(t->over);
    if (t->cancel.fd[0] >= 0)
        close(t->cancel.fd[0]);
    arena_release(&t->arena);
    arena_release(&t->reply_arena);
    free(t->text);
    free(t);
}

/* hubclient_claim has its own argument for how long it waits. */
static void
take_wait(struct claim_thread *t)
{
    struct json *args = json_new(&t->arena, JSON_OBJECT);

    json_int(json_get(t->request.args, "wait_seconds"), &t->wait_s);
    json_each (v, t->request.args) {
        struct json *copy = json_new(&t->arena, v->type);
        if (!copy || strcmp(v->key, "wait_seconds") == 0)
            continue;
        *copy = *v;
        copy->next = NULL;
        json_set(args, copy->key, copy);
    }
    t->request.args = args;
}

enum status
claim_thread_begin(struct claim_thread **out, const struct hubclient_options *o,
                   const struct mcp_offer *offer, const char *text, size_t len, struct err *e)
{
    struct claim_thread *t = calloc(1, sizeof *t);
    struct buf none = { 0 };

    if (!t)
        return err_nomem(e);
    *t = (struct claim_thread){ .options = *o,
                                .over = eventfd(0, EFD_CLOEXEC),
                                .cancel.fd = { eventfd(0, EFD_CLOEXEC), -1 },
                                .text = strndup(text, len) };
    t->options.cancel = &t->cancel;
    if (t->over < 0 || t->cancel.fd[0] < 0 || !t->text) {
        free_thread(t);
        return err_set(e, ST_IO, "no memory or no descriptor for a claim that waits");
    }
    mcp_take(offer, &t->arena, t->text, len, &t->request, &none);
    buf_release(&none);
    take_wait(t);
    t->began_ms = clock_mono_ms();
    t->progress_at = t->request.progress ? t->began_ms + PROGRESS_MS : INT64_MAX;
    if (!t->request.args || pthread_create(&t->thread, NULL, run, t) != 0) {
        free_thread(t);
        return err_set(e, ST_IO, "no thread for a claim that waits");
    }
    *out = t;
    return ST_OK;
}

int
claim_thread_fd(const struct claim_thread *t)
{
    return t->over;
}

bool
claim_thread_is(const struct claim_thread *t, const struct json *id)
{
    return json_same(t->request.id, id);
}

void
claim_thread_cancel(struct claim_thread *t)
{
    t->is_cancelled = true;
    t->progress_at = INT64_MAX;
    eventfd_write(t->cancel.fd[0], 1);
}

int64_t
claim_thread_progress_at(const struct claim_thread *t)
{
    return t->progress_at;
}

void
claim_thread_tell_progress(struct claim_thread *t, struct buf *out)
{
    int64_t now = clock_mono_ms();

    t->progress_at = now + PROGRESS_MS;
    mcp_write_progress(t->request.progress, (now - t->began_ms) / 1000, t->wait_s,
                       "no task yet; waiting", out);
}

void
claim_thread_end(struct claim_thread *t, struct buf *out)
{
    pthread_join(t->thread, NULL);
    if (!t->is_cancelled)
        mcp_finish_hub(&t->request, t->status, &t->reply, t->why.text, out);
    free_thread(t);
}

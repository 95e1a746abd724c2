#include "run/review_line.h"

#include "base/clock.h"

#include <string.h>

enum { DAY_MS = 86400000 };

const char *
review_line_state(struct arena *a, const struct json *doc, bool has_ended)
{
    return has_ended && review_is(doc, "open") ? "cancelled" : review_text(a, doc, "state");
}

void
review_line_names(struct arena *a, const struct json *doc, struct buf *to)
{
    size_t n = 0;

    json_each (r, json_get(doc, "reviewers"))
        buf_addf(to, "%s%s", n++ ? ", " : "", review_text(a, r, "identity"));
}

/* With the date where the day is another one than today. */
static void
add_time(const struct json *doc, const char *key, int64_t now_ms, struct buf *to)
{
    char text[CLOCK_ISO_SIZE];
    int64_t ms = 0;

    json_int(json_get(doc, key), &ms);
    clock_iso_ms(text, ms);
    if (ms / DAY_MS != now_ms / DAY_MS)
        buf_addf(to, "%.10s ", text);
    buf_addf(to, "%.8s", text + 11);
}

static void
write_one(struct arena *a, const struct json *doc, bool has_ended, int64_t now_ms, struct buf *to)
{
    const char *id = review_text(a, doc, "id"), *state = review_line_state(a, doc, has_ended);
    const struct json *decides = review_decision(doc);

    buf_addf(to, "Review %s: ", id);
    if (strcmp(state, "open") != 0) {
        buf_addf(to, "%s%s%s\n", state, decides ? " by " : "",
                 decides ? review_text(a, decides, "by") : "");
        return;
    }
    buf_adds(to, "waits for ");
    review_awaited(a, doc, to);
    buf_adds(to, " since ");
    add_time(doc, "created_ms", now_ms, to);
    buf_adds(to, ", until ");
    add_time(doc, "expires_ms", now_ms, to);
    buf_addf(to, ": cliq review show %s\n", id);
}

void
review_line_write(const struct state_dir *f, bool has_ended, int64_t now_ms, struct buf *to)
{
    struct arena a = { 0 };
    struct json *docs;

    if (review_list(f, &a, &docs, NULL) == ST_OK)
        json_each (doc, docs)
            write_one(&a, doc, has_ended, now_ms, to);
    arena_release(&a);
}

static void
key_time(const struct json *doc, const char *from, const char *key, struct buf *to)
{
    char text[CLOCK_ISO_SIZE];
    int64_t ms = 0;

    if (json_int(json_get(doc, from), &ms))
        json_key_str(to, key, clock_iso_ms(text, ms));
}

static void
json_one(struct arena *a, const struct json *doc, bool has_ended, struct buf *to)
{
    const char *state = review_line_state(a, doc, has_ended);
    bool is_open = strcmp(state, "open") == 0;

    json_sep(to);
    json_open(to, '{');
    json_key_str(to, "id", review_text(a, doc, "id"));
    json_key_str(to, "gate", review_text(a, doc, "gate"));
    json_key_str(to, "state", state);
    json_key(to, "reviewers");
    json_open(to, '[');
    json_each (r, json_get(doc, "reviewers")) {
        json_sep(to);
        json_write(to, json_get(r, "identity"));
    }
    json_close(to, ']');
    json_key(to, "awaits");
    json_open(to, '[');
    json_each (r, json_get(doc, "reviewers"))
        if (is_open && !review_has_answer_of(doc, r)) {
            json_sep(to);
            json_write(to, json_get(r, "identity"));
        }
    json_close(to, ']');
    key_time(doc, "created_ms", "since", to);
    key_time(doc, "expires_ms", "until", to);
    json_close(to, '}');
}

void
review_line_json(const struct state_dir *f, bool has_ended, struct buf *to)
{
    struct arena a = { 0 };
    struct json *docs;

    if (review_list(f, &a, &docs, NULL) == ST_OK && json_first(docs)) {
        json_key(to, "reviews");
        json_open(to, '[');
        json_each (doc, docs)
            json_one(&a, doc, has_ended, to);
        json_close(to, ']');
    }
    arena_release(&a);
}

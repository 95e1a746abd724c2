#include "cmd/lib/room_show.h"

#include "base/clock.h"
#include "base/term.h"

#include <stdio.h>
#include <string.h>

static const char *const head[] = { "ROOM", "REF", "STATE", "RETRIES", "MESSAGES", "WAITS FOR" };

enum { COLUMNS = sizeof head / sizeof *head };

static void
cell(struct table *t, const char *text)
{
    table_cell(t, text, strlen(text));
}

struct table
room_show_table(void)
{
    struct table t = { .columns = COLUMNS };

    for (size_t i = 0; i < COLUMNS; i++)
        cell(&t, head[i]);
    return t;
}

static void
add_rooms(struct buf *to, const char *const *rooms, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_addf(to, "%s%s", i ? ", " : "", rooms[i]);
}

void
room_show_waits(const struct room_picture *p, struct buf *to)
{
    if (strcmp(p->state, LIFE_PASSED) == 0) {
        const char *role;
        for (size_t i = 0; (role = room_picture_unsigned(p, i)); i++)
            buf_addf(to, "%s%s", i ? ", " : "the sign-off of ", role);
    } else if (!p->past.has_begun && p->n_waits_for) {
        add_rooms(to, p->waits_for, p->n_waits_for);
    } else if (p->past.is_blocked) {
        add_rooms(to, p->waits_for, p->n_waits_for);
    } else if (strcmp(p->state, ROOM_PENDING) == 0) {
        buf_adds(to, "cliq room run");
    } else if (p->role && p->player.kind == PLAYER_PERSON) {
        buf_addf(to, "a person as %s", p->role);
    } else if (p->role) {
        buf_addf(to, "%s (%s)%s", p->role, p->player.name, p->is_running ? "" : ", not started");
    }
}

void
room_show_row(struct table *t, const struct room_picture *p)
{
    struct buf waits = { 0 };
    char number[64];

    cell(t, p->config.room);
    cell(t, p->config.ref);
    cell(t, p->state);
    snprintf(number, sizeof number, "%u of %u", p->retries, p->lifecycle.max_retries);
    cell(t, number);
    snprintf(number, sizeof number, "%llu", (unsigned long long)p->messages);
    cell(t, number);
    room_show_waits(p, &waits);
    cell(t, waits.p ? waits.p : "");
    buf_release(&waits);
}

/* "from -> to type: first line of the body" */
static void
add_last(struct buf *to, const struct json *m)
{
    static const char *const keys[] = { "from", "to", "type" };
    static const char *const between[] = { "", " -> ", ": " };

    for (size_t i = 0; i < 3; i++) {
        const struct json *v = json_get(m, keys[i]);
        buf_adds(to, between[i]);
        if (json_is(v, JSON_STRING))
            term_escape(to, v->text.p, v->text.len, false);
    }
    const struct json *body = json_get(m, "body");
    if (json_is(body, JSON_STRING) && body->text.len) {
        const char *nl = memchr(body->text.p, '\n', body->text.len);
        size_t n = nl ? (size_t)(nl - body->text.p) : body->text.len;
        buf_adds(to, ", ");
        term_escape(to, body->text.p, n < 100 ? n : 100, false);
    }
}

/* The command that answers, and which other types the state answers to. */
static void
add_answers(struct buf *to, const struct room_picture *p)
{
    const struct life_state *s = life_state_of(&p->past.life);
    const char *type = s->signals[0].type;

    buf_addf(to,
             "\n           cliq channel post --room %s --from %s --to %s --type %s%s --ref %s "
             "--body …",
             p->config.room, p->role, life_receiver(&p->past.life, type), type,
             message_check_type(type, NULL) ? " --any-type" : "", p->config.ref);
    for (size_t i = 1; i < s->n_signals; i++)
        buf_addf(to, "%s%s%s", i == 1 ? "\n           or --type " : ", ", s->signals[i].type,
                 message_check_type(s->signals[i].type, NULL) ? " --any-type" : "");
}

void
room_show_page(const struct room_picture *p, struct buf *to)
{
    char at[CLOCK_ISO_SIZE];
    struct buf waits = { 0 };

    buf_addf(to, "%s  %s", p->config.room, p->config.ref);
    if (strcmp(p->config.title, p->config.ref) != 0) {
        buf_adds(to, "  ");
        term_escape(to, p->config.title, strlen(p->config.title), false);
    }
    buf_addf(to, "\nstate      %s", p->state);
    if (p->since_ms)
        buf_addf(to, ", %s", clock_near(at, p->since_ms, clock_wall_ns() / 1000000));
    buf_addf(to, "\nretries    %u of %u\nroles      ", p->retries, p->lifecycle.max_retries);
    add_rooms(to, p->config.roles.v, p->config.roles.n);
    if (p->config.depends_on.n) {
        buf_adds(to, "\ndepends on ");
        add_rooms(to, p->config.depends_on.v, p->config.depends_on.n);
        buf_addf(to, " (%s)", p->readiness);
    }
    room_show_waits(p, &waits);
    if (waits.len)
        buf_addf(to, "\nwaits for  %s", waits.p);
    if (p->role && p->player.kind == PLAYER_PERSON && p->past.has_begun)
        add_answers(to, p);
    buf_addf(to, "\nmessages   %llu", (unsigned long long)p->messages);
    if (p->bad)
        buf_addf(to, ", and %llu lines that are none", (unsigned long long)p->bad);
    if (p->last) {
        buf_adds(to, "\nlast       ");
        add_last(to, p->last);
    }
    buf_addc(to, '\n');
    buf_release(&waits);
}

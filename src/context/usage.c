#include "context/usage.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MODEL_MAX = 200 };
#define COUNT_MAX INT64_C(1000000000000000)
#define COST_MAX  1e9

const struct field usage_fields[] = {
    { "model", "a text", NULL, "the model, as its vendor calls it" },
    { "input_tokens", "a whole number", "0", "tokens that the model read" },
    { "output_tokens", "a whole number", "0", "tokens that it wrote" },
    { "cached_tokens", "a whole number", "0", "of input_tokens, those from the vendor's cache" },
    { "cache_write_tokens", "a whole number", "0",
      "of input_tokens, those that were written to the vendor's cache" },
    { "cost_usd", "a number", NULL, "the cost in US dollars, when it is known; never a guess" },
    { "cost_usd_min", "a number", NULL, "instead of cost_usd: the part of the cost that is known" },
    { "turns", "a whole number", "0", "turns of the conversation" },
    { "duration_ms", "a whole number", "0", "the time that the model took" },
    { "session_id", "a text", NULL, "the vendor's id of the conversation" },
    { 0 },
};

/* US dollars for a million tokens. most: input tokens of a request; 0: any number. */
struct price {
    const char *model;
    int64_t most;
    double input, cached, written, output;
};

static const struct price price_table[] = {
#define PRICE(model, most, input, cached, written, output)                                         \
    { model, most, input, cached, written, output },
#include "context/prices.def"
#undef PRICE
};

/* ---- JSON ---- */

static int64_t
count_of(const struct json *v, const char *key)
{
    int64_t n = 0;

    return json_int(json_get(v, key), &n) && n > 0 && n < COUNT_MAX ? n : 0;
}

static bool
cost_of(const struct json *v, const char *key, double *usd)
{
    return json_double(json_get(v, key), usd) && *usd >= 0 && *usd < COST_MAX;
}

bool
usage_read(struct arena *a, const struct json *v, struct usage *out)
{
    const struct json *model = json_get(v, "model");

    *out = (struct usage){
        .model = json_is(model, JSON_STRING) && model->text.len <= MODEL_MAX
                     ? json_dup_text(a, model)
                     : NULL,
        .session_id = json_dup_text(a, json_get(v, "session_id")),
        .input_tokens = count_of(v, "input_tokens"),
        .output_tokens = count_of(v, "output_tokens"),
        .cached_tokens = count_of(v, "cached_tokens"),
        .written_tokens = count_of(v, "cache_write_tokens"),
        .turns = count_of(v, "turns"),
        .duration_ms = count_of(v, "duration_ms"),
    };
    out->has_cost = cost_of(v, "cost_usd", &out->cost_usd);
    if (!out->has_cost && !cost_of(v, "cost_usd_min", &out->cost_usd))
        out->cost_usd = 0;
    return out->has_cost || !usage_is_zero(out);
}

static bool
set_text(struct arena *a, struct json *o, const char *key, const char *text)
{
    return !text || json_set(o, key, json_new_copy(a, text, strlen(text)));
}

static bool
set_count(struct arena *a, struct json *o, const char *key, int64_t n)
{
    return n <= 0 || json_set(o, key, json_new_int(a, n));
}

/* A cost to a millionth of a dollar. */
static struct json *
cost_json(struct arena *a, double usd)
{
    struct json *v = json_new(a, JSON_NUMBER);
    char text[64];
    int n = snprintf(text, sizeof text, "%.6f", usd);

    while (n > 1 && text[n - 1] == '0')
        n--;
    n -= text[n - 1] == '.';
    const char *kept = arena_dup(a, text, (size_t)n);
    if (!v || !kept)
        return NULL;
    v->text.p = kept;
    v->text.len = (size_t)n;
    return v;
}

struct json *
usage_json(struct arena *a, const struct usage *u)
{
    struct json *o = json_new(a, JSON_OBJECT);

    return o && set_text(a, o, "model", u->model) &&
                   (usage_is_zero(u) || /* not known */
                    (json_set(o, "input_tokens", json_new_int(a, u->input_tokens)) &&
                     json_set(o, "output_tokens", json_new_int(a, u->output_tokens)))) &&
                   set_count(a, o, "cached_tokens", u->cached_tokens) &&
                   set_count(a, o, "cache_write_tokens", u->written_tokens) &&
                   ((!u->has_cost && u->cost_usd <= 0) ||
                    json_set(o, u->has_cost ? "cost_usd" : "cost_usd_min",
                             cost_json(a, u->cost_usd))) &&
                   set_count(a, o, "turns", u->turns) &&
                   set_count(a, o, "duration_ms", u->duration_ms) &&
                   set_text(a, o, "session_id", u->session_id)
               ? o
               : NULL;
}

/* ---- sums and prices ---- */

bool
usage_is_zero(const struct usage *u)
{
    return !u->input_tokens && !u->output_tokens && !u->has_cost;
}

static const char *
same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0 ? a : NULL;
}

void
usage_key_json(struct buf *to, const char *key, const struct usage *u)
{
    struct arena a = { 0 };

    if (!usage_is_zero(u))
        json_key_json(to, key, usage_json(&a, u));
    arena_release(&a);
}

void
usage_add(struct usage *sum, const struct usage *u)
{
    if (usage_is_zero(u))
        return;
    if (usage_is_zero(sum)) {
        *sum = *u;
        return;
    }
    sum->model = same(sum->model, u->model);
    sum->session_id = same(sum->session_id, u->session_id);
    sum->input_tokens += u->input_tokens;
    sum->output_tokens += u->output_tokens;
    sum->cached_tokens += u->cached_tokens;
    sum->written_tokens += u->written_tokens;
    sum->turns += u->turns;
    sum->duration_ms += u->duration_ms;
    sum->has_cost = sum->has_cost && u->has_cost;
    sum->cost_usd += u->cost_usd;
}

/* "20241022", "2024-10-22" */
static bool
is_date(const char *p)
{
    static const char *const forms[] = { "dddddddd", "dddd-dd-dd" };

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const char *f = forms[i];
        size_t n = 0;
        while (f[n] && (f[n] == 'd' ? p[n] >= '0' && p[n] <= '9' : p[n] == f[n]))
            n++;
        if (!f[n] && !p[n])
            return true;
    }
    return false;
}

/* Is this the row's model, or a dated version of it? "gpt-4o-2024-08-06" is, "gpt-4o-mini" not, and
 * "claude-opus-4-6-20260205" is none of claude-opus-4. */
static bool
is_version_of(const char *model, const char *row)
{
    size_t n = strlen(row);

    if (strncmp(model, row, n) != 0)
        return false;
    return !model[n] || ((model[n] == '-' || model[n] == '@') && is_date(model + n + 1));
}

static bool
price_in_settings(const struct json *prices, const char *model, struct price *out)
{
    const struct json *p = json_get(prices, model);

    if (!json_double(json_get(p, "input"), &out->input) ||
        !json_double(json_get(p, "output"), &out->output))
        return false;
    if (!json_double(json_get(p, "cached_input"), &out->cached))
        out->cached = out->input;
    if (!json_double(json_get(p, "cache_write"), &out->written))
        out->written = out->input;
    return true;
}

/* input: the tokens of one request; -1: those of several, which get the price of the shortest. */
static bool
find_price(const char *model, int64_t input, const struct json *prices, struct price *out)
{
    const char *slash = strrchr(model, '/'); /* "anthropic/claude-sonnet-4" */

    if (price_in_settings(prices, model, out) ||
        (slash && price_in_settings(prices, slash + 1, out)))
        return true;
    for (size_t i = 0; i < sizeof price_table / sizeof *price_table; i++) {
        const struct price *p = &price_table[i];
        if (!is_version_of(slash ? slash + 1 : model, p->model))
            continue;
        if (!p->most || input <= p->most) {
            *out = *p;
            return true;
        }
    }
    return false;
}

static int64_t
at_most(int64_t n, int64_t most)
{
    return n < most ? n : most;
}

static void
price(struct usage *u, int64_t input, const struct json *prices)
{
    struct price p = { 0 };

    if (u->has_cost || !u->model || usage_is_zero(u) || !find_price(u->model, input, prices, &p))
        return;
    int64_t cached = at_most(u->cached_tokens, u->input_tokens);
    int64_t written = at_most(u->written_tokens, u->input_tokens - cached);
    double usd =
        ((double)(u->input_tokens - cached - written) * p.input + (double)cached * p.cached +
         (double)written * p.written + (double)u->output_tokens * p.output) /
        1e6;
    bool is_good = isfinite(usd) && usd >= 0;
    u->has_cost = is_good && (!p.most || input >= 0);
    if (is_good && (u->has_cost || usd > u->cost_usd))
        u->cost_usd = usd;
}

void
usage_price(struct usage *u, const struct json *prices)
{
    price(u, -1, prices);
}

void
usage_price_request(struct usage *u, const struct json *prices)
{
    price(u, u->input_tokens, prices);
}

/* ---- for people ---- */

static void
show_count(struct buf *to, int64_t n)
{
    if (n < 1000)
        buf_addf(to, "%" PRId64, n);
    else if (n < 1000000)
        buf_addf(to, "%.1fk", (double)n / 1e3);
    else
        buf_addf(to, "%.1fM", (double)n / 1e6);
}

static void
show_cost(struct buf *to, double usd)
{
    buf_addf(to, usd < 0.1 ? "$%.4f" : "$%.2f", usd);
}

void
usage_show(struct buf *to, const struct usage *u)
{
    show_count(to, u->input_tokens);
    buf_adds(to, " in, ");
    show_count(to, u->output_tokens);
    buf_adds(to, " out");
    if (u->has_cost || u->cost_usd > 0) {
        buf_adds(to, ", ");
        show_cost(to, u->cost_usd);
    }
    if (!u->has_cost && u->cost_usd > 0)
        buf_adds(to, " or more");
}

void
usage_show_short(struct buf *to, const struct usage *u)
{
    if (u->has_cost || u->cost_usd > 0) {
        show_cost(to, u->cost_usd);
        buf_adds(to, u->has_cost ? "" : "+");
    } else if (!usage_is_zero(u)) {
        show_count(to, u->input_tokens + u->output_tokens);
        buf_adds(to, " tokens");
    }
}

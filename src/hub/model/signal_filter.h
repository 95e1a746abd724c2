/*
 * signal_filter - which signals a subscriber wants. Pure. The server's streams (serve/stream.h)
 * and the client's subscriptions (hubclient/subscription.h) both ask it; what a subscriber may see
 * and what is in its inbox, the hub decides.
 *
 * Tests: test/unit/test_signal_filter.c
 */
#ifndef CLIQ_HUB_MODEL_SIGNAL_FILTER_H
#define CLIQ_HUB_MODEL_SIGNAL_FILTER_H

#include "base/json.h"

struct text_list {
    const char *const *v;
    size_t n;
};

/* Zero wants everything. Of a list one text must fit, and an empty list fits everything. */
struct signal_filter {
    struct text_list types, patterns, tags, rings;
    const char *role; /* the signal is from it or to it; NULL: any */
    double min_urgency;
};

/* The signal as the hub shows it, or as a broadcast {id, type, source, data?, createdAt}. */
bool signal_filter_wants(const struct signal_filter *f, const struct json *signal);
bool signal_filter_is_empty(const struct signal_filter *f);

#endif

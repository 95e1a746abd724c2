/*
 * connector - the frame of the agents that move data between cliq and a service.
 *
 * A connector is data and a few functions:
 *
 *     static const struct connector_action actions[] = {
 *         { "get_issue", get_issue, .needs = NEEDS_REF },
 *         { "add_comment", add_comment, .is_target = true, .needs = NEEDS_REF | NEEDS_FILE },
 *         { 0 },
 *     };
 *     const struct connector connector_jira = { "jira", actions, open_jira, .probe = "/rest/…" };
 *
 * The frame reads the phase's sources and target_entries, checks all of them before the first
 * request, runs the action of each, sources first, and hands on what was moved (connectors.h). An
 * action is called with the entry; it asks the service (connection.h), writes the file and fills
 * the record.
 *
 * Which action: the entry's `action`, else the phase's when it is of the entry's kind, else the
 * connector's first of that kind. A phase whose action is one of sources leaves out targets without
 * an action of their own, and the other way round.
 *
 * Tests: test/unit/test_connectors.c test/scenario/s3.bats
 */
#ifndef CLIQ_AGENTS_CONNECTOR_CONNECTOR_H
#define CLIQ_AGENTS_CONNECTOR_CONNECTOR_H

#include "agents/connector/transfer.h"

struct connection;
struct connection_request;

enum { NEEDS_REF = 1, NEEDS_FILE = 2, NEEDS_URL = 4 };

struct connector_action {
    const char *name;
    enum status (*run)(struct connection *x, const struct transfer *n, struct err *e);
    bool is_target; /* of target_entries; else of sources */
    unsigned needs; /* members that the entry must have */
};

struct connector {
    const char *name;
    const struct connector_action *actions; /* the last name is NULL */
    /* Reads the settings: base_url, headers. Sends nothing. */
    enum status (*open)(struct connection *x, struct err *e);
    /* A new token after an answer of 401; NULL: the keys do not expire. */
    enum status (*renew)(struct connection *x, struct err *e);
    /* Headers that depend on the request, at most CONNECTOR_SIGNED; NULL: there are none. */
    enum status (*sign)(struct connection *x, const struct connection_request *q,
                        const char *method, struct fetch_header *to, size_t *n, struct err *e);
    /* Handles a notify message; NULL: it cannot. */
    enum status (*notify)(struct context *c, struct err *e);
    const char *keys; /* "email api_token": the settings that hold the key; NULL: there are none */
    /* Appends what to do about an answer that is an error; NULL: what the frame says is enough. */
    void (*advise)(struct connection *x, const struct fetch_response *r, struct buf *to);
    const char *probe; /* a path that any valid key may GET: the test message; NULL: none */
    /* Words of an answer of 403 to it that mean: the key is good, but may not do this; NULL: none
     */
    const char *denied;
};

enum { CONNECTOR_SIGNED = 8 };

/* The body of `cliq agent NAME` for a connector. Returns ST_OK or ST_FAILED. */
enum status connector_run(const struct connector *kind, struct err *e);

#endif

/*
 * connectors - the sources and target_entries of a phase, each moved by the connector it names.
 *
 *     struct connectors w;
 *     enum status s = connectors_open(&w, c, e);       reads and checks all entries, sends nothing
 *     s = s ? s : connectors_fetch(&w, e);             sources become files/<phase>/<name>
 *     …                                                the agent does its work
 *     s = s ? s : connectors_deliver(&w, e);           target_entries are sent
 *     … connectors_data(&w), w.text …                  for the handoff, or a prompt
 *     connectors_release(&w);
 *
 * For the connector agents themselves and for agents of another kind: a model gets its material
 * first and its result is delivered afterwards. An entry's connector is its `agent`, else the
 * scheme of its `ref` (`s3://bucket/key`, `jira:PROJ-1`), else curl for a `url`, else the agent of
 * the phase when that is a connector. Settings are agents.<connector>: of the message for the
 * phase's own agent, else of the project.
 *
 * Each entry writes a line to standard output and a progress line. Nothing is fetched for a phase
 * without entries: then all calls succeed and do nothing.
 *
 * Tests: test/unit/test_connectors.c test/scenario/s3.bats
 */
#ifndef CLIQ_AGENTS_CONNECTOR_CONNECTORS_H
#define CLIQ_AGENTS_CONNECTOR_CONNECTORS_H

#include "agents/connector/connection.h"
#include "team/settings.h"

enum { CONNECTORS_MAX = 16 };

struct connectors {
    struct context *c;
    const struct connector *home; /* the agent itself; NULL: it is no connector */
    const char *action;           /* of the phase; NULL: none */
    struct transfers sources, targets;
    struct connection open[CONNECTORS_MAX]; /* as entries need them */
    size_t n_open;
    struct settings settings; /* of the project; has_settings: loaded */
    bool has_settings;
    struct json *got, *sent; /* what was moved, by name */
    struct buf text;         /* a line "- source …" for each */
};

/* ST_INVALID names the entry that is wrong. w can be released whatever the calls return. */
enum status connectors_open(struct connectors *w, struct context *c, struct err *e);
enum status connectors_fetch(struct connectors *w, struct err *e);
enum status connectors_deliver(struct connectors *w, struct err *e);
void connectors_release(struct connectors *w);

/* {"sources":{name:{ref|url,file,size,…}},"targets":{…}}; NULL: out of memory. */
struct json *connectors_data(struct connectors *w);

/* A connector by its name, or NULL; curl is one. */
const struct connector *connector_find(const char *name);

#endif

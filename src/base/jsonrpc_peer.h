/*
 * jsonrpc_peer - a program that speaks JSON-RPC over two descriptors, with requests both ways.
 *
 *     struct jsonrpc_peer p = { .in = from_it, .out = to_it };
 *     int64_t id = jsonrpc_call(&p, "initialize", params);
 *     poll p.in for POLLIN, p.out for POLLOUT when jsonrpc_is_writing(&p)
 *     s = jsonrpc_step(&p, e);
 *     while (jsonrpc_next(&p, &arena, &m, &why) == JSONRPC_PEER_MESSAGE) …
 *
 * Nothing here blocks when the descriptors do not: what cannot be written at once waits in memory,
 * so two programs that both write never wait for each other. The owner polls.
 *
 * Ownership: the descriptors stay the caller's. Zero with -1 as both descriptors is a peer that
 * is gone. Messages live in the arena of jsonrpc_next until it is reset, and until the next
 * jsonrpc_step.
 *
 * Tests: test/unit/test_jsonrpc.c
 */
#ifndef CLIQ_BASE_JSONRPC_PEER_H
#define CLIQ_BASE_JSONRPC_PEER_H

#include "base/jsonrpc.h"

struct jsonrpc_peer {
    int in, out;                                      /* -1: none */
    void (*copy)(void *ctx, const char *p, size_t n); /* gets all that is read; NULL: nobody does */
    void *ctx;
    struct jsonrpc_lines lines;
    struct buf waiting; /* to be written */
    size_t written;     /* of it */
    int64_t last_id;
    bool has_ended; /* it closed its output */
    bool is_deaf;   /* it closed its input: what is written is lost */
};

enum jsonrpc_peer_got {
    JSONRPC_PEER_NONE,    /* nothing now */
    JSONRPC_PEER_MESSAGE, /* *m */
    JSONRPC_PEER_RUBBISH, /* a line that is no message: the error says why; m->code and m->id */
};

/* A request; returns its id, with which the answer comes. */
int64_t jsonrpc_call(struct jsonrpc_peer *p, const char *method, const char *params);
void jsonrpc_notify(struct jsonrpc_peer *p, const char *method, const char *params);
void jsonrpc_answer(struct jsonrpc_peer *p, const struct json *id, const char *result);
void jsonrpc_refuse(struct jsonrpc_peer *p, const struct json *id, int64_t code, const char *why);

/* Writes and reads what is possible now. ST_IO: memory ran out, or a descriptor failed. */
enum status jsonrpc_step(struct jsonrpc_peer *p, struct err *e);
bool jsonrpc_is_writing(const struct jsonrpc_peer *p);
enum jsonrpc_peer_got
jsonrpc_next(struct jsonrpc_peer *p, struct arena *a, struct jsonrpc_message *m, struct err *why);
/* Is m the answer to the request with this id? */
bool jsonrpc_is_answer(const struct jsonrpc_message *m, int64_t id);
void jsonrpc_peer_release(struct jsonrpc_peer *p);

#endif

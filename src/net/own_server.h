/*
 * own_server - the server of a directory: where it listens, and whether a connection leads to it.
 *
 * A client on the same machine may use the admin key in <config>/admin.key, but must show it to no
 * other server: any user can listen on a loopback port that is free. So the server writes its
 * addresses to <config>/serve.json, and before the first byte is sent own_server_check demands that
 *
 *   the address of the other end is one of them, and
 *   the process at the other end belongs to the owner of admin.key.
 *
 * The owner comes from the kernel: SO_PEERCRED for a Unix socket; for TCP the row of the accepted
 * socket in /proc/net/tcp, which is the server's once the server has accepted the connection
 * (before that the row has no inode). A file that a killed server left does no harm: another user's
 * server on its port has another owner.
 *
 * Tests: test/unit/test_own_server.c test/scenario/serve_keys.bats
 */
#ifndef CLIQ_NET_OWN_SERVER_H
#define CLIQ_NET_OWN_SERVER_H

#include "base/buf.h"
#include "net/transport.h"

#define OWN_SERVER_FILE "serve.json"
#define OWN_SERVER_KEY  "admin.key"

/* Writes the file: {"pid":1234,"listen":["127.0.0.1:3000","unix:/run/x"]}. names: as in
 * struct listener. */
enum status
own_server_announce(const char *config, const char *const *names, size_t n, struct err *e);
/* Removes the file, if it is this process's. */
void own_server_withdraw(const char *config);

/* Appends the URL of its first TCP address. ST_NOT_FOUND: no server has announced one; it may be
 * gone all the same. */
enum status own_server_url(const char *config, struct buf *to, struct err *e);

/* A check of struct transport_place, whose own_config is the directory. ST_REFUSED: it is another
 * server; the message says which and what to do. */
enum status own_server_check(const struct transport *w, const struct transport_place *at,
                             int64_t until_ms, struct err *e);

/* Finds the row of /proc/net/tcp whose local and remote address are those, as the file shows them
 * ("0100007F:0BB8"). False: there is none. *inode 0: the connection was not accepted yet. Pure. */
bool own_server_find_row(const char *table, const char *local, const char *remote, unsigned *uid,
                         unsigned long *inode);

#endif

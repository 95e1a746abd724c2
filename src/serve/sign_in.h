/*
 * sign_in - whose a key is, and the way of a key into a browser.
 *
 *     cliq web:      POST /sign-in/ticket  with a key  -> a ticket, in the fragment of an address
 *     the page:      POST /sign-in {ticket}            -> that key, once
 *
 * A key must not stand in the arguments of a program or in an address: others can read them. A
 * ticket may, because it is void after one use or a minute, and because a page that finds its
 * ticket used says so. The fragment is sent to no server, and the page removes it from the address
 * at once. The key is held in memory here for that minute only. It is the same key: to revoke it
 * ends the browser's access, too.
 *
 * Tests: test/scenario/serve_page.bats test/web/sign_in.bats
 */
#ifndef CLIQ_SERVE_SIGN_IN_H
#define CLIQ_SERVE_SIGN_IN_H

#include "serve/auth.h"
#include "serve/reply.h"

struct http_request;

void sign_in_whoami(const struct reply_to *to, const struct caller *by);
void sign_in_ticket(const struct reply_to *to, const struct caller *by);
void sign_in_exchange(const struct reply_to *to, const struct http_request *r);

#endif

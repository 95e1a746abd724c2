/*
 * acp_person - asks people in the hub whether an agent may do something, and hears their answers.
 *
 * A question is a task from the agent's name, with the tags `permission` and the phase's name. It
 * is for the phase's `reviewer` (a role, or @identity), else for the user that runs cliq; at a
 * server, which knows no user, for everyone. A person answers with a signal in its thread whose
 * first word says it, and may add why:
 *
 *     cliq inbox
 *     cliq emit answer "allow" --parent ID
 *     cliq emit answer "reject: not in this release" --parent ID
 *
 * allow, yes, ok and approve allow; reject, no, deny and refuse reject; anything else is no
 * answer. The first answer counts. The agent's own words do not, nor those of an identity
 * that was not asked: another than the one that was, or one without the role. An answered question
 * is acknowledged, one that is no longer asked cancelled, so it leaves the inboxes.
 *
 * Order of calls: acp_person_ask any number of times; poll acp_person_fd; acp_person_next until it
 * returns false; acp_person_end for each question that is left; acp_person_close. Zero is one that
 * asked nothing. Nothing is opened before the first question.
 *
 * Tests: test/scenario/acp.bats
 */
#ifndef CLIQ_AGENTS_ACP_ACP_PERSON_H
#define CLIQ_AGENTS_ACP_ACP_PERSON_H

#include "context/context.h"
#include "hubclient/subscription.h"

struct acp_person {
    const struct context *context;
    struct hubclient hub;
    struct subscription follow;
    struct arena arena; /* of one call */
    const char *identity;
    const char *role, *to; /* either or none */
    bool is_open;
};

struct acp_reply {
    const char *question; /* the id of the signal that it answers */
    bool is_allowed;
    const char *by, *says;
};

/* Emits the question; *id is in the context's arena. */
enum status acp_person_ask(struct acp_person *p, const struct context *c, const char *question,
                           const char **id, struct err *e);
/* Readable when an answer may be there; -1: nothing was asked. */
int acp_person_fd(struct acp_person *p);
/* The next answer to any question; false: none now. Its texts live until the next call. */
bool acp_person_next(struct acp_person *p, struct acp_reply *out);
/* Takes the question from the inboxes. */
void acp_person_end(struct acp_person *p, const char *id, bool is_answered);
void acp_person_close(struct acp_person *p);

/* Does the text allow (1), reject (0), or neither (-1)? */
int acp_person_meaning(const char *text);

#endif

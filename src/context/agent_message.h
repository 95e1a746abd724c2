/*
 * agent_message - the AgentMessage: the JSON object that an agent reads on standard input.
 *
 * agent_message_fields lists its members. payload depends on the message's type; the other tables
 * list its members. cliq-protocol(7) is made from these tables.
 *
 * Tests: test/unit/test_agent_message.c
 */
#ifndef CLIQ_CONTEXT_AGENT_MESSAGE_H
#define CLIQ_CONTEXT_AGENT_MESSAGE_H

#include "base/field.h"
#include "base/json.h"

/* Members of the message; of the payload of a phase, and besides these of a gate; of a
 * notification; of a test. The last row of each has a NULL key. */
extern const struct field agent_message_fields[], agent_message_phase[], agent_message_gate[],
    agent_message_notify[], agent_message_test[];

struct agent_message {
    const struct json *root; /* the whole message */
    const char *type, *agent, *instance_id, *team_name, *req_key;
    const char *project_dir, *work_dir, *signal_dir;
    const char **handoff_dirs;
    size_t n_handoff_dirs;
    const struct json *input_artifacts, *settings, *payload;
    /* of payload, when type is "phase" */
    const char *phase, *phase_type;
    const char *attempt_id; /* NULL: none */
    /* derived: payload.state_dir, else the parent of the nearest `signals` directory at or
     * above signal_dir, else project_dir/.cliq */
    const char *state_dir;
};

/* Checks version, type, required fields and names; strings go into the arena (which
 * must keep `text` alive too). ST_INVALID says which field is wrong. */
enum status agent_message_parse(struct arena *a, const char *text, size_t len,
                                struct agent_message *m, struct err *e);

/*
 * Writing a message:
 *     agent_message_begin(&text, &m);      all fields of m but root and payload; opens the payload
 *     json_key_str(&text, "id", id);       the payload's other members
 *     s = agent_message_end(&text, e);     closes the payload and the line
 * phase_type, phase, state_dir and attempt_id become members of the payload. NULL leaves a field
 * out, or makes it empty where the format requires it (team_name, req_key, lists, settings); a
 * work_dir that is NULL is project_dir.
 */
void agent_message_begin(struct buf *to, const struct agent_message *m);
enum status agent_message_end(struct buf *to, struct err *e);

#endif

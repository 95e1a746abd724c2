/*
 * fuzz_message - context/agent_message on any bytes: no crash, and an accepted message has all
 * required fields.
 */

#include "fuzz.h"

#include "base/path.h"
#include "context/agent_message.h"
#include "context/state_dir.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct arena a;
    struct agent_message m;
    struct err e = { "" };

    arena_reset(&a);
    char *text = fuzz_copy(data, len);
    enum status s = agent_message_parse(&a, text, len, &m, &e);
    if (s) {
        MUST(s == ST_INVALID && e.text[0]);
    } else {
        bool is_phase = strcmp(m.type, "phase") == 0;
        MUST(is_phase || strcmp(m.type, "notify") == 0 || strcmp(m.type, "test") == 0);
        MUST(path_is_name(m.agent) && m.signal_dir[0] == '/');
        MUST(!is_phase == !m.phase && !is_phase == !m.phase_type);
        if (is_phase)
            MUST(state_dir_is_phase_name(m.phase) && m.state_dir && m.state_dir[0] == '/');
        for (size_t i = 0; i < m.n_handoff_dirs; i++)
            MUST(m.handoff_dirs[i][0] == '/');
        MUST(!m.payload || json_is(m.payload, JSON_OBJECT));
    }
    free(text);
    return 0;
}

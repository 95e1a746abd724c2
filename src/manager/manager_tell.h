/*
 * manager_tell - what a manager says while it works: a line an event, for people or (is_json) for
 * programs.
 *
 *     {"ev":"message","room":"room-001","message":{…}}
 *     {"ev":"start","room":"room-001","state":"review","role":"qa","player":"command","attempt":1}
 *     {"ev":"move","room":"room-001","from":"review","to":"optimize","retries":1}
 *     {"ev":"waits","room":"room-001","state":"review","role":"qa"}        for a person
 *     {"ev":"note","room":"room-001","text":"…"}
 *     {"ev":"end","total":1,"passed":1}
 */
#ifndef CLIQ_MANAGER_MANAGER_TELL_H
#define CLIQ_MANAGER_MANAGER_TELL_H

#include "base/json.h"

struct manager_voice {
    bool is_json, is_mute; /* mute: standard output is gone */
};

void manager_tell_message(struct manager_voice *v, const char *room, const struct json *message);
void manager_tell_start(struct manager_voice *v, const char *room, const char *state,
                        const char *role, const char *player, unsigned attempt);
void manager_tell_move(struct manager_voice *v, const char *room, const char *from, const char *to,
                       unsigned retries);
void
manager_tell_waits(struct manager_voice *v, const char *room, const char *state, const char *role);
void manager_tell_note(struct manager_voice *v, const char *room, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void manager_tell_end(struct manager_voice *v, size_t total, size_t passed);

#endif

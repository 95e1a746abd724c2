/*
 * hub_list - pages of signals: what inbox and signal list share.
 */
#ifndef CLIQ_CMD_LIB_HUB_LIST_H
#define CLIQ_CMD_LIB_HUB_LIST_H

#include "cmd/lib/hub_show.h"

/* clang-format off */
#define HUB_LIST_OPTS                                                                              \
    { "type", OPT_TEXT, "TYPE", "only signals of this type; may be repeated", .is_many = true },   \
    { "min-urgency", OPT_TEXT, "N", "only signals at least this urgent" },                         \
    { "delivery-state", OPT_TEXT, "STATE",                                                         \
      "pending, leased, acked, failed, dead_letter or expired; may be repeated", .is_many = true },         \
    { "project-tag", OPT_TEXT, "TAG", "only signals with this tag" },                              \
    { "limit", OPT_NUMBER, "N", "how many at most: 1 to 100, default 20" },                        \
    { "after", OPT_TEXT, "CURSOR", "go on behind the page that told this cursor" },                \
    { "all", OPT_FLAG, NULL, "all pages" }
#define HUB_LIST_FIELDS                                                                            \
    { "type", "type", HF_TEXTS }, { "min-urgency", "min_urgency", HF_NUMBER },                     \
    { "delivery-state", "delivery_state", HF_TEXTS },                                              \
    { "project-tag", "project_tag", HF_TEXT }, { "limit", "limit", HF_NUMBER },                    \
    { "after", "after", HF_TEXT }
/* clang-format on */

/* Asks for a page, or all of them, and prints it. Where there is more, standard error tells
 * the cursor. */
enum status
hub_list(struct hub_call *c, enum hub_op op, struct json *args, bool is_all, struct err *e);

#endif

/*
 * kept - what lasts of lines that are dropped.
 *
 * Who is who, keys, subscriptions, schedules and how far agents were told outlive the signals that
 * came with them. Of the lines before a number those are kept that made what there is of these just
 * before it: folded alone they give the same. So a key that was revoked, a schedule that was
 * delivered, cancelled or replaced, and what was unsubscribed leave nothing behind.
 *
 * The lines are written as they were, sealed one by one with the numbers they had. The last one is
 *
 *     {"op":"kept","at":1775215175000,"seq":5000,"crc":"1c291ca3"}
 *
 * with the number before that one; `at` is the latest time that any of the lines told, which lines
 * behind them take that tell none.
 */
#ifndef CLIQ_HUB_RETAINED_EVENTS_H
#define CLIQ_HUB_RETAINED_EVENTS_H

#include "log/log_snapshot.h"

/* Reads the files up to the line `before`, where one of them begins, and writes to fd. boot: as of
 * index_create. */
enum status retained_events_write(int fd, const struct log_snapshot *files, uint64_t before,
                                  const char *boot, struct err *e);

#endif

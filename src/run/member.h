/*
 * member - a process of one of our own agents that stays for the next attempt.
 *
 * Two ends of a socket that keeps packets apart; crew.h has the one, an agent's program the other.
 *
 *     crew -> member    an attempt: directory, input, output, attempt file, the member's cgroup
 *                       (or ""), then the environment, each text ended by NUL
 *     member -> crew    struct proc_report: it has begun that attempt, or why not
 *     member -> crew    one byte: it is done with the attempt, its terminal line is written
 *
 * The first attempt comes with the program itself: of that it only says that it is done. When the
 * other end is closed, or an attempt cannot be begun, the member ends; what it works at it
 * finishes first.
 */
#ifndef CLIQ_RUN_MEMBER_H
#define CLIQ_RUN_MEMBER_H

#include "base/buf.h"
#include "proc/proc.h"

enum { MEMBER_PACKET_MAX = 128 << 10 };

/* The packet of an attempt, appended. False when it cannot be sent so: it is too long, or has no
 * file for each. */
bool member_pack(struct buf *to, const struct proc_spec *spec);

/* The member's side. */
void member_begin(void); /* before the first attempt */
/* Says so; false: nobody hears it, or the attempt left a child of ours, or changed us (limits,
 * CPUs, priority), and our end is to tell. Who waits for another attempt dies with its parent. */
bool member_is_done(int fd);
/* Waits for the next attempt and takes it on: standard input and output, directory and environment
 * are those of that one then. False: there is none. */
bool member_next(int fd);

#endif

/*
 * machine - what cliq needs of the machine: room on the disks, inotify, and a clock. The judgements
 * are pure.
 *
 * Tests: test/unit/test_doctor_machine.c
 */
#ifndef CLIQ_DOCTOR_MACHINE_H
#define CLIQ_DOCTOR_MACHINE_H

#include "doctor/doctor.h"

/* Free bytes where a log grows: below 64 MiB an ERROR, below 1 GiB a WARNING. */
enum doctor_level machine_judge_space(uint64_t free_bytes);
/* inotify instances and watches that the user may have. */
enum doctor_level machine_judge_inotify(int64_t instances, int64_t watches);
/* The clock, in milliseconds, and the newest file that cliq wrote (0: none). Before 2024 it was
 * never set: ERROR. Older than the file by more than two minutes: it was set back, WARNING. */
enum doctor_level machine_judge_clock(int64_t now_ms, int64_t newest_ms);

#endif

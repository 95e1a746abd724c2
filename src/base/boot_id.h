/*
 * boot_id - tells one boot of the machine from another. Process start times, leases and pre-sync
 * files are compared only within one boot.
 *
 * Tests: test/unit/test_boot_id.c
 */
#ifndef CLIQ_BASE_BOOT_ID_H
#define CLIQ_BASE_BOOT_ID_H

#include "base/err.h"

#define BOOT_ID_SIZE 40

/* The kernel's boot id, NUL-ended; "" when it fails. Each thread reads it once. ST_NOT_FOUND: there
 * is no /proc to read it from. */
enum status boot_id_read(char to[BOOT_ID_SIZE], struct err *e);

#endif

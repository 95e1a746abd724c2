/*
 * crc32c - the Castagnoli CRC-32 (RFC 3720), as iSCSI and ext4 use it.
 *
 * Tests: test/unit/test_crc32c.c
 */
#ifndef CLIQ_BASE_CRC32C_H
#define CLIQ_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(const void *p, size_t n);
/* The implementation for CPUs without a CRC instruction, public for tests. */
uint32_t crc32c_by_tables(const void *p, size_t n);

#endif

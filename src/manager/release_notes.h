/*
 * release_notes - RELEASE.md beside the rooms, once every room passed: what each room says it did,
 * and which roles have signed it off. Status: Draft, until every role of every room has signed;
 * then Approved.
 *
 * Tests: test/cli/room.bats
 */
#ifndef CLIQ_MANAGER_RELEASE_NOTES_H
#define CLIQ_MANAGER_RELEASE_NOTES_H

#include "manager/rooms.h"

/* Writes it, or nothing when a room has not passed. */
enum status release_notes_write(const struct rooms *r, struct err *e);

#endif

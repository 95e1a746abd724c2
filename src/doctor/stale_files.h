/*
 * stale_files - temporary files that a killed process left in a directory of cliq's.
 *
 * A file is one of ours by its name (stale_files.c) and stale when nothing wrote it for an
 * hour: no command takes so long between writing a file and putting it in its place.
 *
 * Tests: test/scenario/doctor.bats
 */
#ifndef CLIQ_DOCTOR_STALE_FILES_H
#define CLIQ_DOCTOR_STALE_FILES_H

#include "doctor/doctor.h"

/* Adds one mendable finding when the directory has some. */
void stale_files_look(struct doctor *d, const char *dir);
void stale_files_mend(const char *dir);

#endif

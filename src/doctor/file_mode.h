/*
 * file_mode - who may read and write a file of cliq's: only its owner.
 *
 *     level = file_mode_look(d, "settings.json", path, FILE_PRIVATE);   adds what is wrong
 *     file_mode_mend(path, FILE_PRIVATE);                               makes it so
 *
 * A file of another user is told and left alone; a missing one is fine.
 *
 * Tests: test/scenario/doctor.bats
 */
#ifndef CLIQ_DOCTOR_FILE_MODE_H
#define CLIQ_DOCTOR_FILE_MODE_H

#include "doctor/doctor.h"

enum file_kind {
    FILE_PRIVATE, /* it has secrets: others may not read it */
    FILE_OWN,     /* others may not write it */
    DIR_OWN,      /* a directory that others may not write */
};

/* True: it is there, and as it must be. */
bool file_mode_look(struct doctor *d, const char *name, const char *path, enum file_kind kind);
void file_mode_mend(const char *path, enum file_kind kind);

#endif

/*
 * aio - one write that is not waited for, by the kernel's own AIO.
 *
 *     aio_open(&a)                    false: there is none here
 *     aio_write(&a, fd, p, n, at)     p stays as it is until
 *     aio_wait(&a)                    all of it was written
 *
 * It is worth something only where the kernel need not wait either: with O_DIRECT, into blocks that
 * are there. With O_DSYNC what was written is on disk.
 */
#ifndef CLIQ_BASE_AIO_H
#define CLIQ_BASE_AIO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct aio {
    unsigned long context; /* 0: not open */
    size_t going;          /* bytes on their way; 0: none */
};

bool aio_open(struct aio *a);
bool aio_write(struct aio *a, int fd, const void *p, size_t n, off_t at); /* false: nothing is */
bool aio_wait(struct aio *a);  /* true, too, when there is nothing to wait for */
void aio_close(struct aio *a); /* takes some 20 ms; safe on a zeroed struct */

#endif

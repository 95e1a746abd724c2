#define _GNU_SOURCE
#include "base/aio.h"

#include "base/sys.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#if __has_include(<linux/aio_abi.h>)
#include <linux/aio_abi.h>

bool
aio_open(struct aio *a)
{
    aio_context_t context = 0;

    *a = (struct aio){ 0 };
    if (syscall(SYS_io_setup, 1, &context) == 0)
        a->context = context;
    return a->context != 0;
}

bool
aio_write(struct aio *a, int fd, const void *p, size_t n, off_t at)
{
    struct iocb io = { .aio_lio_opcode = IOCB_CMD_PWRITE,
                       .aio_fildes = (uint32_t)fd,
                       .aio_buf = (uintptr_t)p,
                       .aio_nbytes = n,
                       .aio_offset = at };
    struct iocb *list[] = { &io };

    if (!a->context || syscall(SYS_io_submit, a->context, 1, list) != 1)
        return false;
    a->going = n;
    return true;
}

bool
aio_wait(struct aio *a)
{
    size_t want = a->going;
    struct io_event done;

    a->going = 0;
    return !want || (SYS_RETRY(syscall(SYS_io_getevents, a->context, 1, 1, &done, NULL)) == 1 &&
                     done.res == (int64_t)want);
}

void
aio_close(struct aio *a)
{
    aio_wait(a);
    if (a->context)
        syscall(SYS_io_destroy, a->context);
    *a = (struct aio){ 0 };
}

#else /* musl's headers alone */

bool
aio_open(struct aio *a)
{
    *a = (struct aio){ 0 };
    return false;
}

bool
aio_write(struct aio *a, int fd, const void *p, size_t n, off_t at)
{
    (void)a, (void)fd, (void)p, (void)n, (void)at;
    return false;
}

bool
aio_wait(struct aio *a)
{
    (void)a;
    return true;
}

void
aio_close(struct aio *a)
{
    (void)a;
}
#endif

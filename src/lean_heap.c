/*
 * lean_heap - malloc for a program that lives for a millisecond: the front's.
 *
 * Before it gives out the first byte, musl's maps a heap, a guard for its books and a page for each
 * size that is asked for; each costs a call and a fault or two. What a command of the front asks
 * for fits into a few pages that are there anyway. They are given away one after the other; what
 * was given last can grow, and comes back when it is freed, with those before it that were freed
 * meanwhile. Whatever does not fit any more is mapped by itself and unmapped when it is freed: so a
 * command that runs for long loses no more than these pages.
 *
 * For one thread. In a static program what stands here is what the C library uses, too.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ROOM = 32 << 10 };

/* In front of what is given out, which is aligned as it is. */
struct head {
    _Alignas(16) size_t size; /* with the head; 0: in the room, and freed */
    struct head *before;      /* given out of the room before it; NULL: none */
};

static _Alignas(16) char room[ROOM];
static size_t used;
static struct head *last; /* given out of the room; NULL: none */

static struct head *
head_of(void *p)
{
    return (struct head *)p - 1;
}

static int
is_in_room(const struct head *h)
{
    return (uintptr_t)h - (uintptr_t)room < sizeof room;
}

/* With its head, in sixteens; 0 when there can be no such block. */
static size_t
whole(size_t n)
{
    return n > PTRDIFF_MAX - 4096 ? 0 : (sizeof(struct head) + n + 15) & ~(size_t)15;
}

static void *
give(size_t n)
{
    size_t size = whole(n);
    struct head *h;

    if (size && size <= sizeof room - used) {
        h = (struct head *)(void *)(room + used);
        h->before = last;
        last = h;
        used += size;
    } else {
        h = size ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                 : MAP_FAILED;
        if (h == MAP_FAILED) {
            errno = ENOMEM;
            return NULL;
        }
    }
    h->size = size;
    return h + 1;
}

void *
malloc(size_t n)
{
    return give(n);
}

void
free(void *p)
{
    int error = errno;

    if (!p)
        return;
    struct head *h = head_of(p);
    if (!is_in_room(h)) {
        munmap(h, h->size);
    } else {
        h->size = 0;
        for (; last && !last->size; last = last->before)
            used = (size_t)((char *)last - room);
    }
    errno = error;
}

void *
calloc(size_t n, size_t each)
{
    size_t all = 0;
    void *p = NULL;

    if (__builtin_mul_overflow(n, each, &all))
        errno = ENOMEM;
    else
        p = give(all);
    return p ? memset(p, 0, all) : NULL; /* what was freed and given again is not zero */
}

/* True when the block itself has that size now. */
static int
resize(struct head *h, size_t size)
{
    if (h == last && size - h->size <= sizeof room - used) {
        used += size - h->size;
        h->size = size;
    }
    return h->size >= size;
}

void *
realloc(void *p, size_t n)
{
    size_t size = whole(n);

    if (!p)
        return give(n);
    struct head *h = head_of(p);
    if (size && (size <= h->size || resize(h, size)))
        return p;
    if (size && !is_in_room(h)) {
        h = mremap(h, h->size, size, MREMAP_MAYMOVE);
        if (h == MAP_FAILED)
            return NULL;
        h->size = size;
        return h + 1;
    }
    void *more = give(n);
    if (more) {
        memcpy(more, p, h->size - sizeof *h);
        free(p);
    }
    return more;
}

/* What must be true of base/async_out: who does not read holds nobody up, and misses nothing that
 * can be kept. */
#define _GNU_SOURCE
#include "test.h"

#include "base/async_out.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MUCH = 300000 };

static struct loop *loop;
static struct async_out outlet;
static struct err e;
static int in, out; /* a pipe */
static char text[MUCH], got[2 * MUCH];
static size_t n_got;

static int
enter(void **state)
{
    int fds[2];

    if (case_enter(state) != 0 || pipe2(fds, O_CLOEXEC) != 0)
        return -1;
    in = fds[0];
    out = fds[1];
    fcntl(in, F_SETFL, O_NONBLOCK);
    n_got = 0;
    for (size_t i = 0; i < MUCH; i++)
        text[i] = (char)('a' + i % 25);
    loop = loop_new(&e);
    return loop ? 0 : -1;
}

static int
leave(void **state)
{
    async_out_close(&outlet);
    async_out_close(&outlet);
    loop_free(loop);
    if (in >= 0)
        close(in);
    close(out);
    return case_leave(state);
}
#define OUTLET_CASE(fact) cmocka_unit_test_setup_teardown(fact, enter, leave)

static void
take(void)
{
    ssize_t n;

    while (n_got < sizeof got && (n = read(in, got + n_got, sizeof got - n_got)) > 0)
        n_got += (size_t)n;
}

static void
on_readable(void *ctx)
{
    (void)ctx;
    take();
    if (n_got == MUCH)
        loop_stop(loop);
}

static void
what_is_not_read_waits_and_is_written_by_the_loop(void **state)
{
    (void)state;
    async_out_open(&outlet, out, 1 << 20, loop);
    async_out_write(&outlet, text, 100000);
    async_out_write(&outlet, text + 100000, MUCH - 100000); /* a pipe has 64 KiB: it would wait */
    assert_false(async_out_flush(&outlet));
    assert_int_equal(fcntl(out, F_GETFL) & O_NONBLOCK, 0); /* it is not ours alone */
    struct loop_source *reader = loop_on_readable(loop, in, on_readable, NULL, &e);
    assert_non_null(reader);
    CHECK_OK(loop_run(loop, &e), &e);
    assert_int_equal(n_got, MUCH);
    assert_memory_equal(got, text, MUCH);
    assert_true(async_out_flush(&outlet));
    assert_int_equal(outlet.lost, 0);
}

static void
too_much_is_dropped_in_whole_pieces_and_counted(void **state)
{
    (void)state;
    async_out_open(&outlet, out, 150000, loop);
    async_out_write(&outlet, text, 200000); /* what was begun is kept whole */
    async_out_write(&outlet, text, 1000);
    async_out_write(&outlet, text, 100000);
    assert_true(outlet.lost == 100000 || outlet.lost == 101000); /* by how much a pipe has */
    while (!async_out_flush(&outlet))
        take();
    take();
    assert_int_equal(n_got + outlet.lost, 301000);
    async_out_write(&outlet, "more", 4);
    take();
    assert_memory_equal(got + n_got - 4, "more", 4);
}

static void
a_drain_ends_when_nobody_reads_for_so_long(void **state)
{
    (void)state;
    async_out_open(&outlet, out, 1 << 20, NULL);
    async_out_write(&outlet, text, MUCH);
    async_out_drain(&outlet, 10);
    assert_int_equal(outlet.lost, outlet.text.len);
    assert_true(outlet.lost > 0);
}

static void
a_file_has_room_and_what_cannot_be_written_is_told(void **state)
{
    (void)state;
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    int file = open("file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    async_out_open(&outlet, file, 10, loop);
    async_out_write(&outlet, text, MUCH);
    assert_true(async_out_flush(&outlet));
    assert_int_equal(file_size("file"), MUCH);
    async_out_close(&outlet);
    async_out_open(&outlet, full, 10, loop);
    async_out_write(&outlet, text, MUCH);
    assert_true(async_out_flush(&outlet));
    assert_int_equal(outlet.error, ENOSPC);
    async_out_close(&outlet);
    signal(SIGPIPE, SIG_IGN);
    close(in);
    in = -1;
    async_out_open(&outlet, out, 10, loop);
    async_out_write(&outlet, "x", 1);
    assert_int_equal(outlet.error, EPIPE);
    signal(SIGPIPE, SIG_DFL);
    close(full);
    close(file);
}

/* A terminal says that it takes more when it has room for one byte. */
static void
a_terminal_that_nobody_reads_holds_nobody_up(void **state)
{
    (void)state;
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(terminal >= 0);
    alarm(10); /* it would wait for ever */
    async_out_open(&outlet, terminal, 1 << 20, loop);
    for (size_t i = 0; i < MUCH; i += 1000)
        async_out_write(&outlet, text + i, 1000);
    assert_false(async_out_flush(&outlet));
    assert_int_equal(fcntl(terminal, F_GETFL) & O_NONBLOCK, 0);
    alarm(0);
    size_t n = 0;
    while (!async_out_flush(&outlet))
        n += (size_t)read(master, got, sizeof got);
    assert_int_equal(outlet.lost, 0);
    assert_true(n > MUCH / 2);
    async_out_close(&outlet);
    close(terminal);
    close(master);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        OUTLET_CASE(what_is_not_read_waits_and_is_written_by_the_loop),
        OUTLET_CASE(too_much_is_dropped_in_whole_pieces_and_counted),
        OUTLET_CASE(a_drain_ends_when_nobody_reads_for_so_long),
        OUTLET_CASE(a_file_has_room_and_what_cannot_be_written_is_told),
        OUTLET_CASE(a_terminal_that_nobody_reads_holds_nobody_up),
    };
    loop_free(loop_new(NULL)); /* what libuv opens once, and keeps */
    return cmocka_run_group_tests_name("outlet", tests, NULL, NULL);
}

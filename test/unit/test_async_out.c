/* Tests base/async_out: a slow reader does not block the program, and output is buffered up to a
 * limit. */
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
unread_output_is_buffered_and_written_by_the_loop(void **state)
{
    (void)state;
    async_out_open(&outlet, out, 1 << 20, loop);
    async_out_write(&outlet, text, 100000);
    async_out_write(&outlet, text + 100000, MUCH - 100000); /* a blocking write would wait */
    assert_false(async_out_flush(&outlet));
    assert_int_equal(fcntl(out, F_GETFL) & O_NONBLOCK, 0); /* shared, so not O_NONBLOCK */
    struct loop_source *reader = loop_on_readable(loop, in, on_readable, NULL, &e);
    assert_non_null(reader);
    CHECK_OK(loop_run(loop, &e), &e);
    assert_int_equal(n_got, MUCH);
    assert_memory_equal(got, text, MUCH);
    assert_true(async_out_flush(&outlet));
    assert_int_equal(outlet.lost, 0);
}

static void
output_over_the_limit_is_dropped_in_whole_pieces_and_counted(void **state)
{
    (void)state;
    async_out_open(&outlet, out, 150000, loop);
    async_out_write(&outlet, text, 200000); /* a piece that was begun is written to its end */
    async_out_write(&outlet, text, 1000);
    async_out_write(&outlet, text, 100000);
    assert_true(outlet.lost == 100000 || outlet.lost == 101000); /* a pipe holds so much */
    while (!async_out_flush(&outlet))
        take();
    take();
    assert_int_equal(n_got + outlet.lost, 301000);
    async_out_write(&outlet, "more", 4);
    take();
    assert_memory_equal(got + n_got - 4, "more", 4);
}

static void
a_drain_ends_when_the_reader_stalls(void **state)
{
    (void)state;
    async_out_open(&outlet, out, 1 << 20, NULL);
    async_out_write(&outlet, text, MUCH);
    async_out_drain(&outlet, 10);
    assert_int_equal(outlet.lost, outlet.text.len);
    assert_true(outlet.lost > 0);
}

static void
a_file_never_blocks_and_a_failed_write_is_reported(void **state)
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

/* A terminal polls as writable when it has room for one byte. */
static void
a_stalled_terminal_does_not_block_the_program(void **state)
{
    (void)state;
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(terminal >= 0);
    alarm(10); /* a blocking write would wait for ever */
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
        OUTLET_CASE(unread_output_is_buffered_and_written_by_the_loop),
        OUTLET_CASE(output_over_the_limit_is_dropped_in_whole_pieces_and_counted),
        OUTLET_CASE(a_drain_ends_when_the_reader_stalls),
        OUTLET_CASE(a_file_never_blocks_and_a_failed_write_is_reported),
        OUTLET_CASE(a_stalled_terminal_does_not_block_the_program),
    };
    loop_free(loop_new(NULL)); /* opens the descriptors that libuv keeps for the whole process */
    return cmocka_run_group_tests_name("outlet", tests, NULL, NULL);
}

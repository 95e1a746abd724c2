/* Tests net/own_server: which row of /proc/net/tcp, which server may be shown the key. */
#include "net/own_server.h"

#include "net/listener.h"
#include "test.h"

#include <limits.h>
#include <sys/socket.h>

static struct err e;

static const char table[] =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode\n"
    "   0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 "
    "31337 1 0000000000000000 100 0 0 10 0\n"
    "   1: 0100007F:9C40 0100007F:0BB8 01 00000000:00000000 00:00000000 00000000  1001        0 "
    "31338 1 0000000000000000 20 4 30 10 -1\n"
    "   2: 0100007F:0BB8 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  1002        0 "
    "31339 1 0000000000000000 20 4 30 10 -1\n"
    "  10: 0100007F:0BB8 0100007F:9C41 01 00000000:00000000 00:00000000 00000000     0        0 "
    "0 1 0000000000000000 20 4 30 10 -1\n";

static void
the_servers_end_of_the_connection_is_found(void **state)
{
    unsigned uid;
    unsigned long inode;

    (void)state;
    assert_true(own_server_find_row(table, "0100007F:0BB8", "0100007F:9C40", &uid, &inode));
    assert_int_equal(uid, 1002);
    assert_int_equal(inode, 31339);
    assert_true(own_server_find_row(table, "0100007F:0BB8", "0100007F:9C41", &uid, &inode));
    assert_int_equal(inode, 0); /* not accepted yet: nobody's */
    assert_false(own_server_find_row(table, "0100007F:0BB8", "0100007F:9C42", &uid, &inode));
    assert_false(own_server_find_row("", "0100007F:0BB8", "0100007F:9C40", &uid, &inode));
    assert_false(own_server_find_row("\n\n", "0100007F:0BB8", "0100007F:9C40", &uid, &inode));
}

/* Connects to a listener, which accepts if it is to, and checks. */
static enum status
check(const char *address, const char *told, bool accepts)
{
    struct listener l = LISTENER_NONE;
    struct transport_place at;
    struct transport w = TRANSPORT_NONE;
    char url[200];
    int fd = -1;

    if (*address == '/')
        CHECK_OK(listener_unix(&l, address, &e), &e);
    else
        CHECK_OK(listener_tcp(&l, address, &e), &e);
    snprintf(url, sizeof url, "%s%s", *address == '/' ? "" : "http://", l.name);
    CHECK_OK(own_server_announce(".", &(const char *){ told ? told : l.name }, 1, &e), &e);
    CHECK_OK(transport_parse(&at, url, &e), &e);
    CHECK_OK(transport_open(&w, &at, wait_until(5000), NULL, &e), &e);
    at.own_config = ".";
    if (accepts) {
        fd = accept(l.fd, NULL, NULL);
        assert_true(fd >= 0);
    }
    enum status s = own_server_check(&w, &at, wait_until(accepts ? 5000 : 50), &e);
    if (fd >= 0)
        close(fd);
    transport_close(&w);
    listener_release(&l);
    return s;
}

static void
only_a_listed_address_of_the_owner_is_trusted(void **state)
{
    (void)state;
    write_file("admin.key", "cho_x\n");
    CHECK_OK(check("127.0.0.1:0", NULL, true), &e);
    CHECK_OK(check("[::1]:0", NULL, true), &e);
    char here[PATH_MAX], path[PATH_MAX + 8];
    assert_non_null(getcwd(here, sizeof here));
    snprintf(path, sizeof path, "%s/s", here);
    if (strlen(path) < 100)
        CHECK_OK(check(path, NULL, false), &e);
    assert_int_equal(check("127.0.0.1:0", "127.0.0.1:1", true), ST_REFUSED);
    assert_non_null(strstr(e.text, "CLIQ_KEY"));
    assert_int_equal(check("127.0.0.1:0", NULL, false), ST_TIMEOUT); /* not accepted: unknown */
    own_server_withdraw(".");
    assert_int_equal(access(OWN_SERVER_FILE, F_OK), -1);
}

static void
a_file_that_makes_no_sense_trusts_nothing(void **state)
{
    (void)state;
    write_file("admin.key", "cho_x\n");
    static const char *const texts[] = { "", "{", "[]", "{\"listen\":3}", "{\"listen\":[3]}" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct listener l = LISTENER_NONE;
        struct transport_place at;
        struct transport w = TRANSPORT_NONE;
        char url[200];
        CHECK_OK(listener_tcp(&l, "127.0.0.1:0", &e), &e);
        snprintf(url, sizeof url, "http://%s", l.name);
        CHECK_OK(transport_parse(&at, url, &e), &e);
        at.own_config = ".";
        at.check = own_server_check;
        write_file(OWN_SERVER_FILE, texts[i]);
        assert_int_equal(transport_open(&w, &at, wait_until(5000), NULL, &e), ST_REFUSED);
        assert_int_equal(w.fd, -1);
        listener_release(&l);
    }
    own_server_withdraw("."); /* not ours */
    assert_int_equal(access(OWN_SERVER_FILE, F_OK), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_servers_end_of_the_connection_is_found),
        CASE(only_a_listed_address_of_the_owner_is_trusted),
        CASE(a_file_that_makes_no_sense_trusts_nothing),
    };

    return cmocka_run_group_tests_name("own server", tests, NULL, NULL);
}

#include "segments.h"

#include "log/segment.h"

static struct err e;

void
append_many(const struct log_options *o, int n)
{
    struct log l = open_log(o);

    for (int i = 0; i < n; i++)
        CHECK_OK(append(&l, RECORD, &e), &e);
    log_close(&l);
}

void
make_segment(int records)
{
    struct log l = open_log(&sequenced);

    for (int i = 0; i < records; i++)
        CHECK_OK(append(&l, "{\"old\":1}", &e), &e);
    CHECK_OK(log_lock(&l, &e), &e);
    CHECK_OK(segment_rotate(&l, &e), &e);
    log_close(&l);
}

uint64_t
check_all_numbers(void)
{
    char name[SEGMENT_NAME_SIZE];
    uint64_t next = 1, first;

    while (segment_find(here(), NAME, next, name, &first, &e) == ST_OK && first == next) {
        struct lines l = read_lines(name, SEQUENCED);
        for (size_t i = 0; i < l.n; i++, next++)
            if (i > 0 || l.v[i].rec.seq > 1) /* a foreign first line counts from 1 here */
                assert_int_equal(l.v[i].rec.seq, next);
        assert_int_equal(l.bad, 0);
        assert_non_null(strstr(l.v[l.n - 1].text, "{\"op\":\"rotate\",\"at\":\""));
        free_lines(&l);
    }
    if (file_exists(NAME)) {
        struct lines l = read_lines(NAME, SEQUENCED);
        for (size_t i = 0; i < l.n; i++, next++)
            assert_int_equal(l.v[i].rec.seq, next);
        free_lines(&l);
    }
    return next - 1;
}

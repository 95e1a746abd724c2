/* What must be true of base/boot_id: it is the kernel's, the same each time, and read once. */
#include "base/boot_id.h"

#include "fault.h"
#include "test.h"

static void
it_is_what_the_kernel_says(void **state)
{
    char id[BOOT_ID_SIZE], again[BOOT_ID_SIZE], text[64] = "";
    struct err e;

    (void)state;
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof text, f));
    fclose(f);
    text[strcspn(text, "\n")] = '\0';
    CHECK_OK(boot_id_read(id, &e), &e);
    assert_string_equal(id, text);
    CHECK_OK(boot_id_read(again, &e), &e);
    assert_string_equal(again, id);
}

/* Before anything has read it: each call of the kernel fails once. */
static void
a_failure_is_told_and_not_remembered(void **state)
{
    struct err e;

    (void)state;
    FAULT_SWEEP(f)
    {
        char id[BOOT_ID_SIZE] = "x";
        fault_on(&f);
        enum status s = boot_id_read(id, &e);
        fault_off(&f);
        assert_int_equal(s == ST_OK, id[0] != '\0');
    }
    it_is_what_the_kernel_says(state);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_failure_is_told_and_not_remembered),
        CASE(it_is_what_the_kernel_says),
    };

    return cmocka_run_group_tests_name("boot_id", tests, NULL, NULL);
}

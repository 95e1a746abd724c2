/* Tests team/team_ref: what a word for a team means. */
#include "team/team_ref.h"
#include "test.h"

static void
means(const char *text, enum team_ref_kind kind, const char *at, const char *version)
{
    struct team_ref r;
    struct err e;

    if (team_ref_parse(&r, text, &e))
        fail_msg("%s: %s", text, e.text);
    assert_int_equal(kind, r.kind);
    assert_string_equal(at, r.at.p);
    assert_string_equal(version, r.version.len ? r.version.p : "");
    team_ref_release(&r);
}

static void
a_word_is_a_path_a_name_or_a_url(void **state)
{
    (void)state;
    means("./x", TEAM_REF_DIR, "./x", "");
    means("/", TEAM_REF_DIR, "/", "");
    means("./x.tgz", TEAM_REF_PACKAGE, "./x.tgz", "");
    means("review", TEAM_REF_NAME, "@local/review", "");
    means("@acme/review", TEAM_REF_NAME, "@acme/review", "");
    means("@acme/review@1.2", TEAM_REF_NAME, "@acme/review", "1.2");
    means("hub://@acme/review@1.2.3", TEAM_REF_HUB, "@acme/review", "1.2.3");
    means("https://h/t.git#v1", TEAM_REF_GIT, "https://h/t.git", "v1");
    means("git@h:t.git", TEAM_REF_GIT, "git@h:t.git", "");
}

static void
what_is_none_of_these_is_refused(void **state)
{
    static const char *const bad[] = {
        "hub://", "hub://@a/../b",           "@a/b@", "@a/b@-x", "@a/b@1;rm -rf",
        "-x",     "https://h/t.git#--upload"
    };
    struct team_ref r;
    struct err e;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (!team_ref_parse(&r, bad[i], &e))
            fail_msg("accepted: %s", bad[i]);
        team_ref_release(&r);
    }
}

static void
a_version_may_be_the_beginning_of_one(void **state)
{
    struct team_ref r;
    struct err e;

    (void)state;
    assert_int_equal(ST_OK, team_ref_parse(&r, "@a/b@1.2", &e));
    assert_true(team_ref_fits(&r, "1.2"));
    assert_true(team_ref_fits(&r, "1.2.9"));
    assert_false(team_ref_fits(&r, "1.20.0"));
    assert_false(team_ref_fits(&r, NULL));
    team_ref_release(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_is_a_path_a_name_or_a_url),
        cmocka_unit_test(what_is_none_of_these_is_refused),
        cmocka_unit_test(a_version_may_be_the_beginning_of_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

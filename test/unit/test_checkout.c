/* Tests context/checkout: which project a file belongs to, and its path there. */
#include "test.h"

#include "context/checkout.h"

#include <sys/stat.h>

static struct arena a;

static int
leave(void **state)
{
    arena_release(&a);
    return case_leave(state);
}

#define IN(fact) cmocka_unit_test_setup_teardown(fact, case_enter, leave)

static const char *
project_of(const char *dir)
{
    struct checkout c;
    struct err e;

    if (checkout_find(&c, dir, &a, &e))
        fail_msg("%s", e.text);
    return c.project;
}

static void
make_repository(const char *dir, const char *origin)
{
    char path[200];
    char text[300];

    snprintf(path, sizeof path, "%s/.git", dir);
    make_dirs(path);
    snprintf(path, sizeof path, "%s/.git/config", dir);
    snprintf(text, sizeof text, "[core]\n\tbare = false\n%s%s%s[branch \"main\"]\n\turl = no\n",
             origin ? "[remote \"origin\"]\n\tfetch = x\n\turl = " : "", origin ? origin : "",
             origin ? "\n" : "");
    write_file(path, text);
}

static void
two_clones_of_one_repository_are_one_project(void **state)
{
    static const char *const urls[] = { "git@Example.org:team/web.git",
                                        "https://ann:secret@example.org/team/web",
                                        "ssh://git@example.org/team/web.git/",
                                        "https://example.org/team/web.git" };

    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        make_repository("w", urls[i]);
        make_dirs("w/src/deep");
        assert_string_equal(project_of("w"), "git:example.org/team/web");
        assert_string_equal(project_of("w/src/deep"), "git:example.org/team/web");
        remove_tree("w");
    }
}

static void
a_clone_of_a_local_repository_is_the_same_project(void **state)
{
    char origin[5000], cwd[4000];

    (void)state;
    assert_non_null(getcwd(cwd, sizeof cwd));
    make_repository("first", NULL);
    snprintf(origin, sizeof origin, "%s/first", cwd);
    if (strlen(origin) < 250)
        make_repository("second", origin);
    make_repository("third", "../first");
    const char *first = project_of("first");
    assert_string_equal(first, project_of("second"));
    assert_string_equal(first, project_of("third"));
    snprintf(origin, sizeof origin, "git:%s/first/.git", cwd);
    assert_string_equal(first, origin);
}

static void
worktrees_share_the_project(void **state)
{
    char text[4200], cwd[4000];

    (void)state;
    assert_non_null(getcwd(cwd, sizeof cwd));
    make_repository("main", NULL);
    make_dirs("main/.git/worktrees/wt");
    write_file("main/.git/worktrees/wt/commondir", "../..\n");
    make_dirs("wt/src");
    snprintf(text, sizeof text, "gitdir: %s/main/.git/worktrees/wt\n", cwd);
    write_file("wt/.git", text);
    assert_string_equal(project_of("wt/src"), project_of("main"));
}

static void
without_a_repository_the_cliq_project_counts_else_the_directory(void **state)
{
    (void)state;
    make_dirs("p/.cliq");
    make_dirs("p/src");
    write_file("p/.cliq/cliq.id", "cliq-a1b2c3\n");
    assert_string_equal(project_of("p/src"), "cliq-a1b2c3");
    make_dirs("q");
    assert_memory_equal(project_of("q"), "dir:/", 5);
    /* The repository around it, so that all of its files have one name. */
    make_repository(".", "https://example.org/all");
    assert_string_equal(project_of("p/src"), "git:example.org/all");
}

static const char *
path(const char *dir, const char *text)
{
    struct checkout c;
    const char *out = NULL;
    struct err e;

    if (checkout_find(&c, dir, &a, &e))
        fail_msg("%s", e.text);
    return checkout_path(&c, dir, text, false, &a, &out, &e) ? strdup(e.text) : out;
}

static void
paths_are_seen_from_the_root(void **state)
{
    char whole[5000], cwd[4000];

    (void)state;
    make_repository("w", "https://example.org/w");
    make_dirs("w/src/deep");
    assert_string_equal(path("w/src", "a.c"), "src/a.c");
    assert_string_equal(path("w/src", "../b/./c.c"), "b/c.c");
    assert_string_equal(path("w/src/deep", "../*.c"), "src/*.c");
    assert_string_equal(path("w/src", "deep"), "src/deep/**");
    assert_string_equal(path("w/src", "new/"), "src/new/**");
    assert_string_equal(path("w/src", "new/**/x?.c"), "src/new/**/x?.c");
    assert_string_equal(path("w", "."), "**");
    assert_string_equal(path("w/src", ".."), "**");
    assert_non_null(getcwd(cwd, sizeof cwd));
    snprintf(whole, sizeof whole, "%s/w/src/a.c", cwd);
    assert_string_equal(path("w", whole), "src/a.c");
    /* A file that is there is no pattern. */
    write_file("w/src/[id].ts", "");
    assert_string_equal(path("w", "src/[id].ts"), "src/\\[id].ts");
    assert_string_equal(path("w", "src/[ab].ts"), "src/[ab].ts");
    char *says = (char *)path("w", "../other");
    assert_non_null(strstr(says, "outside the project"));
    free(says);
}

static void
links_are_followed(void **state)
{
    (void)state;
    make_repository("w", "https://example.org/w");
    make_dirs("w/src");
    assert_int_equal(symlink("src", "w/lib"), 0);
    assert_int_equal(symlink("w", "link"), 0);
    assert_string_equal(path("link", "lib/a.c"), "src/a.c");
}

static void
a_file_belongs_to_the_project_it_lies_in(void **state)
{
    struct checkout c;
    const char *out = NULL;
    struct err e;

    (void)state;
    make_repository("one", "https://example.org/one");
    make_repository("two", "https://example.org/two");
    CHECK_OK(checkout_of_file(&c, "one", "../two/not/yet/here.c", &a, &out, &e), &e);
    assert_string_equal(c.project, "git:example.org/two");
    assert_string_equal(out, "not/yet/here.c");
    CHECK_OK(checkout_of_file(&c, "one", "[x].c", &a, &out, &e), &e);
    assert_string_equal(out, "\\[x].c");
    make_dirs("plain/sub");
    CHECK_OK(checkout_of_file(&c, "plain", "sub/a", &a, &out, &e), &e);
    assert_string_equal(out, "sub/a");
    assert_string_equal(c.project, project_of("plain"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        IN(two_clones_of_one_repository_are_one_project),
        IN(a_clone_of_a_local_repository_is_the_same_project),
        IN(worktrees_share_the_project),
        IN(without_a_repository_the_cliq_project_counts_else_the_directory),
        IN(paths_are_seen_from_the_root),
        IN(links_are_followed),
        IN(a_file_belongs_to_the_project_it_lies_in),
    };

    return cmocka_run_group_tests_name("checkout", tests, NULL, NULL);
}

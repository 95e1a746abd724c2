/* Tests team/template: values arrive unchanged, and none is ever run as shell code. */
#include "test.h"

#include "team/template.h"

#include <sys/stat.h>

/* ---- a scope to expand in ---- */

static struct arena arena;
static struct json *inputs, *envelope;
static struct template_scope scope;

static const struct json *
find_handoff(void *ctx, const char *phase)
{
    (void)ctx;
    return strcmp(phase, "triage") == 0 ? envelope : NULL;
}

static int
enter(void **state)
{
    static const char data[] =
        "{\"version\":1,\"phase\":\"triage\",\"data\":{\"severity\":\"high\",\"n\":42,"
        "\"ok\":true,\"none\":null,\"list\":[{\"a\":\"first\"},{\"a\":\"second\"}],"
        "\"report.json\":{\"file\":\"r\"},\"report\":{\"json\":\"short\"},"
        "\"Ünï/key\":\"u\",\"deep\":{\"data\":\"dd\"}},\"text\":\"It is bad.\"}";

    arena = (struct arena){ 0 };
    inputs = json_new(&arena, JSON_OBJECT);
    json_set(inputs, "x", json_new_str(&arena, "value", 5));
    json_set(inputs, "empty", json_new_str(&arena, "", 0));
    json_set(inputs, "two-words", json_new_str(&arena, "a b", 3));
    json_set(inputs, "n", json_new_int(&arena, 7));
    assert_true(json_parse(&arena, data, strlen(data), &envelope, NULL));
    scope = (struct template_scope){
        .inputs = inputs,
        .handoff = find_handoff,
        .team_name = "@local/team",
        .phase = "build",
        .run_id = "run-1",
        .project_dir = "/p",
        .work_dir = "/w",
        .state_dir = "/p/.cliq",
        .files_dir = "/p/.cliq/files",
        .now_ms = 1775215174222,
    };
    return case_enter(state);
}

static int
leave(void **state)
{
    arena_release(&arena);
    return case_leave(state);
}

#undef CASE
#define CASE(fact) cmocka_unit_test_setup_teardown(fact, enter, leave)

static void
set_x(const char *value, size_t n)
{
    json_set(inputs, "x", json_new_str(&arena, arena_dup(&arena, value, n), n));
}

#define EXPANDS(text, expected)                                                                    \
    do {                                                                                           \
        struct buf b_ = { 0 };                                                                     \
        struct err e_ = { "" };                                                                    \
        CHECK_OK(template_expand(&b_, text, &scope, &e_), &e_);                                    \
        assert_string_equal(b_.p, expected);                                                       \
        buf_release(&b_);                                                                          \
    } while (0)

#define UNRESOLVED(text, part)                                                                     \
    do {                                                                                           \
        struct buf b_ = { 0 };                                                                     \
        struct err e_ = { "" };                                                                    \
        CHECK_FAILS_WITH(template_expand(&b_, text, &scope, &e_), ST_INVALID, &e_, part);          \
        buf_release(&b_);                                                                          \
    } while (0)

/* ---- into text ---- */

static void
every_form_has_its_value(void **state)
{
    (void)state;
    EXPANDS("$(inputs.x)", "value");
    EXPANDS("<$(inputs.two-words)>$(inputs.empty)<", "<a b><");
    EXPANDS("$(team_name) $(phase) $(run_id)", "@local/team build run-1");
    EXPANDS("$(date)", "2026-04-03");
    EXPANDS("$(timestamp)", "2026-04-03T11:19:34.222Z");
    EXPANDS("$(dirs.project):$(dirs.work):$(dirs.state):$(dirs.files)",
            "/p:/w:/p/.cliq:/p/.cliq/files");
    EXPANDS("$(inputs.n)", "7");
}

static void
a_handoff_is_reached_by_a_path(void **state)
{
    (void)state;
    EXPANDS("$(handoff.triage.severity)", "high");
    EXPANDS("$(handoff.triage.n)$(handoff.triage.ok)$(handoff.triage.none)", "42truenull");
    EXPANDS("$(handoff.triage.list[1].a)", "second");
    EXPANDS("$(handoff.triage.list[0])", "{\"a\":\"first\"}");
    EXPANDS("$(handoff.triage.text)", "It is bad.");
    EXPANDS("$(handoff.triage.data.severity)", "high");
    EXPANDS("$(handoff.triage.data.list[0].a)", "first");
    EXPANDS("$(handoff.triage.deep.data)", "dd");
    EXPANDS("$(handoff.triage.Ünï/key)", "u");
}

static void
a_key_with_dots_is_found_before_the_shorter_one(void **state)
{
    (void)state;
    EXPANDS("$(handoff.triage.report.json.file)", "r");
    EXPANDS("$(handoff.triage.report.json)", "{\"file\":\"r\"}");
    EXPANDS("$(handoff.triage.report)", "{\"json\":\"short\"}");
}

static void
data_is_the_whole_data(void **state)
{
    struct buf b = { 0 };
    struct err e;

    (void)state;
    CHECK_OK(template_expand(&b, "$(handoff.triage.data)", &scope, &e), &e);
    assert_ptr_equal(strstr(b.p, "{\"severity\":\"high\""), b.p);
    buf_release(&b);
}

static void
an_unresolved_variable_is_named(void **state)
{
    (void)state;
    UNRESOLVED("a $(inputs.nope) b", "cannot resolve $(inputs.nope)");
    UNRESOLVED("$(handoff.nobody.x)", "phase nobody left no handoff");
    UNRESOLVED("$(handoff.triage.nope)",
               "the handoff of phase triage has no such value; its data has severity, ");
    UNRESOLVED("$(handoff.triage.list[2])", "no such value");
    UNRESOLVED("$(handoff.triage.list[99999999999999999999])", "no such value");
    UNRESOLVED("$(handoff.triage.list[])", "no such value");
    UNRESOLVED("$(handoff.triage.list[0]a)", "no such value");
    UNRESOLVED("$(handoff.triage.list.a)", "no such value");
    UNRESOLVED("$(handoff.triage.severity.)", "no such value");
    UNRESOLVED("$(handoff.triage.deep..data)", "no such value");
    UNRESOLVED("$(handoff.triage)", "write $(handoff.PHASE.PATH)");
    UNRESOLVED("$(dirs.home)", "dirs.project, dirs.work");
    scope.run_id = NULL;
    UNRESOLVED("$(run_id)", "not known here");
}

static void
an_invalid_name_is_an_error(void **state)
{
    (void)state;
    UNRESOLVED("$(inputs.a b)", "$(inputs.a b is not a template variable");
    UNRESOLVED("$(inputs.)", "is not a template variable");
    UNRESOLVED("$(inputs.x", "is not a template variable");
    UNRESOLVED("$(handoff.a$(b))", "is not a template variable");
}

static void
other_dollar_signs_stay(void **state)
{
    (void)state;
    EXPANDS("$(ls) $( date ) $(date +%s) ${x} $x $ $( $(phases) $(inputs", "$(ls) $( date ) "
                                                                           "$(date +%s) ${x} $x $ "
                                                                           "$( $(phases) $(inputs");
    EXPANDS("", "");
    EXPANDS("$$(inputs.x)", "$value");
}

static void
values_are_not_expanded_again(void **state)
{
    (void)state;
    set_x("$(inputs.n)", 11);
    EXPANDS("$(inputs.x)", "$(inputs.n)");
}

static void
uses_are_found_in_order(void **state)
{
    size_t n;
    struct template_use *u = template_uses(&arena, "a $(inputs.x)$(ls) $(date)$(inputs.a b)", &n);

    (void)state;
    assert_int_equal(n, 3);
    assert_string_equal(u[0].name, "inputs.x");
    assert_int_equal(u[0].offset, 2);
    assert_string_equal(u[1].name, "date");
    assert_int_equal(u[1].offset, 19);
    assert_string_equal(u[2].name, "inputs.a b");
    assert_null(template_uses(&arena, "none $(here)", &n));
    assert_int_equal(n, 0);
}

/* ---- conditions ---- */

static bool
when(const char *text)
{
    struct err e = { "" };
    bool is_true = false;

    CHECK_OK(template_when(text, &scope, &is_true, &e), &e);
    return is_true;
}

static void
a_condition_compares_texts(void **state)
{
    (void)state;
    assert_true(when("$(handoff.triage.severity) == high"));
    assert_false(when("$(handoff.triage.severity) != high"));
    assert_true(when("$(handoff.triage.severity)==\"high\""));
    assert_true(when("'high' == $(handoff.triage.severity)"));
    assert_false(when("$(handoff.triage.severity) == High"));
    assert_true(when("$(handoff.triage.n) == 42"));
    assert_true(when("$(inputs.empty) == "));
    assert_true(when("$(inputs.empty) == ''"));
    assert_false(when("' high' == $(handoff.triage.severity)"));
}

static void
a_bare_condition_is_true_unless_it_says_no(void **state)
{
    (void)state;
    assert_true(when("$(inputs.x)"));
    assert_true(when("anything"));
    assert_false(when(""));
    assert_false(when("  "));
    assert_false(when("$(inputs.empty)"));
    assert_false(when("false"));
    assert_false(when("False"));
    assert_false(when("0"));
    assert_false(when("no"));
    assert_false(when("$(handoff.triage.none)"));
    assert_true(when("$(handoff.triage.ok)"));
    assert_true(when("00"));
}

static void
a_value_cannot_forge_a_comparison(void **state)
{
    (void)state;
    set_x("a == a", 6);
    assert_false(when("$(inputs.x) == b"));
    assert_true(when("$(inputs.x)"));
    set_x("x\n", 2);
    assert_true(when("$(inputs.x) == x"));
}

static void
a_condition_that_cannot_be_resolved_is_an_error(void **state)
{
    struct err e;
    bool is_true;

    (void)state;
    CHECK_FAILS_WITH(template_when("$(inputs.no) == 1", &scope, &is_true, &e), ST_INVALID, &e,
                     "$(inputs.no)");
    CHECK_FAILS_WITH(template_when("1 == $(inputs.no)", &scope, &is_true, &e), ST_INVALID, &e,
                     "$(inputs.no)");
    CHECK_FAILS_WITH(template_when("a == b != c", &scope, &is_true, &e), ST_INVALID, &e,
                     "more than one");
}

/* ---- into a command ---- */

#define SHELL(text, expected)                                                                      \
    do {                                                                                           \
        struct buf b_ = { 0 };                                                                     \
        struct err e_ = { "" };                                                                    \
        struct template_env *env_ = NULL;                                                          \
        size_t n_ = 0;                                                                             \
        CHECK_OK(template_shell(&arena, &b_, text, &scope, &env_, &n_, &e_), &e_);                 \
        assert_string_equal(b_.p, expected);                                                       \
        buf_release(&b_);                                                                          \
    } while (0)

#define REFUSED(text, part)                                                                        \
    do {                                                                                           \
        struct buf b_ = { 0 };                                                                     \
        struct err e_ = { "" };                                                                    \
        const char *w_;                                                                            \
        struct template_env *env_ = NULL;                                                          \
        size_t n_ = 0;                                                                             \
        CHECK_FAILS_WITH(template_shell(&arena, &b_, text, &scope, &env_, &n_, &e_), ST_INVALID,   \
                         &e_, part);                                                               \
        CHECK_FAILS_WITH(template_check_shell(text, &w_, &e_), ST_INVALID, &e_, part);             \
        buf_release(&b_);                                                                          \
    } while (0)

static void
quoting_decides_the_replacement(void **state)
{
    (void)state;
    SHELL("echo $(inputs.x)", "echo \"${CLIQ_T_1}\"");
    SHELL("echo \"$(inputs.x)\"", "echo \"${CLIQ_T_1}\"");
    SHELL("echo a$(inputs.x)b", "echo a\"${CLIQ_T_1}\"b");
    SHELL("echo \"a$(inputs.x)b\"", "echo \"a${CLIQ_T_1}b\"");
    SHELL("echo \"$(cat $(inputs.x))\"", "echo \"$(cat \"${CLIQ_T_1}\")\"");
    SHELL("echo \"$(cat \"$(inputs.x)\")\"", "echo \"$(cat \"${CLIQ_T_1}\")\"");
    SHELL("echo `cat $(inputs.x)`", "echo `cat \"${CLIQ_T_1}\"`");
    SHELL("echo ${a:-$(inputs.x)}", "echo ${a:-\"${CLIQ_T_1}\"}");
    SHELL("echo \"${a-it's $(inputs.x)}\"", "echo \"${a-it's ${CLIQ_T_1}}\"");
    SHELL("cat <<E\n\"$(inputs.x)'\nE\necho $(inputs.x)",
          "cat <<E\n\"${CLIQ_T_1}'\nE\necho \"${CLIQ_T_1}\"");
    SHELL("cat <<-E\n\t$(inputs.x)\n\tE\necho '$'$(inputs.x)",
          "cat <<-E\n\t${CLIQ_T_1}\n\tE\necho '$'\"${CLIQ_T_1}\"");
    SHELL("echo $((1 + $(inputs.n)))", "echo $((1 + ${CLIQ_T_1}))");
    SHELL("x=$(inputs.x) y=1 cmd", "x=\"${CLIQ_T_1}\" y=1 cmd");
    SHELL("echo it\\'s $(inputs.x)", "echo it\\'s \"${CLIQ_T_1}\"");
    SHELL("echo \\\"$(inputs.x)\\\"", "echo \\\"\"${CLIQ_T_1}\"\\\"");
    SHELL("echo \"\\\"$(inputs.x)\"", "echo \"\\\"${CLIQ_T_1}\"");
}

static void
equal_values_share_a_variable(void **state)
{
    struct buf b = { 0 };
    struct err e;
    struct template_env *env = NULL;
    size_t n = 0;

    (void)state;
    CHECK_OK(
        template_shell(&arena, &b, "a $(inputs.x) $(inputs.n) $(inputs.x)", &scope, &env, &n, &e),
        &e);
    assert_string_equal(b.p, "a \"${CLIQ_T_1}\" \"${CLIQ_T_2}\" \"${CLIQ_T_1}\"");
    assert_int_equal(n, 2);
    buf_reset(&b);
    CHECK_OK(template_shell(&arena, &b, "b $(phase) $(inputs.n)", &scope, &env, &n, &e), &e);
    assert_string_equal(b.p, "b \"${CLIQ_T_3}\" \"${CLIQ_T_2}\"");
    assert_int_equal(n, 3);
    assert_string_equal(env[0].name, "CLIQ_T_1");
    assert_string_equal(env[0].value, "value");
    assert_string_equal(env[2].value, "build");
    buf_release(&b);
}

static void
ordinary_shell_is_left_alone(void **state)
{
    static const char *const texts[] = {
        "",
        "echo $(date +%s) $(ls | wc -l) ${x:-y} $x `id`",
        "echo 'unclosed",
        "echo $(",
        "# $( date )\n",
        "cat <<'EOF'\n$(whoami)\nEOF",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        SHELL(texts[i], texts[i]);
}

static void
comments_and_escaped_dollars_stay(void **state)
{
    (void)state;
    SHELL("echo $(inputs.n) # $(inputs.nope) '\necho $(inputs.x)",
          "echo \"${CLIQ_T_1}\" # $(inputs.nope) '\necho \"${CLIQ_T_2}\"");
    SHELL("echo a#$(inputs.n)", "echo a#\"${CLIQ_T_1}\"");
    SHELL("echo \"\\$(inputs.x)\" $(inputs.n)", "echo \"\\$(inputs.x)\" \"${CLIQ_T_1}\"");
    SHELL("echo $# $(inputs.n)", "echo $# \"${CLIQ_T_1}\"");
    SHELL("echo `id # $(inputs.x)` $(inputs.n)", "echo `id # $(inputs.x)` \"${CLIQ_T_1}\"");
}

static void
a_use_in_single_quotes_is_an_error_with_its_position(void **state)
{
    (void)state;
    REFUSED("echo '$(inputs.x)'", "$(inputs.x) at line 1, column 7 is in single quotes");
    REFUSED("a\nb  'ü' '$(date)'", "$(date) at line 2, column 9 is in single quotes");
    REFUSED("echo \"$(awk '$(inputs.x)')\"", "single quotes");
    REFUSED("echo `awk '$(inputs.x)'`", "single quotes");
    REFUSED("echo ${a:-'$(inputs.x)'}", "single quotes");
    REFUSED("echo $'$(inputs.x)'", "single quotes");
}

static void
a_use_in_a_quoted_heredoc_is_an_error(void **state)
{
    (void)state;
    REFUSED("cat <<'E'\n$(inputs.x)\nE", "line 2, column 1 is in a here-document");
    REFUSED("cat <<\"E\"\n$(inputs.x)\nE", "here-document");
    REFUSED("cat <<\\E\n$(inputs.x)\nE", "here-document");
    REFUSED("cat <<E''O\n$(inputs.x)\nEO", "here-document");
    REFUSED("cat <<-'E'\n\t$(inputs.x)\n\tE", "here-document");
    REFUSED("a <<A b <<'B'\n$(inputs.x)\nA\n$(inputs.x)\nB", "line 4, column 1");
    REFUSED("cat <<$(inputs.x)\nE", "delimiter of a here-document");
}

static void
a_heredoc_ends_at_its_delimiter_only(void **state)
{
    (void)state;
    SHELL("cat <<E\nEE\n E\n'$(inputs.x)'\nE\necho $(inputs.x)",
          "cat <<E\nEE\n E\n'${CLIQ_T_1}'\nE\necho \"${CLIQ_T_1}\"");
    SHELL("cat <<E\nx\\\nE\n'$(inputs.x)'\nE\necho $(inputs.x)",
          "cat <<E\nx\\\nE\n'${CLIQ_T_1}'\nE\necho \"${CLIQ_T_1}\"");
    SHELL("cat <<'E'\nx\\\nE\necho $(inputs.x)", "cat <<'E'\nx\\\nE\necho \"${CLIQ_T_1}\"");
    SHELL("cat <<E; echo $(inputs.x)\n\"\nE\necho $(inputs.n)",
          "cat <<E; echo \"${CLIQ_T_1}\"\n\"\nE\necho \"${CLIQ_T_2}\"");
    SHELL("echo $((1<<2)) $(inputs.x)\nE", "echo $((1<<2)) \"${CLIQ_T_1}\"\nE");
    SHELL("cat <<<$(inputs.x)\n'E'", "cat <<<\"${CLIQ_T_1}\"\n'E'");
}

static void
case_patterns_do_not_end_a_substitution(void **state)
{
    (void)state;
    SHELL("x=\"$(case a in a) echo $(inputs.x);; esac)\" y=$(inputs.n)",
          "x=\"$(case a in a) echo \"${CLIQ_T_1}\";; esac)\" y=\"${CLIQ_T_2}\"");
    SHELL("x=\"$(echo case)\" y=$(inputs.n)", "x=\"$(echo case)\" y=\"${CLIQ_T_1}\"");
    SHELL("x=\"$( (a) | b )$(inputs.n)\"", "x=\"$( (a) | b )${CLIQ_T_1}\"");
    SHELL("x=\"$((a) | b)$(inputs.n)\"", "x=\"$((a) | b)${CLIQ_T_1}\"");
}

static void
a_use_where_shells_differ_is_an_error(void **state)
{
    (void)state;
    REFUSED("echo ${a#$(inputs.x)}", "inside ${...}");
    REFUSED("echo \"${a:$(inputs.n)}\"", "inside ${...}");
    REFUSED("echo ${a[$(inputs.n)]}", "inside ${...}");
    REFUSED("echo \"${a:-\"$(inputs.x)\"}\"", "inner ones");
    REFUSED("echo \"`echo \\\"$(inputs.x)\\\"`\"", "backquotes after a backslash");
    REFUSED("echo `echo \\`echo $(inputs.x)\\``", "backquotes after a backslash");
    REFUSED("echo $'it\\'s $(inputs.x)'", "read differently");
    REFUSED("echo `p '`' $(inputs.x)`", "a backquote in single quotes in backquotes");
    REFUSED("echo `cat <<E\n$(inputs.x)\nE\n`", "a here-document in backquotes");
    REFUSED("echo $[ $(inputs.n) ]", "arithmetic only in bash");
    REFUSED("echo $$(inputs.x)", "directly follows a $");
    REFUSED("echo \"$$(inputs.x)\"", "directly follows a $");
}

static void
a_command_that_does_not_end_is_an_error_when_it_has_uses(void **state)
{
    (void)state;
    REFUSED("echo $(inputs.x) 'abc", "a single quote that is not closed at line 1, column 18");
    REFUSED("echo $(inputs.x) \"abc", "a double quote that is not closed");
    REFUSED("echo $(inputs.x) $(abc", "a $( that is not closed");
    REFUSED("echo $(inputs.x) `abc", "a backquote that is not closed");
    REFUSED("echo $(inputs.x) ${abc", "a ${ that is not closed");
    REFUSED("echo $(inputs.x", "is not a template variable");
}

static void
only_whole_numbers_reach_arithmetic(void **state)
{
    static const char *const texts[] = {
        "echo $(($(inputs.x)))",
        "echo \"$(( 1 + $(inputs.x) ))\"",
        "echo $((1 + $(id $(inputs.x))))",
        "(( a = $(inputs.x) ))",
        "let a=$(inputs.x)",
        "[[ $(inputs.x) -eq 1 ]]",
        "[[ 1 && $(inputs.x) -lt 1 ]]",
        "a[$(inputs.x)]=1",
        "a[\"$(inputs.x)\"]=1",
        "a=([$(inputs.x)]=1)",
        "a+=(1 [$(inputs.x)]=1)",
        "printf -v a[$(inputs.x)] 1",
        "unset a[$(inputs.x)]",
        "$c a[$(inputs.x)]",
        "declare -i a=$(inputs.x)",
        "[ -v $(inputs.x) ]",
    };
    static const char *const bad[] = { "a[$(touch pwned)]",  "", "1 + 1", "x", "09", "1\n", "--1",
                                       "1234567890123456789" };
    struct err e;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct buf b = { 0 };
        struct template_env *env = NULL;
        size_t n = 0;
        set_x("-12", 3);
        CHECK_OK(template_shell(&arena, &b, texts[i], &scope, &env, &n, &e), &e);
        for (size_t j = 0; j < sizeof bad / sizeof *bad; j++) {
            set_x(bad[j], strlen(bad[j]));
            CHECK_FAILS_WITH(template_shell(&arena, &b, texts[i], &scope, &env, &n, &e), ST_INVALID,
                             &e, "not a whole number");
        }
        buf_release(&b);
    }
    set_x("a", 1);
    SHELL("[[ $(inputs.x) == a ]] && [ $(inputs.x) -eq 1 ]",
          "[[ \"${CLIQ_T_1}\" == a ]] && [ \"${CLIQ_T_1}\" -eq 1 ]");
}

static void
a_bracket_is_not_yet_arithmetic(void **state)
{
    (void)state;
    set_x("wor ld", 6);
    SHELL("echo [$(inputs.x)]", "echo [\"${CLIQ_T_1}\"]");
    SHELL("git commit -m fix[$(inputs.x)]", "git commit -m fix[\"${CLIQ_T_1}\"]");
    SHELL("(ls -d [$(inputs.x)]*)", "(ls -d [\"${CLIQ_T_1}\"]*)");
    SHELL("case x in [$(inputs.x)]) ;; esac", "case x in [\"${CLIQ_T_1}\"]) ;; esac");
}

static void
nul_and_too_long_values_say_to_use_a_file(void **state)
{
    struct buf b = { 0 };
    struct err e;
    struct template_env *env = NULL;
    size_t n = 0;
    char *big = calloc(1, TEMPLATE_ENV_MAX + 1);

    (void)state;
    set_x("a\0b", 3);
    CHECK_FAILS_WITH(template_shell(&arena, &b, "$(inputs.x)", &scope, &env, &n, &e), ST_INVALID,
                     &e, "file");
    memset(big, 'a', TEMPLATE_ENV_MAX + 1);
    set_x(big, TEMPLATE_ENV_MAX + 1);
    CHECK_FAILS_WITH(template_shell(&arena, &b, "$(inputs.x)", &scope, &env, &n, &e), ST_INVALID,
                     &e, "file");
    set_x(big, TEMPLATE_ENV_MAX);
    CHECK_OK(template_shell(&arena, &b, "$(inputs.x)", &scope, &env, &n, &e), &e);
    CHECK_FAILS_WITH(template_shell(&arena, &b, "$(inputs.no)", &scope, &env, &n, &e), ST_INVALID,
                     &e, "cannot resolve $(inputs.no)");
    free(big);
    buf_release(&b);
}

static const char *
warning(const char *text)
{
    const char *w = NULL;
    struct err e = { "" };

    CHECK_OK(template_check_shell(text, &w, &e), &e);
    return w;
}

static void
commands_that_run_their_words_as_code_are_warned_about(void **state)
{
    static const char *const texts[] = {
        "eval $(inputs.x)",
        "eval \"echo $(inputs.x)\"",
        "eval \"$(cat $(inputs.x))\"",
        "a; b && eval x $(inputs.x)",
        "sh -c \"echo $(inputs.x)\"",
        "bash -ec \"echo $(inputs.x)\"",
        "/bin/sh -c \"$(inputs.x)\"",
        "FOO=1 sudo -E env A=b bash -c \"$(inputs.x)\"",
        "timeout 5 sh -c \"$(inputs.x)\"",
        "if true; then sh -c \"$(inputs.x)\"; fi",
        ">out 2>&1 sh -c \"$(inputs.x)\"",
        "find . -exec sh -c \"echo $(inputs.x)\" \\;",
        "docker exec c sh -c \"$(inputs.x)\"",
        "sudo -u bob sh -c \"$(inputs.x)\"",
        "flock lock -c \"$(inputs.x)\"",
        "\"sh\" -c \"$(inputs.x)\"",
        "\\sh -c \"$(inputs.x)\"",
        "$SHELL -c \"$(inputs.x)\"",
        "ssh host \"ls $(inputs.x)\"",
        "ssh host <<E\nls $(inputs.x)\nE",
        "sh <<E\nls $(inputs.x)\nE",
        "echo \"$(inputs.x)\" | sh",
        "echo \"$(inputs.x)\" | bash -s",
        "python3 -c \"print('$(inputs.x)')\"",
        "echo $(eval $(inputs.x))",
        "awk \"{print $(inputs.x)}\" f",
        "awk -F, -v a=b \"/$(inputs.x)/\" f",
        "gawk -e \"/$(inputs.x)/\" f",
        "mawk '{print '\"$(inputs.x)\"'}' f",
        "cat f | awk \"\\$1 == \\\"$(inputs.x)\\\"\"",
        "sed \"s/a/$(inputs.x)/\" f",
        "/usr/bin/sed -n $(inputs.x) f",
        "sed -ne \"/$(inputs.x)/p\" f",
        "sed -i.bak -es/a/$(inputs.x)/ f",
        "sed --expression=\"s/a/$(inputs.x)/\" f",
        "sed -e p -e \"$(inputs.x)\" f",
        "sed -E -- \"$(inputs.x)\" f",
        "find . -exec sed -i \"s/a/$(inputs.x)/\" {} +",
        "jq \".$(inputs.x)\" f",
        "jq -r --arg a b --indent 2 \".$(inputs.x)\" f",
        "env -S \"ls $(inputs.x)\"",
        "/usr/bin/env -iS \"ls $(inputs.x)\"",
        "env --split-string=\"ls $(inputs.x)\"",
        ". $(inputs.x)",
        "source \"$(inputs.x)/lib.sh\"",
        "trap \"echo $(inputs.x)\" EXIT",
        "declare \"$(inputs.x)=1\"",
        "read -r $(inputs.x)",
        "PS4=$(inputs.x); set -x",
        "export BASH_ENV=\"$(inputs.x)\"",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!warning(texts[i]))
            fail_msg("no warning for %s", texts[i]);
    assert_non_null(strstr(warning(texts[0]), "eval"));
    assert_non_null(strstr(warning("ssh a $(inputs.x)"), "ssh"));
    assert_non_null(strstr(warning("awk $(inputs.x)"), "awk program"));
    assert_non_null(strstr(warning("sed $(inputs.x)"), "sed script"));
    assert_non_null(strstr(warning("jq $(inputs.x)"), "--arg NAME VALUE"));
    assert_non_null(strstr(warning("env -S $(inputs.x)"), "env -S"));
    assert_non_null(strstr(warning(". $(inputs.x)"), "source"));
}

static void
other_commands_are_not_warned_about(void **state)
{
    static const char *const texts[] = {
        "echo $(inputs.x)",
        "echo eval $(inputs.x)",
        "awk '{print}' $(inputs.x)",
        "awk -v v=$(inputs.x) '{print v}' f",
        "awk -v \"v=$(inputs.x)\" '{print v}' f",
        "awk -F \"$(inputs.x)\" '{print}' f",
        "awk -vv=$(inputs.x) '{print v}' f",
        "awk -f prog.awk $(inputs.x)",
        "awk '{print v}' v=$(inputs.x) f >\"$(inputs.x)\"",
        "sed s/a/b/ $(inputs.x)",
        "sed -i \"s/a/b/\" $(inputs.x)",
        "sed -n -e p $(inputs.x)",
        "sed -nf script $(inputs.x)",
        "sed --file=script $(inputs.x)",
        "sed p f; echo $(inputs.x)",
        "sed p f | grep $(inputs.x)",
        "jq . $(inputs.x)",
        "jq --arg v $(inputs.x) .a f",
        "jq -n --arg v \"$(inputs.x)\" '$v'",
        "env A=$(inputs.x) ls $(inputs.x)",
        "env -u S ls $(inputs.x)",
        ". ./lib.sh $(inputs.x)",
        "echo sed $(inputs.x)",
        "eval true; echo $(inputs.x)",
        "sh script.sh $(inputs.x)",
        "docker exec c sh script.sh $(inputs.x)",
        "git clone ssh://host/$(inputs.x)",
        "echo $(inputs.x) | sh script.sh",
        "echo $(inputs.x); true | sh",
        "sh -c 'echo \"$1\"' -",
        "eval \"$(ssh-agent)\"",
        "ssh host true\necho $(inputs.x)",
        "# eval $(inputs.x)",
        "export V=$(inputs.x)",
        "local v=\"$(inputs.x)\"; x=1",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (warning(texts[i]))
            fail_msg("a warning for %s: %s", texts[i], warning(texts[i]));
}

static void
deep_and_broken_texts_end_quickly(void **state)
{
    struct buf b = { 0 };
    const char *w;
    struct err e;

    (void)state;
    buf_adds(&b, "$(inputs.x)");
    for (int i = 0; i < 20000; i++)
        buf_adds(&b, "$((");
    CHECK_FAILS_WITH(template_check_shell(b.p, &w, &e), ST_INVALID, &e, "cannot be read");
    buf_reset(&b);
    buf_adds(&b, "$(inputs.x)");
    for (int i = 0; i < 20000; i++)
        buf_adds(&b, "\"$(a ");
    CHECK_FAILS_WITH(template_check_shell(b.p, &w, &e), ST_INVALID, &e, "too deeply nested");
    buf_reset(&b);
    buf_adds(&b, "$(inputs.x)");
    for (int i = 0; i < 20000; i++)
        buf_adds(&b, "((a) ");
    template_check_shell(b.p, &w, &e);
    buf_release(&b);
}

/* ---- through real shells ---- */

static const char *const hostile[] = {
    "plain",
    "",
    "a b  c",
    "'",
    "\"",
    "''\"\"",
    "$(touch pwned)",
    "`touch pwned`",
    "'; touch pwned; '",
    "\"; touch pwned; \"",
    "'$(touch pwned)'",
    "\"$(touch pwned)\"",
    "; touch pwned #",
    "| touch pwned",
    "&& touch pwned",
    "\ntouch pwned\n",
    "line\nbreak\n\n",
    "*",
    "/*/../*",
    "?[a-z]*",
    "~",
    "-n",
    "--help",
    "-",
    "\\",
    "\\\\n\\t\\",
    "%s%n%d",
    "!!",
    "${HOME}",
    "$HOME $0 $$",
    "$(inputs.x)",
    "${CLIQ_T_1}",
    "E",
    "E\ntouch pwned\nE",
    "\nE\n",
    ")",
    "))",
    "}",
    "a=b",
    "{a,b}",
    "<(touch pwned)",
    "> pwned",
    "a[$(touch pwned)]",
    "grüße 日本 🦀",
    "\t tab \r cr",
    "\x01\x1b[31m\x7f",
    "((touch pwned))",
};

/* Each writes the value of inputs.x, and one 'x' behind it, to the file out. */
static const char *const positions[] = {
    "printf %sx $(inputs.x) >out",
    "printf %sx \"$(inputs.x)\" >out",
    "printf %s%s \"$(inputs.x)\"x >out",
    "printf %s $(inputs.x)x >out",
    "printf '%s' \"$(inputs.x)x\" >out",
    "v=$(inputs.x); printf %sx \"$v\" >out",
    "v=\"$(inputs.x)\" && printf '%sx' \"$v\" >out",
    "export v=$(inputs.x); printf %sx \"$v\" >out",
    "printf '%s' \"$(printf '%sx' $(inputs.x))\" >out",
    "printf '%s' \"$(printf '%sx' \"$(inputs.x)\")\" >out",
    "printf '%s' \"`printf '%sx' $(inputs.x)`\" >out",
    "v=`printf '%sx' \"$(inputs.x)\"`; printf %s \"$v\" >out",
    "v=`printf %sx $(inputs.x)`; printf %s \"$v\" >out",
    "printf %sx ${nope:-$(inputs.x)} >out",
    "printf %sx \"${nope:-$(inputs.x)}\" >out",
    "printf %sx \"${nope-$(inputs.x)}\" >out",
    "printf %s \"${HOME:+$(inputs.x)}x\" >out",
    "v=$(cat <<E\n$(inputs.x)x\nE\n); printf %s \"$v\" >out",
    "v=$(cat <<-E\n\t$(inputs.x)x\n\tE\n); printf %s \"$v\" >out",
    "cat <<E >/dev/null; printf %sx $(inputs.x) >out\n'$(inputs.x)\" `echo` $(echo a)\nE",
    "for i in $(inputs.x); do printf '%sx' \"$i\"; done >out",
    "case $(inputs.x) in \"$(inputs.x)\") printf %sx $(inputs.x);; esac >out",
    "case x in $(inputs.x)) : ;; esac; printf %sx $(inputs.x) >out",
    "[ $(inputs.x) = \"$(inputs.x)\" ] && printf %sx $(inputs.x) >out",
    "f() { printf %sx \"$1\"; }; f $(inputs.x) >out",
    "set -- $(inputs.x); printf %sx \"$@\" >out",
    "( printf %sx $(inputs.x) ) >out # $(inputs.x)",
    "printf %s '' $(inputs.x) x >out",
    "printf %sx $(printf '%s' '' >/dev/null)$(inputs.x) >out",
    "\"printf\" \\%sx \\\n $(inputs.x) >out",
    "if true; then\n  printf %sx $(inputs.x)\nfi >out",
    "v=\"$(case $(inputs.x) in *) printf %sx $(inputs.x);; esac)\"; printf %s \"$v\" >out",
    "printf %sx \"$(inputs.x)\" | cat >out",
    "set -eu; printf %sx $(inputs.x) >out",
    "IFS=abtx/; printf '%sx' $(inputs.x) >out",
    "env printf %sx $(inputs.x) >out",
};

enum { N_HOSTILE = sizeof hostile / sizeof *hostile };

/* One process runs the command with every value, each in a directory of its own. */
static void
run_with_shell(const char *shell, const char *command)
{
    struct buf script = { 0 };
    struct err e;
    struct template_env *env = NULL;
    size_t n = 0, len;
    char name[32];

    for (size_t h = 0; h < N_HOSTILE; h++) {
        set_x(hostile[h], strlen(hostile[h]));
        snprintf(name, sizeof name, "d%zu", h);
        make_dirs(name);
        buf_addf(&script, "(\ncd %s || exit\n", name);
        CHECK_OK(template_shell(&arena, &script, command, &scope, &env, &n, &e), &e);
        buf_adds(&script, "\n) || exit 9\n");
    }
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        for (size_t i = 0; i < n; i++)
            setenv(env[i].name, env[i].value, 1);
        execl(shell, shell, "-c", script.p, (char *)NULL);
        _exit(127);
    }
    int code = wait_child(pid);
    if (code != 0)
        fail_msg("%s: exit %d: %s", shell, code, command);
    for (size_t h = 0; h < N_HOSTILE; h++) {
        snprintf(name, sizeof name, "d%zu/pwned", h);
        if (file_exists(name))
            fail_msg("%s: executed! %s with <%s>", shell, command, hostile[h]);
        snprintf(name, sizeof name, "d%zu/out", h);
        char *out = read_file(name, &len);
        size_t want = strlen(hostile[h]);
        if (len != want + 1 || memcmp(out, hostile[h], want) != 0 || out[want] != 'x')
            fail_msg("%s: %s gave <%s> for <%s>", shell, command, out, hostile[h]);
        free(out);
        snprintf(name, sizeof name, "d%zu", h);
        remove_tree(name);
    }
    buf_release(&script);
}

static void
no_hostile_value_is_executed_and_every_byte_arrives(void **state)
{
    static const char *const shells[] = { "/bin/sh", "/bin/bash" };

    (void)state;
    setenv("LC_ALL", "C.UTF-8", 1);
    for (size_t s = 0; s < sizeof shells / sizeof *shells; s++)
        for (size_t i = 0; i < sizeof positions / sizeof *positions; i++)
            if (access(shells[s], X_OK) == 0)
                run_with_shell(shells[s], positions[i]);
    assert_false(file_exists("pwned"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(every_form_has_its_value),
        CASE(a_handoff_is_reached_by_a_path),
        CASE(a_key_with_dots_is_found_before_the_shorter_one),
        CASE(data_is_the_whole_data),
        CASE(an_unresolved_variable_is_named),
        CASE(an_invalid_name_is_an_error),
        CASE(other_dollar_signs_stay),
        CASE(values_are_not_expanded_again),
        CASE(uses_are_found_in_order),
        CASE(a_condition_compares_texts),
        CASE(a_bare_condition_is_true_unless_it_says_no),
        CASE(a_value_cannot_forge_a_comparison),
        CASE(a_condition_that_cannot_be_resolved_is_an_error),
        CASE(quoting_decides_the_replacement),
        CASE(equal_values_share_a_variable),
        CASE(ordinary_shell_is_left_alone),
        CASE(comments_and_escaped_dollars_stay),
        CASE(a_use_in_single_quotes_is_an_error_with_its_position),
        CASE(a_use_in_a_quoted_heredoc_is_an_error),
        CASE(a_heredoc_ends_at_its_delimiter_only),
        CASE(case_patterns_do_not_end_a_substitution),
        CASE(a_use_where_shells_differ_is_an_error),
        CASE(a_command_that_does_not_end_is_an_error_when_it_has_uses),
        CASE(only_whole_numbers_reach_arithmetic),
        CASE(a_bracket_is_not_yet_arithmetic),
        CASE(nul_and_too_long_values_say_to_use_a_file),
        CASE(commands_that_run_their_words_as_code_are_warned_about),
        CASE(other_commands_are_not_warned_about),
        CASE(deep_and_broken_texts_end_quickly),
        CASE(no_hostile_value_is_executed_and_every_byte_arrives),
    };
    return cmocka_run_group_tests_name("template", tests, NULL, NULL);
}

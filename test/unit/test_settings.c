/* Tests team/settings: values are checked when they are set and when they are read, and a
 * refused value is not written. */
#include "test.h"

#include "team/settings.h"
#include "team/settings_check.h"

static struct err e;

static void
enter_project(void)
{
    make_dirs("project");
    make_dirs("home");
    setenv("CLIQ_HOME", "home", 1);
    write_file("project/settings.json", "{\"default_agent\":\"script\"}\n");
}

static enum status
set(const char *key, const char *value)
{
    return settings_set("project", false, key, value, &e);
}

static enum status
load(const char *text)
{
    struct settings s;

    write_file("project/settings.json", text);
    enum status st = settings_load(&s, "project", &e);
    if (!st)
        settings_release(&s);
    return st;
}

static void
valid_values_of_every_kind_are_accepted(void **state)
{
    static const char *const good[][2] = {
        { "default_agent", "claude-code" },
        { "agents.curl.timeout", "30" },
        { "agents.curl.timeout", "2m" },
        { "run.command_timeout", "20m" },
        { "prices.mine", "{\"input\":1.5,\"output\":6}" },
        { "agents.curl.max_bytes", "1073741824" },
        { "agents.curl.proxy", "http://127.0.0.1:3128" },
        { "agents.slack.channels.ops.webhook_url", "https://hooks.slack.com/services/T/B/x" },
        { "agents.slack.channels.ops.own", "[1]" },
        { "agents.email.password", "123456" },
        { "agents.email.channels.ops.to", "eve@x" },
        { "agents.email.channels.ops.to", "[\"eve@x\",\"Bob <bob@x>\"]" },
        { "agents.curl.own", "[1]" }, /* agents may have keys of their own */
        { "agents.x.entry", "./agent" },
        { "agents.x", "{\"entry\":\"./a\",\"deep\":{\"er\":1}}" },
        { "notifications.on_start", "slack" },
        { "notifications.on_start", "[\"slack:ops\",{\"agent\":\"mail\",\"to\":1}]" },
        { "notifications", "{\"on_cancel\":[]}" },
        { "channel.max_message_size_bytes", "1" },
        { "roles.qa.agent", "script" },
        { "roles.qa.command", "make test" },
        { "hub.url", "https://hub.example/x" },
        { "other.section", "true" },
    };

    (void)state;
    enter_project();
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct settings s;
        CHECK_OK(set(good[i][0], good[i][1]), &e);
        CHECK_OK(settings_load(&s, "project", &e), &e);
        settings_release(&s);
    }
}

static void
a_wrong_value_is_named_with_its_key_and_nothing_is_written(void **state)
{
    static const char *const bad[][3] = {
        { "channel.max_message_size_bytes", "abc",
          "channel.max_message_size_bytes must be a whole number of bytes, at least 1, not "
          "\"abc\"" },
        { "channel.max_message_size_bytes", "0", "at least 1, not 0" },
        { "channel.max_message_size_bytes", "1.5", "at least 1, not 1.5" },
        { "channel.max_message_size_bytes", "null", "at least 1, not null" },
        { "channel", "5", "channel must be an object of settings, not 5" },
        { "max_message_size_bytes", "-1", "at least 1, not -1" },
        { "agents.curl.max_bytes", "1073741825",
          "at least 1 and at most 1073741824, not 1073741825" },
        { "agents.curl.timeout", "soon", "must be a time like 30, \"90s\", \"2m\" or \"30d\"" },
        { "agents.curl.timeout", "0", "not 0" },
        { "run.command_timeout", "long", "must be a time like" },
        { "prices.mine", "3", "for a million tokens, not 3" },
        { "prices.mine", "{\"input\":1}", "for a million tokens" },
        { "prices.mine", "{\"input\":1,\"output\":\"much\"}", "for a million tokens" },
        { "agents.x.entry", "", "agents.x.entry must be a text that is not empty, not \"\"" },
        { "agents", "{\"x\":{\"entry\":1}}", "agents.x.entry must be a text" },
        { "agents.slack.channels.ops.webhook_url", "hooks.slack.com/x",
          "must be a URL like https://host/path, not this one" },
        { "agents.slack.channels", "{\"ops\":5}", "must be an object of settings, not 5" },
        { "agents.email.port", "70000", "at most 65535, not 70000" },
        { "agents.email.channels.ops.to", "eve", "must be an address like eve@example.org" },
        { "agents.email.channels.ops.to", "[]", "or a list of them, not []" },
        { "agents.webhook.channels", "{\"ops\":{\"url\":\"x://token\"}}",
          "agents.webhook.channels.ops.url must be a URL like https://host/path, not this one" },
        { "default_agent", "../x", "default_agent must be the name of an agent, not \"../x\"" },
        { "roles.qa.agent", "a b", "roles.qa.agent must be the name of an agent" },
        { "hub.url", "hub.example", "hub.url must be a URL like https://host/path" },
        { "hub.url", "https://", "hub.url must be a URL" },
        { "hub.url", "ftp://x", "hub.url must be a URL" },
        { "notifications.on_start", "5", "notifications.on_start must be a list of \"agent\"" },
        { "notifications.on_start", "[\"slack\",{\"to\":1}]", "must be a list of" },
        { "notifications.on_start", ":ops", "must be a list of" },
        { "notifications.on_foo", "slack",
          "notifications.on_foo: there is no such event; these are: on_start, on_phase_start, "
          "on_phase_complete, on_complete, on_escalate, on_cancel" },
        { "notifications", "{\"on_complet\":\"slack\"}",
          "notifications.on_complet: there is no such event (did you mean on_complete?)" },
    };
    size_t len;

    (void)state;
    enter_project();
    char *before = read_file("project/settings.json", &len);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_FAILS_WITH(set(bad[i][0], bad[i][1]), ST_INVALID, &e, bad[i][2]);
        CHECK_FILE("project/settings.json", before);
        assert_int_equal(count_files("project"), 1);
    }
    free(before);
}

static void
a_wrong_value_in_a_file_is_reported_with_its_path(void **state)
{
    (void)state;
    enter_project();
    CHECK_FAILS(load("{\"channel\":{\"max_message_size_bytes\":\"abc\"}}"), ST_INVALID, &e,
                "project/settings.json: channel.max_message_size_bytes must be a whole number of "
                "bytes, at least 1, not \"abc\"");
    CHECK_FAILS_WITH(load("{\"notifications\":{\"on_foo\":[]}}"), ST_INVALID, &e,
                     "project/settings.json: notifications.on_foo: there is no such event");
    CHECK_OK(load("{\"notifications\":null,\"agents\":{\"x\":{}},\"elsewhere\":[1]}"), &e);
    write_file("home/settings.json", "{\"default_agent\":7}");
    CHECK_FAILS_WITH(load("{}"), ST_INVALID, &e,
                     "home/settings.json: default_agent must be the name of an agent, not 7");
}

static void
one_of_two_wrong_values_can_be_corrected_alone(void **state)
{
    struct settings s;

    (void)state;
    enter_project();
    write_file("project/settings.json", "{\"default_agent\":7,\"hub\":{\"url\":\"x\",\"a\":1}}");
    CHECK_OK(set("hub.url", "http://h"), &e);
    CHECK_OK(set("default_agent", NULL), &e);
    CHECK_OK(settings_load(&s, "project", &e), &e);
    assert_string_equal(settings_text(&s, "hub.url"), "http://h");
    settings_release(&s);
}

static void
a_text_of_digits_stays_a_text(void **state)
{
    struct settings s;

    (void)state;
    enter_project();
    CHECK_OK(set("hub.token", "0123"), &e);
    CHECK_OK(set("default_agent", "42"), &e);
    CHECK_OK(set("agents.x.count", "42"), &e);
    CHECK_OK(settings_load(&s, "project", &e), &e);
    assert_string_equal(settings_text(&s, "hub.token"), "0123");
    assert_string_equal(settings_text(&s, "default_agent"), "42");
    assert_true(json_is(settings_get(&s, "agents.x.count"), JSON_NUMBER));
    settings_release(&s);
}

static void
a_secret_is_not_shown_when_it_is_wrong(void **state)
{
    (void)state;
    enter_project();
    CHECK_FAILS(load("{\"agents\":{\"x\":{\"api_key\":[\"sk-1\"]}}}"), ST_INVALID, &e,
                "project/settings.json: agents.x.api_key must be a text that is not empty, not "
                "another kind of value");
}

static void
masks(const struct mask *m, const char *text, const char *want)
{
    struct buf b = { 0 };

    CHECK_OK(mask_text(m, text, strlen(text), &b, &e), &e);
    assert_string_equal(b.p, want);
    buf_release(&b);
}

static void
secrets_of_agents_and_of_the_environment_are_masked(void **state)
{
    static const char text[] =
        "{\"codex\":{\"api_key\":\"sk-123456\",\"model\":\"gpt-model\",\"max_tokens\":4096000,"
        "\"login\":{\"passwords\":[\"first-one\",987654321]}}}";
    static const char *const vars[] = { "GITHUB_TOKEN=ghp-abcdef", "PATH=/usr/local/bin",
                                        "MAX_TOKENS=1234567",      "API_KEY=short",
                                        "NOTHING_SECRET_",         NULL };
    struct arena a = { 0 };
    struct mask m = { 0 };
    struct json *v;

    (void)state;
    assert_true(json_parse(&a, text, strlen(text), &v, NULL));
    settings_add_secrets(&m, v, "agents");
    settings_add_env_secrets(&m, vars);
    CHECK_OK(mask_build(&m, &e), &e);
    masks(&m, "sk-123456 gpt-model 4096000 first-one 987654321", "*** gpt-model 4096000 *** ***");
    masks(&m, "ghp-abcdef /usr/local/bin 1234567 short", "*** /usr/local/bin 1234567 short");
    mask_release(&m);
    arena_release(&a);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(secrets_of_agents_and_of_the_environment_are_masked),
        CASE(valid_values_of_every_kind_are_accepted),
        CASE(a_wrong_value_is_named_with_its_key_and_nothing_is_written),
        CASE(a_wrong_value_in_a_file_is_reported_with_its_path),
        CASE(one_of_two_wrong_values_can_be_corrected_alone),
        CASE(a_text_of_digits_stays_a_text),
        CASE(a_secret_is_not_shown_when_it_is_wrong),
    };

    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}

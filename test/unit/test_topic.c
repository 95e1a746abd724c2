/*
 * Tests cmd/lib/topic: every row of every table that the code reads by is on its page, with what it
 * takes and means, and no page asks for a table that does not exist.
 */
#include "cmd/lib/topic.h"

#include "context/agent_env.h"
#include "context/agent_message.h"
#include "context/handoff.h"
#include "context/status_line.h"
#include "context/usage.h"
#include "team/load.h"
#include "team/manifest.h"
#include "team/settings_check.h"
#include "team/template.h"

#include "test.h"

#include <string.h>

static void
text_of(struct buf *to, const char *name)
{
    const struct topic *t = topic_find(name, false);

    assert_non_null(t);
    topic_text(to, t);
    assert_non_null(to->p);
}

/* The row is a line "  key - takes…" or "  key" of the page. */
static void
shows(const struct buf *page, const char *key, const char *takes)
{
    char line[512];

    snprintf(line, sizeof line, "\n  %s%s%.30s", key, takes ? " - " : "\n", takes ? takes : "");
    if (!strstr(page->p, line))
        fail_msg("the page lacks \"%s\"", line + 1);
}

static void
every_table_of_a_team_is_on_its_page(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct buf page = { 0 };

    text_of(&page, "team.yml");
    for (const struct load_table *t = team_tables; t->path; t++)
        for (const struct load_field *f = t->fields; f->key; f++)
            shows(&page, f->key, load_describe(&a, f).takes);
    buf_release(&page);
    arena_release(&a);
}

static void
every_table_of_fields_is_on_its_page(void **state)
{
    (void)state;
    const struct {
        const char *topic;
        const struct field *rows;
    } tables[] = {
        { "templates", template_variables },  { "templates", template_places },
        { "protocol", agent_message_fields }, { "protocol", agent_message_phase },
        { "protocol", agent_message_gate },   { "protocol", agent_message_notify },
        { "protocol", agent_message_test },   { "protocol", status_line_fields },
        { "protocol", status_line_statuses }, { "protocol", handoff_fields },
        { "protocol", usage_fields },         { "protocol", agent_env_inherited },
        { "protocol", agent_env_set },
    };

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct buf page = { 0 };
        text_of(&page, tables[i].topic);
        for (const struct field *f = tables[i].rows; f->key; f++) {
            assert_non_null(f->says);
            shows(&page, f->key, f->takes);
        }
        buf_release(&page);
    }
}

static void
every_member_of_a_manifest_and_every_setting_is_on_its_page(void **state)
{
    (void)state;
    const struct manifest_field *const tables[] = { manifest_fields, manifest_settings };
    struct buf page = { 0 }, settings = { 0 };

    text_of(&page, "manifest");
    for (size_t i = 0; i < 2; i++)
        for (const struct manifest_field *f = tables[i]; f->key; f++)
            shows(&page, f->key, manifest_takes(f->shape));
    for (const struct manifest_field *f = manifest_capabilities; f->key; f++)
        shows(&page, f->key, NULL);
    text_of(&settings, "settings");
    for (const struct setting *s = settings_known; s->key; s++) {
        assert_non_null(s->read_by);
        shows(&settings, s->key, setting_kind_says(s->kind));
    }
    buf_release(&page);
    buf_release(&settings);
}

static void
no_page_asks_for_an_unknown_table(void **state)
{
    (void)state;
    for (const struct topic *t = topics; t->id; t++) {
        struct buf page = { 0 };
        topic_page(&page, t);
        assert_non_null(page.p);
        assert_null(strstr(page.p, "@fields"));
        buf_release(&page);
    }
}

static void
a_topic_is_found_by_its_name_or_its_page(void **state)
{
    (void)state;
    assert_string_equal(topic_find("team.yml", false)->id, "team");
    assert_string_equal(topic_find("team.5", true)->id, "team");
    assert_null(topic_find("team.5", false));
    assert_null(topic_find("team", true));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(every_table_of_a_team_is_on_its_page),
        CASE(every_table_of_fields_is_on_its_page),
        CASE(every_member_of_a_manifest_and_every_setting_is_on_its_page),
        CASE(no_page_asks_for_an_unknown_table),
        CASE(a_topic_is_found_by_its_name_or_its_page),
    };

    return cmocka_run_group_tests_name("topic", tests, NULL, NULL);
}

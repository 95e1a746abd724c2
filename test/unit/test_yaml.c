/*
 * Tests base/yaml: positions of values, refusals with line and column, and that hostile text costs
 * little.
 */
#include "base/yaml.h"
#include "test.h"

#include <time.h>

#define T(literal) literal, sizeof(literal) - 1 /* text and length, because it may hold NUL */

/* ---- helpers ---- */

struct fixture {
    struct arena arena;
    struct yaml *doc;
    struct yaml_fault fault;
};

/* Copies into a block of exactly its size, so that ASan detects reading past the end. */
static bool
parse(struct fixture *f, const char *text, size_t len)
{
    char *exact = malloc(len ? len : 1);

    assert_non_null(exact);
    memcpy(exact, text, len);
    bool is_good = yaml_parse(&f->arena, exact, len, &f->doc, &f->fault);
    free(exact);
    return is_good;
}

static struct fixture
good(const char *text)
{
    struct fixture f = { { 0 } };

    if (!parse(&f, text, strlen(text)))
        fail_msg("refused at %u:%u: %s\n%s", f.fault.line, f.fault.column, f.fault.what, text);
    return f;
}

static void
refused(const char *text, size_t len, unsigned line, unsigned column, const char *what)
{
    struct fixture f = { { 0 } };

    if (parse(&f, text, len))
        fail_msg("not refused: %.*s", (int)(len < 200 ? len : 200), text);
    assert_null(f.doc);
    if (!strstr(f.fault.what, what))
        fail_msg("\"%s\" does not say \"%s\"", f.fault.what, what);
    if (f.fault.line != line || f.fault.column != column)
        fail_msg("%s at %u:%u, not at %u:%u", f.fault.what, f.fault.line, f.fault.column, line,
                 column);
    arena_release(&f.arena);
}

static void
done(struct fixture *f)
{
    arena_release(&f->arena);
}

/* n times the text, and then the tail. */
static char *
repeat(const char *text, size_t n, const char *tail)
{
    size_t len = strlen(text);
    char *all = malloc(len * n + strlen(tail) + 1);

    assert_non_null(all);
    for (size_t i = 0; i < n; i++)
        memcpy(all + i * len, text, len);
    strcpy(all + n * len, tail);
    return all;
}

static void
refused_repeat(const char *text, size_t n, unsigned line, unsigned column, const char *what)
{
    char *all = repeat(text, n, "");

    refused(all, strlen(all), line, column, what);
    free(all);
}

static void
as_json(const char *text, const char *json)
{
    struct fixture f = good(text);
    struct buf b = { 0 };
    const struct json *j = yaml_to_json(&f.arena, f.doc);

    assert_non_null(j);
    json_write(&b, j);
    assert_string_equal(b.p, json);
    buf_release(&b);
    done(&f);
}

/* CPU time, so that a busy machine changes nothing. */
static double
cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Accepted or refused, but quickly: quadratic work on 1 MiB would take minutes. */
static void
ends_soon(char *text)
{
    struct fixture f = { { 0 } };
    double before = cpu_seconds();

    parse(&f, text, strlen(text));
    double took = cpu_seconds() - before;
    if (took > 5)
        fail_msg("took %.1f s: %.60s...", took, text);
    done(&f);
    free(text);
}

/* ---- the tree ---- */

static void
an_empty_text_is_no_document(void **state)
{
    (void)state;
    static const char *const texts[] = { "", "\n\n", "# only a comment\n", "---\n", "--- \n...\n" };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct fixture f = good(texts[i]);
        assert_null(f.doc);
        done(&f);
    }
}

static void
maps_keep_their_order_and_their_count(void **state)
{
    (void)state;
    struct fixture f = good("b: 1\na: 2\nc: 3\n");
    const char *want = "bac";

    assert_int_equal(f.doc->type, YAML_MAP);
    assert_int_equal(f.doc->count, 3);
    yaml_each (m, f.doc)
        assert_int_equal(m->key[0], *want++);
    done(&f);
}

static void
keys_and_values_have_positions(void **state)
{
    (void)state;
    struct fixture f = good("# first\nname: x\nlist:\n  - one\n  -   { k: v }\n");
    const struct yaml *name = yaml_get(f.doc, "name"), *list = yaml_get(f.doc, "list");

    assert_int_equal(f.doc->line, 2);
    assert_int_equal(name->key_line, 2);
    assert_int_equal(name->key_column, 1);
    assert_int_equal(name->line, 2);
    assert_int_equal(name->column, 7);
    assert_int_equal(list->line, 4);
    assert_int_equal(list->column, 3);
    assert_int_equal(list->first->line, 4);
    assert_int_equal(list->first->column, 5);
    assert_int_equal(list->first->next->column, 7);
    assert_int_equal(list->first->next->first->key_column, 9);
    assert_int_equal(list->first->next->first->column, 12);
    done(&f);
}

static void
columns_count_characters_not_bytes(void **state)
{
    (void)state;
    struct fixture f = good("{ größe: x, y: z }");

    assert_int_equal(yaml_get(f.doc, "y")->column, 16);
    done(&f);
}

static void
a_byte_order_mark_is_skipped(void **state)
{
    (void)state;
    struct fixture f = good("\xEF\xBB\xBF"
                            "a: b\n");

    assert_string_equal(yaml_get(f.doc, "a")->text, "b");
    assert_int_equal(yaml_get(f.doc, "a")->column, 4);
    done(&f);
}

static void
quotes_and_blocks_are_always_text(void **state)
{
    (void)state;
    struct fixture f = good("[true, \"true\", 'null', !!str 7]");
    const struct yaml *v = f.doc->first;

    assert_false(v->is_quoted);
    for (v = v->next; v; v = v->next)
        assert_true(v->is_quoted);
    done(&f);
    f = good("a: |\n  x\n  y\nb: >-\n  x\n  y\n");
    assert_true(yaml_get(f.doc, "a")->is_quoted);
    assert_string_equal(yaml_get(f.doc, "a")->text, "x\ny\n");
    assert_string_equal(yaml_get(f.doc, "b")->text, "x y");
    done(&f);
}

static void
get_accepts_NULL_and_any_type(void **state)
{
    (void)state;
    struct fixture f = good("[a, b]");

    assert_null(yaml_get(NULL, "a"));
    assert_null(yaml_get(f.doc, "a"));
    assert_null(yaml_get(f.doc->first, "a"));
    yaml_each (m, yaml_get(NULL, "a"))
        fail_msg("%s", m->text);
    done(&f);
}

static void
merge_keys_are_ordinary_keys(void **state)
{
    (void)state;
    struct fixture f = good("a: &a { x: 1 }\nb: { <<: *a, y: 2 }\n");
    const struct yaml *b = yaml_get(f.doc, "b");

    assert_null(yaml_get(b, "x"));
    assert_non_null(yaml_get(yaml_get(b, "<<"), "x"));
    done(&f);
}

static void
an_alias_is_a_copy_with_its_own_position(void **state)
{
    (void)state;
    struct fixture f = good("a: &x [1, 2]\nb: *x\nc: &t text\nd: *t\n");
    const struct yaml *b = yaml_get(f.doc, "b");

    assert_int_equal(b->type, YAML_LIST);
    assert_int_equal(b->count, 2);
    assert_int_equal(b->line, 2);
    assert_int_equal(b->column, 4);
    assert_int_equal(b->first->line, 1);
    assert_string_equal(yaml_get(f.doc, "d")->text, "text");
    assert_int_equal(f.doc->count, 4);
    done(&f);
}

static void
an_anchor_named_again_means_the_latest(void **state)
{
    (void)state;
    as_json("[&a 1, *a, &a 2, *a]", "[1,1,2,2]");
}

static void
a_key_may_have_an_anchor(void **state)
{
    (void)state;
    as_json("{&k name: x, other: *k}", "{\"name\":\"x\",\"other\":\"name\"}");
}

/* ---- as JSON ---- */

static void
plain_scalars_become_their_JSON_types(void **state)
{
    (void)state;
    as_json("[~, null, true, false, 0, -1, 1.5, 2e3, 1E-2]",
            "[null,null,true,false,0,-1,1.5,2e3,1E-2]");
    as_json("a:\n", "{\"a\":null}");
}

static void
scalars_without_a_JSON_type_stay_text(void **state)
{
    (void)state;
    as_json("[yes, no, True, NULL, 01, 0x1f, .5, 1., +1, 1e, 2026-04-03, 1_000, -]",
            "[\"yes\",\"no\",\"True\",\"NULL\",\"01\",\"0x1f\",\".5\",\"1.\",\"+1\",\"1e\","
            "\"2026-04-03\",\"1_000\",\"-\"]");
}

static void
quoted_scalars_stay_text(void **state)
{
    (void)state;
    as_json("['1', \"true\", 'null', '']", "[\"1\",\"true\",\"null\",\"\"]");
}

static void
trees_become_trees(void **state)
{
    (void)state;
    as_json("a: {b: [1, {c: d}], e: {}}\nf: []\n",
            "{\"a\":{\"b\":[1,{\"c\":\"d\"}],\"e\":{}},\"f\":[]}");
    struct arena a = { 0 };
    assert_true(json_is(yaml_to_json(&a, NULL), JSON_NULL));
    arena_release(&a);
}

static void
without_memory_there_is_no_json(void **state)
{
    (void)state;
    struct fixture f = good("[1, 2, 3]");
    struct arena none = { .max = 1 };

    assert_null(yaml_to_json(&none, f.doc));
    arena_release(&none);
    done(&f);
}

/* ---- refusals, each with its position ---- */

static void
duplicate_keys_are_refused_at_the_second(void **state)
{
    (void)state;
    refused(T("a: 1\nb: 2\na: 3\n"), 3, 1, "duplicate key \"a\"");
    refused(T("x: { y: 1, 'y': 2 }\n"), 1, 12, "duplicate key \"y\"");
    refused(T("c: 1\nb: 2\nb: 3\nc: 4\n"), 3, 1, "duplicate key \"b\"");
}

/* All messages, one a line. */
static void
told(const char *text, const char *want)
{
    struct fixture f = { { 0 } };
    struct buf said = { 0 };

    assert_false(parse(&f, text, strlen(text)));
    for (const struct yaml_fault *x = &f.fault; x; x = x->next)
        buf_addf(&said, "%u:%u %s\n", x->line, x->column, x->what);
    assert_string_equal(said.p, want);
    buf_release(&said);
    done(&f);
}

static void
all_duplicate_keys_are_reported_in_the_order_of_the_text(void **state)
{
    (void)state;
    told("z: 1\na:\n  - { y: 1, x: 2, y: 3 }\nz: 2\nb: 1\na: 1\nz: 3\n",
         "3:19 duplicate key \"y\": the first is in line 3, column 7\n"
         "4:1 duplicate key \"z\": the first is in line 1, column 1\n"
         "6:1 duplicate key \"a\": the first is in line 2, column 1\n"
         "7:1 duplicate key \"z\": the first is in line 1, column 1\n");
}

static void
a_map_that_an_alias_repeats_is_reported_once(void **state)
{
    (void)state;
    told("a: &m { k: 1, k: 2 }\nb: *m\n",
         "1:15 duplicate key \"k\": the first is in line 1, column 9\n");
}

static void
a_fatal_error_is_reported_after_duplicate_keys(void **state)
{
    (void)state;
    told("a: 1\na: 2\nb: { c: 1, c: 2, d: @ }\n",
         "2:1 duplicate key \"a\": the first is in line 1, column 1\n"
         "3:12 duplicate key \"c\": the first is in line 3, column 6\n"
         "3:21 found character that cannot start any token: put the value in quotes\n");
}

static void
of_many_duplicate_keys_the_first_are_reported_and_the_rest_counted(void **state)
{
    (void)state;
    struct fixture f = { { 0 } };
    char *all = repeat("k: 1\n", 50001, "");
    const struct yaml_fault *x = &f.fault;
    unsigned n = 1;

    assert_false(parse(&f, all, strlen(all)));
    for (; x->next; x = x->next, n++) {
        assert_int_equal(x->line, n + 1);
        assert_null(strstr(x->what, "more"));
    }
    assert_int_equal(n, 20);
    assert_int_equal(x->line, 21);
    assert_non_null(strstr(x->what, "; 49980 more duplicate keys are not shown"));
    free(all);
    done(&f);
}

static void
one_duplicate_key_too_many_is_counted_in_the_singular(void **state)
{
    (void)state;
    struct fixture f = { { 0 } };
    char *all = repeat("k: 1\n", 22, "");
    const struct yaml_fault *x = &f.fault;

    assert_false(parse(&f, all, strlen(all)));
    while (x->next)
        x = x->next;
    assert_non_null(strstr(x->what, "; 1 more duplicate key is not shown"));
    free(all);
    done(&f);
}

static void
the_same_key_in_two_maps_is_fine(void **state)
{
    (void)state;
    as_json("[{a: 1}, {a: 2}]", "[{\"a\":1},{\"a\":2}]");
}

static void
keys_must_be_text(void **state)
{
    (void)state;
    refused(T("? [a, b]\n: c\n"), 1, 3, "a key must be plain text");
    refused(T("x: 1\n? {a: b}\n: c\n"), 2, 3, "a key must be plain text");
    refused(T("a: &k x\n*k : y\n"), 2, 1, "a key must be plain text, not an alias");
}

static void
a_second_document_is_refused(void **state)
{
    (void)state;
    refused(T("a: 1\n---\nb: 2\n"), 2, 1, "a second document");
    refused(T("a: 1\n...\n---\nb: 2\n"), 3, 1, "a second document");
}

static void
a_document_may_be_ended(void **state)
{
    (void)state;
    as_json("---\na: 1\n...\n", "{\"a\":1}");
}

static void
custom_tags_are_refused(void **state)
{
    (void)state;
    refused(T("a: !python/object x\n"), 1, 4, "the tag !python/object");
    refused(T("a: 1\nb: !!binary aGk=\n"), 2, 4, "the tag tag:yaml.org,2002:binary");
    refused(T("!x {a: 1}\n"), 1, 1, "the tag !x");
    refused(T("- !y [1]\n"), 1, 3, "the tag !y");
    refused(T("a: !!int 1\n"), 1, 4, "the tag");
}

static void
tags_that_change_nothing_are_accepted(void **state)
{
    (void)state;
    as_json("!!map {a: !!seq [!!str 1]}", "{\"a\":[\"1\"]}");
}

static void
tabs_as_indentation_are_named(void **state)
{
    (void)state;
    refused(T("a:\n\tb: 1\n"), 2, 1, "a tab");
}

static void
bad_utf8_is_refused_with_its_position(void **state)
{
    (void)state;
    refused(T("a: \xff\n"), 1, 4, "not UTF-8");
    refused(T("ok: 1\nb: gr\xc3\xb6\xc3(\n"), 2, 7, "not UTF-8");
    refused(T("a: \xed\xa0\x80\n"), 1, 4, "not UTF-8");
    refused(T("a: \xc3"), 1, 4, "not UTF-8");
}

static void
utf16_is_refused(void **state)
{
    (void)state;
    refused(T("\xff\xfe"
              "a\0:\0"),
            1, 1, "not UTF-8");
}

static void
nul_is_refused(void **state)
{
    (void)state;
    refused(T("a: b\nc: \0d\n"), 2, 4, "a NUL byte");
    refused(T("a: \"x\\0y\"\n"), 1, 4, "a NUL character");
    refused(T("\"k\\0\": y\n"), 1, 1, "a NUL character");
}

static void
control_characters_are_refused(void **state)
{
    (void)state;
    refused(T("a: b\x1b[2J\n"), 1, 5, "a control character");
}

static void
one_mebibyte_is_accepted_and_one_byte_more_is_not(void **state)
{
    (void)state;
    char *text = repeat("#", YAML_MAX_BYTES + 1, "");
    struct fixture f = { { 0 } };

    assert_true(parse(&f, text, YAML_MAX_BYTES));
    assert_null(f.doc);
    done(&f);
    refused(text, YAML_MAX_BYTES + 1, 1, 1, "larger than 1048576 bytes");
    free(text);
}

static void
nesting_ends_at_32(void **state)
{
    (void)state;
    char *open = repeat("[", 32, ""), *all = repeat("]", 32, "");
    char text[80];

    snprintf(text, sizeof text, "%s%s", open, all);
    struct fixture f = good(text);
    done(&f);
    free(open);
    free(all);
    refused_repeat("[", 33, 1, 33, "nested deeper than 32");
    refused_repeat("- ", 40, 1, 65, "nested deeper than 32");
    refused_repeat("{a: ", 40, 1, 129, "nested deeper than 32");
}

static void
ten_thousand_brackets_are_refused_quickly(void **state)
{
    (void)state;
    refused_repeat("[", 10000, 1, 33, "nested deeper than 32");
    refused_repeat("{", 10000, 1, 2, "a key must be plain text");
}

static void
an_alias_may_not_nest_deeper_either(void **state)
{
    (void)state;
    struct buf b = { 0 };

    buf_adds(&b, "a: &a [[[[[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]]]]]\n"); /* 20 */
    buf_adds(&b, "b: [[[[[[[[[[[*a]]]]]]]]]]]\n");                     /* 1 + 11 + 20 */
    struct fixture f = good(b.p);
    done(&f);
    buf_reset(&b);
    buf_adds(&b, "a: &a [[[[[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]]]]]\n");
    buf_adds(&b, "b: [[[[[[[[[[[[*a]]]]]]]]]]]]\n");
    refused(b.p, b.len, 2, 16, "nested deeper than 32");
    buf_release(&b);
}

static void
a_bomb_of_aliases_is_refused(void **state)
{
    (void)state;
    struct buf b = { 0 };

    buf_adds(&b, "a: &a [x,x,x,x,x,x,x,x,x,x]\n");
    for (char c = 'b'; c < 'k'; c++)
        buf_addf(&b, "%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c - 1, c - 1,
                 c - 1, c - 1, c - 1, c - 1, c - 1, c - 1, c - 1, c - 1);
    refused(b.p, b.len, 5, 29, "more than 100000 values with this alias");
    buf_release(&b);
}

static void
an_alias_inside_what_it_names_is_refused(void **state)
{
    (void)state;
    refused(T("&a [*a]"), 1, 5, "is inside what it names");
    refused(T("a: &a\n  b:\n    c: *a\n"), 3, 8, "is inside what it names");
}

static void
an_alias_of_nothing_is_refused(void **state)
{
    (void)state;
    refused(T("a: *nobody\n"), 1, 4, "no anchor &nobody");
}

static void
too_many_anchors_are_refused(void **state)
{
    (void)state;
    refused_repeat("- &a x\n", 1001, 1001, 3, "more than 1000 anchors");
}

static void
too_many_values_are_refused(void **state)
{
    (void)state;
    refused_repeat("- x\n", 100000, 100000, 3, "more than 100000 values");
}

static void
too_many_directives_are_refused(void **state)
{
    (void)state;
    refused_repeat("%TAG !a! b\n", 17, 17, 1, "more than 16 lines");
}

static void
syntax_errors_have_positions(void **state)
{
    (void)state;
    refused(T("a: [1, 2\nb: 3\n"), 2, 2, "");
    refused(T("a: 1\n b: 2\n"), 2, 3, "mapping values are not allowed");
    refused(T("run: echo a: b\n"), 1, 12, "put a value with \": \" in it in quotes");
    refused(T("a: \"x\n"), 2, 1, "found unexpected end of stream");
    refused(T("a: @x\n"), 1, 4, "cannot start any token: put the value in quotes");
    refused(T("- a: 1\n b: 2\n"), 2, 2, "begin each item of the list with \"- \"");
    refused(T("a: \"x\" y\n"), 1, 8, "a value that goes on behind a quote");
    refused(T("x: 1\na: [b\nc: d\n"), 3, 2, "close the list with ], which begins in line 2");
    refused(T("x: 1\na: {b: c\n"), 3, 1, "close the map with }, which begins in line 2");
    refused(T("x: 1\na: \"b\n"), 3, 1, "close the quote, which begins in line 2");
    refused(T("a: \"\\q\"\n"), 1, 5, "write \\\\ for a backslash");
    refused(T("a: | b\n"), 1, 6, "begins in the next line");
    refused(T("a: {{b}}\n"), 1, 5, "in quotes");
    refused(T("a: *b\n"), 1, 4, "in quotes");
    refused(T("a: !b c\n"), 1, 4, "in quotes");
    refused(T("a: *\n"), 1, 5, "alphabetic or numeric");
}

static void
the_error_argument_may_be_NULL(void **state)
{
    (void)state;
    struct arena a = { 0 };
    struct yaml *doc;

    assert_false(yaml_parse(&a, T("["), &doc, NULL));
    arena_release(&a);
}

static void
running_out_of_memory_is_reported(void **state)
{
    (void)state;
    struct arena none = { .max = 1 };
    struct yaml_fault f;
    struct yaml *doc;

    assert_false(yaml_parse(&none, T("a: [b]"), &doc, &f));
    assert_string_equal(f.what, "out of memory");
    arena_release(&none);
}

/* ---- hostile texts of up to 1 MiB ---- */

static void
hostile_texts_are_parsed_quickly(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t n;
    } texts[] = {
        { "[", 1000000 },          { "{", 1000000 },         { "[a,", 300000 },
        { "- ", 500000 },          { "? ", 500000 },         { "a: ", 300000 },
        { "\"", 1000000 },         { "a: b\n", 200000 },     { "[]", 500000 },
        { "&a ", 300000 },         { "*a ", 300000 },        { "! ", 500000 },
        { "%TAG !a! b\n", 90000 }, { "%YAML 1.1\n", 90000 }, { "---\n", 250000 },
        { "#", 1000000 },          { "\\", 1000000 },        { "|\n", 500000 },
        { "x\n", 500000 },         { "\n", 1000000 },        { "\t", 1000000 },
        { "a\n ", 300000 },        { "- - -\n", 170000 },    { "'' ", 300000 },
        { "[&a x,*a,", 100000 },   { "k: &a\n", 170000 },
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ends_soon(repeat(texts[i].text, texts[i].n, ""));
}

static void
many_keys_are_compared_quickly(void **state)
{
    (void)state;
    struct buf b = { 0 };

    for (int i = 0; i < 60000; i++)
        buf_addf(&b, "k%d: x\n", i);
    struct fixture f = { { 0 } };
    double before = cpu_seconds();
    assert_true(parse(&f, b.p, b.len));
    assert_true(cpu_seconds() - before < 5);
    assert_int_equal(f.doc->count, 60000);
    done(&f);
    buf_release(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(an_empty_text_is_no_document),
        CASE(maps_keep_their_order_and_their_count),
        CASE(keys_and_values_have_positions),
        CASE(columns_count_characters_not_bytes),
        CASE(a_byte_order_mark_is_skipped),
        CASE(quotes_and_blocks_are_always_text),
        CASE(get_accepts_NULL_and_any_type),
        CASE(merge_keys_are_ordinary_keys),
        CASE(an_alias_is_a_copy_with_its_own_position),
        CASE(an_anchor_named_again_means_the_latest),
        CASE(a_key_may_have_an_anchor),
        CASE(plain_scalars_become_their_JSON_types),
        CASE(scalars_without_a_JSON_type_stay_text),
        CASE(quoted_scalars_stay_text),
        CASE(trees_become_trees),
        CASE(without_memory_there_is_no_json),
        CASE(duplicate_keys_are_refused_at_the_second),
        CASE(all_duplicate_keys_are_reported_in_the_order_of_the_text),
        CASE(a_map_that_an_alias_repeats_is_reported_once),
        CASE(a_fatal_error_is_reported_after_duplicate_keys),
        CASE(of_many_duplicate_keys_the_first_are_reported_and_the_rest_counted),
        CASE(one_duplicate_key_too_many_is_counted_in_the_singular),
        CASE(the_same_key_in_two_maps_is_fine),
        CASE(keys_must_be_text),
        CASE(a_second_document_is_refused),
        CASE(a_document_may_be_ended),
        CASE(custom_tags_are_refused),
        CASE(tags_that_change_nothing_are_accepted),
        CASE(tabs_as_indentation_are_named),
        CASE(bad_utf8_is_refused_with_its_position),
        CASE(utf16_is_refused),
        CASE(nul_is_refused),
        CASE(control_characters_are_refused),
        CASE(one_mebibyte_is_accepted_and_one_byte_more_is_not),
        CASE(nesting_ends_at_32),
        CASE(ten_thousand_brackets_are_refused_quickly),
        CASE(an_alias_may_not_nest_deeper_either),
        CASE(a_bomb_of_aliases_is_refused),
        CASE(an_alias_inside_what_it_names_is_refused),
        CASE(an_alias_of_nothing_is_refused),
        CASE(too_many_anchors_are_refused),
        CASE(too_many_values_are_refused),
        CASE(too_many_directives_are_refused),
        CASE(syntax_errors_have_positions),
        CASE(the_error_argument_may_be_NULL),
        CASE(running_out_of_memory_is_reported),
        CASE(hostile_texts_are_parsed_quickly),
        CASE(many_keys_are_compared_quickly),
    };

    return cmocka_run_group_tests_name("yaml", tests, NULL, NULL);
}

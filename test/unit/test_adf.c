/* Tests agents/adf: plain text to documents and back. */
#include "test.h"

#include "agents/connector/adf.h"

static struct buf b;

static const char *
adf(const char *text)
{
    buf_reset(&b);
    adf_write(&b, text, strlen(text));
    return b.p;
}

#define TEXT(t)  "{\"type\":\"text\",\"text\":\"" t "\"}"
#define PARA(c)  "{\"type\":\"paragraph\",\"content\":[" c "]}"
#define BREAK    "{\"type\":\"hardBreak\"}"
#define DOC(all) "{\"type\":\"doc\",\"version\":1,\"content\":[" all "]}"

static void
text_becomes_paragraphs(void **state)
{
    (void)state;
    assert_string_equal(adf("a"), DOC(PARA(TEXT("a"))));
    assert_string_equal(adf("a\nb\r\n\n \t\nc \"d\"\n"),
                        DOC(PARA(TEXT("a") "," BREAK "," TEXT("b")) "," PARA(TEXT("c \\\"d\\\""))));
    assert_string_equal(adf("\n\na\n\n\n"), DOC(PARA(TEXT("a"))));
    assert_string_equal(adf(""), DOC(""));
    assert_string_equal(adf("\n"), DOC(""));
    buf_release(&b);
}

static void
a_document_stays_as_it_is(void **state)
{
    (void)state;
    assert_string_equal(adf("{ \"type\": \"doc\", \"x\": 1 }"), "{ \"type\": \"doc\", \"x\": 1 }");
    assert_string_equal(adf("{\"a\":1}"), DOC(PARA(TEXT("{\\\"a\\\":1}"))));
    buf_release(&b);
}

#define HEADING "{\"type\":\"heading\",\"content\":[" TEXT("H") "]}"
#define MENTION "{\"type\":\"mention\",\"attrs\":{\"text\":\"@x\"}}"
#define LINES   TEXT("a") "," BREAK "," TEXT("b") "," MENTION
#define ITEM(t) "{\"type\":\"listItem\",\"content\":[" PARA(TEXT(t)) "]}"
#define LIST    "{\"type\":\"bulletList\",\"content\":[" ITEM("one") "," ITEM("two") "]}"

static void
a_document_becomes_text(void **state)
{
    static const char doc[] = DOC(HEADING "," PARA(LINES) "," LIST);
    struct arena a = { 0 };
    struct json *v;

    (void)state;
    assert_true(json_parse(&a, doc, strlen(doc), &v, NULL));
    buf_reset(&b);
    adf_text(&b, v);
    assert_string_equal(b.p, "H\na\nb@x\n- one\n- two\n");
    arena_release(&a);
    buf_release(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(text_becomes_paragraphs),
        CASE(a_document_stays_as_it_is),
        CASE(a_document_becomes_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests agents/xml: elements one after the other, entities, and documents that are cut off. */
#include "test.h"

#include "agents/connector/xml.h"

static struct buf b;

/* The text of the first element of that name; NULL: none. */
static const char *
text(const char *doc, const char *name)
{
    struct xml_part all = { doc, doc + strlen(doc) };

    buf_reset(&b);
    return xml_text(&all, name, &b) ? b.p : NULL;
}

static void
elements_come_one_after_the_other(void **state)
{
    const char *doc =
        "<?xml version=\"1.0\"?><R xmlns=\"u\"><C a='1'><K>x</K></C><Ca/><C><K>y</K></C></R>";
    const char *at = doc, *end = doc + strlen(doc);
    struct xml_part part;

    (void)state;
    assert_true(xml_next(&at, end, "C", &part));
    assert_true(xml_text(&part, "K", &b));
    assert_string_equal(b.p, "x");
    assert_true(xml_next(&at, end, "C", &part));
    buf_reset(&b);
    assert_true(xml_text(&part, "K", &b));
    assert_string_equal(b.p, "y");
    assert_false(xml_next(&at, end, "C", &part));
    buf_release(&b);
}

static void
entities_are_decoded(void **state)
{
    (void)state;
    assert_string_equal(text("<K>a &amp;&lt;&gt;&quot;&apos; &#65;&#x20ac; &amp;lt;</K>", "K"),
                        "a &<>\"' A\u20ac &lt;");
    assert_string_equal(text("<K>&none; &#0; &#xD800; & ;</K>", "K"), "&none; &#0; &#xD800; & ;");
    assert_string_equal(text("<K></K>", "K"), "");
    assert_string_equal(text("<K/>", "K"), "");
    buf_release(&b);
}

static void
what_is_cut_off_is_no_element(void **state)
{
    const char *whole = "<R><K>x</K></R>";
    char doc[32];

    (void)state;
    for (size_t n = 0; n < strlen("<R><K>x</K"); n++) {
        memcpy(doc, whole, n);
        doc[n] = '\0';
        assert_null(text(doc, "K"));
    }
    assert_null(text("<Key>x</Key>", "K"));
    buf_release(&b);
}

static void
text_is_escaped(void **state)
{
    (void)state;
    xml_escape(&b, "\"a\" <&>");
    assert_string_equal(b.p, "\"a\" &lt;&amp;&gt;");
    buf_release(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(elements_come_one_after_the_other),
        CASE(entities_are_decoded),
        CASE(what_is_cut_off_is_no_element),
        CASE(text_is_escaped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

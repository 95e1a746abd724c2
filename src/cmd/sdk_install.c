/* sdk install - a copy of a language's SDK beside an agent. */
#include "base/json.h"
#include "base/path.h"
#include "base/term.h"
#include "cmd/cmd.h"
#include "cmd/lib/sdk_package.h"

#include <fcntl.h>
#include <string.h>

static const struct opt opts[] = { { 0 } };

/* Node reads `import` in a .js file when its package.json says so; `npm init -y` says "commonjs".
 */
static void
note_package_type(const char *dir)
{
    struct arena a = { 0 };
    struct buf path = { 0 }, text = { 0 };
    struct json *doc = NULL;
    struct err e;

    buf_addf(&path, "%s/package.json", dir);
    if (!buf_failed(&path) && path_read_file(AT_FDCWD, path.p, &text, &e) == ST_OK &&
        json_parse_named(&a, path.p, text.p, text.len, &doc, &e) == ST_OK &&
        !json_eq(json_get(doc, "type"), "module"))
        cmd_note("%.200s has no \"type\": \"module\", so node may refuse import in .js files: run "
                 "`npm pkg set type=module` there, or name the agent .mjs",
                 path.p);
    buf_release(&path);
    buf_release(&text);
    arena_release(&a);
}

static enum status
run(const struct args *a, struct err *e)
{
    const char *dir = a->n_words > 1 ? a->words[1] : ".";
    const struct sdk_package *p;
    struct buf out = { 0 };
    enum status s = sdk_package_find(a->words[0], &p, e);

    if (!s)
        s = sdk_package_copy(p, dir, e);
    if (!s) {
        buf_adds(&out, "Installed the SDK in ");
        term_escape(&out, dir, strlen(dir), false);
        buf_addf(&out, "/%s\n", p->target);
        s = cmd_print(&out, e);
    }
    if (!s && strcmp(p->language, "js") == 0)
        note_package_type(dir);
    buf_release(&out);
    return s;
}

const struct cmd cmd_sdk_install = {
    .name = "sdk install",
    .words = "js|python [DIR]",
    .min_words = 1,
    .max_words = 2,
    .brief = "copy the SDK for JavaScript or Python beside an agent",
    .about =
        "Copies the SDK into DIR, else here, so that agents in DIR and below find it:\n"
        "DIR/node_modules/@cliqhub/cliq-sdk for import ... from '@cliqhub/cliq-sdk', and\n"
        "DIR/cliq_sdk for import cliq_sdk of an agent in DIR itself. Nothing is downloaded. An\n"
        "older copy is replaced. A team that is shared needs the copy in its agents/.",
    .examples = "cliq sdk install js agents\n"
                "cliq sdk install python agents/my-agent",
    .opts = opts,
    .run = run,
};

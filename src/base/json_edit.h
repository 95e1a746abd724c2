/*
 * json_edit - changes a JSON file of another program in place: members are added and removed, and
 * every other byte stays, comments and order included.
 *
 * The text may be JSONC: // and block comments, commas behind the last element, a byte order mark.
 * An empty text is an empty object. New lines take over how the file is indented and ends its
 * lines; in an object that stands on one line they stay there.
 *
 *     struct buf text = the file;
 *     s = json_edit_read(&arena, "settings.json", &text, &doc, e);      "settings.json:3:7: …"
 *     if (!json_path(doc, "mcpServers.x"))
 *         s = json_edit_add(&text, (const char *[]){ "mcpServers", "x", NULL }, "{\"a\":1}", e);
 *
 * A path is a list of keys, ended by NULL; "#2" is the third element of a list. Keys are compared
 * as they are written in the file. Pure; after a failure the text is as it was.
 *
 * Tests: test/unit/test_json_edit.c test/fuzz/fuzz_json_edit.c test/cli/install.bats
 */
#ifndef CLIQ_BASE_JSON_EDIT_H
#define CLIQ_BASE_JSON_EDIT_H

#include "base/json.h"

/* The text as a tree in the arena. ST_INVALID: it is no JSONC, or its root is no object, with
 * "NAME:LINE:COLUMN: why". */
enum status json_edit_read(struct arena *a, const char *name, const struct buf *text,
                           struct json **out, struct err *e);

/* Adds the member that the path names, which must not be there, behind its siblings; objects on the
 * way are made. `value` is JSON. ST_CONFLICT: something on the way is no object. */
enum status
json_edit_add(struct buf *text, const char *const *path, const char *value, struct err *e);
/* Adds an element to the end of the list that the path names, which is made if it is missing.
 * ST_CONFLICT: there is something else. */
enum status
json_edit_append(struct buf *text, const char *const *path, const char *value, struct err *e);

/* Removes the member, and the objects on the way that have nothing else. Absent: nothing is done.
 */
enum status json_edit_remove(struct buf *text, const char *const *path, struct err *e);
/* Removes the element `index` of the list; a list that is empty then goes, too, and the objects on
 * the way as above. */
enum status
json_edit_remove_nth(struct buf *text, const char *const *path, size_t index, struct err *e);

#endif

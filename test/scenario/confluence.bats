#!/usr/bin/env bats
# The connector confluence in real runs, at test/services/confluence.py.
load connectors

site() {
    service confluence
    setting base_url "$URL/wiki"
    setting email ann@example.org
    setting api_token conf-t0ken
}

@test "a page by its id and by its title, and a search to the last page" {
    site
    fetches get_page '{ name: a.html, ref: 100 }' '{ name: b.html, ref: DOC/Guide }' \
        '{ name: s.json, ref: "space = DOC", action: search }'
    works
    is "<p>Old</p>" "$(<.cliq/files/move/a.html)"
    is "<p>Old</p>" "$(<.cliq/files/move/b.html)"
    is 3 "$(handoff sources b.html version)"
    is "$URL/wiki/spaces/DOC/pages/100" "$(handoff sources a.html url)"
    is 5 "$(handoff sources s.json count)"
    in_no_file conf-t0ken
}

@test "pages are created, replaced and appended to" {
    site
    printf 'One <line>\nand two.\n\nNext.\n' >t.md
    echo '<h1>Ready</h1>' >t.html
    delivers create_page '{ name: new, ref: DOC/Notes & more, file: t.md, parent: 100 }' \
        '{ name: old, ref: DOC/Guide, file: t.html, mode: replace }' \
        '{ name: log, ref: 100, action: update_page, file: t.md, mode: append }'
    works
    is 101 "$(handoff targets new id)"
    is "Notes & more" "$(asked_body 3 title)"
    is 100 "$(asked_body 3 parentId)"
    is "<p>One &lt;line&gt;<br />and two.</p><p>Next.</p>" "$(asked_body 3 body value)"
    is 4 "$(handoff targets old version)"
    fetches get_page '{ name: g.html, ref: 100 }'
    works
    is $'<h1>Ready</h1>\n<p>One &lt;line&gt;<br />and two.</p><p>Next.</p>' "$(<.cliq/files/move/g.html)"
}

@test "an update that another one overtook begins again, and loses nothing" {
    site
    echo Mine >t.md
    echo 2 >"$T/race"
    delivers update_page '{ name: log, ref: 100, file: t.md, mode: append }'
    works
    fetches get_page '{ name: g.html, ref: 100 }'
    is "<p>Old</p><p>Theirs</p><p>Theirs</p><p>Mine</p>" "$(<.cliq/files/move/g.html)"
    echo 9 >"$T/race"
    delivers update_page '{ name: log, ref: 100, file: t.md, mode: append }'
    fails "was changed by others again and again"
}

@test "what cannot be done is told" {
    site
    echo x >t.md
    delivers create_page '{ name: p, ref: DOC/Guide, file: t.md }'
    fails "target p: there is a page DOC/Guide already: use mode replace or append"
    delivers create_page '{ name: p, ref: NONE/Guide, file: t.md }'
    fails "target p: there is no space NONE"
    delivers update_page '{ name: p, ref: DOC/None, file: t.md }'
    fails "target p: there is no page DOC/None to update"
    fetches get_page '{ name: p, ref: guide }'
    fails "source p: its ref must be a page's id, or SPACE/Title"
    fetches get_page '{ name: p, ref: 7 }'
    fails "answered 404"
    fetches search '{ name: p, ref: evil }'
    fails "the next page is on another server: not followed"
}

#!/usr/bin/env bats
# cliq room plan and graph: a plan in Markdown becomes rooms, with a review of the plan before them.
load ../lib/cli
load ../lib/room

a_plan() {
    cat >plan.md <<'END'
# The shop
## EPIC-001 - Sign in
Roles: engineer, security, qa
With a password.
### Acceptance criteria
- [ ] a wrong password is refused
### Definition of done
- documented
## EPIC-002 - Sign out
Depends on: EPIC-001
A button.
END
}

@test "epics become rooms with criteria, roles and dependencies" {
    a_plan
    got room plan plan.md
    succeeds
    like "$out" 'room-002 +EPIC-002 +engineer, qa +room-001 +Sign out'
    is "('Sign in', ['engineer', 'security', 'qa'], ['a wrong password is refused'], ['documented'], [])" \
        "$(cliq room status room-001 --json | json '(d["title"], d["roles"], d["acceptance_criteria"], d["definition_of_done"], d["depends_on"])')"
    is "['room-001'] plan.md" "$(cliq room status room-002 --json | json '"%s %s" % (d["depends_on"], d["plan"])')"
    has "$(<.war-rooms/room-001/brief.md)" "With a password."
    is 1 "$(grep -c "EPIC-001" .war-rooms/room-001/brief.md)"
}

@test "a bad plan, and a room that exists, are refused, and nothing is made; --dry-run makes nothing" {
    a_plan
    got room plan plan.md --dry-run
    succeeds
    has "$out" "room-002"
    [ ! -e .war-rooms ]
    printf '## EPIC-001\nDepends on: EPIC-009\n' >bad.md
    got room plan bad.md
    refused 2 "bad.md:" "EPIC-009"
    a_room room-002
    got room plan plan.md
    refused 5 "room-002 exists already"
    is "room-002" "$(ls .war-rooms | paste -sd' ')"
}

@test "the plan must be approved first; a rejected plan blocks its rooms, and is made anew" {
    a_plan
    role engineer <<<'cat >/dev/null; echo fine'
    role security <<<'cat >/dev/null; echo VERDICT: PASS'
    role qa <<<'cat >/dev/null; echo VERDICT: PASS'
    cliq room plan plan.md --review architect >/dev/null
    is "manager>architect:plan-review" "$(talk plan-review)"
    got room run --once
    code_is 3
    is "plan-review pending pending" "$(state plan-review) $(state room-001) $(state room-002)"
    post plan-review "too vague" architect manager plan-reject PLAN-REVIEW >/dev/null
    got room run --once
    code_is 3
    is "failed-final blocked blocked" "$(state plan-review) $(state room-001) $(state room-002)"
    echo "More." >>plan.md
    got room plan plan.md --review architect --anew
    succeeds
    post plan-review "good" architect manager plan-approve PLAN-REVIEW >/dev/null
    got room run --once
    code_is 0
    is "passed passed passed" "$(state plan-review) $(state room-001) $(state room-002)"
    has "$(<.war-rooms/RELEASE.md)" "EPIC-002"
}

@test "a reviewer's command approves by its verdict" {
    a_plan
    role architect <<<'cat >/dev/null; echo "VERDICT: PLAN-APPROVE"'
    cliq room plan plan.md --review architect >/dev/null
    got room run --once
    is "passed developing" "$(state plan-review) $(state room-001)"
}

@test "graphs: the life cycle with the present state, and the rooms" {
    a_plan
    cliq room plan plan.md >/dev/null
    got room run --once
    got room graph room-001
    succeeds
    like "$out" '=> developing'
    got room graph room-001 --format mermaid
    has "$out" "stateDiagram-v2"
    got room graph
    like "$out" 'room-002 +pending +<- room-001'
    has "$(cliq room graph --format mermaid)" "room_001 --> room_002"
    has "$(cliq room graph --format dot)" '"room-001" -> "room-002";'
    is "[('room-001', []), ('room-002', ['room-001'])]" "$(cliq room graph --json | json '[(r["room"], r["depends_on"]) for r in d]')"
    is "developing" "$(cliq room graph room-001 --json | json 'd["state"]')"
    got room graph --format svg
    refused 2 "text, mermaid or dot"
}

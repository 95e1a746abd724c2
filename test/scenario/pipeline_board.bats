#!/usr/bin/env bats
# The task board: built-in agents mark the line of their phase; other agents mark it themselves.
load pipeline

@test "built-in agents mark their phase on the task board when it is complete, a gate when it passes" {
    agent own <<'END2'
ok
cp "$CLIQ_STATE_DIR/task_board.md" "$T/board.$P.$N"
complete
END2
    team <<'END2'
phases:
  - {name: run, agent: exec, commands: [{name: go, run: 'echo x >>ran'}]}
  - {name: text, agent: script, commands: [{name: go, run: echo hello}]}
  - {name: mine, agent: own, depends_on: [run, text]}
  - name: judge
    type: gate
    agent: checks
    depends_on: [run]
    commands: [{name: twice, run: 'test "$(wc -l <ran)" = 2'}]
  - {name: last, agent: own, depends_on: [judge, mine]}
END2
    run_ok
    is "# Task Board

- [x] run
- [x] text
- [ ] mine
- [ ] judge
- [ ] last" "$(<"$T/board.mine.1")"
    is "# Task Board

- [x] run
- [x] text
- [ ] mine
- [x] judge
- [ ] last" "$(<.cliq/task_board.md)"
}

@test "a phase of a built-in agent that fails stays open on the task board, and its notes stay" {
    team <<'END2'
phases:
  - {name: good, agent: exec, commands: [{name: note, run: 'echo "  - by hand" >>.cliq/task_board.md'}]}
  - {name: bad, agent: script, depends_on: [good], commands: [{name: go, run: exit 3}]}
END2
    run_is 3
    is "# Task Board

- [x] good
- [ ] bad
  - by hand" "$(<.cliq/task_board.md)"
}

@test "a built-in agent needs no task board" {
    team <<<'phases: [{name: only, agent: exec, commands: [{name: go, run: rm .cliq/task_board.md}]}]'
    run_ok
    [ ! -e .cliq/task_board.md ]
}

@test "phases in parallel lose no mark of each other" {
    team < <(
        echo phases:
        for i in $(seq 12); do echo "  - {name: p$i, agent: exec, commands: [{name: go, run: 'true'}]}"; done
    )
    run_ok
    is 12 "$(grep -c '^- \[x\]' .cliq/task_board.md)"
}

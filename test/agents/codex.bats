#!/usr/bin/env bats
# The agent codex with the real codex and a scripted model.
load cases

AGENT=codex
agent_settings() { settings codex.base_url "$LLM/v1" codex.api_key "$KEY" codex.model fake-model; }

@test "codex edits files, and its answer is the handoff" { case_writes_a_file; }
@test "codex continues its conversation when work is sent back" { case_continues_a_session; }
@test "codex is asked again for a verdict, in the same conversation" { case_asks_again_for_a_verdict; }
@test "codex is stopped by its budget while it works" { case_is_stopped_by_its_budget; }
@test "codex: a bad key ends the phase at the first 401" { case_a_bad_key_ends_at_once; }
@test "codex goes on after a rate limit" { case_goes_on_after_a_rate_limit twice; }
@test "codex: a usage limit that ends behind the phase's time fails it at once, with the time" {
    develop "timeout: 30s"
    script <<END
[{"turns":[{"status":429,"body":{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"plus","resets_at":$(($(date +%s) + 7200))}}}]}]
END
    run_is 3
    like "$(lines_of develop)" 'try again at .*the rate limit was reached; it can go on in 1(19|20|21) min at the earliest, and the phase.s time limit'
    [ "$(asked 'len(q)')" -le 2 ]
}
@test "codex goes on after a cut stream" { case_goes_on_after_a_cut_stream; }
@test "codex: a prompt that is too long" { case_a_prompt_that_is_too_long; }
@test "codex is stopped with its tree when the model is silent" { case_is_stopped_when_it_is_stuck; }

@test "codex: the phase's sandbox is that of its commands" {
    develop "sandbox: read-only"
    script <<END
[{"turns":[{"run":"touch made.txt"},{"text":"I could not."}]}]
END
    run_ok
    [ ! -e made.txt ]
    like "$(asked 'json.dumps(q[0]["body"])')" 'sandbox_mode. is .read-only|read-only'
}
@test "codex: a missing program is named, with how to install it" { case_a_missing_program_is_named; }
@test "codex begins anew when its conversation is gone" { case_begins_anew_when_its_conversation_is_gone "$HOME/.codex/sessions"; }

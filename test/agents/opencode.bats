#!/usr/bin/env bats
# The agent opencode with the real opencode and a scripted model.
load cases

AGENT=opencode
PHASE_ENV='{OPENCODE_PURE: "1"}' # no plugins
agent_settings() { settings opencode.base_url "$LLM/v1" opencode.api_key "$KEY" opencode.model m1; }

@test "opencode edits files, and its answer is the handoff" { case_writes_a_file; }
@test "opencode continues its conversation when work is sent back" { case_continues_a_session; }
@test "opencode is asked again for a verdict, in the same conversation" { case_asks_again_for_a_verdict; }
@test "opencode is stopped by its budget while it works" { case_is_stopped_by_its_budget; }
@test "opencode: a bad key ends the phase at the first 401" { case_a_bad_key_ends_at_once; }
@test "opencode goes on after a rate limit" { case_goes_on_after_a_rate_limit twice; }
@test "opencode goes on after a cut stream" { case_goes_on_after_a_cut_stream; }
@test "opencode: a prompt that is too long" { case_a_prompt_that_is_too_long; }
@test "opencode is stopped with its tree when the model is silent" { case_is_stopped_when_it_is_stuck; }
@test "opencode ends when a permission is denied, and so does the phase" {
    develop
    script <<END
[{"turns":[{"write":"$HOME/forbidden.txt","content":"x"},{"text":"I could not."}]}]
END
    run_is 3
    has "$(lines_of develop)" "denied: write"
    has "$(lines_of develop)" "opencode was denied: write"
}
@test "opencode: a missing program is named, with how to install it" { case_a_missing_program_is_named; }
@test "opencode begins anew when its conversation is gone" { case_begins_anew_when_its_conversation_is_gone "$HOME/.local/share/opencode"; }

#!/usr/bin/env bats
# The agent gemini with the real gemini and a scripted model.
load cases

AGENT=gemini
PHASE_ENV='{GEMINI_CLI_NO_RELAUNCH: "true"}' # else it starts itself a second time, with more memory
agent_settings() { settings gemini.base_url "$LLM" gemini.api_key "$KEY" gemini.model gemini-2.5-flash; }

@test "gemini edits files, and its answer is the handoff" { case_writes_a_file; }
@test "gemini continues its conversation when work is sent back" { case_continues_a_session; }
@test "gemini is asked again for a verdict, in the same conversation" { case_asks_again_for_a_verdict; }
@test "gemini is stopped by its budget while it works" { case_is_stopped_by_its_budget; }
@test "gemini: a bad key ends the phase at the first 401" { case_a_bad_key_ends_at_once; }
@test "gemini goes on after a rate limit" { case_goes_on_after_a_rate_limit; }
@test "gemini gives up on a cut stream, and a retry goes on" {
    case_goes_on_after_a_cut_stream "retries: 1"
    has "$(<"$STATE/orchestrator.log")" "[API Error: terminated]"
}
@test "gemini: a prompt that is too long" { case_a_prompt_that_is_too_long; }
@test "gemini is stopped with its tree when the model is silent" { PHASE_ENV= case_is_stopped_when_it_is_stuck; }
@test "gemini: a denied tool is progress, and stands in the summary" { case_a_denied_tool_is_told write "$HOME/forbidden.txt"; }
@test "gemini: a missing program is named, with how to install it" { case_a_missing_program_is_named; }
@test "gemini begins anew when its conversation is gone" { case_begins_anew_when_its_conversation_is_gone "$STATE/run/gemini/.gemini/tmp"; }

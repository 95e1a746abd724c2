#!/usr/bin/env bats
# The agent claude-code with the real claude and a scripted model.
load cases

AGENT=claude-code
agent_settings() { settings claude-code.base_url "$LLM" claude-code.api_key "$KEY"; }

@test "claude-code edits files, and its answer is the handoff" { case_writes_a_file; }
@test "claude-code continues its conversation when work is sent back" { case_continues_a_session; }
@test "claude-code is asked again for a verdict, in the same conversation" { case_asks_again_for_a_verdict; }
@test "claude-code is stopped by its budget while it works" { case_is_stopped_by_its_budget; }
@test "claude-code: a bad key ends the phase at the first 401" { case_a_bad_key_ends_at_once; }
@test "claude-code goes on after a rate limit" { case_goes_on_after_a_rate_limit twice; }
@test "claude-code goes on after a cut stream" { case_goes_on_after_a_cut_stream; }
@test "claude-code: a prompt that is too long" { case_a_prompt_that_is_too_long; }
@test "claude-code is stopped with its tree when the model is silent" { case_is_stopped_when_it_is_stuck; }
@test "claude-code: a denied tool is progress, and stands in the summary" { case_a_denied_tool_is_told; }
@test "claude-code: a missing program is named, with how to install it" { case_a_missing_program_is_named; }
@test "claude-code begins anew when its conversation is gone" { case_begins_anew_when_its_conversation_is_gone "$HOME/.claude"; }

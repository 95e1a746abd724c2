#!/usr/bin/env bats
# The programs that the other files drive, alone with the scripted model: when one of these fails, a
# program changed, and not cliq.
load agents

setup() {
    cli_setup
    llm
    script <<END
[{"turns":[{"write":"$T/work/made.txt","content":"hi\n"},{"text":"I wrote it."}]}]
END
}

@test "claude writes a file" {
    ANTHROPIC_BASE_URL=$LLM ANTHROPIC_API_KEY=sk-fake claude -p --output-format stream-json --verbose \
        --permission-mode acceptEdits <<<"write it" >"$T/out"
    has "$(tail -n 1 "$T/out")" '"result":"I wrote it."'
    is hi "$(<made.txt)"
}

@test "codex writes a file" {
    OPENAI_API_KEY=sk-fake codex exec --json --skip-git-repo-check -s workspace-write -c model_provider=x \
        -c "model_providers.x={name=\"x\",base_url=\"$LLM/v1\",wire_api=\"responses\",env_key=\"OPENAI_API_KEY\"}" \
        -m m - <<<"write it" >"$T/out" 2>/dev/null
    has "$(<"$T/out")" '"text":"I wrote it."'
    is hi "$(<made.txt)"
}

@test "gemini writes a file" {
    mkdir -p "$HOME/.gemini"
    echo '{"security":{"auth":{"selectedType":"gemini-api-key"}}}' >"$HOME/.gemini/settings.json"
    GEMINI_API_KEY=fake GOOGLE_GEMINI_BASE_URL=$LLM gemini --output-format stream-json --skip-trust \
        --approval-mode auto_edit -m gemini-2.5-flash <<<"write it" >"$T/out" 2>/dev/null
    has "$(<"$T/out")" '"content":"I wrote it."'
    is hi "$(<made.txt)"
}

@test "opencode writes a file" {
    OPENCODE_DISABLE_MODELS_FETCH=1 OPENCODE_CONFIG_CONTENT='{"provider":{"x":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"'$LLM/v1'","apiKey":"k"},"models":{"m":{}}}}}' \
        opencode run --format json -m x/m <<<"write it" >"$T/out" 2>/dev/null
    has "$(<"$T/out")" '"text":"I wrote it."'
    is hi "$(<made.txt)"
}

#!/usr/bin/env bats
# The services of test/services with their vendors' own clients (tools/deps agents): what satisfies both the client
# and our connector is faithful to the real service.
load ../scenario/connectors

cache=${CLIQ_AGENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cliq-agents}
export CLIENTS=$cache/clients/node_modules PATH=$cache/bin:$PATH

client() { # SERVICE
    [ "$NAME" = "$1" ] || service "$1"
    got_from node "$ROOT/test/agents/connector_sdks.mjs" "$1" "$URL"
    code_is 0
    is ok "$out"
}

@test "@aws-sdk/client-s3 puts, gets, lists and uploads in parts" { client s3; }
@test "jira.js accepts every answer by its schema" { client jira; }
@test "confluence.js accepts every answer by its schema, and turns the pages of a search" { client confluence; }
@test "node-zendesk shows, updates, creates and searches" { client zendesk; }
@test "@hubspot/api-client reads pages, creates and updates" { client hubspot; }
@test "@datadog/datadog-api-client queries and sends" { client datadog; }
@test "@googleapis/drive lists and exports" {
    openssl genrsa -out "$T/key.pem" 2048 2>/dev/null
    openssl rsa -in "$T/key.pem" -pubout -out "$T/public.pem" 2>/dev/null
    service gdrive
    "$PY" -c 'import json,sys; json.dump({"client_email": "bot@example.iam", "private_key_id": "kid1",
        "private_key": open(sys.argv[1]).read(), "token_uri": sys.argv[2]}, open(sys.argv[3], "w"))' \
        "$T/key.pem" "$URL/token" "$T/key.json"
    client gdrive
}

#!/usr/bin/env bats
# The connector gdrive in real runs, at test/services/gdrive.py, which checks every signature.
load connectors

setup_file() {
    command -v openssl >/dev/null || skip "no openssl"
    openssl genrsa -out "$BATS_FILE_TMPDIR/key.pem" 2048 2>/dev/null
    openssl rsa -in "$BATS_FILE_TMPDIR/key.pem" -pubout -out "$BATS_FILE_TMPDIR/public.pem" 2>/dev/null
}

drive() {
    cp "$BATS_FILE_TMPDIR/public.pem" "$T/public.pem"
    service gdrive
    setting base_url "$URL"
    setting credentials_file "$T/key.json"
    key "$URL/token"
}
key() {
    "$PY" -c 'import json,sys; json.dump({"type": "service_account", "client_email": "bot@example.iam", "private_key_id": "kid1",
        "private_key": open(sys.argv[1]).read(), "token_uri": sys.argv[2]}, open(sys.argv[3], "w"))' \
        "$BATS_FILE_TMPDIR/key.pem" "$1" "$T/key.json"
}

@test "a document becomes text, a sheet CSV, a folder its list, a file its bytes" {
    drive
    fetches get '{ name: plan.txt, ref: doc1 }' '{ name: n.csv, ref: sheet1 }' '{ name: b, ref: "gdrive://bin1" }' \
        '{ name: list.json, ref: folder/f1 }' '{ name: found.json, ref: "name contains x", action: search, limit: 1 }'
    works
    is "the plan" "$(<.cliq/files/move/plan.txt)"
    is $'a,b\n1,2' "$(<.cliq/files/move/n.csv)"
    "$PY" -c 'import sys; sys.stdout.buffer.write(bytes(range(256)))' | cmp - .cliq/files/move/b
    is Plan "$(handoff sources plan.txt title)"
    is https://drive.example/bin1 "$(handoff sources b url)"
    is 3 "$(handoff sources list.json count)"
    is 1 "$(handoff sources found.json count)"
    is /token "$(asked 1 path)"
    is 1 "$(grep -c '"/token"' "$T/requests")"
    in_no_file ya29.token "BEGIN PRIVATE"
}

@test "an expired token is renewed once for a request" {
    drive
    echo 1 >"$T/uses"
    fetches get '{ name: plan.txt, ref: doc1 }'
    works
    is "the plan" "$(<.cliq/files/move/plan.txt)"
    is 2 "$(grep -c '"/token"' "$T/requests")"
    echo 0 >"$T/uses"
    fetches get '{ name: plan.txt, ref: doc1 }'
    fails "answered 401: " UNAUTHENTICATED "; check the settings agents.gdrive.credentials_file"
    in_no_file ya29.token
}

@test "files are made in a folder, replaced by title or id" {
    drive
    echo first >t.txt
    echo '{}' >t.json
    delivers put '{ name: new, ref: folder/f1, file: t.txt, title: "it'"'"'s new" }' \
        '{ name: again, ref: folder/f1, file: t.json, title: "it'"'"'s new", mode: replace }' \
        '{ name: bin, ref: bin1, file: t.txt }'
    works
    is "$(handoff targets new id)" "$(handoff targets again id)"
    is application/json "$(handoff targets again mime_type)"
    is bin1 "$(handoff targets bin id)"
    is 6 "$(handoff targets bin size)"
    fetches get '{ name: a, ref: new4 }' '{ name: b, ref: bin1 }'
    works
    is '{}' "$(<.cliq/files/move/a)"
    is first "$(<.cliq/files/move/b)"
}

@test "a large file is uploaded in chunks, from where the service has it" {
    drive
    "$PY" -c 'import sys; sys.stdout.buffer.write(bytes(range(256)) * 70000)' >big
    delivers put '{ name: big, ref: folder/f1, file: big }'
    works
    is 17920000 "$(handoff targets big size)"
    has "$(signals)" "target big: 8126464 of 17920000 bytes"
    fetches get '{ name: big, ref: new4 }'
    works
    cmp big .cliq/files/move/big
}

@test "bad keys and what Drive refuses are told" {
    drive
    fetches get '{ name: x, ref: nothing }'
    fails "source x: $URL/drive/v3/files/nothing answered 404: " "File not found"
    fetches get '{ name: x, ref: f1 }'
    fails "which has no content to fetch"
    openssl genrsa -out "$T/other.pem" 2048 2>/dev/null
    openssl rsa -in "$T/other.pem" -pubout -out "$T/public.pem" 2>/dev/null
    fetches get '{ name: x, ref: doc1 }'
    fails "$URL/token answered 400: " "Invalid JWT Signature"
    sed -i 's/PRIVATE KEY/PUBLIC KEY/g' "$T/key.json"
    fetches get '{ name: x, ref: doc1 }'
    fails "the private key is no RSA key"
    echo '{"type":"authorized_user"}' >"$T/key.json"
    fetches get '{ name: x, ref: doc1 }'
    fails "credentials_file names no key of a service account"
}

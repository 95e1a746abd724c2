#!/usr/bin/env bats
# The connector datadog in real runs, at test/services/datadog.py.
load connectors

site() {
    service datadog
    setting base_url "$URL"
    setting api_key dd-k3y
    setting app_key dd-app-k3y
}

@test "metrics, logs, monitors and events are read, to the last page" {
    site
    fetches query_metrics '{ name: cpu.json, ref: "avg:system.cpu.user{*}", from: 4h }' \
        '{ name: logs.json, ref: "service:web", action: search_logs }' \
        '{ name: monitors.json, action: list_monitors }' '{ name: events.json, action: list_events }'
    works
    is system.cpu.user "$(field .cliq/files/move/cpu.json series 0 metric)"
    is 1 "$(handoff sources cpu.json count)"
    is 5 "$(handoff sources logs.json count)"
    is c2 "$(asked_body 3 page cursor)"
    is 2 "$(handoff sources monitors.json count)"
    is two "$(field .cliq/files/move/monitors.json 1 name)"
    is 2 "$(handoff sources events.json count)"
    in_no_file dd-k3y dd-app-k3y
}

@test "logs, metrics and events are sent" {
    site
    "$PY" -c 'print("\n".join(f"line \"{i}\"" + ("\n" if i % 2 else "") for i in range(1500)))' >log.txt
    echo '[{"message":"own"}]' >log.json
    echo 'All "well".' >text.md
    delivers send_logs '{ name: log, file: log.txt, service: build, tags: "env:ci" }' '{ name: own, file: log.json }' \
        '{ name: n, action: send_metrics, metric: deploys, value: 1.5, tags: [ "env:ci" ] }' \
        '{ name: e, action: send_event, title: Deployed, file: text.md, alert_type: success }'
    works
    is 1500 "$(handoff targets log count)"
    is 'line "1499"' "$(asked_body 2 499 message)"
    is env:ci "$(asked_body 2 0 ddtags)"
    is own "$(asked_body 3 0 message)"
    is 1.5 "$(asked_body 4 series 0 points 0 value)"
    is Deployed "$(asked_body 5 title)"
    is 77 "$(handoff targets e id)"
}

@test "the keys come from the environment; what datadog refuses is told" {
    service datadog
    setting base_url "$URL"
    fetches list_monitors '{ name: m }'
    fails "the agent datadog needs the setting agents.datadog.api_key, or DD_API_KEY"
    export DD_API_KEY=dd-k3y DD_APP_KEY=dd-app-k3y
    fetches list_monitors '{ name: m }'
    works
    fetches query_metrics '{ name: m, ref: nonsense }'
    fails "source m: Datadog refused the query: Rule 'scope_expr' didn't match"
    fetches query_metrics '{ name: m, ref: "a{*}", from: soon }'
    fails "source m: its from must be how long ago"
    delivers send_metrics '{ name: n, metric: a, value: many }'
    fails "target n: its value must be a number"
    export DD_APP_KEY=other-k3y
    fetches list_monitors '{ name: m }'
    fails "answered 403: " Forbidden "; check the settings agents.datadog.api_key and agents.datadog.app_key, and what that key may do"
    in_no_file dd-k3y other-k3y
}

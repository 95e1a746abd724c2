"""A scripted server with the APIs of four vendors of models, on 127.0.0.1.

  llm_server.py DIR

Writes its port to DIR/port, and each request to DIR/requests, one JSON object a line. DIR/script is a JSON list
of steps; the n-th question gets the n-th step, later ones the last. A step is an object:

  text      the answer ("Hello, wörld 🌍.")      size     the answer is the text again and again, of this size
  chunk     bytes a write (all at once)           stop     end, length, refusal, odd
  status    an error with this HTTP status        error    its message; type its type; after its Retry-After
  fault     cut: the connection ends in the middle          ended: the stream ends without its end
            silent: nothing comes after the first event     json: an event is no JSON
            thoughts: the model thinks up to its limit and says nothing (gemini)
            stream: an error event after the first piece    whole: a JSON document instead of a stream
            slow: 1.2 s between the halves            mute: no answer at all
  key       the key that is wanted; another one gets 401

The forms of requests are checked as the vendors check them: a wrong one gets 400.
"""
import http.server, json, os, sys, threading, time

DIR = sys.argv[1]
lock = threading.Lock()
asked = [0]
MODELS = ["model-a", "model-b"]


def need(ok, what):
    if not ok:
        raise ValueError(what)


def turns(messages, roles):
    need(isinstance(messages, list) and messages, "messages: a list is wanted")
    for m in messages:
        need(m.get("role") in roles and isinstance(m.get("content"), str) and m["content"], "messages: bad message")
    need(messages[-1]["role"] == "user", "messages: the last one must be the user's")


class Claude:
    stops = {"end": "end_turn", "length": "max_tokens", "refusal": "refusal", "odd": "tool_use"}

    def check(self, q, path, headers):
        need(headers.get("anthropic-version") in ("2023-06-01", "2026-10-21"), "anthropic-version: header is required")
        need(isinstance(q.get("max_tokens"), int), "max_tokens: Field required")
        need("system" not in q or isinstance(q["system"], str), "system: a text is wanted")
        turns(q.get("messages"), ("user", "assistant"))

    def events(self, q, pieces, stop):
        use = {"input_tokens": 100, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 50, "output_tokens": 1}
        yield "message_start", {"message": {"id": "msg_1", "type": "message", "role": "assistant", "model": q["model"],
            "content": [], "stop_reason": None, "stop_sequence": None, "usage": use}}
        yield "content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}
        yield "ping", {}
        for p in pieces:
            yield "content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": p}}
        yield "content_block_stop", {"index": 0}
        yield "message_delta", {"delta": {"stop_reason": self.stops[stop], "stop_sequence": None}, "usage": {"output_tokens": 20}}
        yield "message_stop", {}

    def encode(self, name, event):
        return b"event: %s\ndata: %s\n\n" % (name.encode(), dump({"type": name, **event}))

    def error(self, status, kind, text):
        return {"type": "error", "error": {"type": kind or "api_error", "message": text}}

    def error_event(self, kind, text):
        return "error", {"error": {"type": kind or ("overloaded_error" if text == "Overloaded" else "x"), "message": text}}


class Chat:
    stops = {"end": "stop", "length": "length", "refusal": "content_filter", "odd": "tool_calls"}

    def check(self, q, path, headers):
        turns(q.get("messages"), ("system", "user", "assistant"))
        need(q.get("stream_options") == {"include_usage": True}, "stream_options is wanted")

    def events(self, q, pieces, stop):
        head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": q["model"]}
        choice = lambda delta, why=None: {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": why}], "usage": None}
        yield "", choice({"role": "assistant", "content": ""})
        for p in pieces:
            yield "", choice({"content": p})
        yield "", choice({}, self.stops[stop])
        yield "", {**head, "choices": [], "usage": {"prompt_tokens": 160, "completion_tokens": 20, "total_tokens": 180,
            "prompt_tokens_details": {"cached_tokens": 50, "cache_write_tokens": 40}}}
        yield "", "[DONE]"

    def whole(self, q, text, stop):
        return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": q["model"],
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": self.stops[stop]}],
            "usage": {"prompt_tokens": 160, "completion_tokens": 20, "total_tokens": 180}}

    def encode(self, name, event):
        return b"data: %s\n\n" % (event.encode() if isinstance(event, str) else dump(event))

    def error(self, status, kind, text):
        return {"error": {"message": text, "type": kind or "server_error", "param": None, "code": kind}}

    def error_event(self, kind, text):
        return "", {"error": {"message": text, "type": kind or "x", "code": 529 if text == "Overloaded" else 400}}


class Responses(Claude):
    def check(self, q, path, headers):
        need(isinstance(q.get("instructions"), str), "instructions is wanted")
        turns(q.get("input"), ("user", "assistant"))

    def events(self, q, pieces, stop):
        text = "".join(pieces)
        item = {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
            "content": [{"type": "output_text", "text": text, "annotations": []}]}
        r = {"id": "resp_1", "object": "response", "created_at": 1, "model": q["model"], "status": "in_progress", "output": [],
            "error": None, "incomplete_details": None}
        n = iter(range(1 << 30))
        at = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
        yield "response.created", {"sequence_number": next(n), "response": r}
        yield "response.output_item.added", {"sequence_number": next(n), "output_index": 0, "item": {**item, "status": "in_progress", "content": []}}
        yield "response.content_part.added", {"sequence_number": next(n), **at, "part": {"type": "output_text", "text": "", "annotations": []}}
        for p in pieces:
            if stop == "refusal":
                yield "response.refusal.delta", {"sequence_number": next(n), **at, "delta": p}
            else:
                yield "response.output_text.delta", {"sequence_number": next(n), **at, "delta": p, "logprobs": []}
        if len(text) < 1 << 20:
            yield "response.output_item.done", {"sequence_number": next(n), "output_index": 0, "item": item}
        else:
            item = {**item, "content": []}
        end = {**r, "output": [item], "status": "incomplete" if stop == "length" else "completed",
            "incomplete_details": {"reason": "max_output_tokens"} if stop == "length" else None,
            "usage": {"input_tokens": 160, "input_tokens_details": {"cached_tokens": 50, "cache_write_tokens": 40}, "output_tokens": 20,
                "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 180}}
        yield "response." + end["status"], {"sequence_number": next(n), "response": end}

    def error(self, status, kind, text):
        return Chat.error(self, status, kind, text)

    def error_event(self, kind, text):
        return "error", {"code": kind, "message": text, "param": None, "sequence_number": 9}


class Gemini:
    stops = {"end": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY", "odd": "MALFORMED_FUNCTION_CALL"}

    def check(self, q, path, headers):
        for c in [*q.get("contents", []), q.get("systemInstruction")]:
            need(c and isinstance(c["parts"][0]["text"], str), "contents: parts are wanted")
        need([c["role"] for c in q["contents"]] == ["user", "model", "user"][:len(q["contents"])], "contents: roles")

    def events(self, q, pieces, stop):
        if stop == "thoughts":
            yield "", {"candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS", "index": 0}], "modelVersion": q["model"],
                "usageMetadata": {"promptTokenCount": 160, "thoughtsTokenCount": 900, "totalTokenCount": 1060}}
            return
        for i, p in enumerate([*pieces, ""]):
            is_last = i == len(pieces)
            candidate = {"content": {"role": "model", "parts": [{"text": p}]}, "index": 0}
            if is_last:
                candidate["finishReason"] = self.stops[stop]
            yield "", {"candidates": [candidate], "modelVersion": q["model"], "responseId": "r1",
                "usageMetadata": {"promptTokenCount": 160, "cachedContentTokenCount": 50, "candidatesTokenCount": 15 if is_last else 1,
                    "thoughtsTokenCount": 5, "totalTokenCount": 180}}

    encode = Chat.encode

    def error(self, status, kind, text):
        return {"error": {"code": status, "message": text, "status": kind or ("INTERNAL" if status >= 500 else "INVALID_ARGUMENT")}}

    def error_event(self, kind, text):
        return "", {"error": {"code": 503 if text == "Overloaded" else 400, "message": text, "status": kind or "X"}}


class Ollama:
    stops = {"end": "stop", "length": "length", "refusal": "stop", "odd": "load"}

    def check(self, q, path, headers):
        turns(q.get("messages"), ("system", "user", "assistant"))
        need(q.get("stream", True) is True, "stream")

    def events(self, q, pieces, stop):
        head = {"model": q["model"], "created_at": "2026-01-01T00:00:00Z"}
        for p in pieces:
            yield "", {**head, "message": {"role": "assistant", "content": p}, "done": False}
        yield "", {**head, "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": self.stops[stop],
            "total_duration": 1, "load_duration": 1, "prompt_eval_count": 160, "prompt_eval_duration": 1, "eval_count": 20, "eval_duration": 1}

    def encode(self, name, event):
        return dump(event) + b"\n"

    def error(self, status, kind, text):
        return {"error": text}

    def error_event(self, kind, text):
        return "", {"error": text}


def dump(v):
    try:
        return json.dumps(v, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half a surrogate pair: only an escape can say it
        return json.dumps(v).encode()


def api_of(path):
    for end, api in (("/v1/messages", Claude), ("/v1/chat/completions", Chat), ("/v1/responses", Responses), ("/api/chat", Ollama)):
        if path == end:
            return api()
    return Gemini() if path.startswith("/v1beta/models/") and path.endswith(":streamGenerateContent") else None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *a):
        pass

    def say(self, status, doc, **head):
        body = doc if isinstance(doc, bytes) else dump(doc)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for k, v in head.items():
            self.send_header(k.replace("_", "-"), str(v))
        self.end_headers()
        self.wfile.write(body)

    def note(self, path, body):
        with open(DIR + "/requests", "a") as f:
            f.write(json.dumps({"path": self.path, "headers": {k.lower(): v for k, v in self.headers.items()}, "body": body}) + "\n")

    def key(self):
        h = self.headers
        return h.get("x-api-key") or h.get("x-goog-api-key") or (h.get("Authorization") or "").removeprefix("Bearer ")

    def do_GET(self):
        path = self.path.split("?")[0]
        self.note(path, None)
        with open(DIR + "/script") as f:
            step = json.load(f)[0]
        if "key" in step and self.key() != step["key"]:
            return self.say(401, Chat().error(401, "invalid_api_key", "Incorrect API key provided: " + self.key()))
        models = step.get("models", MODELS)
        if path == "/v1/models":
            return self.say(200, {"object": "list", "has_more": False, "data": [{"id": m, "object": "model", "type": "model"} for m in models]})
        if path == "/v1beta/models":
            return self.say(200, {"models": [{"name": "models/" + m} for m in models]})
        if path == "/api/tags":
            return self.say(200, {"models": [{"name": m, "model": m} for m in models]})
        self.say(404, {"detail": "Not Found"})

    def do_POST(self):
        path = self.path.split("?")[0]
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        q = json.loads(body)
        api = api_of(path)
        with lock, open(DIR + "/script") as f:
            steps = json.load(f)
            step = steps[min(asked[0], len(steps) - 1)]
            asked[0] += 1
            self.note(path, q)
        if not api:
            return self.say(404, {"detail": "Not Found"})
        if isinstance(api, Gemini):
            q["model"] = path.split("/")[-1].split(":")[0]
        if "key" in step and self.key() != step["key"]:
            return self.say(401, api.error(401, "authentication_error", "invalid x-api-key: " + self.key()))
        try:
            api.check(q, path, self.headers)
        except (ValueError, KeyError, TypeError) as e:
            return self.say(400, api.error(400, "invalid_request_error", str(e)))
        if "status" in step:
            head = {"Retry_After": step["after"]} if "after" in step else {}
            return self.say(step["status"], api.error(step["status"], step.get("type"), step.get("error", "boom")), **head)
        self.stream(api, q, step)

    def stream(self, api, q, step):
        text, fault = step.get("text", "Hello, wörld 🌍."), step.get("fault")
        if "size" in step:
            text = (text * (step["size"] // len(text) + 1))[:step["size"]]
        size = max(5, len(text) // 4096)
        pieces = [text[i:i + size] for i in range(0, len(text), size)]
        stop = "thoughts" if fault == "thoughts" else step.get("stop", "end")
        if fault == "mute":
            self.close_connection = True
            return self.connection.recv(1)  # until the client gives up
        if fault == "whole":
            return self.say(200, api.whole(q, text, stop))
        events = [api.encode(*e) for e in api.events(q, pieces, stop)]
        at = next((i for i, e in enumerate(events) if dump(pieces[0])[1:-1] in e), 0) + 1  # behind the first piece
        if fault == "json":
            events.insert(at, events[at][:len(events[at]) // 2].rstrip() + b"\n\n")
        elif fault == "stream":
            events[at:] = [api.encode(*api.error_event(step.get("type"), step.get("error", "Overloaded")))]
        elif fault in ("cut", "silent", "ended"):
            events[at + 1:] = []
        out = b"".join(events)
        if fault == "cut":
            out = out[:-7]
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson" if isinstance(api, Ollama) else "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        chunk = step.get("chunk", len(out) // 2 + 1 if fault == "slow" else 1 << 16)
        try:
            for i in range(0, len(out), chunk):
                p = out[i:i + chunk]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(p), p))
                self.wfile.flush()
                if fault == "slow" and i + chunk < len(out):
                    time.sleep(1.2)
            if fault == "silent":
                self.connection.recv(1)  # until the client gives up
            if fault not in ("cut", "silent"):
                self.wfile.write(b"0\r\n\r\n")
        except OSError:
            pass
        self.close_connection = self.close_connection or fault in ("cut", "silent")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *a):
        pass


s = Server(("127.0.0.1", 0), Handler)
with open(DIR + "/port.new", "w") as f:
    f.write(str(s.server_address[1]))
os.rename(DIR + "/port.new", DIR + "/port")
s.serve_forever()

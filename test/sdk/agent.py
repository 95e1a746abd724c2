"""The agent of test/tools/sdk_agent.c over the Python SDK: does what payload.script of its message says."""
from cliq_sdk import CliqAgent, build_phase_context, finalize_gate_phase, finalize_standard_phase


def text_of(ctx, what):
    if what == "board":
        return ctx.task_board.content
    return str(getattr(ctx, what)) if what in ("role", "req_spec", "input_text") else ctx.input_text[what]


async def follow(msg):
    ctx = build_phase_context(msg, "scripted") if msg["type"] == "phase" else None
    result = None
    for deed, *words in msg["payload"]["script"]:
        one, two, three = (words + [None] * 3)[:3]
        if deed == "progress":
            ctx.progress(one)
        elif deed == "send":
            ctx.send(one, {"data": two, "text": three} if two or not three else three)
        elif deed == "write_file":
            ctx.write_file(one, two)
        elif deed == "signal":
            ctx.signal(one, two)
        elif deed == "notify":
            ctx.register_notification(one, two, three)
        elif deed == "mark":
            ctx.task_board.mark_complete(one)
        elif deed == "unmark":
            ctx.task_board.mark_incomplete(one)
        elif deed == "note":
            ctx.task_board.add_note(one, two)
        elif deed == "replace":
            ctx.task_board.replace(one)
        elif deed == "show":
            ctx.write_file(one, text_of(ctx, two))
        elif deed == "verdict":
            decided = dict(zip(("reviewer", "decided_at"), words[3:]))
            finalize_gate_phase(ctx, {"verdict": {"outcome": one, "target": two}, "comment": three, **decided}, msg)
        elif deed == "result":
            result = one
        elif deed == "finalize":
            finalize_standard_phase(ctx, msg)
        else:
            raise RuntimeError(one)
    return result


CliqAgent(name="scripted", handlers={"phase:standard": follow, "phase:gate": follow, "notify": follow}).run()

"""A first agent in Python. To try it alone, give it a message as cliq-sdk(3) shows: python3 agent.py < message.json"""
from cliq_sdk import CliqAgent, build_phase_context, finalize_standard_phase


def greet(msg):
    ctx = build_phase_context(msg, "greeter")
    who = (ctx.workflow_inputs or {}).get("who", "world")
    ctx.progress("greeting " + who)
    ctx.write_file("greeting.txt", "Hello, %s\n" % who)
    ctx.task_board.mark_complete(ctx.phase)
    for target in ctx.targets:
        ctx.send(target, {"data": {"file": "greeting.txt"}, "text": "Wrote greeting.txt for %s." % who})
    finalize_standard_phase(ctx, msg)


CliqAgent(name="greeter", handlers={"phase:standard": greet}).run()

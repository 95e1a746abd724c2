"""python -m cliq_sdk new [FILE] - writes a first agent, agent.py; `cliq team new --lang python` makes a team of it."""
import os
import sys


def main() -> int:
    words = sys.argv[1:]
    if not words or words[0] != "new" or len(words) > 2:
        print(__doc__, file=sys.stderr)
        return 2
    file = words[1] if len(words) > 1 else "agent.py"
    with open(os.path.join(os.path.dirname(__file__), "starter.py"), encoding="utf-8") as f:
        text = f.read()
    try:
        with open(file, "x", encoding="utf-8") as f:
            f.write(text)
    except OSError as problem:
        print("cliq_sdk: cannot make %s: %s" % (file, problem.strerror), file=sys.stderr)
        return 1
    print("made %s" % file)
    return 0


sys.exit(main())

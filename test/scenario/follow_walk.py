"""Follows a walk of docs/HACKING.md in a copy of the tree.

    follow_walk.py HACKING.md HEADING TREE

Of the section whose heading begins with HEADING, each fenced block is used as the text before it says:

    ... `FILE`:                               write the file (after the word "write")
    ... In `FILE`, before `TEXT`:             insert it before the first line that has TEXT
    ... In `FILE`, above the function `NAME`: insert it above that definition
    ```console                                run the lines that begin with "$ " in TREE, one shell for all of
                                              them; the lines after a command are what it prints. "…" stands
                                              for any lines, and blanks in a row count as one.

A block that none of these fits is an error, and so is a command that fails or prints something else.
"""
import pathlib
import re
import subprocess
import sys

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
WRITE = re.compile(r"\bwrite `([^`]+)`:$", re.I)
BEFORE = re.compile(r"\bin `([^`]+)`, before `([^`]+)`:$", re.I)
ABOVE = re.compile(r"\bin `([^`]+)`, above the function `(\w+)`:$", re.I)


def insert(path, text, is_place):
    lines = path.read_text().splitlines(keepends=True)
    at = next((i for i, line in enumerate(lines) if is_place(line)), None)
    if at is None:
        sys.exit(f"{path}: the line that the walk names is not there")
    return lines, at, text


def apply(tree, before, text):
    """Does to a file what the text before a block says."""
    if match := BEFORE.search(before):
        path = tree / match[1]
        lines, at, text = insert(path, text, lambda line: match[2] in line)
    elif match := ABOVE.search(before):
        path = tree / match[1]
        lines, at, text = insert(path, text + "\n", lambda line: line.startswith(match[2] + "("))
        while at > 0 and lines[at - 1].strip():
            at -= 1
    elif match := WRITE.search(before):
        path = tree / match[1]
        path.parent.mkdir(parents=True, exist_ok=True)
        lines, at = [], 0
    else:
        sys.exit(f"what is this block for? {before[-80:]!r}")
    path.write_text("".join(lines[:at]) + text + "".join(lines[at:]))


def sessions(text):
    """[command, what it prints], of a console block."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(" ".join(line.split()))
    return found


def run(tree, commands):
    """Runs them in one shell: cd lasts. Every command's output is compared as soon as it is there."""
    shell = subprocess.Popen(["bash"], cwd=tree, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
    for command, want in commands:
        shell.stdin.write(f"{command}\nprintf '\\n===%d\\n' $?\n")
        shell.stdin.flush()
        got = []
        for line in shell.stdout:
            if line.startswith("==="):
                break
            got.append(" ".join(line.split()))
        else:
            sys.exit(f"$ {command}\nended the shell")
        got = [line for line in got if line]
        if line != "===0\n" or (want != ["…"] and got != want):
            print(f"$ {command}", *got, f"exit code {line[3:].strip()}", "want:", *want, sep="\n")
            sys.exit(1)
    shell.stdin.close()
    shell.wait()


def main():
    page, heading, tree = pathlib.Path(sys.argv[1]).read_text(), sys.argv[2], pathlib.Path(sys.argv[3])
    section = next((s for s in re.split(r"^## ", page, flags=re.M) if s.startswith(heading)), None)
    if section is None:
        sys.exit(f"HACKING.md has no section that begins with {heading!r}")
    end, commands = 0, []
    for block in FENCE.finditer(section):
        before, end = " ".join(section[end:block.start()].split()), block.end()
        if block[1] == "console":
            commands += sessions(block[2])
        else:
            apply(tree, before, block[2])
    run(tree, commands)


main()

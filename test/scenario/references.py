"""references - reads a topic's page (scdoc, on standard input) as its readers do.

    references.py examples DIR    writes the page's files below DIR: a line "_path_:" before a block
                                  names its file, and each team.yml begins a directory 1, 2, …
    references.py fields          prints "HEADING<tab>KEY" for every row of the page's tables
"""
import os
import re
import sys


def plain(text):
    """Without markup: as in scdoc, an underscore inside a word is a letter."""
    return re.sub(r"\\(.)|\*|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])", lambda m: m.group(1) or "", text)


def examples(page, to):
    number, name, block = 0, None, None
    for line in page:
        if line == "```" and block is None:
            block = []
        elif line == "```":
            if name:
                number += name in ("team.yml", "manifest.json", "settings.json", "agents.json")
                path = os.path.join(to, str(number), name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as f:
                    f.write("\n".join(block) + "\n")
            name, block = None, None
        elif block is not None:
            block.append(line)
        elif line:
            named = re.fullmatch(r"_([^ ]+)_:", line)
            name = plain(named.group(1)) if named else None


def fields(page):
    heading, is_literal = "", False
    for line, after in zip(page, page[1:] + [""]):
        is_literal ^= line == "```"
        if is_literal:
            continue
        if line.startswith("#"):
            heading = plain(line.lstrip("# "))
        row = re.match(r"\*((?:\\.|[^*\\])+)\*(?: - |$)", line)
        if row and after.startswith("\t"):
            print(heading + "\t" + plain(row.group(1)))


def main():
    page = sys.stdin.read().splitlines()
    if sys.argv[1] == "examples":
        examples(page, sys.argv[2])
    else:
        fields(page)


main()

"""setup_person ANSWERS PROGRAM ARGS...: runs the program at a terminal of its own, and answers as a person does: each line of
the file ANSWERS is "QUESTION<tab>ANSWER", typed when the question is on the screen. Prints the screen; ends as the program."""
import os
import pty
import sys

answers = [line.rstrip("\n").split("\t") for line in open(sys.argv[1])]
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
screen, seen = b"", 0
while True:
    try:
        more = os.read(fd, 4096)
    except OSError:  # the program has closed the terminal
        break
    if not more:
        break
    screen += more
    while answers and (at := screen.find(answers[0][0].encode(), seen)) >= 0:
        seen = at + len(answers[0][0])
        os.write(fd, answers.pop(0)[1].encode().decode("unicode_escape").encode() + b"\n")
sys.stdout.buffer.write(screen.replace(b"\r\n", b"\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) if not answers else "not asked: %s" % answers)

# power_cut.py LOG N - simulates a power cut: moves the last N lines of LOG into its pre-sync file, in a
# record of an earlier boot (docs/formats/log.md).
import os, struct, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../checker"))
from logfile import crc32c

log, n = sys.argv[1], int(sys.argv[2])
text = open(log, "rb").read()
lines = text.splitlines(keepends=True)
kept, lost = b"".join(lines[:-n]), b"".join(lines[-n:])
boot = b"11111111-1111-1111-1111-111111111111"
behind = struct.pack("<IQQQQ40s", len(lost), 7, len(kept), os.stat(log).st_ino, 0, boot) + lost
record = b"cliqahd1" + struct.pack("<I", crc32c(behind)) + behind
with open(log.removesuffix(".jsonl") + ".ahead", "wb") as f:
    f.write(record + bytes(-len(record) % 4096))
os.truncate(log, len(kept))

"""plant - does the checker find what it is there for? Faults are planted into a store and ledgers that
a storm left, one at a time; each must be found, with the right words.

  plant.py DIR
"""
import copy, json, os, sys, tempfile

import check, ledger, logfile


def seal(v, seq):
    text = json.dumps({k: x for k, x in v.items() if k not in ("seq", "crc", "of", "nth")}, separators=(",", ":"), ensure_ascii=False)
    line = text[:-1].encode() + b',"seq":%d' % seq
    return line + b',"crc":"%08x"}\n' % logfile.crc32c(line)


def judge(lines, told):
    """None, or what the checker says. Lines: bytes."""
    with tempfile.TemporaryDirectory() as d:
        with open(os.path.join(d, "events.jsonl"), "wb") as f:
            f.write(b"".join(lines))
        try:
            check.check_log(told, logfile.signals(logfile.read(d)[0]))
        except logfile.Bad as why:
            return str(why)


def numbered(objects):
    return [seal(v, i) for i, v in enumerate(objects, 1)]


def main(directory):
    lines = logfile.read(f"{directory}/config/signals")[0]
    objects = [v for _, v in lines if v.get("op") != "rotate"]
    told = ledger.read_all(f"{directory}/ledgers")
    for t in told:  # numbers change below: ids and contents are what counts
        t.acked = {n: (i, None) for n, (i, _) in t.acked.items()}
    good = numbered(objects)
    assert judge(good, told) is None, judge(good, told)
    keyed = next(t for t in told if t.is_keyed and len(t.acked) > 3)
    mine = [i for i, v in enumerate(objects) if v.get("content", "").startswith(keyed.writer + ":")]
    first, second = mine[1], mine[2]

    def lost():
        return numbered(objects[:first] + objects[first + 1 :]), told

    def twice():
        return numbered(objects + [{**objects[first], "id": "x" * 24}]), told

    def same_id():
        return numbered(objects + [objects[first]]), told

    def swapped():
        o = list(objects)
        o[first], o[second] = o[second], o[first]
        return numbered(o), told

    def other_id():
        o = list(objects)
        o[first] = {**o[first], "id": "y" * 24}
        return numbered(o), told

    def never_sent():
        return numbered(objects + [{**objects[first], "id": "z" * 24, "content": keyed.writer + ":999999999"}]), told

    def a_stranger():
        return numbered(objects + [{**objects[first], "id": "z" * 24, "content": "stranger:1"}]), told

    def another_number():
        t = copy.deepcopy(told)
        mine = next(x for x in t if x.writer == keyed.writer)
        n = next(iter(mine.acked))
        mine.acked[n] = (mine.acked[n][0], len(objects) + 7)
        return good, t

    def given_up():
        t = copy.deepcopy(told)
        next(x for x in t if x.writer == keyed.writer).tried.add(888888888)
        return good, t

    def a_gap():
        return good[:first] + [seal(v, i + 2) for i, v in enumerate(objects[first:], first)], told

    def a_repeat():
        return good[:first] + [seal(objects[first], first)] + good[first + 1 :], told

    def a_flipped_bit():
        line = bytearray(good[first])
        line[20] ^= 1
        return good[:first] + [bytes(line)] + good[first + 1 :], told

    def half_a_group():
        seal_two = seal({**objects[first]}, first + 1)
        cut = seal_two[: seal_two.rindex(b',"seq"')] + b',"of":2,"seq":%d' % (first + 1)
        return good[:first] + [cut + b',"crc":"%08x"}\n' % logfile.crc32c(cut)] + [seal(v, i) for i, v in enumerate(objects[first + 1 :], first + 1)], told

    for fault, words in {
        lost: "told of what is not there", twice: "signals twice", same_id: "stands there twice", swapped: "out of order",
        other_id: "was acknowledged as", never_sent: "never sent", a_stranger: "of nobody we know", another_number: "with the number",
        given_up: "never came through", a_gap: "comes next", a_repeat: "comes next", a_flipped_bit: "crc", half_a_group: "told of what is not there",
    }.items():
        why = judge(*fault())
        assert why and words in why, f"{fault.__name__}: {why}"
        print(f"{fault.__name__}: {why[:100]}")


if __name__ == "__main__":
    main(*sys.argv[1:])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes ops.tsv and params.tsv from the verified operator tables.

usage: rules/make-facts.py [TABLES [OUT]]     TABLES: ../shared/facts beside the repository, OUT: rules/

TABLES holds ops.tsv (facts of PyTorch 2.6), versions.tsv (what is otherwise in other versions) and params.tsv.
The result has one row for each spelling and span of versions; the same tables give the same bytes.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
COLUMNS = "family name kind alias mutates outs cond tags aten since until".split()
FACTS = COLUMNS[2:9]  # what a row says; the rest says of what and when


def read_table(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    head = lines[0].split("\t")
    for n, line in enumerate(lines[1:], 2):
        cells = line.split("\t")
        if len(cells) != len(head):
            sys.exit(f"{path}:{n}: {len(cells)} columns, the header has {len(head)}")
        yield dict(zip(head, cells))


def tag_order():
    text = (HERE.parent / "analyzer" / "fact_tags.def").read_text(encoding="utf-8")
    words = re.findall(r'^FACT_TAG\(\w+, "(\w+)"\)', text, re.M)
    return {word: i for i, word in enumerate(words)}


def version(text):
    major, minor = text.split(".")
    return int(major), int(minor)


def before(text):
    major, minor = version(text)
    if minor == 0:
        sys.exit(f"no version before {text}")
    return f"{major}.{minor - 1}"


def after(text):
    major, minor = version(text)
    return f"{major}.{minor + 1}"


def row(source, since, until, **changes):
    out = {**source, "since": since, "until": until, **changes}
    return {column: out[column] for column in COLUMNS}


def rest_of(base, span):
    """The row of ops.tsv in the versions outside a span."""
    if span["since"] != "-":
        yield row(base, "-", before(span["since"]))
    if span["until"] != "-":
        yield row(base, after(span["until"]), "-")


def with_tag(tags, tag):
    return tag if tags == "-" else f"{tags},{tag}"


def merge(ops, versions):
    base = {(r["family"], r["name"]): r for r in ops}
    if len(base) != len(ops):
        sys.exit("ops.tsv names a spelling twice")
    extra, replaced = [], {}
    for v in versions:
        key, change = (v["family"], v["name"]), v["change"]
        if (key in base) != (change in ("differs", "gone", "traced")):
            sys.exit(f"versions.tsv: {change} {v['name']} does not fit ops.tsv")
        if key in base:
            if key in replaced:
                sys.exit(f"versions.tsv changes {v['name']} twice")
            replaced[key] = v
        if change in ("gone", "traced") and any(v[c] != base[key][c] for c in FACTS):
            sys.exit(f"versions.tsv: {change} {v['name']} is not the row of ops.tsv")
        if change == "traced":
            # The eager facts hold; the tag says that what AOTAutograd traces copies instead.
            extra.append(row(v, v["since"], v["until"], tags=with_tag(v["tags"], "traced_copy")))
        else:
            extra.append(row(v, v["since"], v["until"]))
    for key, r in base.items():
        if key not in replaced:
            yield row(r, "-", "-")
        elif replaced[key]["change"] != "gone":
            yield from rest_of(r, replaced[key])
    yield from extra


def drop_doubles(rows):
    """A dispatcher name that ops.tsv lists as a torch function too: one printed name has one answer."""
    dispatcher = {r["name"] for r in rows if r["name"].startswith("torch.ops.") and r["family"] != "torch"}
    return [r for r in rows if r["family"] != "torch" or r["name"] not in dispatcher]


def tidy_tags(text, order):
    if text == "-":
        return text
    words = text.split(",")
    for word in words:
        if word.rstrip("?") not in order:
            sys.exit(f"tag {word} is not in fact_tags.def")
    return ",".join(sorted(words, key=lambda w: order[w.rstrip("?")]))


def sort_key(r):
    return r["family"], r["name"], version(r["since"]) if r["since"] != "-" else (0, 0)


def write_table(path, comment, columns, rows):
    lines = [f"# {comment}", "\t".join(columns)]
    lines += ["\t".join(r[c] for c in columns) for r in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def main(args):
    tables = Path(args[0]) if args else HERE.parent.parent / "shared" / "facts"
    out = Path(args[1]) if len(args) > 1 else HERE
    order = tag_order()
    rows = drop_doubles(list(merge(list(read_table(tables / "ops.tsv")), list(read_table(tables / "versions.tsv")))))
    for r in rows:
        r["tags"] = tidy_tags(r["tags"], order)
    made = "Made by rules/make-facts.py; corrections go into ops-overlay.tsv."
    write_table(out / "ops.tsv", made, COLUMNS, sorted(rows, key=sort_key))
    params = sorted(read_table(tables / "params.tsv"), key=lambda r: (r["family"], r["name"]))
    write_table(out / "params.tsv", "Made by rules/make-facts.py.", ["family", "name", "parameters"], params)
    print(f"{len(rows)} rows, {len({(r['family'], r['name']) for r in rows})} spellings, {len(params)} with parameters")


if __name__ == "__main__":
    main(sys.argv[1:])

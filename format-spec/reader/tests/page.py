"""What the format page says, for tests: its blocks, its tables, and its example as files."""

from __future__ import annotations

import functools
import os
import re
from typing import Dict, List, Tuple

PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "FORMAT.md")


@functools.lru_cache(None)
def text() -> str:
    with open(PAGE, encoding="utf-8") as file:
        return file.read()


@functools.lru_cache(None)
def blocks() -> Dict[str, str]:
    """Fenced blocks by the second word of their fence."""
    found = re.findall(r"^```\w+ ([\w-]+)\n(.*?)^```", text(), re.M | re.S)
    return dict(found)


def named_lines(block: str) -> Dict[str, str]:
    """`name  value` lines, where a line that starts with blanks goes on with the one before."""
    out: Dict[str, str] = {}
    name = ""
    for line in block.splitlines():
        if line.startswith(" "):
            out[name] += line.strip()
        elif line:
            # Names may hold blanks, values do not.
            name, _, value = line.rpartition(" ")
            name = name.strip()
            out[name] = value
    return out


def dump_bytes(block: str) -> bytes:
    data = bytearray()
    for line in block.splitlines():
        end = re.match(r"-- end at (\d+)", line)
        if end:
            data.extend(bytes(int(end.group(1)) - len(data)))
        row = re.match(r"([0-9a-f]{8})  ((?:[0-9a-f]{2} )+)", line)
        if row:
            at = int(row.group(1), 16)
            raw = bytes.fromhex(row.group(2))
            data.extend(bytes(max(0, at + len(raw) - len(data))))
            data[at : at + len(raw)] = raw
    return bytes(data)


EXAMPLE = {
    "CURRENT": "hex-current",
    "STATUS": "hex-status",
    "manifest-1.log": "hex-manifest",
    "append-1.seg": "hex-append",
    "delta-2.seg": "hex-delta",
}


def example_files() -> Dict[str, bytes]:
    found = blocks()
    return {name: dump_bytes(found[block]) for name, block in EXAMPLE.items()}


def write_example(directory: str) -> None:
    os.makedirs(directory, exist_ok=True)
    for name, data in example_files().items():
        with open(os.path.join(directory, name), "wb") as file:
            file.write(data)


def message_tables() -> Dict[str, Tuple[int, List[Tuple[str, str, str]]]]:
    """Message -> template id, rows of (offset, width, name)."""
    out = {}
    sections = re.split(r"^### ", text(), flags=re.M)[1:]
    for section in sections:
        title = re.match(r"(\w+) \((\d+)\)\n", section)
        if not title:
            continue
        section = section.split("\n## ")[0]
        rows = re.findall(r"^\| (\d+|next|\+\d+) \| ([^|]+) \| ([\w.]+) \|", section, re.M)
        out[title.group(1)] = (int(title.group(2)), [(a, b.strip(), c) for a, b, c in rows])
    return out

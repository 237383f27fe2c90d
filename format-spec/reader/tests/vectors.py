"""The vectors: stores as JSON, what a reader has to say of each, and how they are made.

    python3 format-spec/reader/tests/vectors.py write      makes all but the released stores again
    python3 format-spec/reader/tests/vectors.py expand DIRECTORY      writes every store as files
    python3 format-spec/reader/tests/vectors.py release STORE NAME    keeps a store of the engine's

The form is described in format-spec/vectors/README.md.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
from typing import Any, Dict, Iterator, List, Optional, Tuple

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, ".."))

from waymark_reader import (  # noqa: E402
    CorruptCurrent,
    CorruptManifest,
    CorruptRecord,
    NotAStore,
    UnsupportedFormat,
    WaymarkError,
    open_store,
    zstd,
)
from waymark_reader.frame import READ_VERSION  # noqa: E402

ROOT = os.path.normpath(os.path.join(HERE, "..", "..", "vectors"))
BASE = "valid/example"
ERRORS = {
    NotAStore: "no-store",
    UnsupportedFormat: "newer",
    CorruptCurrent: "damaged-current",
    CorruptManifest: "damaged-manifest",
    CorruptRecord: "damaged-record",
}
#: Bytes that are as in the base are written again where they save no entry.
_JOIN = 12
_PERIODS = (1, 44, 48)
_LEAST_REPEAT = 512

Files = Dict[str, bytes]


# Reading them.


def names() -> List[str]:
    found = []
    for kind in ("valid", "invalid"):
        for file in sorted(os.listdir(os.path.join(ROOT, kind))):
            found.append(f"{kind}/{file[: -len('.json')]}")
    return found


def load(name: str) -> Dict[str, Any]:
    with open(os.path.join(ROOT, name + ".json"), encoding="utf-8") as file:
        return json.load(file)


def files(vector: Dict[str, Any]) -> Files:
    """The store's files."""
    out = files(load(vector["base"])) if "base" in vector else {}
    for name in vector.get("missing", []):
        del out[name]
    for name, content in vector["files"].items():
        data = bytearray(out.get(name, b"")[: content["length"]])
        data.extend(bytes(content["length"] - len(data)))
        for run in content["bytes"]:
            raw = bytes.fromhex(run[1]) * (run[2] if len(run) > 2 else 1)
            data[run[0] : run[0] + len(raw)] = raw
        out[name] = bytes(data)
    return out


def write_files(content: Files, directory: str) -> None:
    os.makedirs(directory, mode=0o700)
    for name, data in content.items():
        with open(os.path.join(directory, name), "wb") as file:
            file.write(data)


def digest() -> str:
    """SHA-256 over name and content of every vector, in order of name."""
    all_of_them = hashlib.sha256()
    for name in sorted(names()):
        with open(os.path.join(ROOT, name + ".json"), "rb") as file:
            raw = file.read()
        all_of_them.update(f"{name} {len(raw)}\n".encode() + raw)
    return all_of_them.hexdigest()


def recorded() -> Dict[int, str]:
    """Read version of the format -> the digest that the vectors have in it."""
    with open(os.path.join(ROOT, "HASHES"), encoding="utf-8") as file:
        return {int(line.split()[0]): line.split()[1] for line in file if line.strip()}


# What the reader says.


def findings(directory: str, level: str = "decode") -> List[Any]:
    with open_store(directory) as store:
        return store.verify(level).findings


def failure(directory: str, expect: Dict[str, Any]) -> Optional[WaymarkError]:
    """What opening the store, or restoring as the vector says, raises."""
    try:
        with open_store(directory) as store:
            if expect["when"] == "restore":
                store.restore(1, key=expect["chain"][-1])
    except WaymarkError as e:
        return e
    return None


def described(store, salts: Dict[str, str]) -> Dict[str, Any]:
    """What a reader has to say of a store that is well."""
    spaces = []
    for ns in store.namespaces():
        points = []
        boundaries = store.boundaries(ns)
        for b in boundaries:
            if not ns.restorable(b):
                continue
            got = store.restore(ns, key=b.key)
            chain = [x.key.hex() for x in b.chain()][::-1]
            first = list(b.chain())[-1]
            point = {"tokens": b.tokens, "chain": chain}
            if first.parent_key != ns.root:
                point["salt"] = salts[first.parent_key.hex()]
            point["tensors"] = {
                name: hashlib.sha256(tensor.data).hexdigest() for name, tensor in got.items()
            }
            points.append(point)
        spaces.append(
            {
                "id": ns.id,
                "fingerprint": ns.fingerprint.hex(),
                "boundaries": len(boundaries),
                "points": points,
            }
        )
    return {
        "when": "restore",
        "tail": store.tail,
        "writable": not store.read_only_for_writers,
        "namespaces": spaces,
    }


# Making them.


def _repeats(data: bytes) -> Iterator[Tuple[int, bytes, int]]:
    """Cuts a run into (offset, bytes, how often), so that long repetitions stay short."""
    start = at = 0
    while at < len(data):
        if len(data) - at >= _LEAST_REPEAT:
            for period in _PERIODS:
                unit = data[at : at + period]
                count = 1
                if data[at + period : at + 2 * period] == unit:
                    while data.startswith(unit, at + count * period):
                        count += 1
                if count * period >= _LEAST_REPEAT:
                    if start < at:
                        yield start, data[start:at], 1
                    yield at, unit, count
                    at += count * period
                    start = at
                    break
            else:
                at += 1
        else:
            at = len(data)
    if start < at:
        yield start, data[start:at], 1


def _runs(data: bytes, base: bytes) -> List[List[Any]]:
    """Where the bytes differ from the base, which ends in zeros."""
    base = base[: len(data)].ljust(len(data), b"\0")
    differs: List[List[int]] = []
    step = 4096
    for page in range(0, len(data), step):
        if data[page : page + step] == base[page : page + step]:
            continue
        for at in range(page, min(page + step, len(data))):
            if data[at] != base[at]:
                if differs and at - differs[-1][1] < _JOIN:
                    differs[-1][1] = at + 1
                else:
                    differs.append([at, at + 1])
    out: List[List[Any]] = []
    for start, end in differs:
        for offset, raw, count in _repeats(data[start:end]):
            out.append([start + offset, raw.hex()] + ([count] if count > 1 else []))
    return out


def _vector(about: str, content: Files, expect: Dict[str, Any], base: Optional[Files]) -> str:
    changed = {
        name: {"length": len(data), "bytes": _runs(data, (base or {}).get(name, b""))}
        for name, data in sorted(content.items())
        if base is None or base.get(name) != data
    }
    lines = [f' "about": {json.dumps(about)}']
    if base is not None:
        lines.append(f' "base": {json.dumps(BASE)}')
        missing = sorted(set(base) - set(content))
        if missing:
            lines.append(f' "missing": {json.dumps(missing)}')
    entries = []
    for name, change in changed.items():
        runs = ",\n   ".join(json.dumps(run) for run in change["bytes"])
        body = f"\n   {runs}\n  " if runs else ""
        entries.append(f'  {json.dumps(name)}: {{"length": {change["length"]}, "bytes": [{body}]}}')
    lines.append(' "files": {\n' + ",\n".join(entries) + "\n }" if entries else ' "files": {}')
    lines.append(' "expect": ' + json.dumps(expect, indent=1).replace("\n", "\n "))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _in_directory(content: Files, use):
    parent = tempfile.mkdtemp()
    try:
        directory = os.path.join(parent, "store")
        write_files(content, directory)
        return use(directory)
    finally:
        shutil.rmtree(parent)


def _valid(about: str, content: Files, base: Optional[Files]) -> str:
    def use(directory: str) -> Dict[str, Any]:
        with open_store(directory) as store:
            expect = described(store, {})
        wrong = [str(f) for f in findings(directory) if f.severity == "damage"]
        assert not wrong, wrong
        return expect

    return _vector(about, content, _in_directory(content, use), base)


def _invalid(about: str, content: Files, case: Any, chain: List[str], base: Files) -> str:
    error, rule, _, action = case

    def use(directory: str) -> Dict[str, Any]:
        if action == "verify":
            found = next(f for f in findings(directory) if f.code == rule)
            expect = {"when": "verify", "error": found.severity, "rule": rule}
        else:
            expect = {"when": action, "error": ERRORS[error], "rule": rule}
            if action == "restore":
                expect["chain"] = chain
            found = failure(directory, expect)
            assert (type(found), found.code) == (error, rule), (about, found)
        if found.file is not None:
            expect["file"] = found.file
        if found.offset is not None:
            expect["offset"] = found.offset
        return expect

    return _vector(about, content, _in_directory(content, use), base)


def made() -> Dict[str, str]:
    """Every vector that follows from the page's example, by name."""
    from build import Example
    from cases import CASES, WELL

    if not zstd.available():
        raise SystemExit("zstd is needed: pip install zstandard")
    base = Example().files
    chain = [e["key"].hex() for e in Example().edits("RowsAdded")]
    out = {BASE: _valid("the page's example", base, None)}
    for name, change in WELL.items():
        example = Example()
        change(example)
        about = name.replace("_", " ")
        out["valid/" + name.replace("_", "-")] = _valid(about, example.finished(), base)
    for name, case in CASES.items():
        example = Example()
        case[2](example)
        about = name.replace("_", " ")
        out["invalid/" + name.replace("_", "-")] = _invalid(
            about, example.finished(), case, chain, base
        )
    return out


def _write(name: str, text: str) -> None:
    with open(os.path.join(ROOT, name + ".json"), "w", encoding="utf-8", newline="\n") as file:
        file.write(text)


def write() -> None:
    for kind in ("valid", "invalid"):
        os.makedirs(os.path.join(ROOT, kind), exist_ok=True)
    for name in names():
        if not name.startswith("valid/release-"):
            os.remove(os.path.join(ROOT, name + ".json"))
    for name, text in made().items():
        _write(name, text)
    with open(os.path.join(ROOT, "HASHES"), "w", encoding="utf-8") as file:
        file.write(f"{READ_VERSION} {digest()}\n")


def release(store: str, name: str) -> None:
    """Keeps a store that `WriteStores` wrote, with what the engine said of it."""
    from waymark_reader.layout import tenant_root_key

    content = {}
    for file in sorted(os.listdir(store)):
        if file != "LOCK":
            with open(os.path.join(store, file), "rb") as opened:
                content[file] = opened.read()
    with open(store + ".json", encoding="utf-8") as file:
        said = json.load(file)
    with open_store(store) as opened:
        salts = {}
        for space in said["namespaces"]:
            if space["salt"]:
                ns = opened.namespace(space["fingerprint"])
                salt = bytes.fromhex(space["salt"])
                salts[tenant_root_key(ns.fingerprint, salt).hex()] = space["salt"]
        expect = described(opened, salts)
    _write(f"valid/release-{name}", _vector(f"a store that release {name} wrote", content, expect, None))


def main(argv: List[str]) -> int:
    if argv == ["write"]:
        write()
    elif argv[:1] == ["expand"] and len(argv) == 2:
        for name in names():
            write_files(files(load(name)), os.path.join(argv[1], *name.split("/")))
    elif argv[:1] == ["release"] and len(argv) == 3:
        release(argv[1], argv[2])
    else:
        print(__doc__)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

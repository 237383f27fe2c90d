"""Holds this reader against the engine, on random stores that the engine writes.

    python3 format-spec/reader/tests/compare.py --stores 1000
    python3 format-spec/reader/tests/compare.py --big 1024

Needs java and mvn, and what a build without network needs. The engine's side is
`dev.waymark.vectors.WriteStores` in its test sources. Batches are written to a temporary
directory (a memory file system makes it faster: --work /dev/shm) and removed once they agree.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Counter, List, Optional

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..")
sys.path.insert(0, os.path.join(HERE, ".."))

from waymark_reader import codecs, open_store, zstd  # noqa: E402
from waymark_reader.forest import KIND_NAMES  # noqa: E402
from waymark_reader.layout import CODECS  # noqa: E402


class Disagreement(Exception):
    """The two readers differ."""


def why_not() -> Optional[str]:
    """What is missing to run the engine, or None."""
    for tool in ("java", "mvn"):
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    return None


def java_command(log=None) -> List[str]:
    """Compiles the engine's tests and returns the command that writes stores."""
    subprocess.run(
        ["mvn", "-q", "-o", "-ntp", "-pl", "engine", "-am", "test-compile",
         "dependency:build-classpath", "-Dmdep.outputFile=target/classpath.txt"],
        cwd=ROOT, check=True, stdout=log, stderr=log,
    )  # fmt: skip
    with open(os.path.join(ROOT, "pom.xml"), encoding="utf-8") as file:
        flags = re.search(r"<waymark.jvm.flags>(.*?)</waymark.jvm.flags>", file.read()).group(1)
    engine = os.path.join(ROOT, "engine", "target")
    with open(os.path.join(engine, "classpath.txt"), encoding="utf-8") as file:
        path = [os.path.join(engine, d) for d in ("test-classes", "classes")] + [file.read()]
    return ["java", *flags.split(), "-Xmx3g", "-cp", os.pathsep.join(path),
            "dev.waymark.vectors.WriteStores"]  # fmt: skip


def _same(what: str, mine, theirs) -> None:
    if mine != theirs:
        raise Disagreement(f"{what}: reader {mine}, engine {theirs}")


def compare_store(path: str, level: str = "checksum") -> Counter:
    """Restores everything that the engine restored. Returns what was seen, counted."""
    seen: Counter = collections.Counter()
    with open(path + ".json", encoding="utf-8") as file:
        said = json.load(file)
    if "failed" in said:
        seen["stores that the engine failed to write"] += 1
        return seen
    with open_store(path) as store:
        report = store.verify(level)
        _same(f"{path}: findings", [str(f) for f in report.findings], [])
        _count(store, seen)
        for space in said["namespaces"]:
            ns = store.namespace(space["fingerprint"])
            salt = bytes.fromhex(space["salt"]) if space["salt"] else None
            for number, prompt in enumerate(space["prompts"]):
                _compare_prompt(f"{path}: prompt {number}", store, ns, salt, prompt, seen)
        seen["stores"] += 1
        seen["tail " + store.tail] += 1
    return seen


def _compare_prompt(what, store, ns, salt, prompt, seen) -> None:
    tokens = prompt["tokens"]
    extra = {int(k): bytes.fromhex(v) for k, v in prompt["extra"].items()}
    if prompt["keys"] is None:
        chain = store.match(ns, tokens, salt, extra)
    else:
        keys = [bytes.fromhex(k) for k in prompt["keys"]]
        chain = []
        for key in keys:
            if key not in ns.boundaries:
                break
            chain.append(ns.boundaries[key])
    _same(f"{what}, stored", chain[-1].tokens if chain else 0, prompt["stored"])
    points = [b.tokens for b in chain if ns.restorable(b)]
    _same(f"{what}, points", points, [p["at"] for p in prompt["points"]])
    for point in prompt["points"]:
        at = point["at"]
        if prompt["keys"] is None:
            got = store.restore(ns, tokens=tokens, at=at, salt=salt, extra=extra)
        else:
            got = store.restore(ns, key=chain[-1].key, at=at)
        _same(f"{what}, names", list(got), list(point["tensors"]))
        for name, tensor in got.items():
            mine = hashlib.sha256(tensor.data).hexdigest()
            _same(f"{what} at {at}, {name!r} {tensor.spec}", mine, point["tensors"][name])
            seen["tensors"] += 1
            seen["bytes"] += len(tensor)
        seen["points"] += 1


def _count(store, seen) -> None:
    """What the stores had in them, so that an empty agreement shows."""
    for b in store.boundaries():
        ns = store.forest.namespaces[b.namespace]
        for kind in (1, 2, 3):
            if not b.records(kind):
                continue
            seen[KIND_NAMES[kind]] += 1
            if len(b.records(kind)) > 1:
                seen["contributions in pieces"] += 1
            for _, front in store._fronts(ns, b, kind):
                for part in front.parts:
                    if part.chunk_count > 1:
                        seen["parts of several chunks"] += 1
                    for chunk in front.chunks(part):
                        seen[CODECS[part.codec] + (" as it is" if chunk.as_is else "")] += 1


def run(java: List[str], work: str, first: int, count: int, level: str = "checksum") -> Counter:
    """Writes a batch, compares it, and removes it if it agrees."""
    batch = os.path.join(work, f"batch-{first}")
    done = subprocess.run(
        [*java, batch, str(first), str(count)], stderr=subprocess.PIPE, text=True, check=False
    )
    seen: Counter = collections.Counter()
    for line in done.stderr.splitlines():
        if "ERROR" in line:
            seen["the engine logged: " + line] += 1
    if done.returncode:
        raise Disagreement(f"the engine failed in the batch from {first}:\n{done.stderr}")
    for seed in range(first, first + count):
        seen.update(compare_store(os.path.join(batch, f"store-{seed}"), level))
    shutil.rmtree(batch)
    return seen


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--stores", type=int, default=0)
    parser.add_argument("--first", type=int, default=1, help="first seed")
    parser.add_argument("--batch", type=int, default=25)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--big", type=int, default=0, help="one store of so many MiB")
    parser.add_argument("--work", help="directory for the stores")
    parser.add_argument("--plain", action="store_true", help="without numpy")
    args = parser.parse_args()
    missing = why_not()
    if missing:
        print(f"skipped: {missing}")
        return 0
    if not zstd.available():
        print("skipped: no zstd; install waymark-reader[zstd]")
        return 0
    if args.plain:
        codecs.use_numpy(False)
    java = java_command()
    work = tempfile.mkdtemp(prefix="waymark-compare-", dir=args.work)
    start = time.monotonic()
    seen: Counter = collections.Counter()
    if args.big:
        subprocess.run([*java, work, "big", str(args.big)], check=True)
        written = time.monotonic()
        seen.update(compare_store(os.path.join(work, "big")))
        print(f"written in {written - start:.0f} s, verified and restored in "
              f"{time.monotonic() - written:.0f} s")  # fmt: skip
    firsts = range(args.first, args.first + args.stores, args.batch)
    end = args.first + args.stores
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        futures = [
            pool.submit(run, java, work, f, min(args.batch, end - f)) for f in firsts
        ]
        for future in concurrent.futures.as_completed(futures):
            try:
                seen.update(future.result())
            except Exception as e:
                for other in futures:
                    other.cancel()
                print(f"DISAGREE: {e}\nstores are in {work}", file=sys.stderr)
                return 1
    shutil.rmtree(work)
    print(f"{seen['stores']} stores agree, {time.monotonic() - start:.0f} s")
    for name in sorted(seen):
        print(f"  {name}: {seen[name]}")
    return 1 if seen["stores that the engine failed to write"] else 0


if __name__ == "__main__":
    sys.exit(main())

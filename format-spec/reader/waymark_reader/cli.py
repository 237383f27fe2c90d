"""`python3 -m waymark_reader ls|verify|restore|dump PATH [--json]`

Exit codes: 0 well, 1 damage, 2 wrong usage, 3 no result for another reason.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from typing import Any, Dict, List, Optional

from .errors import Corruption, InvalidArgument, WaymarkError
from .frame import fmt_store_id
from .manifest import read_current, read_manifest, read_status
from .store import LEVELS, Store, open_store

JSON_VERSION = 1


def _key(raw: bytes, whole: bool) -> str:
    # Whole keys tell who stored what, so they are shown only when asked for.
    return raw.hex() if whole else raw.hex()[:8]


def _ls(args: argparse.Namespace) -> Dict[str, Any]:
    with open_store(args.path) as store:
        spaces = []
        for ns in store.namespaces():
            spaces.append(
                {
                    "id": ns.id,
                    "fingerprint": _key(ns.fingerprint, args.keys),
                    "identity": dict(ns.identity),
                    "block_tokens": ns.layout.block_tokens,
                    "tensors": len(ns.layout.tensors),
                    "kept": {k: _key(v, args.keys) for k, v in sorted(ns.kept.items())},
                    "boundaries": [
                        {
                            "key": _key(b.key, args.keys),
                            "parent": _key(b.parent_key, args.keys),
                            "tokens": b.tokens,
                            "restorable": ns.restorable(b),
                            "records": len(b.rows) + len(b.delta) + len(b.state),
                            "bytes": sum(p.length for p in b.rows + b.delta + b.state),
                        }
                        for b in store.boundaries(ns)
                    ],
                }
            )
        segments = [
            {"file": s.file, "sealed": s.sealed_length is not None, "records": s.live}
            for s in store.forest.segments.values()
        ]
        return {"store": store.store_id, "tail": store.tail, "namespaces": spaces,
                "segments": segments}  # fmt: skip


def _print_ls(out: Dict[str, Any]) -> None:
    print(f"store {out['store']}, {len(out['segments'])} segments, tail {out['tail']}")
    for ns in out["namespaces"]:
        print(f"namespace {ns['id']} {ns['fingerprint']} {json.dumps(ns['identity'])}")
        for b in ns["boundaries"]:
            mark = "point" if b["restorable"] else "     "
            print(f"  {b['tokens']:>9} {b['key']} <- {b['parent']} {mark} {b['bytes']:>12} bytes")


def _verify(args: argparse.Namespace) -> Dict[str, Any]:
    with open_store(args.path) as store:
        report = store.verify(args.level)
    out = report._asdict()
    out["findings"] = [f._asdict() for f in report.findings]
    out["ok"] = report.ok
    return out


def _print_verify(out: Dict[str, Any]) -> None:
    for f in out["findings"]:
        print(f"{f['severity']} {f['message']}")
    for ns, key, tokens in out["lost"]:
        print(f"cannot be restored: {key} of namespace {ns} at {tokens} tokens")
    print(
        f"{'well' if out['ok'] else 'DAMAGED'}: {out['boundaries']} boundaries, "
        f"{out['points']} restorable, {out['records']} records, "
        f"{out['bytes_checked']} bytes checked, level {out['level']}, tail {out['tail']}"
    )


def _read_tokens(path: str) -> List[int]:
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        return [int(t) for t in text.replace("[", " ").replace("]", " ").replace(",", " ").split()]
    except (OSError, ValueError) as e:
        raise InvalidArgument("invalid-argument", f"no file of tokens: {e}") from None


def _find_key(store: Store, namespace: Any, prefix: str) -> bytes:
    found = [b.key for b in store.boundaries(namespace) if b.key.hex().startswith(prefix.lower())]
    if len(found) != 1:
        raise InvalidArgument(
            "invalid-argument", "a key's hex digits have to fit one boundary", found=len(found)
        )
    return found[0]


def _restore(args: argparse.Namespace) -> Dict[str, Any]:
    if (args.key is None) == (args.tokens is None):
        raise InvalidArgument("invalid-argument", "either --key or --tokens is needed")
    with open_store(args.path) as store:
        which = args.namespace
        if which is None:
            spaces = store.namespaces()
            if len(spaces) != 1:
                raise InvalidArgument(
                    "invalid-argument", "--namespace is needed", found=f"{len(spaces)} of them"
                )
            which = spaces[0].id
        else:
            which = int(which) if which.isdecimal() and len(which) < 8 else which
        salt = None
        if args.salt_file:
            with open(args.salt_file, "rb") as file:
                salt = file.read()
        got = store.restore(
            which,
            key=_find_key(store, which, args.key) if args.key else None,
            tokens=_read_tokens(args.tokens) if args.tokens else None,
            at=args.at,
            salt=salt,
            names=args.tensor,
            max_bytes=args.max_bytes,
        )
    tensors = []
    if args.out:
        os.makedirs(args.out, mode=0o700, exist_ok=True)
    for number, (name, tensor) in enumerate(got.items()):
        entry = {
            "name": name,
            "dtype": tensor.spec.dtype,
            "shape": list(tensor.shape),
            "sink_rows": tensor.sink_rows,
            "first_row": tensor.window_start,
            "bytes": len(tensor),
            "sha256": hashlib.sha256(tensor.data).hexdigest(),
        }
        if args.out:
            # By number: a tensor's name may be no good as a file's.
            entry["file"] = f"{number}.bin"
            with open(os.path.join(args.out, entry["file"]), "wb") as file:
                file.write(tensor.data)
        tensors.append(entry)
    return {"tokens": got.tokens, "key": _key(got.key, args.keys), "tensors": tensors}


def _print_restore(out: Dict[str, Any]) -> None:
    print(f"{out['tokens']} tokens, {out['key']}")
    for t in out["tensors"]:
        print(
            f"  {t['name']} {t['dtype']} {t['shape']} sinks {t['sink_rows']} "
            f"from row {t['first_row']} sha256 {t['sha256']}"
        )


def _plain(value: Any, whole: bool) -> Any:
    if isinstance(value, bytes):
        return _key(value, whole)
    if isinstance(value, list):
        return [_plain(v, whole) for v in value]
    if isinstance(value, dict):
        return {
            k: fmt_store_id(v) if k in ("store_id", "storeId") else _plain(v, whole)
            for k, v in value.items()
        }
    return value


def _dump(args: argparse.Namespace) -> Dict[str, Any]:
    messages: List[Dict[str, Any]] = []

    def sink(offset: int, length: int, name: str, fields: Dict[str, Any]) -> None:
        messages.append(
            {"offset": offset, "length": length, "name": name, **_plain(fields, args.keys)}
        )

    current = read_current(args.path)
    status = read_status(args.path, current.store_id)
    error = None
    try:
        read_manifest(args.path, current, status, sink)
    except Corruption as e:
        # What comes before the damage is shown, but the damage is not passed over.
        error = str(e)
    return {
        "current": _plain(current._asdict(), args.keys),
        "status": _plain(status._asdict(), args.keys) if status else None,
        "manifest": messages,
        "error": error,
        "ok": error is None,
    }


def _print_dump(out: Dict[str, Any]) -> None:
    print("CURRENT", json.dumps(out["current"]))
    print("STATUS", json.dumps(out["status"]))
    for m in out["manifest"]:
        rest = {k: v for k, v in m.items() if k not in ("offset", "length", "name")}
        print(f"{m['offset']:>10} {m['length']:>6} {m['name']} {json.dumps(rest)}")
    if out["error"]:
        print("damage", out["error"])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="waymark_reader", description="Reads a Waymark store.")
    commands = parser.add_subparsers(dest="command", required=True)

    def add(name: str, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("path", help="the store's directory")
        command.add_argument("--json", action="store_true", help="one JSON object on stdout")
        command.add_argument("--keys", action="store_true", help="show whole keys")
        return command

    add("ls", "lists namespaces and boundaries")
    verify = add("verify", "checks all that is live")
    verify.add_argument("--level", choices=LEVELS, default="checksum")
    restore = add("restore", "restores a boundary's tensors")
    restore.add_argument("--namespace", help="number, or first hex digits of the fingerprint")
    restore.add_argument("--key", help="first hex digits of the boundary's key")
    restore.add_argument("--tokens", help="file of token ids: JSON array, or separated by space")
    restore.add_argument("--at", type=int, help="tokens of the boundary on that chain")
    restore.add_argument("--salt-file", help="file with a tenant's salt, byte for byte")
    restore.add_argument("--tensor", action="append", help="only this one; may be repeated")
    restore.add_argument("--max-bytes", type=int, help="refuse to restore more")
    restore.add_argument("--out", help="directory for the tensors' bytes, <number>.bin")
    add("dump", "shows CURRENT, STATUS and the manifest's messages")
    return parser


_COMMANDS = {
    "ls": (_ls, _print_ls),
    "verify": (_verify, _print_verify),
    "restore": (_restore, _print_restore),
    "dump": (_dump, _print_dump),
}


def main(argv: Optional[List[str]] = None) -> int:
    args = _parser().parse_args(argv)
    run, show = _COMMANDS[args.command]
    try:
        out = run(args)
    except WaymarkError as e:
        damage = isinstance(e, Corruption)
        if args.json:
            error = {"code": e.code, "type": type(e).__name__, "message": str(e)}
            print(json.dumps({"version": JSON_VERSION, "ok": False, "error": error}))
        else:
            print(f"waymark_reader: {e}", file=sys.stderr)
        return 1 if damage else 2 if isinstance(e, InvalidArgument) else 3
    except OSError as e:
        print(f"waymark_reader: {e.strerror}: {e.filename}", file=sys.stderr)
        return 3
    try:
        if args.json:
            print(json.dumps({"version": JSON_VERSION, "ok": out.get("ok", True), **out}))
        else:
            show(out)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads has seen enough; the interpreter must not flush again when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0 if out.get("ok", True) else 1

"""Builds the package, for pip (PEP 517), with the standard library alone."""

import base64
import hashlib
import os
import re
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = "waymark_reader"
#: Zip has no earlier time. One time for all makes equal sources equal packages.
_TIME = (1980, 1, 1, 0, 0, 0)


def _read(*parts):
    with open(os.path.join(HERE, *parts), encoding="utf-8") as file:
        return file.read()


def _version():
    return re.search(r'^__version__ = "([^"]+)"', _read(NAME, "__init__.py"), re.M).group(1)


def _sources():
    names = sorted(n for n in os.listdir(os.path.join(HERE, NAME)) if n.endswith(".py"))
    return [f"{NAME}/{n}" for n in names]


def _metadata():
    return f"""Metadata-Version: 2.1
Name: waymark-reader
Version: {_version()}
Summary: Reads Waymark stores (LLM inference state) without the engine
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: zstd
Requires-Dist: zstandard>=0.18; python_version < '3.14' and extra == 'zstd'
Provides-Extra: numpy
Requires-Dist: numpy>=1.21; extra == 'numpy'
Provides-Extra: crc32c
Requires-Dist: google-crc32c>=1.3; extra == 'crc32c'
Description-Content-Type: text/markdown

{_read("README.md")}"""


def _info():
    return {
        "METADATA": _metadata(),
        "WHEEL": "Wheel-Version: 1.0\nGenerator: build_wheel\n"
        "Root-Is-Purelib: true\nTag: py3-none-any\n",
        "entry_points.txt": f"[console_scripts]\nwaymark-reader = {NAME}.cli:main\n",
    }


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    info = f"{NAME}-{_version()}.dist-info"
    content = {name: _read(name) for name in _sources()}
    content.update({f"{info}/{name}": text for name, text in _info().items()})
    record = ""
    for name, text in content.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        record += f"{name},sha256={digest.decode()},{len(text.encode())}\n"
    content[f"{info}/RECORD"] = record + f"{info}/RECORD,,\n"
    wheel = f"{NAME}-{_version()}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED) as out:
        for name, text in content.items():
            entry = zipfile.ZipInfo(name, _TIME)
            entry.external_attr = 0o644 << 16
            out.writestr(entry, text.encode())
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    root = f"{NAME}-{_version()}"
    with tarfile.open(os.path.join(sdist_directory, root + ".tar.gz"), "w:gz") as out:
        for name in ["pyproject.toml", "build_wheel.py", "README.md", *_sources()]:
            out.add(os.path.join(HERE, name), f"{root}/{name}")
    return root + ".tar.gz"

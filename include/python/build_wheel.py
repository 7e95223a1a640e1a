# SPDX-License-Identifier: BSD-2-Clause
"""Builds the package for pip (PEP 517), with the standard library alone."""
import base64
import hashlib
import pathlib
import re
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
VERSION = re.search(r'^__version__ = "(.*)"', (HERE / "pkbpf/__init__.py").read_text(encoding="utf-8"), re.M).group(1)
METADATA = f"""Metadata-Version: 2.1
Name: pkbpf
Version: {VERSION}
Summary: Marks regions of Python programs for pkbpf, and profiles them from inside
License: BSD-2-Clause
Requires-Python: >=3.8
Description-Content-Type: text/markdown

"""
WHEEL = "Wheel-Version: 1.0\nGenerator: build_wheel\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
SOURCES = ("pyproject.toml", "build_wheel.py", "README.md")


def _metadata():
    return METADATA + (HERE / "README.md").read_text(encoding="utf-8")


def _modules():
    return sorted(path for path in (HERE / "pkbpf").iterdir() if path.suffix in (".py", ".typed"))


def _hash(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    info = f"pkbpf-{VERSION}.dist-info"
    files = [(f"pkbpf/{path.name}", path.read_bytes()) for path in _modules()]
    files += [(f"{info}/METADATA", _metadata().encode()), (f"{info}/WHEEL", WHEEL.encode())]
    record = "".join(f"{name},sha256={_hash(content)},{len(content)}\n" for name, content in files) + f"{info}/RECORD,,\n"
    name = f"pkbpf-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in [*files, (f"{info}/RECORD", record.encode())]:
            wheel.writestr(zipfile.ZipInfo(path), content)  # dated 1980: the same bytes each time
    return name


def build_sdist(sdist_directory, config_settings=None):
    name = f"pkbpf-{VERSION}.tar.gz"
    with tarfile.open(pathlib.Path(sdist_directory) / name, "w:gz") as archive:
        for path in [*(HERE / source for source in SOURCES), *_modules()]:
            archive.add(path, f"pkbpf-{VERSION}/{path.relative_to(HERE)}")
    return name

"""Give the wheel a version that tells what is in it. Everything else is said in pyproject.toml.

`1.0.0+c3f9c2a1b`: a local version, whose digest changes when a file in the wheel or what pip is
told about it does, and only then. Two wheels with the same version hold the same, wherever they
were built; the digests have no order, so a newer wheel need not have the higher version.
"""

import hashlib
import json
import shutil
import tomllib
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

RELEASE = "1.0.0"


class BuildAnew(build_py):
    """Builds from nothing: what an earlier build left behind would end up in the wheel."""

    def run(self) -> None:
        if not self.editable_mode:
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


def wheel_files() -> list[Path]:
    """List the files that a wheel is made of, by what pyproject.toml says."""
    distribution = Distribution({"script_name": "setup.py"})
    distribution.parse_config_files()
    build = distribution.get_command_obj("build_py")
    build.ensure_finalized()
    data = [Path(folder, name) for _, folder, _, names in build.data_files for name in names]
    return sorted({*map(Path, build.get_source_files()), *data, Path("LICENSE")})


def version() -> str:
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    digest = hashlib.sha256(json.dumps(project).encode())
    for path in wheel_files():
        content = path.read_bytes()
        digest.update(f"\n{path.as_posix()} {len(content)}\n".encode() + content)
    # The letter keeps a digest without any of its own from being read as a number.
    return f"{RELEASE}+c{digest.hexdigest()[:8]}"


setup(version=version(), cmdclass={"build_py": BuildAnew})

"""Give the wheel a version that tells its contents. Everything else is in pyproject.toml.

`1.0.0+c3f9c2a1b` is a local version. Its digest changes only when a file in the wheel or the
wheel's metadata does. Two wheels with the same version are the same, wherever they were built. The
digests have no order, so a newer wheel may have a lower version.
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
    """Builds from scratch: leftovers of an earlier build would end up in the wheel."""

    def run(self) -> None:
        if not self.editable_mode:
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


def wheel_files() -> list[Path]:
    """List the files that go into a wheel, according to pyproject.toml."""
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
    # Without the letter, a digest of digits alone would be read as a number.
    return f"{RELEASE}+c{digest.hexdigest()[:8]}"


setup(version=version(), cmdclass={"build_py": BuildAnew})

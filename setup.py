"""Give the wheel a version that tells its contents. Everything else is in pyproject.toml.

`1.0.0+c3f9c2a1b` is a local version. Its digest changes only when a file in the wheel or the
wheel's metadata does. Two wheels with the same version are the same, wherever they were built. The
digests have no order, so a newer wheel may have a lower version.
"""

import hashlib
import json
import shutil
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

RELEASE = "1.0.0"


class BuildAnew(build_py):
    """Builds from scratch: leftovers of an earlier build would end up in the wheel."""

    def run(self) -> None:
        if not self.editable_mode:
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


def wheel_files(**options: Any) -> list[Path]:
    """List the files of a wheel's packages, according to pyproject.toml or to options."""
    distribution = Distribution({"script_name": "setup.py", **options})
    if not options:
        distribution.parse_config_files()
    build = distribution.get_command_obj("build_py")
    build.ensure_finalized()
    data = [Path(folder, name) for _, folder, _, names in build.data_files for name in names]
    return sorted({*map(Path, build.get_source_files()), *data})


def version() -> str:
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    # Without the letter, a digest of digits alone would be read as a number.
    return f"{RELEASE}+c{digest_of([*wheel_files(), Path('LICENSE')], json.dumps(project))}"


def digest_of(files: Iterable[Path], project: str) -> str:
    digest = hashlib.sha256(project.encode())
    for path in files:
        content = path.read_bytes()
        digest.update(f"\n{path.as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:8]


if __name__ == "__main__":  # the grader's wheel imports this
    setup(version=version(), cmdclass={"build_py": BuildAnew})

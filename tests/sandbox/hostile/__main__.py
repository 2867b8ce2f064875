"""Run attacks and print what happened: `python -m tests.sandbox.hostile [NAME …]`."""

import sys
import tempfile
from pathlib import Path

from tests.sandbox.hostile import ATTACKS
from tests.sandbox.hostile.stage import Happened, Stage
from tests.sandbox.probes import HOME, broken_walls


def main(names: list[str]) -> int:
    known = {attack.name: attack for attack in ATTACKS}
    if unknown := set(names) - known.keys():
        print(f"There is no attack {', '.join(unknown)}, only:", *known, sep="\n  ")
        return 2
    chosen = [known[name] for name in names] or ATTACKS
    if broken := broken_walls():
        print("The walls do not hold, so nothing is run:", *broken, sep="\n  ")
        return 1
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(Path(folder), HOME)
        try:
            for attack in chosen:
                happened = stage.perform(attack)
                print(_row(happened), flush=True)
                wrong += bool(happened.wrong)
        finally:
            stage.close()
    print(f"{len(chosen)} attacks, {wrong} not held")
    return int(wrong > 0)


def _row(happened: Happened) -> str:
    attack = happened.attack
    row = f"{attack.name:<36} {happened.seconds:5.1f} s  {happened.in_words}\n    {attack.tries}"
    return "\n".join([row, *(f"    NOT HELD: {wrong}" for wrong in happened.wrong)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

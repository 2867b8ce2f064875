"""When a submission was handed in: the time in nbgrader's `timestamp.txt`, read with care."""

from datetime import datetime
from pathlib import Path

from autograder.grading.submission.handed_in import is_ordinary
from autograder.grading.submission.read_notebook import BrokenSubmission
from autograder.grading.term import dates
from autograder.grading.worker.job import TIMESTAMP

MOST_BYTES = 200


def handed_in_at(folder: Path) -> datetime | None:
    """Return the time in UTC; None if nothing states one. Raises BrokenSubmission."""
    path = folder / TIMESTAMP
    try:
        if not is_ordinary(path):
            raise BrokenSubmission(f"{TIMESTAMP} is no file that can be read; delete it")
        with path.open("rb") as file:
            text = file.read(MOST_BYTES).decode(errors="replace").strip()
        return dates.read_date(text) if text else None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BrokenSubmission(f"{TIMESTAMP} can't be read ({error.strerror})") from error
    except ValueError:
        said = f"{TIMESTAMP} says {text!r:.60}, which is no time"
        raise BrokenSubmission(f"{said}: {dates.FORM}, or delete the file") from None

"""When a submission was handed in: the time in nbgrader's `timestamp.txt`, read with care."""

from datetime import datetime
from pathlib import Path

from autograder.grading.submission.folder import TIMESTAMP
from autograder.grading.submission.plain_files import UnfitFile, open_folder, read_file
from autograder.grading.submission.read_notebook import BrokenSubmission
from autograder.grading.term import dates

MOST_BYTES = 200


def handed_in_at(folder: Path) -> datetime | None:
    """Return the time in UTC; None if nothing states one. Raises BrokenSubmission."""
    try:
        with open_folder(folder) as opened:
            text = read_file(TIMESTAMP, opened, MOST_BYTES).decode(errors="replace").strip()
        return dates.read_date(text) if text else None
    except FileNotFoundError:
        return None
    except UnfitFile as error:
        said = f"{TIMESTAMP} can't be read, because it {error.why}"
        raise BrokenSubmission(f"{said}; write the time into a new file, or delete it") from None
    except OSError as error:
        raise BrokenSubmission(f"{TIMESTAMP} can't be read ({error.strerror})") from error
    except ValueError:
        said = f"{TIMESTAMP} says {text!r:.60}, which is not a time"
        raise BrokenSubmission(f"{said}: {dates.FORM}, or delete the file") from None

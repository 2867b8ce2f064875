"""Trouble with the disk, in words."""

import errno

# What the disk is to blame for, or who may use it, and never the program.
TROUBLE = {
    errno.EACCES,
    errno.EDQUOT,
    errno.EIO,
    errno.ENOSPC,
    errno.EPERM,
    errno.EROFS,
}


def disk_trouble(error: OSError) -> str:
    """Say what is wrong with the disk, and what to do; "" if the disk is not to blame."""
    if error.errno not in TROUBLE:
        return ""
    place = error.filename or "A file"
    return (
        f"{place} can't be read or written ({error.strerror}). Mend that, and run the same command "
        "again."
    )

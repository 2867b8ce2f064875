"""The resources that a submission may use."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits for one notebook.

    cell_seconds, notebook_seconds: processor time of all its processes together, for one cell and
        for all cells.
    patience: wall seconds allowed for each of these seconds, for a machine that is busy.
    idle_seconds: in which nothing runs, for one cell, and three times as many for all cells.
    memory_bytes: memory of all its processes together, and the address space of each beyond the
        warm process's.
    threads: of all its processes together.
    scratch_bytes: files in its scratch folder, which are in memory; also the largest file.
    cell_output_bytes: what a cell may print or show, not counting its answers.
    answer_bytes: the answers of a cell.
    sent_bytes: everything that the notebook may send out of the sandbox.
    """

    cell_seconds: float = 30.0
    notebook_seconds: float = 300.0
    patience: float = 5.0
    idle_seconds: float = 2.0
    memory_bytes: int = 4 << 30
    threads: int = 200
    open_files: int = 1024
    scratch_bytes: int = 256 << 20
    cell_output_bytes: int = 4 << 20
    answer_bytes: int = 8 << 20
    sent_bytes: int = 32 << 20

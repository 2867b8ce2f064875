"""Running a notebook that nobody trusts: walls around it, and what goes in and out.

`Sandbox` is the outside; `inside` is mounted into it and imports nothing of the rest.

What the walls do not hold: a fault in the operating system's kernel; the names of mounted folders
and the system's own files, which a submission can read; memory in the buffers of sockets, which
nobody counts (at most 0.2 MB for each open file); and what a submission computes by itself, by
whatever means, for an answer is judged by its numbers.
"""

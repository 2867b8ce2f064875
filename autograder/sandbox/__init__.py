"""Run an untrusted notebook: the walls around it, and what goes in and out.

`Sandbox` is the outside; `inside` is mounted into it and imports nothing from the rest.

The walls do not protect against a bug in the operating system's kernel. They do not hide the names
of mounted folders or the system's own files, which a submission can read. They do not count memory
in socket buffers (at most 0.2 MB for each open file). And a submission may compute its answer by
any means, because only the numbers are judged.
"""

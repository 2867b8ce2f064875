"""Runs inside the sandbox: the warm process, and a supervisor and a kernel for each notebook."""

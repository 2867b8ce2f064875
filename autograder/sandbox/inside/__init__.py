"""What runs inside the sandbox: the warm process, and one supervisor and kernel a notebook."""

"""Grade one submission, in any process: plain data in, plain data out."""

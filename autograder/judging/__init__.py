"""What knows the answers: comparing what came back with the key, and saying what it means."""

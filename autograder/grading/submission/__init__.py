"""What a learner handed in, read whatever it is, and put right by what was released."""

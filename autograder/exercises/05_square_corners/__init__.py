"""Lesson 5: an encoder-decoder that completes squares."""

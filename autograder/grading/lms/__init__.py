"""Marks, feedback and submissions to and from the learning management systems Canvas and Moodle.

Both are met through the files that a teacher downloads from them and uploads to them.
"""

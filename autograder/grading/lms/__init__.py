"""Grades, feedback and submissions to and from the learning management systems Canvas and Moodle.

It works with the files that instructors download from them and upload to them.
"""

"""What enters the sandbox: calling a learner's code on cases, and handing in what came back.

Nothing in this package knows an expected value, and it imports nothing of the project's but
`autograder.errors`.
"""

# While a submission is graded, names a file that holds the questions of its lesson.
QUESTIONS_VARIABLE = "AUTOGRADER_QUESTIONS"

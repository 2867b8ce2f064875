"""The code that enters the sandbox: it calls a learner's code on cases and sends out the results.

Nothing in this package knows an expected value. The only other project module that it imports is
`autograder.errors`.
"""

# While a submission is graded, this variable names the file with its lesson's questions.
QUESTIONS_VARIABLE = "AUTOGRADER_QUESTIONS"
# The MIME type of the message that carries a check's answers.
MIME = "application/vnd.attention-from-scratch.answers"

"""Made-up classes for the tests of the report, with a gradebook; and a reader of pages."""

import json
from datetime import datetime, timedelta
from html.parser import HTMLParser

from nbgrader import api
from sqlalchemy import create_engine
from sqlalchemy.orm import Session

from autograder.asking.problem import Place, Problem, ProblemKind
from autograder.grading.worker.graded_cells import VERDICT
from autograder.grading.worker.job import run_path
from autograder.judging.verdict import AspectResult, CaseCount, Verdict

LESSON = "01_of_two_exercises"
DUE = datetime(2030, 1, 2)
POINTS = {"softmax": 4, "attend": 6}
STUB = '''def {}(x):
    """What to do."""
    # YOUR CODE HERE
    raise NotImplementedError()
'''
BARE = STUB.replace("{}", "f")
RIGHT = "def {}(x):\n    return x\n"
LONG = """def {}(x):
    # {comment}
    top = x.max()
    moved = x - top
    powers = moved.exp()
    total = powers.sum()
    return powers / total
"""
EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'>{{ 7 * 7 }}"


def verdict(exercise, points=None, **facts):
    """Make a verdict in which an exercise earns all its points, none, or some."""
    of = POINTS[exercise]
    points = of if points is None else points
    public = CaseCount(2, 2) if points else CaseCount(0, 2)
    aspects = [
        AspectResult("the shape", points, True, public, public),
        AspectResult("the numbers", of - points, points == of, public, public),
    ]
    return Verdict(exercise, LESSON, facts.pop("aspects", aspects), **facts).summary()


def wrong(exercise, mistake, sentence):
    return verdict(exercise, 0, mistake=mistake, sentence=sentence)


def open_(exercise):
    return verdict(
        exercise, 0, answered=False, problems=(Problem(ProblemKind.NOT_ANSWERED, exercise),)
    )


def problem(exercise, kind, detail=""):
    return verdict(
        exercise, 0, problems=(Problem(kind, detail, Place(3)),), sentence=f"No: {kind}."
    )


def only_public(exercise):
    aspects = [
        AspectResult("the numbers", POINTS[exercise], False, CaseCount(3, 3), CaseCount(0, 2))
    ]
    return verdict(exercise, aspects=aspects, sentence="It is right on the cases shown.")


def notebook(softmax, attend, outcome="graded", reason="", source=RIGHT):
    """Make an autograded notebook like the engine's."""
    cells = []
    for exercise, found in {"softmax": softmax, "attend": attend}.items():
        code = STUB if found and not found["answered"] else source
        solution = {"grade_id": exercise, "solution": True, "grade": False}
        cells.append(cell(code.replace("{}", exercise), nbgrader=solution))
        check = {"grade_id": f"check_{exercise}", "solution": False, "grade": True}
        cells.append(
            cell(f"check({exercise})", nbgrader=check, **({VERDICT: found} if found else {}))
        )
    run = {"outcome": outcome, "reason": reason, "seconds": 0.5}
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, "run": run}


def cell(source, **metadata):
    return {"cell_type": "code", "source": source, "metadata": metadata, "outputs": []}


def write_class(course, notebooks, lesson=LESSON):
    for learner, found in notebooks.items():
        folder = course / "autograded" / learner / lesson
        folder.mkdir(parents=True)
        write_graded(found, folder / f"{lesson}.ipynb")
    (course / "solutions" / lesson).mkdir(parents=True, exist_ok=True)
    return course


def write_graded(found, path):
    """Write a graded notebook, given as bytes or as a tree, and the facts about its run."""
    if isinstance(found, bytes):
        path.write_bytes(found)
        return
    path.write_text(json.dumps({k: v for k, v in found.items() if k != "run"}), encoding="utf-8")
    if "run" in found:
        run_path(path).write_text(json.dumps(found["run"]), encoding="utf-8")


def write_gradebook(path, notebooks, penalty=(), by_hand=(), lesson=LESSON):
    """Add a lesson to a gradebook, with the verdicts' points, penalties and scores by hand.

    Those with a penalty are called Okafor, and handed in late.
    """
    engine = create_engine(f"sqlite:///{path}")
    api.Base.metadata.create_all(engine)
    with Session(engine) as session:
        course = session.merge(api.Course(id="course"))
        assignment = api.Assignment(name=lesson, course=course, duedate=DUE)
        book = api.Notebook(name=lesson, assignment=assignment)
        session.add(assignment)
        cells = {}
        for exercise, points in POINTS.items():
            name = f"check_{exercise}"
            cells[name] = api.GradeCell(
                name=name, max_score=points, cell_type="code", notebook=book
            )
            session.add_all([cells[name], source_cell(name, f"check({exercise})", book)])
            session.add(source_cell(exercise, STUB.replace("{}", exercise), book))
        for learner, found in notebooks.items():
            late = dict(penalty).get(learner, 0)
            student = session.get(api.Student, learner) or api.Student(id=learner)
            student.last_name = "Okafor" if late else student.last_name
            handed_in = api.SubmittedAssignment(assignment=assignment, student=student)
            session.add(handed_in)
            handed_in.timestamp = DUE + timedelta(days=3, hours=5) if late else DUE
            handed_in.extension = timedelta(days=1)
            copy = api.SubmittedNotebook(
                notebook=book, assignment=handed_in, late_submission_penalty=late
            )
            session.add(copy)
            verdicts = [c["metadata"][VERDICT] for c in found["cells"] if VERDICT in c["metadata"]]
            for about in verdicts:
                grade = api.Grade(cell=cells[f"check_{about['exercise']}"], notebook=copy)
                grade.auto_score = about["points"] if about["graded"] else None
                grade.needs_manual_grade = grade.auto_score is None
                if about["exercise"] == "attend":
                    grade.manual_score = dict(by_hand).get(learner)
                session.add(grade)
        session.commit()
    engine.dispose()


def source_cell(name, source, book):
    return api.SourceCell(name=name, cell_type="code", source=source, notebook=book)


class Reader(HTMLParser):
    """Reads a page as a browser would: its elements, and the text of each section."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.sections, self.section = [], {}, ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag == "h2":
            self.section = dict(attributes)["id"]

    def handle_data(self, data):
        text = f"{self.sections.get(self.section, '')} {data}"
        self.sections[self.section] = " ".join(text.split())

    def attributes(self, name):
        return [found[name] for _, found in self.elements if name in found]

"""How six models of lesson 7 read longer texts than they were trained on: accuracy in percent.

They were measured once, because all 36 trainings take a few minutes; `make bench BENCH=lengths`
measures them again, and tests/course/test_lesson_07.py some of them.
"""

LENGTHS = (16, 32, 40, 64, 128, 256)


def _seeds(text: str) -> list[list[float]]:
    return [[float(number) for number in line.split()] for line in text.strip().splitlines()]


# By task and scheme, a line for each seed and a number for each length.
CURVES: dict[str, dict[str, list[list[float]]]] = {
    "last_marked": {
        "none": _seeds("""
            98.4 89.9 81.9 61.2 39.2 30.4
            98.9 95.7 92.3 80.9 58.9 41.7
            100.0 96.5 92.6 79.6 53.8 36.9
        """),
        "sinusoidal": _seeds("""
            100.0 100.0 84.6 36.2 17.7 24.4
            100.0 99.9 82.7 29.9 27.3 23.2
            100.0 99.8 92.7 37.3 19.8 20.4
        """),
        "learned": _seeds("""
            100.0 99.8 77.2 28.0 24.2 25.7
            99.9 100.0 73.1 38.4 25.9 27.5
            100.0 99.8 73.4 29.6 21.2 18.6
        """),
        "relative": _seeds("""
            100.0 99.6 98.7 92.6 91.3 93.8
            100.0 97.9 96.8 92.6 91.8 93.3
            100.0 99.2 98.0 96.3 92.7 95.5
        """),
        "ALiBi": _seeds("""
            100.0 100.0 100.0 99.2 99.7 100.0
            100.0 100.0 100.0 99.4 99.9 100.0
            99.9 99.8 99.9 99.5 99.6 100.0
        """),
        "rotary": _seeds("""
            100.0 100.0 99.0 33.5 40.3 44.5
            100.0 100.0 98.9 15.0 20.3 21.9
            100.0 100.0 98.0 15.6 23.6 20.6
        """),
    },
    "three_back": {
        "none": _seeds("""
            23.3 23.4 23.8 21.0 14.2 9.5
            21.9 24.2 22.4 17.6 14.6 11.8
            21.8 23.7 23.6 18.7 13.8 10.4
        """),
        "sinusoidal": _seeds("""
            100.0 100.0 41.6 9.2 7.4 8.1
            100.0 100.0 23.0 5.1 7.5 7.4
            100.0 100.0 16.5 11.2 9.3 6.9
        """),
        "learned": _seeds("""
            100.0 100.0 7.0 4.9 6.7 7.1
            100.0 100.0 6.8 8.2 6.5 7.3
            100.0 100.0 10.6 6.9 8.1 6.3
        """),
        "relative": _seeds("""
            100.0 100.0 100.0 100.0 100.0 99.8
            100.0 100.0 100.0 100.0 100.0 99.0
            100.0 100.0 100.0 100.0 100.0 100.0
        """),
        "ALiBi": _seeds("""
            34.1 30.4 31.2 29.3 30.9 30.7
            36.8 32.6 32.1 30.9 32.0 30.1
            37.3 35.5 35.2 37.6 34.7 33.5
        """),
        "rotary": _seeds("""
            100.0 100.0 100.0 4.8 6.9 6.2
            100.0 100.0 97.9 4.8 5.9 7.2
            100.0 100.0 99.4 6.2 5.4 6.5
        """),
    },
}

"""The course's secret is read from the environment or a file, and seeds are made from it."""

import os

from autograder.building import secret


def test_the_secret_comes_from_the_environment_or_the_file(tmp_path, monkeypatch):
    monkeypatch.delenv(secret.SECRET_VARIABLE, raising=False)
    monkeypatch.setattr(secret, "SECRET_FILE", tmp_path / "secret.txt")
    assert secret.own_secret() == ""
    secret.SECRET_FILE.write_text("\n", encoding="utf-8")
    assert secret.own_secret() == ""
    assert secret.course_secret() == secret.SHIPPED_SECRET
    secret.SECRET_FILE.write_text("the file's\n", encoding="utf-8")
    assert secret.course_secret() == "the file's"
    monkeypatch.setenv(secret.SECRET_VARIABLE, "the environment's")
    assert secret.course_secret() == "the environment's"


def test_a_secret_is_the_same_in_every_locale(tmp_path, monkeypatch):
    monkeypatch.setattr(secret, "SECRET_FILE", tmp_path / "secret.txt")
    for line, text in [("Grüße".encode(), "Grüße"), (b"Gr\xfc\xdfe", r"Gr\xfc\xdfe")]:
        secret.SECRET_FILE.write_bytes(line)
        monkeypatch.delenv(secret.SECRET_VARIABLE, raising=False)
        assert secret.own_secret() == text
        monkeypatch.setenv(secret.SECRET_VARIABLE, os.fsdecode(line))
        assert secret.own_secret() == text


def test_the_seed_follows_the_submission_and_the_secret(monkeypatch):
    monkeypatch.setenv(secret.SECRET_VARIABLE, "one")
    seeds = [secret.seed_for("this"), secret.seed_for("that")]
    assert secret.seed_for("this") == seeds[0]
    monkeypatch.setenv(secret.SECRET_VARIABLE, "another")
    assert len({*seeds, secret.seed_for("this"), secret.seed_for("that")}) == 4

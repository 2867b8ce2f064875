"""A page knows how many pixels it makes a browser unfold."""

import base64
from io import BytesIO

import pytest
from PIL import Image

from autograder.grading.pages.budget import Budget
from autograder.grading.pages.pictures import pixels_of
from autograder.grading.pages.sanitizer import TOO_LARGE, UNKNOWN, Sanitizer
from tests.support.pictures import png

SMALL = f"data:image/png;base64,{png(3, 2)}"

SET = f"<set to='{SMALL}'/>"


def made(kind):
    file = BytesIO()
    Image.new("RGB", (3, 2)).save(file, kind)
    return file.getvalue()


def url(data, kind="image/png"):
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def drawing(inside, before=""):
    source = f'{before}<svg xmlns="http://www.w3.org/2000/svg" width="90000">{inside}</svg>'
    return url(source.encode(), "image/svg+xml")


@pytest.mark.parametrize(
    ("picture", "pixels"),
    [
        *((url(made(kind)), 6) for kind in ("PNG", "JPEG", "GIF", "WEBP")),
        (url(made("GIF"), "image/jpeg"), 6),
        *((url(made(kind)), None) for kind in ("BMP", "TIFF", "ICO")),
        (url(made("PNG")[:20]), None),
        (url(b""), None),
        (SMALL.replace("base64,", "base64,%0A"), 6),
        (drawing("<path d='M0 0' fill='url(#a)'/>"), 0),
        (drawing(r"<text>data: \ </text>"), 0),
        (drawing(f"<image href='{SMALL}'/><image href='&#10;{SMALL}'/>"), 12),
        (drawing(f"<image href='&#100;ata{SMALL[4:]}'/>"), 6),
        (drawing("<image href='&a;'/>", f"<!DOCTYPE svg [<!ENTITY a '{SMALL}'>]>"), 6),
        (drawing(f"<image href='{drawing(SET)}'/>"), 6),
        (drawing(f"<image href='d&#10;ata{SMALL[4:]}'/>"), 6),
        (drawing(f"<image href='{SMALL[:30]}%69{SMALL[31:]}'/>"), None),
        (drawing(f"<style>a {{background: url({SMALL})}}</style>"), None),
        (drawing(r"<a style='background: url(\64 ata:x)'/>"), None),
        (drawing("", "<?xml-stylesheet href='data:text/css,'?>"), None),
        (drawing("<path>"), None),
    ],
)
def test_pixels_are_counted_or_the_picture_is_not_known(picture, pixels):
    assert pixels_of(picture) == pixels


@pytest.mark.parametrize(
    ("pictures", "left_out"),
    [
        ([SMALL] * 9, []),
        ([f"data:image/png;base64,{png(14_000, 14_000)}", SMALL], [TOO_LARGE]),
        ([f"data:image/png;base64,{png(5_000, 5_000)}"] * 3, [TOO_LARGE] * 2),
        ([drawing(f"<image href='data:image/png;base64,{png(9_000, 9_000)}'/>")], [TOO_LARGE]),
        ([SMALL, url(made("BMP"))], [UNKNOWN]),
    ],
)
def test_a_picture_of_too_many_pixels_is_left_out(pictures, left_out):
    html = Sanitizer(Budget()).html("".join(f'<img src="{one}">' for one in pictures))
    assert html.count("<img") == len(pictures) - len(left_out)
    assert html.count("left-out") == len(left_out)
    assert all(sentence.format(200, 40) in html for sentence in left_out)

"""Count a picture's pixels from its header: a browser unfolds them all, whatever its bytes."""

import base64
import re
from collections.abc import Callable
from io import BytesIO
from xml.etree import ElementTree

from PIL.GifImagePlugin import GifImageFile
from PIL.ImageFile import ImageFile
from PIL.JpegImagePlugin import JpegImageFile
from PIL.PngImagePlugin import PngImageFile
from PIL.WebPImagePlugin import WebPImageFile

# By how they begin, since browsers go by that. Only this reads SVG by its declared type.
READERS: dict[bytes, Callable[[BytesIO], ImageFile]] = {
    b"\x89PNG": PngImageFile,
    b"\xff\xd8\xff": JpegImageFile,
    b"GIF8": GifImageFile,
    b"RIFF": WebPImageFile,
}
SVG = "image/svg+xml"
# Line ends in a picture's data come out of Markdown as %0A.
DATA = r"data:(image/[\w.+-]+);base64,((?:[\w+/=\s]|%0A)*)"
PICTURE = re.compile(DATA, re.ASCII | re.IGNORECASE)
LINE_END = re.compile("%0A", re.IGNORECASE)
IGNORED = re.compile(r"[\t\n\r]")  # by browsers, in an address
LOADS = re.compile(r"data:|\\", re.IGNORECASE)  # in CSS, a backslash may spell anything


def pixels_of(url: str) -> int | None:
    """Return how many pixels a picture has; None if that can't be known. SVG has none of its own.

    url: all of the picture, in base64.
    """
    try:
        return _pixels(url)
    except Exception:  # whatever goes wrong in it
        return None


def _pixels(url: str) -> int:
    found = PICTURE.fullmatch(url)
    if not found:
        raise ValueError("not a picture in base64")
    data = base64.b64decode(LINE_END.sub("", found[2]) + "==")
    if found[1].lower() == SVG:
        return _pixels_within(data.decode())
    [reader] = [reader for start, reader in READERS.items() if data.startswith(start)]
    width, height = reader(BytesIO(data)).size
    return width * height


def _pixels_within(svg: str) -> int:
    """Count the pixels of the pictures in a drawing. Raises ValueError if it may hold others."""
    if "<?xml-stylesheet" in svg:
        raise ValueError("a style sheet of its own")
    root = ElementTree.fromstring(svg)
    texts = [text for part in root.iter() for text in part.attrib.values()]
    texts += [
        text for part in root.iter() if part.tag.endswith("style") for text in part.itertext()
    ]
    addresses = (IGNORED.sub("", text).strip() for text in texts)
    return sum(_pixels(address) for address in addresses if LOADS.search(address))

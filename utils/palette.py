"""The colors of figures, cards and pages. `docs/look.md` says what each means."""

BLUE, ORANGE, RED, GRAY = "#31688e", "#d98c2b", "#b00020", "#6a6a6a"
PURPLE, PINK = "#440154", "#c4568a"
# From no weight to all of it: a light ground and one hue, darker for more weight.
WEIGHT_STOPS = ("#f7fafc", "#cfe3ef", "#8dbdd9", "#3f86b0", "#0f4468")
# Cells that a mask hides, and those that it lets through.
HIDDEN, SEEN = "#e3a857", "#f7fafc"
# Whether an answer is right, on light grounds and dark ones.
RIGHT, PARTLY, WRONG = "#2da44e", "#d4a72c", "#e5534b"
# Lines that only guide the eye: around cells, and behind curves.
FRAME, GRID = "#d3dce4", "#dddddd"


def ink_on(red: float, green: float, blue: float) -> str:
    """Return black or white, whichever is easier to read on a color given by shares from 0 to 1."""
    # Relative luminance as in WCAG. Black and white contrast equally with 0.18.
    luminance = 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2
    return "#000000" if luminance > 0.18 else "#ffffff"


def ink(fill: str) -> str:
    """Return the color of words on a color such as "#31688e"."""
    return ink_on(*(int(fill[at : at + 2], 16) / 255 for at in (1, 3, 5)))


def lighter(color: str, share: float) -> str:
    """Mix a color with white; a share of 1 leaves none of it."""
    parts = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(part + (255 - part) * share):02x}" for part in parts)

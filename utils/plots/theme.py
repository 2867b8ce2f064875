"""Figures as HTML: they wrap in narrow windows, and follow the page's light or dark theme."""

import html
from base64 import b64encode
from collections.abc import Sequence

# Figures are drawn for a light ground and bring it along, for pages that don't allow style sheets.
LIGHT = (
    "display:inline-block;margin:0;padding:8px;max-width:100%;box-sizing:border-box;overflow-x:auto;"
    "background:#fff;color:#222;color-scheme:light"
)
# How JupyterLab, Colab, VS Code and the site say that they are dark, and what they call the ground.
DARK_PAGES = '[data-jp-theme-light="false"],[theme="dark"],.vscode-dark,[data-theme="dark"]'
GROUND = (
    "var(--jp-layout-color0,var(--color-background-primary,var(--vscode-editor-background,#111)))"
)
# There, light becomes dark, and white the ground itself. The turn by 190° keeps red, which means
# wrong, red; the table darkens the middle, so that words on colors have contrast again.
MIDDLE = "".join(
    f'<feFunc{channel} type="table" tableValues="0 .2 .38 .62 1"/>' for channel in "RGB"
)
FILTER = (
    '<svg width="0" height="0" style="position:absolute" aria-hidden="true">'
    '<filter id="attention-dark" color-interpolation-filters="sRGB">'
    f"<feComponentTransfer>{MIDDLE}</feComponentTransfer></filter></svg>"
)
ON_DARK = (
    f".attention-figure{{background:{GROUND}!important;isolation:isolate}}",
    ".attention-figure>*{filter:invert(1) hue-rotate(190deg) url(#attention-dark);"
    "mix-blend-mode:screen}",
)


def _rules(pages: str) -> str:
    return "".join(f":is({pages}) {rule}" for rule in ON_DARK)


STYLE = (
    f"<style>@media screen{{{_rules(DARK_PAGES)}}}"
    f"@media screen and (prefers-color-scheme:dark){{{_rules('[data-theme=auto]')}}}</style>"
)
# How far an image may shrink and grow, as shares of its width
LEAST, MOST = 2 / 3, 1.25


def figure_html(image: str, caption: str) -> str:
    """Return a captioned figure as HTML."""
    return (
        f'{STYLE}{FILTER}<figure class="attention-figure" style="{LIGHT}">{image}'
        f'<figcaption style="margin-top:6px">{html.escape(caption)}</figcaption></figure>'
    )


def image_html(kind: str, image: bytes, alt: str, width: float, most: float = 1) -> str:
    """Return an image of type image/`kind` as HTML.

    width: in CSS pixels. Where there is less room it shrinks, down to where words can be read.
    most: how far it grows in a wide window, as a share of its width.
    """
    return (
        f'<img alt="{html.escape(alt)}" width="{width:.0f}" '
        f'style="width:clamp({width:.0f}px,45vw,{width * most:.0f}px);max-width:100%;'
        f'min-width:{width * LEAST:.0f}px" '
        f'src="data:image/{kind};base64,{b64encode(image).decode()}">'
    )


def wrapping(images: Sequence[str]) -> str:
    """Return images in a row that wraps where it has to: four of them as two and two."""
    if len(images) % 4:
        return "".join(images)
    half = len(images) // 2
    return "".join(
        f'<span style="display:inline-block;max-width:100%">{wrapping(part)}</span>'
        for part in (images[:half], images[half:])
    )

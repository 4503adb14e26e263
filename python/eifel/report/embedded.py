"""A drawing as an image inside a page: several drawings in one page would share the names inside of them."""

from __future__ import annotations

import base64
import io
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def embedded(figure: Figure, title: str) -> str:
    """The figure as an `img` that holds its own SVG; `title` is what a reader without pictures gets."""
    from eifel.plots import save

    out = io.BytesIO()
    save(figure, out, "svg")
    source = base64.b64encode(out.getvalue()).decode()
    image = f"data:image/svg+xml;base64,{source}"
    return f'<div class="scroll"><img class="picture" alt="{escape(title)}" src="{image}"></div>\n'

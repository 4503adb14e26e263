"""Embeds a drawing as an image, since several SVG drawings in one page would share ids."""

import base64
import io
from html import escape

from eifel.plots import Figure


def embedded(figure: Figure, title: str) -> str:
    """Returns the figure as an `img` with its own SVG. `title` is the text for readers without pictures."""
    from eifel.plots import save

    out = io.BytesIO()
    save(figure, out, "svg")
    source = base64.b64encode(out.getvalue()).decode()
    image = f"data:image/svg+xml;base64,{source}"
    return f'<div class="scroll"><img class="picture" alt="{escape(title)}" src="{image}"></div>\n'

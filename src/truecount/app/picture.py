"""A picture as a tree of plain values, of which the page makes elements one by one; the browser parses nothing."""

from typing import Any
from xml.etree import ElementTree

from truecount.page.frame import Drawing

SPACES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
ELEMENTS = ("g", "path", "text", "tspan", "use", "defs", "clipPath", "rect", "circle", "line")
ATTRIBUTES = (
    *("id", "d", "x", "y", "x1", "x2", "y1", "y2", "width", "height", "transform", "clip-path", "href", "text-anchor"),
    *("clip-rule", "fill", "stroke", "stroke-width", "opacity", "fill-opacity", "stroke-opacity", "stroke-dasharray"),
)
"""What a picture is made of; all else, such as a script or a style sheet, is left out."""


def tree(drawing: Drawing | None) -> dict[str, Any] | None:
    """Return a picture as nested lists: the name of an element, its attributes, its style, and what is in it."""
    if drawing is None:
        return None
    root = ElementTree.fromstring(f"<svg {SPACES}>{drawing.svg}</svg>")  # noqa: S314 - matplotlib wrote it
    about = {name: getattr(drawing, name) for name in ("name", "title", "description", "caption", "view")}
    return {**about, "content": [_node(each) for each in root if _name(each.tag) in ELEMENTS]}


def _node(element: ElementTree.Element) -> list[Any]:
    attributes = {_name(name): value for name, value in element.attrib.items() if _name(name) in ATTRIBUTES}
    inside: list[Any] = [_node(each) for each in element if _name(each.tag) in ELEMENTS]
    words = [element.text] if element.text and element.text.strip() else []
    return [_name(element.tag), attributes, _style(element.get("style", "")), [*words, *inside]]


def _style(text: str) -> dict[str, str]:
    pairs = [part.partition(":") for part in text.split(";") if ":" in part]
    return {name.strip(): value.strip() for name, _, value in pairs}


def _name(tag: str) -> str:
    """Return a name without its space.

    >>> _name("{http://www.w3.org/2000/svg}path")
    'path'
    """
    return tag.rpartition("}")[2]

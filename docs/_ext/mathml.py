"""Formulas as MathML, which browsers draw themselves: no script, no font, nothing fetched."""

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def inline(translator: nodes.NodeVisitor, node: nodes.math) -> None:
    """Write a formula that stands in a sentence."""
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block(translator: nodes.NodeVisitor, node: nodes.math_block) -> None:
    """Write a formula that stands by itself; a wide one scrolls."""
    formula = convert(node.astext(), display="block")
    translator.body.append(f'<div class="math-block" tabindex="0" role="group" aria-label="formula">{formula}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer by the name that ``html_math_renderer`` asks for."""
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The statements of Python source: the part that decides what a module computes."""

import ast
import io
import tokenize
from collections.abc import Iterator


def statements(source: str) -> str:
    """Returns source without comments, docstrings, empty lines, and space at the ends of lines.

    The source is a whole module, class or function that starts in the first column. The result is
    text to compare or to digest: it is the same in every Python version.
    """
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for first, last in _bare_strings(ast.parse(source)):
        lines[first - 1 : last] = [""] * (last - first + 1)
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _bare_strings(tree: ast.AST) -> Iterator[tuple[int, int]]:
    """Yields the first and last line of each string that is a statement: docstrings, also those of attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.end_lineno or node.lineno

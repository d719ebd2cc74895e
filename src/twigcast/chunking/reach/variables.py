"""Writes the values of variables into an expression, which is then one without variables."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from twigcast.pattern import number_text

_VARIABLE = re.compile(r"""("[^"]*"|'[^']*')|\$\s*([^\W\d][\w.\-]*(?::[^\W\d][\w.\-]*)?)""")


def with_values(text: str, variables: Mapping[str, object]) -> str:
    """The expression with literals for variables that are strings, numbers or truth values.

        person[@id = $id]       person[@id = 'p7']

    Other variables stay.
    """
    if not variables:
        return text
    return _VARIABLE.sub(lambda found: found[1] or _literal(variables.get(found[2])) or found[0], text)


def _literal(value: object) -> str | None:
    if isinstance(value, bool):
        return "true()" if value else "false()"
    if isinstance(value, int | float):
        try:
            number = float(value)
        except OverflowError:
            number = math.copysign(math.inf, value)
        if math.isnan(number):
            return "(0 div 0)"
        text = "(1 div 0)" if math.isinf(number) else number_text(abs(number))
        return f"(-{text})" if math.copysign(1, number) < 0 else text
    if isinstance(value, str):
        if "'" not in value or '"' not in value:
            return f'"{value}"' if "'" in value else f"'{value}'"
        quoted = [f'"{each}"' if "'" in each else f"'{each}'" for each in re.split("('+)", value) if each]
        return f"concat({', '.join(quoted)})"
    return None

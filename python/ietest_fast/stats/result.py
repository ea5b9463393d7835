"""What every result of this package can do: print itself, and become a dictionary, JSON or HTML."""

from __future__ import annotations

import html
import json
import math
from typing import Any


def plain(value: Any) -> Any:
    """Make a value fit for JSON: NumPy's become Python's, infinities ``"inf"`` and ``"-inf"``.

    NaN becomes None: it stands for "there is no such number".
    """
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


class Result:
    """Base of the frozen result classes.

    A subclass says what it holds by :meth:`to_dict` and what a reader should see by
    :meth:`rows`; ``title`` heads the latter.
    """

    title: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Give every number of the result by name, in Python's own types."""
        raise NotImplementedError

    def rows(self) -> list[tuple[str, str]]:
        """Give names and formatted values in reading order."""
        raise NotImplementedError

    def remarks(self) -> list[str]:
        """Give whole sentences that belong below the rows: warnings, the verdict."""
        return []

    def to_json(self, *, indent: int | None = 2) -> str:
        """Give :meth:`to_dict` as strict JSON; see :func:`plain` for what JSON lacks."""
        return json.dumps(plain(self.to_dict()), indent=indent, allow_nan=False)

    def __str__(self) -> str:
        lines = [self.title] if self.title else []
        lines += [f"{name:<24} {value}" for name, value in self.rows()]
        lines += [line for remark in self.remarks() for line in ("", remark)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
            for name, value in self.rows()
        )
        caption = f"<caption>{html.escape(self.title)}</caption>" if self.title else ""
        below = "".join(f"<p>{html.escape(remark)}</p>" for remark in self.remarks())
        return f"<table>{caption}<tbody>{cells}</tbody></table>{below}"


def format_p(p: float) -> str:
    """Write a p-value for people."""
    return f"{p:.4g}"

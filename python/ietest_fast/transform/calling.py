"""What a call of the room itself does: a table in, the same kind of table with new texts out."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


class TransformRoom(ModuleType):
    """The package ``ietest_fast.transform``, which can be called: ``ie.transform(table)``.

    So the function is there whether or not the package has been imported, and the other way round.
    """

    def __call__(
        self,
        data: Any,
        phi: Any = "syn.careful",
        *,
        text_columns: str | Sequence[str] | None = None,
        label_column: str | None = None,
        learn_from: Any = None,
        return_edits: bool = False,
        n_threads: int | None = None,
    ) -> Any:
        """Rephrase the texts of a table.

        Examples
        --------
        >>> import ietest_fast as ie
        >>> ie.transform(["A boy sleeps on the couch."])
        ['A boy sleeps on the sofa.']
        """
        from ietest_fast.frames import give_back
        from ietest_fast.transform.in_memory import transform_in_memory

        made, edits = transform_in_memory(
            data,
            phi,
            text_columns=(text_columns,) if isinstance(text_columns, str) else text_columns,
            label_column=label_column,
            learn_from=learn_from,
            n_threads=n_threads,
        )
        table = give_back(made.table, like=data, rows=made.source_row)
        return (table, edits) if return_edits else table

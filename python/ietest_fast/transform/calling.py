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

        Parameters
        ----------
        data
            A pandas or polars frame or series, an Arrow table, a ``datasets.Dataset``, a mapping of
            columns, a list of strings, a list of pairs of strings, or whatever else
            :func:`ietest_fast.frames.to_arrow` takes.
        phi
            What to do: ``"NAME[:option=value,...][+NAME...]"`` (``ietest-fast transform --list``
            names them), a mapping with ``name`` and options, a finished transformation, a mapping
            from texts to reworded texts (others stay as they are), or a function from a text to its
            rewording, which is called once for each distinct text of the columns of texts.
        text_columns
            The columns of texts. None: ``premise`` and ``hypothesis``, ``sentence1`` and
            ``sentence2``, ``text`` or ``sentence``, or the only column that there is.
        label_column
            The column of labels, for transformations that do not keep them; None: ``label`` or
            ``gold_label``, if there is one. It then holds names, and None where nobody knows the
            label of the new text.
        learn_from
            A table of any kind, or a corpus, whose words decide between synonyms: best the training
            set. None: `data` itself.
        return_edits
            Whether to return every edit as well, as an Arrow table: row, column, first and last
            byte, old and new words, and the rule.
        n_threads
            Threads; None for all cores. Makes no difference to the result.

        Returns
        -------
        object or tuple
            The same kind of table as `data`, and if asked for the edits. A pandas frame keeps the
            index of the rows that its rows come from.

        Raises
        ------
        InputError
            If there is no such transformation or column, or a column does not hold texts.
        ConfigError
            If options are wrong; all mistakes are listed.

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

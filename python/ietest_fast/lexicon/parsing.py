"""Dependency trees of many texts, by any spaCy pipeline with a parser, each text once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from ietest_fast.lexicon.annotator import Annotator
from ietest_fast.lexicon.parse_pipelines import ParsePipeline
from ietest_fast.lexicon.pipelines import resolve_name
from ietest_fast.lexicon.token_parses import TokenParses

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import pyarrow as pa

    from ietest_fast.lexicon.tag_cache import TagCache


class Parser(Annotator[TokenParses]):
    """A spaCy pipeline, used for Penn tags and dependency trees.

    Make one with :meth:`load`. It can be pickled: it is loaded again where it arrives.
    """

    task = "parse"
    kind = TokenParses
    # Starting one more process costs as much time as parsing some thousand texts.
    texts_per_process = 2_000

    @classmethod
    def load(cls, name: str | Path | None = None) -> Self:
        """Load a pipeline."""
        pipeline = ParsePipeline.load(resolve_name(name))
        return cls(pipeline, pipeline.parse)

    def parse(
        self,
        texts: pa.Array | pa.ChunkedArray | Sequence[str],
        *,
        n_process: int | None = None,
        cache: TagCache | None = None,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> TokenParses:
        """Parse texts, equal texts once; see :meth:`Annotator.annotate`."""
        return self.annotate(texts, n_process=n_process, cache=cache, on_progress=on_progress)

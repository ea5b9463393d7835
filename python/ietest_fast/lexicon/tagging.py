"""Parts of speech of all tokens of many texts, by any spaCy pipeline, each text once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from ietest_fast.lexicon.annotator import Annotator
from ietest_fast.lexicon.pipelines import Pipeline, resolve_name
from ietest_fast.lexicon.token_tags import TokenTags

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import pyarrow as pa

    from ietest_fast.lexicon.tag_cache import TagCache


class Tagger(Annotator[TokenTags]):
    """A spaCy pipeline, used for universal tags and the number of common nouns alone.

    Make one with :meth:`load`. It can be pickled: it is loaded again where it arrives.
    """

    task = "tag"
    kind = TokenTags
    # Starting one more process costs as much time as tagging some ten thousand texts.
    texts_per_process = 15_000

    @classmethod
    def load(cls, name: str | Path | None = None) -> Self:
        """Load a pipeline.

        Parameters
        ----------
        name
            None or ``"packaged"``: the small pipeline that comes with this package. Otherwise an
            installed pipeline package (``"en_core_web_sm"``) or the path of a pipeline's folder.

        Raises
        ------
        ResourceError
            If there is no such pipeline, it cannot be read, it has no component that tags, or
            the packaged one is damaged.
        """
        pipeline = Pipeline.load(resolve_name(name))
        return cls(pipeline, pipeline.tag)

    def tag(
        self,
        texts: pa.Array | pa.ChunkedArray | Sequence[str],
        *,
        n_process: int | None = None,
        cache: TagCache | None = None,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> TokenTags:
        """Tag texts, equal texts once; see :meth:`Annotator.annotate`."""
        return self.annotate(texts, n_process=n_process, cache=cache, on_progress=on_progress)

"""Active into passive clauses and back: the same event, told from its other side."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from ietest_fast.transform.kinds import PhiOptions, PlannedTransformation, TransformationKind
from ietest_fast.transform.syntax.clauses import (
    check_agreement,
    read_active,
    read_passive,
    write_active,
    write_passive,
)
from ietest_fast.transform.syntax.rewriting import (
    Rewritten,
    SyntacticTransformation,
    find_texts_with,
    plan_syntactic,
)
from ietest_fast.transform.syntax.trees import Doubt, write_noun_phrase
from ietest_fast.transform.syntax.voice_rules import (
    begins_place,
    belongs_to_verb,
    check_active,
    check_agent,
    check_parts,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    import numpy.typing as npt

    from ietest_fast.lexicon.token_table import TokenParses
    from ietest_fast.lexicon.verbs import Verbs
    from ietest_fast.transform.syntax.clauses import Clause
    from ietest_fast.transform.syntax.trees import NounPhrase, Sentence

    Read = Callable[[Sentence], Clause]
    Write = Callable[[Sentence, Clause], Iterator[str]]


Direction = Literal["both", "passive", "active"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Voice(SyntacticTransformation):
    """Turn active clauses into passive ones and back.

    A clause is turned if it is the main clause of a statement and its parts stand where they
    usually do, and if the result, parsed, leads back to it.
    """

    verbs: Verbs
    """Inflects verbs."""
    direction: Direction = "both"
    """``"passive"`` or ``"active"`` for one direction alone."""

    @property
    def name(self) -> str:
        """``"voice"``."""
        return "voice"

    @property
    def options(self) -> dict[str, Any]:
        """The direction."""
        return {"direction": self.direction}

    def find_candidates(self, parses: TokenParses) -> npt.NDArray[np.bool_]:
        """Return which texts have a verb with an object, or a passive with an agent."""
        wanted = []
        if self.direction != "active":
            wanted.append("obj")
        if self.direction != "passive":
            wanted.append("obl:agent")
        return find_texts_with(parses, wanted)

    def rewrite(self, sentence: Sentence) -> list[Rewritten]:
        """Return the sentence in the other voice; two ways to order a passive."""
        return self._turn(sentence, self.direction, is_back=False)

    def lead_back(self, sentence: Sentence) -> list[Rewritten]:
        """Return the sentence in the other voice, whatever the direction that was asked for."""
        return self._turn(sentence, "both", is_back=True)

    def _turn(self, sentence: Sentence, direction: Direction, *, is_back: bool) -> list[Rewritten]:
        to_active = partial(self._to_active, is_back=is_back)
        ways: list[tuple[Read, Write, str]] = []
        if direction != "active":
            ways.append((read_active, self._to_passive, "to-passive"))
        if direction != "passive":
            ways.append((read_passive, to_active, "to-active"))
        for read, write, rule in ways:
            try:
                return [Rewritten(text, rule) for text in write(sentence, read(sentence))]
            except Doubt:
                continue
        return []

    def _to_passive(self, sentence: Sentence, clause: Clause) -> Iterator[str]:
        """Yield the sentence with the agent behind the verb or at its end, the better one first."""
        tag = sentence.tags[clause.group.verb]
        lemma = self.verbs.lemma(sentence.lower[clause.group.verb], tag)
        check_active(sentence, clause, lemma, self.wordnet)
        check_parts(sentence, clause, self.wordnet)
        check_agreement(sentence, clause.group, clause.subject.person, self.verbs)
        group = write_passive(sentence, clause.group, clause.other.person, self.verbs)
        begin = f"{self._write_subject(sentence, clause)} {_with_particle(sentence, clause, group)}"
        agent = f" by {self._write(sentence, clause.subject, 'object')}"
        after, end = _write_after(sentence, clause.after), _write_end(sentence, clause)
        refers = any(
            sentence.tags[i].startswith("PRP") or sentence.relations[i].startswith("nsubj")
            for i in clause.after
        )
        directly, last = f"{begin}{agent}{after}{end}", f"{begin}{after}{agent}{end}"
        ways = [] if refers or "," in after else [last]
        if not after:
            ways = [directly]
        elif not (clause.subject.is_long or belongs_to_verb(sentence, clause, lemma)):
            is_short = clause.subject.is_pronoun or not begins_place(sentence, clause)
            ways.insert(0 if is_short else len(ways), directly)
        yield from ways

    def _to_active(self, sentence: Sentence, clause: Clause, *, is_back: bool) -> Iterator[str]:
        """Yield the sentence with the agent in front; on the way back also other orders."""
        check_agent(sentence, clause)
        check_parts(sentence, clause, self.wordnet)
        check_agreement(sentence, clause.group, clause.subject.person, self.verbs)
        between, after = (_write_after(sentence, words) for words in (clause.between, clause.after))
        is_prepositional = len(clause.after) and sentence.tags[clause.after.start] in {"IN", "TO"}
        if "," in between or (is_prepositional and not is_back):
            raise Doubt("a phrase behind the agent may belong to it")
        group = write_active(sentence, clause.group, clause.other.person, self.verbs)
        what = self._write(sentence, clause.subject, "object")
        begin = f"{self._write_subject(sentence, clause)} {_with_particle(sentence, clause, group)}"
        end = _write_end(sentence, clause)
        yield f"{begin} {what}{between}{after}{end}"
        if is_back and clause.particle is not None:  # "picked the ball up"
            begin = f"{self._write_subject(sentence, clause)} {group}"
            yield f"{begin} {what} {sentence.words[clause.particle]}{between}{after}{end}"

    def _write_subject(self, sentence: Sentence, clause: Clause) -> str:
        """Return what stands before the new subject, and the subject, with the old capital."""
        text = self._write(sentence, clause.other, "subject")
        start = clause.subject.span.start
        if start == 0:
            return text[0].upper() + text[1:] if sentence.words[0][0].isupper() else text
        return f"{sentence.write(range(start))} {text}"

    def _write(self, sentence: Sentence, phrase: NounPhrase, case: str) -> str:
        return write_noun_phrase(sentence, phrase, case, self.wordnet)


def _with_particle(sentence: Sentence, clause: Clause, group: str) -> str:
    return group if clause.particle is None else f"{group} {sentence.words[clause.particle]}"


def _write_after(sentence: Sentence, words: range) -> str:
    return sentence.spaces[words.start] + sentence.write(words) if len(words) else ""


def _write_end(sentence: Sentence, clause: Clause) -> str:
    """Return the final marks."""
    first = clause.after.stop
    return "".join(sentence.spaces[i] + sentence.words[i] for i in range(first, len(sentence)))


class SyntaxOptions(PhiOptions):
    """What a transformation of syntax can be told."""

    parser: str = Field(
        "packaged", description="packaged, an installed spaCy pipeline with a parser, or its folder"
    )


class VoiceOptions(SyntaxOptions):
    """What the change of voice can be told."""

    direction: Direction = Field(
        "both", description="passive: active clauses become passive; active: the reverse"
    )


def _plan_voice(options: VoiceOptions) -> PlannedTransformation:
    from ietest_fast.lexicon.annotator import Parser
    from ietest_fast.lexicon.verbs import Verbs
    from ietest_fast.lexicon.wordnet import WordNet

    parser = Parser.load(options.parser)
    made = Voice(
        parser=parser,
        verbs=Verbs.packaged(),
        wordnet=WordNet.packaged(),
        direction=options.direction,
    )
    return plan_syntactic(made)


VOICE = TransformationKind(
    name="voice",
    summary="turns active clauses into passive ones and back, where both parses are sure",
    options=VoiceOptions,
    plan=_plan_voice,
    language="English",
)

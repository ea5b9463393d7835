"""What is said of how a transformation made wordings."""

from __future__ import annotations

from dataclasses import dataclass

from ietest_fast.plurals import say_count


@dataclass(frozen=True, kw_only=True)
class Making:
    """How one transformation made wordings."""

    name: str
    """Of the transformation."""
    identity: str
    """The name with four digits of a hash, for signatures."""
    n_items: int
    """Items that it was given."""
    n_wordings: int
    """Wordings in the buckets that it made."""
    n_unchanged: int
    """Items in which it changes nothing."""
    n_repeated: int = 0
    """Wordings that were left out because their item has the same one from another transformation
    already."""
    n_draws: int | None = None
    """Draws that were asked for; None if the transformation was made once."""
    n_short: int = 0
    """Items that it changes, with fewer different wordings than draws."""
    n_missing: int = 0
    """Wordings that these lack."""

    @property
    def n_wanted(self) -> int:
        """Wordings of each item that were asked for."""
        return 1 if self.n_draws is None else self.n_draws

    def sentences(self) -> list[str]:
        """Return what was made and what could not be, in whole sentences."""
        draws = "" if self.n_draws is None else f", {say_count(self.n_draws, 'draw')} asked for"
        made = (
            f"{say_count(self.n_wordings, 'wording')} of {say_count(self.n_items, 'item')}{draws}"
        )
        same = say_count(self.n_unchanged, "item stays as it is", "items stay as they are")
        said = [f"{self.name}: {made}; {same}."]
        if self.n_short:
            said.append(
                f"{self.name}: {say_count(self.n_short, 'item has', 'items have')} fewer different "
                f"wordings than draws; {say_count(self.n_missing, 'is', 'are')} missing."
            )
        if self.n_repeated:
            said.append(
                f"{self.name}: {say_count(self.n_repeated, 'wording')} left out, because another "
                "transformation gives the same."
            )
        return said

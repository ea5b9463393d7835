"""All tables of paraphrastic consistency, in reading order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.report.consistency import (
    corrected_table,
    count_table,
    measure_table,
    overview_table,
    pair_table,
    strata_table,
)
from ietest_fast.report.consistency_parts import (
    diversity_tables,
    mean_diversity_tables,
    partial_tables,
    subset_tables,
)
from ietest_fast.report.consistency_sizes import size_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.analyses.consistency.partition import ComparedPair
    from ietest_fast.analyses.consistency.profile import ConsistencyProfile
    from ietest_fast.report.tables import Table


def all_tables(
    profiles: Sequence[ConsistencyProfile], pairs: Sequence[ComparedPair] = ()
) -> list[Table]:
    """Return all tables, in reading order."""
    found: list[Table | None] = []
    if len(profiles) > 1:
        found.append(overview_table(profiles))
        found.append(pair_table(pairs, title="Comparison of models on the same items"))
    else:
        found.append(measure_table(profiles[0]))
    found += [size_table(profiles), count_table(profiles), corrected_table(profiles)]
    if len(profiles) == 1:
        found.append(strata_table(profiles[0]))
    found += [table for each in profiles for table in subset_tables(each)]
    found += mean_diversity_tables(profiles)
    found += [table for each in profiles for table in diversity_tables(each)]
    found += [table for each in profiles for table in partial_tables(each)]
    return [table for table in found if table is not None]

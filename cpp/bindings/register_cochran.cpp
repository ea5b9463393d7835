#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "arrays.hpp"
#include "execution.hpp"
#include "ietest/stats/cochran.hpp"
#include "random_key.hpp"
#include "registers.hpp"

namespace py = pybind11;

namespace ietest::python {
namespace {

using Levels = std::vector<std::int64_t>;

py::tuple as_tuple(const stats::CochranTails& tails) {
    return py::make_tuple(tails.at_least, tails.above, tails.replicates);
}

}  // namespace

void register_cochran(py::module_& module) {
    auto cochran = module.def_submodule("cochran", "Cochran's Q and its law under H0.");
    cochran.attr("MAX_OUTCOMES") = stats::kMaxOutcomes;
    cochran.attr("MAX_LISTED_VERSIONS") = stats::kMaxListedVersions;
    cochran.def(
        "count_versions",
        [](const Flags& outcomes) {
            if (outcomes.ndim() != 2) throw py::value_error("outcomes must be a table of bool");
            const std::span<const std::uint8_t> values(
                reinterpret_cast<const std::uint8_t*>(outcomes.data()),
                static_cast<std::size_t>(outcomes.size()));
            stats::CochranTable table =
                stats::count_versions(values, static_cast<int>(outcomes.shape(1)));
            const stats::CochranStatistic q = table.statistic();
            return py::make_tuple(table.levels, table.column_sums,
                                  array_of(std::move(table.row_levels)), q.spread, q.weight);
        },
        py::arg("outcomes"));
    cochran.def(
        "exact_cost",
        [](const Levels& levels) {
            const stats::CochranCost cost = stats::cochran_exact_cost(levels);
            return py::make_tuple(cost.updates, cost.cells);
        },
        py::arg("levels"));
    cochran.def(
        "exact_tails",
        [](const Levels& levels, std::int64_t spread, std::int64_t weight) {
            const stats::CochranExact tails = without_gil(1, [&](const Execution& execution) {
                return stats::cochran_exact(levels, {spread, weight}, execution);
            });
            return py::make_tuple(tails.at_least, tails.above);
        },
        py::arg("levels"), py::arg("spread"), py::arg("weight"));
    cochran.def(
        "multinomial_tails",
        [](const Levels& levels, std::int64_t spread, std::int64_t weight,
           std::int64_t n_replicates, const Words& key_words, StatisticsOut q_replicates,
           std::optional<int> n_threads) {
            const random::Key key = to_key(key_words);
            const auto out = places_of(q_replicates, "q_replicates must be a vector");
            return as_tuple(without_gil(n_threads, [&](const Execution& execution) {
                return stats::cochran_multinomial(levels, {spread, weight}, n_replicates, key,
                                                  execution, out);
            }));
        },
        py::arg("levels"), py::arg("spread"), py::arg("weight"), py::kw_only(),
        py::arg("n_replicates"), py::arg("key"), py::arg("q_replicates").noconvert() = py::none(),
        py::arg("n_threads") = py::none());
    cochran.def(
        "resample_tails",
        [](const Bytes& row_levels, int versions, std::int64_t spread, std::int64_t weight,
           std::int64_t n_replicates, const Words& key_words, StatisticsOut q_replicates,
           std::optional<int> n_threads) {
            const auto rows = vector_of(row_levels, "row_levels must be a vector");
            const random::Key key = to_key(key_words);
            const auto out = places_of(q_replicates, "q_replicates must be a vector");
            return as_tuple(without_gil(n_threads, [&](const Execution& execution) {
                return stats::cochran_resample(rows, versions, {spread, weight}, n_replicates, key,
                                               execution, out);
            }));
        },
        py::arg("row_levels"), py::arg("versions"), py::arg("spread"), py::arg("weight"),
        py::kw_only(), py::arg("n_replicates"), py::arg("key"),
        py::arg("q_replicates").noconvert() = py::none(), py::arg("n_threads") = py::none());
}

}  // namespace ietest::python

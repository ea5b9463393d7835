#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "execution.hpp"
#include "ietest/stats/studentised.hpp"
#include "instruction_set.hpp"
#include "random_key.hpp"
#include "registers.hpp"

namespace py = pybind11;

namespace ietest::python {
namespace {

// columns: values of pairs, shape (n_listed,); or values, excesses and sizes of clusters, (3, C).
stats::UnitSample to_sample(const Doubles& columns, std::int64_t n_units) {
    if (columns.ndim() == 1) return {n_units, entries_of(columns), {}, {}};
    if (columns.ndim() != 2 || columns.shape(0) != 3) {
        throw py::value_error("units must have shape (n_listed,) or (3, n_clusters)");
    }
    const auto n = static_cast<std::size_t>(columns.shape(1));
    return {n_units, {columns.data(), n}, {columns.data() + n, n}, {columns.data() + 2 * n, n}};
}

std::vector<stats::Hypothesis> to_hypotheses(const Doubles& shifts, const Doubles& t) {
    const auto all_shifts = vector_of(shifts, "units and hypotheses must be vectors");
    const auto all_t = vector_of(t, "units and hypotheses must be vectors");
    if (all_shifts.size() != all_t.size()) {
        throw py::value_error("every hypothesis needs a shift and a t");
    }
    std::vector<stats::Hypothesis> hypotheses;
    for (std::size_t i = 0; i < all_t.size(); ++i) {
        hypotheses.push_back({all_shifts[i], all_t[i]});
    }
    return hypotheses;
}

}  // namespace

void register_studentised(py::module_& module) {
    auto studentised = module.def_submodule("studentised", "The studentised bootstrap of scores.");
    studentised.def(
        "replicates",
        [](const Doubles& units, std::int64_t n_units, const Doubles& shifts, const Doubles& t,
           std::int64_t n_replicates, const Words& key_words, StatisticsOut t_replicates,
           const std::optional<std::string>& instruction_set, std::optional<int> n_threads) {
            const stats::UnitSample sample = to_sample(units, n_units);
            const std::vector<stats::Hypothesis> hypotheses = to_hypotheses(shifts, t);
            const auto out = places_of(t_replicates, "t_replicates must be a vector");
            const random::Key key = to_key(key_words);
            const InstructionSet chosen = to_instruction_set(instruction_set);
            const stats::StudentisedReplicates result =
                without_gil(n_threads, [&](const Execution& execution) {
                    return stats::studentised_replicates(sample, hypotheses, n_replicates, key,
                                                         execution, out, chosen);
                });
            std::vector<std::pair<std::uint64_t, std::uint64_t>> tails;
            for (const stats::TailCounts& tail : result.tails) {
                tails.emplace_back(tail.at_most, tail.at_least);
            }
            return py::make_tuple(tails,
                                  py::make_tuple(result.n_finite, result.mean, result.deviation));
        },
        py::arg("units"), py::kw_only(), py::arg("n_units"), py::arg("shifts"), py::arg("t"),
        py::arg("n_replicates"), py::arg("key"), py::arg("t_replicates").noconvert() = py::none(),
        py::arg("instruction_set") = py::none(), py::arg("n_threads") = py::none());
    studentised.def(
        "order_statistics",
        [](const Doubles& units, std::int64_t n_units, const Integers& ranks,
           std::int64_t n_replicates, const Words& key_words, std::optional<int> n_threads) {
            const stats::UnitSample sample = to_sample(units, n_units);
            const auto wanted = vector_of(ranks, "ranks must be a vector");
            const random::Key key = to_key(key_words);
            return array_of(without_gil(n_threads, [&](const Execution& execution) {
                return stats::studentised_order_statistics(sample, wanted, n_replicates, key,
                                                           execution);
            }));
        },
        py::arg("units"), py::kw_only(), py::arg("n_units"), py::arg("ranks"),
        py::arg("n_replicates"), py::arg("key"), py::arg("n_threads") = py::none());
    studentised.def(
        "draw_moments",
        [](const Doubles& units, std::int64_t n_units, std::int64_t n_replicates,
           const Words& key_words, const std::optional<std::string>& instruction_set,
           std::optional<int> n_threads) {
            if (n_replicates < 0) throw py::value_error("n_replicates must be 0 or more");
            const stats::StudentisedSampler sampler(to_sample(units, n_units), to_key(key_words),
                                                    to_instruction_set(instruction_set));
            Doubles drawn({n_replicates, static_cast<std::int64_t>(sampler.n_moments())});
            const std::span<double> out = places_of(drawn);
            without_gil(n_threads, [&](const Execution& execution) {
                sampler.draw_all(n_replicates, execution, out);
            });
            return drawn;
        },
        py::arg("units"), py::kw_only(), py::arg("n_units"), py::arg("n_replicates"),
        py::arg("key"), py::arg("instruction_set") = py::none(), py::arg("n_threads") = py::none());
    studentised.def(
        "t_ranges_of_moments",
        [](const Doubles& moments, std::int64_t n_units, std::int64_t n_listed, double first_shift,
           double last_shift) {
            const bool fits = moments.ndim() == 2 && (moments.shape(1) == stats::kPairMoments ||
                                                      moments.shape(1) == stats::kClusterMoments);
            if (!fits) throw py::value_error("moments must have shape (n, 3) or (n, 9)");
            const auto width = static_cast<std::size_t>(moments.shape(1));
            Doubles lowest(moments.shape(0));
            Doubles highest(moments.shape(0));
            for (py::ssize_t r = 0; r < moments.shape(0); ++r) {
                const stats::TRange range = stats::studentised_t_range(
                    {moments.data(r, 0), width}, n_units, n_listed, first_shift, last_shift);
                lowest.mutable_data()[r] = range.lowest;
                highest.mutable_data()[r] = range.highest;
            }
            return py::make_tuple(lowest, highest);
        },
        py::arg("moments"), py::kw_only(), py::arg("n_units"), py::arg("n_listed"),
        py::arg("first_shift"), py::arg("last_shift"));
}

}  // namespace ietest::python

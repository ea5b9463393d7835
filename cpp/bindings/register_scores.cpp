#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <string>

#include "arrays.hpp"
#include "execution.hpp"
#include "ietest/stats/joint.hpp"
#include "ietest/stats/replicates.hpp"
#include "ietest/stats/scores.hpp"
#include "instruction_set.hpp"
#include "random_key.hpp"
#include "registers.hpp"

namespace py = pybind11;

namespace ietest::python {
namespace {

using stats::ColumnSums;
using stats::Quantity;
using stats::Replicates;
using stats::TypeTable;

template <typename Named>
auto find_named(const std::map<std::string, Named>& names, const std::string& name) {
    const auto found = names.find(name);
    if (found == names.end()) throw py::value_error("unknown name: " + name);
    return found->second;
}

Quantity to_quantity(const std::string& name) {
    static const std::map<std::string, Quantity> names{{"t", Quantity::t},
                                                       {"two-sided", Quantity::both_sides},
                                                       {"greater", Quantity::upper_side},
                                                       {"less", Quantity::lower_side}};
    return find_named(names, name);
}

// values of shape (n_columns, n_types), weights of shape (n_types,).
TypeTable to_table(const Doubles& values, const Integers& weights, std::int64_t n_units) {
    if (values.ndim() != 2 || weights.ndim() != 1 || values.shape(1) != weights.shape(0)) {
        throw py::value_error("values must have shape (n_columns, n_types), weights (n_types,)");
    }
    return {n_units, static_cast<std::size_t>(values.shape(0)), entries_of(values),
            entries_of(weights)};
}

std::vector<ColumnSums> to_sums(const Doubles& sums) {
    if (sums.ndim() != 2 || sums.shape(1) != 2) {
        throw py::value_error("sums must have shape (n_columns, 2)");
    }
    std::vector<ColumnSums> columns;
    for (py::ssize_t c = 0; c < sums.shape(0); ++c) {
        columns.push_back({sums.at(c, 0), sums.at(c, 1)});
    }
    return columns;
}

}  // namespace

void register_scores(py::module_& module) {
    auto scores = module.def_submodule("scores", "Paired tests on real-valued scores, by types.");
    scores.attr("TIE_TOLERANCE") = stats::kTieTolerance;
    scores.def(
        "score_test",
        [](const Doubles& values, const Integers& weights, std::int64_t n_units,
           const Doubles& sums, bool exact, std::int64_t n_replicates, const Words& key_words,
           StatisticsOut t_replicates, const std::optional<std::string>& instruction_set,
           std::optional<int> n_threads) {
            const TypeTable table = to_table(values, weights, n_units);
            const std::vector<ColumnSums> observed = to_sums(sums);
            if (observed.size() != 1) throw py::value_error("a test of scores has one column");
            const auto out = places_of(t_replicates, "t_replicates must be a vector");
            const random::Key key = to_key(key_words);
            const InstructionSet chosen = to_instruction_set(instruction_set);
            const stats::ScoreReplicates result =
                without_gil(n_threads, [&](const Execution& execution) {
                    return stats::score_replicates(table, observed[0], exact, n_replicates, key,
                                                   execution, out, chosen);
                });
            const stats::ReplicateCounts& counts = result.counts;
            return py::make_tuple(
                py::make_tuple(counts.at_most, counts.at_least, counts.beyond, counts.replicates),
                py::make_tuple(result.n_finite, result.mean, result.deviation));
        },
        py::arg("values"), py::arg("weights"), py::kw_only(), py::arg("n_units"), py::arg("sums"),
        py::arg("exact"), py::arg("n_replicates"), py::arg("key"),
        py::arg("t_replicates").noconvert() = py::none(), py::arg("instruction_set") = py::none(),
        py::arg("n_threads") = py::none());
    scores.def(
        "draw_sums",
        [](const Doubles& values, const Integers& weights, std::int64_t n_units,
           std::int64_t n_replicates, const Words& key_words,
           const std::optional<std::string>& instruction_set, std::optional<int> n_threads) {
            const TypeTable table = to_table(values, weights, n_units);
            if (n_replicates < 0) throw py::value_error("n_replicates must be 0 or more");
            const random::Key key = to_key(key_words);
            const InstructionSet chosen = to_instruction_set(instruction_set);
            Doubles drawn(
                {n_replicates, static_cast<std::int64_t>(table.n_columns), std::int64_t{2}});
            const std::span<double> out = places_of(drawn);
            without_gil(n_threads, [&](const Execution& execution) {
                stats::TypedSampler(table, key, chosen).draw_all(n_replicates, execution, out);
            });
            return drawn;
        },
        py::arg("values"), py::arg("weights"), py::kw_only(), py::arg("n_units"),
        py::arg("n_replicates"), py::arg("key"), py::arg("instruction_set") = py::none(),
        py::arg("n_threads") = py::none());
    scores.def(
        "side_bounds",
        [](const Doubles& sums, bool exact, const std::string& side) {
            std::vector<double> bounds;
            for (const ColumnSums& column : to_sums(sums)) {
                bounds.push_back(stats::side_bound(column, exact, to_quantity(side)));
            }
            return array_of(std::move(bounds));
        },
        py::arg("sums"), py::arg("exact"), py::arg("side"));
    py::class_<Replicates>(scores, "Replicates")
        .def(py::init([](const Doubles& values, const Integers& weights, std::int64_t n_units,
                         const std::string& quantity, std::int64_t n_replicates,
                         const Words& key_words) {
                 return std::make_unique<Replicates>(to_table(values, weights, n_units),
                                                     to_quantity(quantity), n_replicates,
                                                     to_key(key_words));
             }),
             py::arg("values"), py::arg("weights"), py::kw_only(), py::arg("n_units"),
             py::arg("quantity"), py::arg("n_replicates"), py::arg("key"))
        .def(
            "order_statistics",
            [](Replicates& replicates, const Integers& columns, const Integers& ranks,
               std::optional<int> n_threads) {
                if (columns.ndim() != 1 || ranks.ndim() != 1 || columns.size() != ranks.size()) {
                    throw py::value_error("columns and ranks must be vectors of one length");
                }
                std::vector<stats::RankRequest> requests;
                for (py::ssize_t i = 0; i < ranks.size(); ++i) {
                    if (columns.at(i) < 0) throw py::value_error("a column must be 0 or more");
                    requests.push_back({static_cast<std::size_t>(columns.at(i)), ranks.at(i)});
                }
                return array_of(without_gil(n_threads, [&](const Execution& execution) {
                    return replicates.order_statistics(requests, execution);
                }));
            },
            py::arg("columns"), py::arg("ranks"), py::kw_only(), py::arg("n_threads") = py::none())
        .def(
            "joint_counts",
            [](Replicates& replicates, const std::vector<std::size_t>& order, const Doubles& bounds,
               std::optional<int> n_threads) {
                const std::span<const double> all_bounds = entries_of(bounds);
                const stats::JointCounts counts =
                    without_gil(n_threads, [&](const Execution& execution) {
                        return stats::joint_counts(replicates, order, all_bounds, execution);
                    });
                return py::make_tuple(counts.marginal, counts.steps);
            },
            py::arg("order"), py::arg("bounds"), py::kw_only(), py::arg("n_threads") = py::none());
}

}  // namespace ietest::python

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <vector>

#include "arrays.hpp"
#include "execution.hpp"
#include "ietest/stats/bucket_bootstrap.hpp"
#include "random_key.hpp"
#include "registers.hpp"

namespace py = pybind11;

namespace ietest::python {
namespace {

stats::UnitTypeTable to_table(const Doubles& values, const Integers& weights) {
    if (values.ndim() != 2 || weights.ndim() != 1 || values.shape(0) != weights.shape(0)) {
        throw py::value_error("values must have shape (types, columns), weights (types,)");
    }
    return {static_cast<std::size_t>(values.shape(1)), entries_of(values), entries_of(weights)};
}

// measures: a row (formula, columns, subtracted columns) for each; the latter are -1 where nothing
// is subtracted.
std::vector<stats::Measure> to_measures(const Integers& measures) {
    constexpr auto kWidth = static_cast<py::ssize_t>(1 + 2 * stats::kMeasureColumns);
    if (measures.ndim() != 2 || measures.shape(1) != kWidth) {
        throw py::value_error("measures must have shape (measures, 11)");
    }
    std::vector<stats::Measure> made;
    for (py::ssize_t row = 0; row < measures.shape(0); ++row) {
        const std::int64_t* next = measures.data(row, 0);
        stats::Measure measure;
        measure.formula = static_cast<stats::Formula>(*next++);
        for (std::size_t& column : measure.columns) column = static_cast<std::size_t>(*next++);
        measure.is_difference = *next >= 0;
        if (measure.is_difference) {
            for (std::size_t& column : measure.subtracted) {
                column = static_cast<std::size_t>(*next++);
            }
        }
        made.push_back(measure);
    }
    return made;
}

}  // namespace

void register_buckets(py::module_& module) {
    auto buckets = module.def_submodule("buckets", "The bootstrap over buckets of wordings.");
    py::class_<stats::BucketBootstrap>(buckets, "Bootstrap")
        .def(py::init([](const Doubles& values, const Integers& weights, const Integers& measures,
                         std::int64_t n_replicates, const Words& key_words) {
                 const auto wanted = to_measures(measures);
                 return stats::BucketBootstrap(to_table(values, weights), wanted, n_replicates,
                                               to_key(key_words));
             }),
             py::arg("values"), py::arg("weights"), py::arg("measures"), py::kw_only(),
             py::arg("n_replicates"), py::arg("key"))
        .def(
            "locate",
            [](stats::BucketBootstrap& bootstrap, const Doubles& observed,
               std::optional<int> n_threads) {
                const auto middles = vector_of(observed, "observed must be a vector");
                const auto found = without_gil(n_threads, [&](const Execution& execution) {
                    return bootstrap.locate(middles, execution);
                });
                Integers counts({static_cast<py::ssize_t>(found.size()), py::ssize_t{3}});
                std::int64_t* next = counts.mutable_data();
                for (const stats::Location& location : found) {
                    *next++ = static_cast<std::int64_t>(location.below);
                    *next++ = static_cast<std::int64_t>(location.tied);
                    *next++ = static_cast<std::int64_t>(location.defined);
                }
                return counts;
            },
            py::arg("observed"), py::kw_only(), py::arg("n_threads") = py::none())
        .def(
            "order_statistics",
            [](stats::BucketBootstrap& bootstrap, const Integers& requests,
               std::optional<int> n_threads) {
                if (requests.ndim() != 2 || requests.shape(1) != 2) {
                    throw py::value_error("requests must be pairs of a measure and a rank");
                }
                std::vector<stats::RankRequest> ranks;
                for (py::ssize_t row = 0; row < requests.shape(0); ++row) {
                    ranks.push_back(
                        {static_cast<std::size_t>(*requests.data(row, 0)), *requests.data(row, 1)});
                }
                return array_of(without_gil(n_threads, [&](const Execution& execution) {
                    return bootstrap.order_statistics(ranks, execution);
                }));
            },
            py::arg("requests"), py::kw_only(), py::arg("n_threads") = py::none());
    buckets.def(
        "value_of",
        [](const Integers& measures, const Doubles& sums) {
            const auto wanted = to_measures(measures);
            const auto given = vector_of(sums, "sums must be a vector");
            Doubles found(static_cast<py::ssize_t>(wanted.size()));
            for (std::size_t i = 0; i < wanted.size(); ++i) {
                for (std::size_t place = 0; place < stats::kMeasureColumns; ++place) {
                    if (wanted[i].columns[place] >= given.size() ||
                        wanted[i].subtracted[place] >= given.size()) {
                        throw py::value_error("there is no such column");
                    }
                }
                found.mutable_data()[i] = stats::value_of(wanted[i], given);
            }
            return found;
        },
        py::arg("measures"), py::arg("sums"));
    buckets.def(
        "draw_sums",
        [](const Doubles& values, const Integers& weights, std::int64_t n_replicates,
           const Words& key_words, std::optional<int> n_threads) {
            if (n_replicates < 0) throw py::value_error("n_replicates must be 0 or more");
            const stats::UnitSampler sampler(to_table(values, weights), to_key(key_words));
            Doubles drawn({n_replicates, static_cast<std::int64_t>(sampler.n_columns())});
            const std::span<double> out = places_of(drawn);
            without_gil(n_threads, [&](const Execution& execution) {
                sampler.draw_all(n_replicates, execution, out);
            });
            return drawn;
        },
        py::arg("values"), py::arg("weights"), py::kw_only(), py::arg("n_replicates"),
        py::arg("key"), py::arg("n_threads") = py::none());
}

}  // namespace ietest::python

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "arrays.hpp"
#include "execution.hpp"
#include "ietest/stats/bootstrap.hpp"
#include "ietest/stats/exact_law.hpp"
#include "ietest/stats/paired_counts.hpp"
#include "random_key.hpp"
#include "registers.hpp"

namespace py = pybind11;

namespace ietest::python {
namespace {

using stats::PairedCounts;

py::tuple as_tuple(const stats::PValues& p) {
    return py::make_tuple(p.equal_tailed, p.paper, p.symmetric);
}

py::tuple as_tuple(const stats::ReplicateCounts& counts) {
    return py::make_tuple(counts.at_most, counts.at_least, counts.beyond, counts.outside,
                          counts.replicates);
}

// (p-values, replicate counts). t_replicates, if given, takes the t of each replicate.
template <typename Engine>
py::tuple run_engine(std::int64_t n_replicates, const Words& key_words, StatisticsOut& t_replicates,
                     std::optional<int> n_threads, Engine&& engine) {
    std::span<double> out;
    if (t_replicates.has_value()) {
        if (t_replicates->ndim() != 1) throw py::value_error("t_replicates must be a vector");
        out = {t_replicates->mutable_data(), static_cast<std::size_t>(t_replicates->size())};
        if (static_cast<std::int64_t>(out.size()) != n_replicates) {
            throw py::value_error("t_replicates must have n_replicates places");
        }
    }
    const random::Key key = to_key(key_words);
    const stats::ReplicateCounts counts = without_gil(
        n_threads, [&](const Execution& execution) { return engine(key, execution, out); });
    return py::make_tuple(as_tuple(stats::monte_carlo_p_values(counts)), as_tuple(counts));
}

std::span<const std::uint8_t> outcomes(const Flags& array) {
    if (array.ndim() != 1) throw py::value_error("outcomes must be a vector of bool");
    return {reinterpret_cast<const std::uint8_t*>(array.data()),
            static_cast<std::size_t>(array.size())};
}

}  // namespace

void register_stats(py::module_& module) {
    auto stats = module.def_submodule("stats", "Paired tests on binary outcomes.");
    stats.attr("MAX_PAIRS") = stats::kMaxPairs;
    stats.def(
        "count_pairs",
        [](const Flags& original, const Flags& transformed) {
            const PairedCounts c = stats::count_pairs(outcomes(original), outcomes(transformed));
            return py::make_tuple(c.n11, c.n10, c.n01, c.n00);
        },
        py::arg("original"), py::arg("transformed"));
    stats.def("paired_t", &stats::paired_t, py::arg("difference"), py::arg("discordant"),
              py::arg("n"));
    stats.def("compare_t", &stats::compare_t, py::arg("difference1"), py::arg("discordant1"),
              py::arg("difference2"), py::arg("discordant2"));
    stats.def(
        "exact_p_values",
        [](std::int64_t n11, std::int64_t n10, std::int64_t n01, std::int64_t n00) {
            return as_tuple(stats::exact_p_values({n11, n10, n01, n00}));
        },
        py::arg("n11"), py::arg("n10"), py::arg("n01"), py::arg("n00"));
    stats.def(
        "exact_tails",
        [](std::int64_t n11, std::int64_t n10, std::int64_t n01, std::int64_t n00) {
            const stats::ExactTails t = stats::exact_tails({n11, n10, n01, n00});
            return py::make_tuple(t.at_least, t.above, t.log_at_least, t.log_above);
        },
        py::arg("n11"), py::arg("n10"), py::arg("n01"), py::arg("n00"));
    stats.def(
        "mcnemar_exact_p",
        [](std::int64_t n11, std::int64_t n10, std::int64_t n01, std::int64_t n00) {
            return stats::mcnemar_exact_p({n11, n10, n01, n00});
        },
        py::arg("n11"), py::arg("n10"), py::arg("n01"), py::arg("n00"));
    stats.def(
        "mcnemar_mid_p",
        [](std::int64_t n11, std::int64_t n10, std::int64_t n01, std::int64_t n00) {
            return stats::mcnemar_mid_p({n11, n10, n01, n00});
        },
        py::arg("n11"), py::arg("n10"), py::arg("n01"), py::arg("n00"));
    stats.def(
        "multinomial_test",
        [](std::int64_t n11, std::int64_t n10, std::int64_t n01, std::int64_t n00,
           std::int64_t n_replicates, const Words& key, StatisticsOut t_replicates,
           std::optional<int> n_threads) {
            return run_engine(
                n_replicates, key, t_replicates, n_threads,
                [&](random::Key k, const Execution& execution, std::span<double> out) {
                    return stats::multinomial_replicates({n11, n10, n01, n00}, n_replicates, k,
                                                         execution, out);
                });
        },
        py::arg("n11"), py::arg("n10"), py::arg("n01"), py::arg("n00"), py::kw_only(),
        py::arg("n_replicates"), py::arg("key"), py::arg("t_replicates").noconvert() = py::none(),
        py::arg("n_threads") = py::none());
    stats.def(
        "resample_test",
        [](const Array<std::int8_t>& differences, std::int64_t n_replicates, const Words& key,
           StatisticsOut t_replicates, std::optional<int> n_threads) {
            if (differences.ndim() != 1)
                throw py::value_error("differences must be a vector of int8");
            const std::span<const std::int8_t> values(differences.data(),
                                                      static_cast<std::size_t>(differences.size()));
            return run_engine(
                n_replicates, key, t_replicates, n_threads,
                [&](random::Key k, const Execution& execution, std::span<double> out) {
                    return stats::resample_replicates(values, n_replicates, k, execution, out);
                });
        },
        py::arg("differences"), py::kw_only(), py::arg("n_replicates"), py::arg("key"),
        py::arg("t_replicates").noconvert() = py::none(), py::arg("n_threads") = py::none());
}

}  // namespace ietest::python

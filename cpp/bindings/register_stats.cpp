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

py::tuple as_tuple(const stats::ExactTails& t) {
    return py::make_tuple(t.at_least, t.above, t.log_at_least, t.log_above);
}

py::tuple as_tuple(const stats::ReplicateCounts& counts) {
    return py::make_tuple(counts.at_most, counts.at_least, counts.beyond, counts.outside,
                          counts.replicates);
}

// (p-values, replicate counts). t_replicates, if given, takes the t of each replicate.
template <typename Engine>
py::tuple run_engine(const Words& key_words, StatisticsOut& t_replicates,
                     std::optional<int> n_threads, Engine&& engine) {
    const std::span<double> out = places_of(t_replicates, "t_replicates must be a vector");
    const random::Key key = to_key(key_words);
    const stats::ReplicateCounts counts = without_gil(
        n_threads, [&](const Execution& execution) { return engine(key, execution, out); });
    return py::make_tuple(as_tuple(stats::monte_carlo_p_values(counts)), as_tuple(counts));
}

std::span<const std::uint8_t> outcomes(const Flags& array) {
    const std::span<const bool> flags = vector_of(array, "outcomes must be a vector of bool");
    return {reinterpret_cast<const std::uint8_t*>(flags.data()), flags.size()};
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
    const auto def_of_counts = [&](const char* name, auto function) {
        stats.def(
            name,
            [function](std::int64_t n11, std::int64_t n10, std::int64_t n01, std::int64_t n00) {
                return function(PairedCounts{n11, n10, n01, n00});
            },
            py::arg("n11"), py::arg("n10"), py::arg("n01"), py::arg("n00"));
    };
    def_of_counts("exact_p_values",
                  [](const PairedCounts& c) { return as_tuple(stats::exact_p_values(c)); });
    def_of_counts("exact_tails",
                  [](const PairedCounts& c) { return as_tuple(stats::exact_tails(c)); });
    def_of_counts("mcnemar_exact_p", &stats::mcnemar_exact_p);
    def_of_counts("mcnemar_mid_p", &stats::mcnemar_mid_p);
    stats.def(
        "multinomial_test",
        [](std::int64_t n11, std::int64_t n10, std::int64_t n01, std::int64_t n00,
           std::int64_t n_replicates, const Words& key, StatisticsOut t_replicates,
           std::optional<int> n_threads) {
            return run_engine(
                key, t_replicates, n_threads,
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
            const auto values = vector_of(differences, "differences must be a vector of int8");
            return run_engine(
                key, t_replicates, n_threads,
                [&](random::Key k, const Execution& execution, std::span<double> out) {
                    return stats::resample_replicates(values, n_replicates, k, execution, out);
                });
        },
        py::arg("differences"), py::kw_only(), py::arg("n_replicates"), py::arg("key"),
        py::arg("t_replicates").noconvert() = py::none(), py::arg("n_threads") = py::none());
}

}  // namespace ietest::python

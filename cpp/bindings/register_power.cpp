#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "arrays.hpp"
#include "execution.hpp"
#include "ietest/stats/power.hpp"
#include "registers.hpp"

namespace py = pybind11;

namespace ietest::python {
namespace {

std::vector<stats::Shares> as_truths(const Numbers& original, const Numbers& transformed) {
    if (original.ndim() != 1 || transformed.ndim() != 1 || original.size() != transformed.size()) {
        throw py::value_error("shares must be two vectors of one length");
    }
    std::vector<stats::Shares> truths;
    truths.reserve(static_cast<std::size_t>(original.size()));
    for (py::ssize_t i = 0; i < original.size(); ++i) {
        truths.push_back({original.at(i), transformed.at(i)});
    }
    return truths;
}

}  // namespace

void register_power(py::module_& module) {
    auto power = module.def_submodule("power", "Power of the exact paired test.");
    power.def(
        "critical_differences",
        [](std::int64_t n, std::int64_t first, std::int64_t last, double level,
           std::optional<int> n_threads) {
            return array_of(without_gil(n_threads, [&](const Execution& execution) {
                return stats::critical_differences(n, first, last, level, execution);
            }));
        },
        py::arg("n"), py::arg("first"), py::arg("last"), py::arg("level"), py::kw_only(),
        py::arg("n_threads") = py::none());
    power.def(
        "powers",
        [](std::int64_t n, const Numbers& original, const Numbers& transformed, double level,
           std::optional<int> n_threads) {
            const auto truths = as_truths(original, transformed);
            return array_of(without_gil(n_threads, [&](const Execution& execution) {
                return stats::powers(n, truths, level, execution);
            }));
        },
        py::arg("n"), py::arg("original"), py::arg("transformed"), py::arg("level"), py::kw_only(),
        py::arg("n_threads") = py::none());
    power.def(
        "power_at_sizes",
        [](const Integers& sizes, double original, double transformed, double level,
           std::optional<int> n_threads) {
            const auto values = vector_of(sizes, "sizes must be a vector of int64");
            return array_of(without_gil(n_threads, [&](const Execution& execution) {
                return stats::power_at_sizes(values, {original, transformed}, level, execution);
            }));
        },
        py::arg("sizes"), py::arg("original"), py::arg("transformed"), py::arg("level"),
        py::kw_only(), py::arg("n_threads") = py::none());
    power.def(
        "powers_given",
        [](std::int64_t n, const Numbers& original, const Numbers& transformed, std::int64_t first,
           const Integers& critical, std::optional<int> n_threads) {
            const auto values = vector_of(critical, "critical must be a vector of int64");
            const auto truths = as_truths(original, transformed);
            const stats::DiscordantRange range{first, first + critical.size() - 1};
            return array_of(without_gil(n_threads, [&](const Execution& execution) {
                return stats::powers(n, truths, range, values, execution);
            }));
        },
        py::arg("n"), py::arg("original"), py::arg("transformed"), py::arg("first"),
        py::arg("critical"), py::kw_only(), py::arg("n_threads") = py::none());
    power.def(
        "likely_discordant",
        [](std::int64_t n, double psi) {
            const stats::DiscordantRange range = stats::likely_discordant(n, psi);
            return py::make_tuple(range.first, range.last);
        },
        py::arg("n"), py::arg("psi"));
    power.def(
        "power_scan",
        [](std::int64_t n_first, std::int64_t n_last, double original, double transformed,
           double level, std::optional<int> n_threads) {
            return array_of(without_gil(n_threads, [&](const Execution& execution) {
                return stats::power_scan(n_first, n_last, {original, transformed}, level,
                                         execution);
            }));
        },
        py::arg("n_first"), py::arg("n_last"), py::arg("original"), py::arg("transformed"),
        py::arg("level"), py::kw_only(), py::arg("n_threads") = py::none());
}

}  // namespace ietest::python

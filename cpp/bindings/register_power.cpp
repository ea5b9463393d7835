#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "execution.hpp"
#include "ietest/stats/power.hpp"
#include "registers.hpp"

namespace py = pybind11;

namespace ietest::python {
namespace {

using Doubles = py::array_t<double, py::array::c_style | py::array::forcecast>;

template <typename Value>
py::array_t<Value> as_array(const std::vector<Value>& values) {
    return py::array_t<Value>(static_cast<py::ssize_t>(values.size()), values.data());
}

}  // namespace

void register_power(py::module_& module) {
    auto power = module.def_submodule("power", "Power of the exact paired test.");
    power.def(
        "critical_differences",
        [](std::int64_t n, std::int64_t first, std::int64_t last, double level,
           std::optional<int> n_threads) {
            return as_array(without_gil(n_threads, [&](const Execution& execution) {
                return stats::critical_differences(n, first, last, level, execution);
            }));
        },
        py::arg("n"), py::arg("first"), py::arg("last"), py::arg("level"), py::kw_only(),
        py::arg("n_threads") = py::none());
    power.def(
        "powers",
        [](std::int64_t n, const Doubles& original, const Doubles& transformed, double level,
           std::optional<int> n_threads) {
            if (original.ndim() != 1 || transformed.ndim() != 1 ||
                original.size() != transformed.size()) {
                throw py::value_error("shares must be two vectors of one length");
            }
            std::vector<stats::Shares> truths;
            truths.reserve(static_cast<std::size_t>(original.size()));
            for (py::ssize_t i = 0; i < original.size(); ++i) {
                truths.push_back({original.at(i), transformed.at(i)});
            }
            return as_array(without_gil(n_threads, [&](const Execution& execution) {
                return stats::powers(n, truths, level, execution);
            }));
        },
        py::arg("n"), py::arg("original"), py::arg("transformed"), py::arg("level"), py::kw_only(),
        py::arg("n_threads") = py::none());
    power.def(
        "power_scan",
        [](std::int64_t n_first, std::int64_t n_last, double original, double transformed,
           double level, std::optional<int> n_threads) {
            return as_array(without_gil(n_threads, [&](const Execution& execution) {
                return stats::power_scan(n_first, n_last, {original, transformed}, level,
                                         execution);
            }));
        },
        py::arg("n_first"), py::arg("n_last"), py::arg("original"), py::arg("transformed"),
        py::arg("level"), py::kw_only(), py::arg("n_threads") = py::none());
}

}  // namespace ietest::python

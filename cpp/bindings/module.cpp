#include <pybind11/pybind11.h>

#include "registers.hpp"

namespace py = pybind11;

PYBIND11_MODULE(_core, module) {
    module.doc() = "The compiled core of ietest-fast. Use the packages above it instead.";
    ietest::python::register_runtime(module);
    ietest::python::register_random(module);
    ietest::python::register_scores(module);
    ietest::python::register_studentised(module);
    ietest::python::register_stats(module);
    ietest::python::register_power(module);
    ietest::python::register_buckets(module);
    ietest::python::register_churn(module);
    ietest::python::register_cochran(module);
    ietest::python::register_templates(module);
    ietest::python::register_text(module);
    ietest::python::register_edit_distance(module);
    ietest::python::register_linear(module);
}

// One register_*() for each area of the core, each in its own file.
#pragma once

#include <pybind11/pybind11.h>

namespace ietest::python {

void register_buckets(pybind11::module_& module);
void register_churn(pybind11::module_& module);
void register_cochran(pybind11::module_& module);
void register_edit_distance(pybind11::module_& module);
void register_linear(pybind11::module_& module);
void register_power(pybind11::module_& module);
void register_random(pybind11::module_& module);
void register_runtime(pybind11::module_& module);
void register_scores(pybind11::module_& module);
void register_stats(pybind11::module_& module);
void register_studentised(pybind11::module_& module);
void register_templates(pybind11::module_& module);
void register_text(pybind11::module_& module);

}  // namespace ietest::python

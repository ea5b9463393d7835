#include <pybind11/pybind11.h>

#include <string>

#include "ietest/text/edit_distance.hpp"
#include "registers.hpp"

namespace py = pybind11;

namespace ietest::python {

void register_edit_distance(py::module_& module) {
    // def_submodule gives the submodule that is there already, if one is.
    auto text = module.def_submodule("text");
    // Words are short: releasing the GIL would cost more than the work.
    text.def(
        "edit_distance",
        [](const std::u32string& a, const std::u32string& b) { return text::edit_distance(a, b); },
        py::arg("a"), py::arg("b"));
}

}  // namespace ietest::python

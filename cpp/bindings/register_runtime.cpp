#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "ietest/build_config.hpp"
#include "ietest/cpu.hpp"
#include "ietest/parallel.hpp"
#include "registers.hpp"

namespace py = pybind11;

namespace ietest::python {

void register_runtime(py::module_& module) {
    // The signal handler has already set Python's exception when the core reports Interrupted.
    py::register_exception_translator([](std::exception_ptr error) {
        try {
            if (error) std::rethrow_exception(error);
        } catch (const Interrupted&) {
            if (PyErr_Occurred() == nullptr) PyErr_SetNone(PyExc_KeyboardInterrupt);
        }
    });

    auto runtime = module.def_submodule("runtime", "Threads and build facts.");
    runtime.def("build_config", [] {
        const BuildConfig config = build_config();
        py::dict facts;
        facts["version"] = config.version;
        facts["compiler"] = config.compiler;
        facts["build_type"] = config.build_type;
        facts["sanitizer"] =
            config.sanitizer.empty() ? py::object(py::none()) : py::str(config.sanitizer);
        facts["openmp"] = config.openmp;
        facts["unicode"] = config.unicode;
        facts["instruction_set"] = config.instruction_set;
        return facts;
    });
    runtime.def("instruction_sets", [] {
        std::vector<std::string> names;
        for (const InstructionSet set : kInstructionSets) {
            if (is_available(set)) names.emplace_back(name_of(set));
        }
        return names;
    });
    runtime.def("chosen_instruction_set",
                [] { return std::string(name_of(chosen_instruction_set())); });
    runtime.def("n_threads_for", &n_threads_for, py::arg("requested"));
}

}  // namespace ietest::python

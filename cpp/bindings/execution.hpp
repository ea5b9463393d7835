// What every binding of a kernel needs: threads from Python's n_threads, Ctrl-C, no GIL.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <stdexcept>
#include <utility>

#include "ietest/parallel.hpp"

namespace ietest::python {

// Asked from the calling thread while it does not hold the GIL.
inline bool ctrl_c_pending() {
    pybind11::gil_scoped_acquire gil;
    return PyErr_CheckSignals() != 0;
}

// Runs kernel(execution) without the GIL. n_threads None means the default.
template <typename Kernel>
auto without_gil(std::optional<int> n_threads, Kernel&& kernel) {
    if (n_threads.has_value() && *n_threads < 1) {
        throw pybind11::value_error("n_threads must be at least 1, or None for all cores");
    }
    const Execution execution{n_threads.value_or(0), &ctrl_c_pending};
    pybind11::gil_scoped_release released;
    return std::forward<Kernel>(kernel)(execution);
}

}  // namespace ietest::python

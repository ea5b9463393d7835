// The instruction set that a binding was asked for, by name.
#pragma once

#include <optional>
#include <string>

#include "ietest/cpu.hpp"

namespace ietest::python {

// None means the one that was chosen for the process.
inline InstructionSet to_instruction_set(const std::optional<std::string>& name) {
    return name.has_value() ? instruction_set_named(name->c_str()) : chosen_instruction_set();
}

}  // namespace ietest::python

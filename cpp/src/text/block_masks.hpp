// Which of 64 bytes are letters, digits and so on.
#pragma once

#include <cstdint>

#include "ietest/cpu.hpp"

namespace ietest::text {

// One bit a byte. letter, digit and word hold ASCII characters only.
struct BlockMasks {
    std::uint64_t letter = 0;
    std::uint64_t digit = 0;
    std::uint64_t word = 0;  // letters, digits, underscores
    std::uint64_t joins_letters = 0;
    std::uint64_t joins_digits = 0;
    std::uint64_t beyond_ascii = 0;
};

// Classifies 64 readable bytes.
using ClassifyBlock = void (*)(const char* bytes, BlockMasks* masks);
ClassifyBlock classifier(InstructionSet instruction_set);

}  // namespace ietest::text

// From bits to positions: where the words begin and end that stand as runs of set bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ietest/cpu.hpp"

namespace ietest::text {

// Behind the last position this many more may be written.
inline constexpr std::size_t kListSlack = 16;

struct BlockBits {
    const std::uint64_t* words;
    const std::uint64_t* row_begins;
    std::size_t n_blocks;  // there is one more, empty but for the end of the last row
};

// Writes begins and ends, and gives how many words there are.
using ListWords = std::size_t (*)(const BlockBits&, std::uint32_t*, std::uint32_t*);
ListWords word_lister(InstructionSet instruction_set);

}  // namespace ietest::text

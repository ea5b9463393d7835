// The inner loops of TypedSampler, for several processors. All give the same bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ietest/random/philox.hpp"
#include "ietest/stats/typed_sampler.hpp"

namespace ietest::stats::kernels {

// How a random byte becomes (number, signed number) of a unit: outcome j holds the bytes from
// first[j] on. The last outcome is the escape: what 256ths cannot say. It reads as (0, 0) and is
// put right afterwards.
struct ByteLaw {
    static constexpr std::size_t kMax = 16;
    std::size_t n_outcomes = 0;
    std::array<std::uint8_t, kMax> first{};
    std::array<std::int8_t, kMax> outcome_number{};
    std::array<std::int8_t, kMax> outcome_signed{};
    // The same by byte.
    std::array<std::int8_t, 256> number{};
    std::array<std::int8_t, 256> signed_number{};
};

// Partial sums by position modulo 16, so that vectors of any width add in one order, and no
// addition waits for the one before it.
inline constexpr std::size_t kLanes = 16;
struct alignas(64) Lanes {
    double sum[kLanes] = {};
    double squares[kLanes] = {};
};

inline constexpr std::size_t kSlack = 8;

struct Kernels {
    // Blocks first, first + 1, ... of (replicate, stream).
    void (*fill_blocks)(random::Key key, std::uint64_t first, std::uint64_t replicate,
                        std::uint64_t stream, std::uint64_t* words, std::size_t n_blocks);
    // Reads n bytes; writes numbers and signed numbers, the positions of escapes (room for
    // n + kSlack), and gives the sum of the numbers.
    std::int64_t (*count)(const std::uint8_t* bytes, std::size_t n, const ByteLaw& law,
                          std::int8_t* numbers, std::int8_t* signed_numbers, std::uint32_t* escapes,
                          std::size_t* n_escapes);
    // Adds signed_numbers * values and numbers * squares.
    void (*add_products)(const std::int8_t* numbers, const std::int8_t* signed_numbers,
                         const double* values, const double* squares, std::size_t n, Lanes& lanes);
};

const Kernels& kernels_for(InstructionSet instruction_set);

}  // namespace ietest::stats::kernels

// Arrays of words and of draws, filled by several threads. Each entry has an address of its own, so
// that neither threads nor chunks change it.
#pragma once

#include <cstdint>
#include <span>

#include "ietest/parallel.hpp"
#include "ietest/random/philox.hpp"

namespace ietest::random {

// The first words of the stream that starts at a counter, as fill_words gives them.
void draw_words(Key key, Block counter, const Execution& execution, std::span<std::uint64_t> words);

// unit_double of each of these words.
void draw_uniforms(Key key, Block counter, const Execution& execution, std::span<double> values);

// Draws from Multinomial(n, probabilities), one after the other: `counts` has a place for each draw
// and each category. Draw number r takes the words of (replicate r, stream).
void draw_multinomials(Key key, std::uint64_t stream, std::int64_t n,
                       std::span<const double> probabilities, const Execution& execution,
                       std::span<std::int64_t> counts);

}  // namespace ietest::random

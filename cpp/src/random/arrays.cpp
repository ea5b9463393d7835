#include "ietest/random/arrays.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "ietest/random/discrete.hpp"

namespace ietest::random {
namespace {

constexpr std::int64_t kWordsChunk = 1 << 16;
constexpr std::int64_t kDrawsChunk = 1 << 12;

}  // namespace

void draw_words(Key key, Block counter, const Execution& execution,
                std::span<std::uint64_t> words) {
    parallel_chunks(std::ssize(words), kWordsChunk, execution, [&](Range range) {
        fill_words(key, counter, static_cast<std::uint64_t>(range.begin),
                   words.data() + range.begin, static_cast<std::uint64_t>(range.end - range.begin));
    });
}

void draw_uniforms(Key key, Block counter, const Execution& execution, std::span<double> values) {
    parallel_chunks(std::ssize(values), kWordsChunk, execution, [&](Range range) {
        std::array<std::uint64_t, 512> words;
        for (std::int64_t begin = range.begin; begin < range.end; begin += std::ssize(words)) {
            const std::int64_t size = std::min(std::ssize(words), range.end - begin);
            fill_words(key, counter, static_cast<std::uint64_t>(begin), words.data(),
                       static_cast<std::uint64_t>(size));
            std::transform(words.begin(), words.begin() + size, values.begin() + begin,
                           unit_double);
        }
    });
}

void draw_multinomials(Key key, std::uint64_t stream, std::int64_t n,
                       std::span<const double> probabilities, const Execution& execution,
                       std::span<std::int64_t> counts) {
    const std::size_t n_categories = probabilities.size();
    if (n_categories == 0 || counts.size() % n_categories != 0) {
        throw std::invalid_argument("counts must have a place for each draw and each category");
    }
    const auto n_draws = static_cast<std::int64_t>(counts.size() / n_categories);
    parallel_chunks(n_draws, kDrawsChunk, execution, [&](Range range) {
        for (std::int64_t r = range.begin; r < range.end; ++r) {
            WordStream words(key, static_cast<std::uint64_t>(r), stream);
            draw_multinomial(
                n, probabilities, words,
                counts.subspan(static_cast<std::size_t>(r) * n_categories, n_categories));
        }
    });
}

}  // namespace ietest::random

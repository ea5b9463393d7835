#include "ietest/random/philox.hpp"

#include <algorithm>

namespace ietest::random {
namespace {

// counter + steps over all 256 bits, as NumPy's carry does.
Block advanced(Block counter, std::uint64_t steps) {
    for (std::uint64_t& word : counter) {
        const std::uint64_t sum = word + steps;
        steps = sum < word ? 1 : 0;
        word = sum;
        if (steps == 0) break;
    }
    return counter;
}

}  // namespace

void fill_words(Key key, Block counter, std::uint64_t begin, std::uint64_t* words,
                std::uint64_t n_words) {
    std::uint64_t done = 0;
    while (done < n_words) {
        const std::uint64_t word = begin + done;
        const Block block = philox(advanced(advanced(counter, word / 4), 1), key);
        const std::uint64_t offset = word % 4;
        const std::uint64_t taken = std::min<std::uint64_t>(4 - offset, n_words - done);
        std::copy_n(block.begin() + static_cast<std::ptrdiff_t>(offset), taken, words + done);
        done += taken;
    }
}

}  // namespace ietest::random

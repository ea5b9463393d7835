// What this machine can do at best, one thread: words of a bare Philox loop, bytes gathered at
// random from a table of 10^4 doubles (L2) and of 10^3 (L1), bytes read in order from the former.
// c++ -std=c++20 -O3 -I cpp/include benchmarks/limits.cpp -o limits && ./limits
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <vector>

#include "ietest/random/philox.hpp"

namespace {

// Processor time: what others do on this machine is not its limit.
double now() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

volatile double sink;

template <typename Body>
double best_of(int rounds, Body&& body) {
    double best = 1e300;
    for (int r = 0; r < rounds; ++r) {
        const double start = now();
        sink = body();
        const double taken = now() - start;
        if (taken < best) best = taken;
    }
    return best;
}

double gather_rate(std::size_t size) {
    constexpr std::size_t kDraws = 1 << 22;
    std::vector<double> table(size, 1.0);
    std::vector<std::uint16_t> places(1 << 14);
    for (std::size_t i = 0; i < places.size(); ++i) {
        const auto word = ietest::random::philox({i, 0, 0, 0}, {1, 2})[0];
        places[i] = static_cast<std::uint16_t>(ietest::random::high_word(word, size));
    }
    const double seconds = best_of(9, [&] {
        double sums[8] = {};
        for (std::size_t d = 0; d < kDraws; d += 8) {
            for (std::size_t j = 0; j < 8; ++j) {
                sums[j] += table[places[(d + j) & (places.size() - 1)]];
            }
        }
        return sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
    });
    return kDraws * sizeof(double) / seconds;
}

double stream_rate(std::size_t size) {
    constexpr std::size_t kPasses = 400;
    std::vector<double> table(size, 1.0);
    const double seconds = best_of(9, [&] {
        double sums[16] = {};
        for (std::size_t pass = 0; pass < kPasses; ++pass) {
            const double* at = table.data();
            asm volatile("" : "+r"(at) : : "memory");  // every pass reads anew
            for (std::size_t i = 0; i + 16 <= size; i += 16) {
                for (std::size_t j = 0; j < 16; ++j) sums[j] += at[i + j];
            }
        }
        double sum = 0;
        for (const double part : sums) sum += part;
        return sum;
    });
    return static_cast<double>(kPasses * size * sizeof(double)) / seconds;
}

}  // namespace

int main() {
    constexpr std::uint64_t kBlocks = 1 << 21;
    const double seconds = best_of(9, [] {
        std::uint64_t mixed = 0;
        for (std::uint64_t b = 0; b < kBlocks; ++b) {
            const auto block = ietest::random::philox({b, 1, 2, 0}, {3, 4});
            mixed ^= block[0] ^ block[1] ^ block[2] ^ block[3];
        }
        return static_cast<double>(mixed);
    });
    std::printf(
        "{\"philox_words\": %.6g, \"gather_l1_bytes\": %.6g, \"gather_l2_bytes\": %.6g, "
        "\"stream_l2_bytes\": %.6g}\n",
        4 * static_cast<double>(kBlocks) / seconds, gather_rate(1000), gather_rate(10000),
        stream_rate(20000));
}

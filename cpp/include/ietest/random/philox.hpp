// Philox 4x64-10 (Salmon, Moraes, Dror and Shaw 2011): random words by address.
//
// A block of four words is a pure function of a 256-bit counter and a 128-bit key, so any word can
// be had at any time by any thread. The counter is read as (block, replicate, stream, 0).
//
// numpy.random.Philox steps its counter before it makes a block. A WordStream therefore begins
// with block 1 of its address, and gives the very words of
// numpy.random.Philox(key=key, counter=[0, replicate, stream, 0]).
#pragma once

#include <array>
#include <cstdint>

#include "ietest/int128.hpp"

namespace ietest::random {

using Block = std::array<std::uint64_t, 4>;
using Key = std::array<std::uint64_t, 2>;

inline std::uint64_t high_word(std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint64_t>((static_cast<UInt128>(a) * b) >> 64);
}

inline constexpr std::uint64_t kMultiplier0 = 0xD2E7470EE14C6C93ULL;
inline constexpr std::uint64_t kMultiplier1 = 0xCA5A826395121157ULL;
inline constexpr std::uint64_t kWeyl0 = 0x9E3779B97F4A7C15ULL;
inline constexpr std::uint64_t kWeyl1 = 0xBB67AE8584CAA73BULL;

inline Block philox(Block counter, Key key) {
    for (int round = 0; round < 10; ++round) {
        const UInt128 product0 = static_cast<UInt128>(kMultiplier0) * counter[0];
        const UInt128 product1 = static_cast<UInt128>(kMultiplier1) * counter[2];
        counter = {static_cast<std::uint64_t>(product1 >> 64) ^ counter[1] ^ key[0],
                   static_cast<std::uint64_t>(product1),
                   static_cast<std::uint64_t>(product0 >> 64) ^ counter[3] ^ key[1],
                   static_cast<std::uint64_t>(product0)};
        key[0] += kWeyl0;
        key[1] += kWeyl1;
    }
    return counter;
}

// The multiple of 2^-53 in [0, 1) that NumPy makes of a word.
inline double unit_double(std::uint64_t word) {
    return static_cast<double>(word >> 11) * 0x1.0p-53;
}

// The words of one address, one after the other.
class WordStream {
  public:
    WordStream(Key key, std::uint64_t replicate, std::uint64_t stream, std::uint64_t first_word = 0)
        : key_(key), counter_{first_word / 4, replicate, stream, 0}, position_(4) {
        for (std::uint64_t skipped = 0; skipped < first_word % 4; ++skipped) next();
    }

    std::uint64_t next() {
        if (position_ == 4) {
            ++counter_[0];
            block_ = philox(counter_, key_);
            position_ = 0;
        }
        return block_[position_++];
    }

    double next_double() { return unit_double(next()); }

  private:
    Key key_;
    Block counter_;
    Block block_{};
    unsigned position_;
};

// Words begin, begin + 1, ... of the stream that starts at an arbitrary 256-bit counter, as
// numpy.random.Philox(key=key, counter=counter).random_raw() gives them.
void fill_words(Key key, Block counter, std::uint64_t begin, std::uint64_t* words,
                std::uint64_t n_words);

}  // namespace ietest::random

// The random words that samplers of units read, many blocks at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "type_kernels.hpp"

namespace ietest::stats {

inline constexpr std::size_t kBufferBlocks = 16;

// The words of one address, one after the other.
class BufferedWords {
  public:
    // first_blocks: how many are made at first, up to kBufferBlocks.
    BufferedWords(const kernels::Kernels& kernels, random::Key key, std::uint64_t replicate,
                  std::uint64_t stream, std::size_t first_blocks)
        : kernels_(kernels),
          key_(key),
          replicate_(replicate),
          stream_(stream),
          n_blocks_(first_blocks) {}

    std::uint64_t next() {
        if (position_ == size_) refill();
        return words_[position_++];
    }

  private:
    void refill() {
        kernels_.fill_blocks(key_, next_block_, replicate_, stream_, words_, n_blocks_);
        next_block_ += n_blocks_;
        size_ = 4 * n_blocks_;
        position_ = 0;
        n_blocks_ = kBufferBlocks;
    }

    const kernels::Kernels& kernels_;
    random::Key key_;
    std::uint64_t replicate_;
    std::uint64_t stream_;
    std::size_t n_blocks_;
    std::uint64_t next_block_ = 1;
    std::size_t position_ = 0;
    std::size_t size_ = 0;
    alignas(64) std::uint64_t words_[4 * kBufferBlocks];
};

inline constexpr std::size_t kUnitLanes = 8;

// Where the words of some draws are: the blocks of (replicate, stream) from first_block on.
struct UnitAddress {
    random::Key key;
    std::uint64_t replicate;
    std::uint64_t stream;
    std::uint64_t first_block;
};

// Calls add(lane, unit) for each of n_drawn units of n_units; the lanes take turns.
template <typename Add>
void draw_units(const kernels::Kernels& kernels, const UnitAddress& address, std::uint64_t n_units,
                std::uint64_t n_drawn, Add&& add) {
    // What is left of a word's product serves for a second draw from so many units, whose odds
    // depart from even by less than 2^-24.
    constexpr std::uint64_t kMostPerHalfWord = std::uint64_t{1} << 20;
    constexpr std::size_t kWords = 256;
    const std::uint64_t per_word = n_units <= kMostPerHalfWord ? 2 : 1;
    std::uint64_t words[kWords];
    std::uint64_t block = address.first_block;
    for (std::uint64_t left = n_drawn; left > 0;) {
        const std::uint64_t now = std::min(left, per_word * kWords);
        const std::uint64_t n_blocks = (now + 4 * per_word - 1) / (4 * per_word);
        kernels.fill_blocks(address.key, block, address.replicate, address.stream, words,
                            static_cast<std::size_t>(n_blocks));
        block += n_blocks;
        left -= now;
        if (per_word == 1) {
            for (std::size_t i = 0; i < now; ++i) {
                add(i % kUnitLanes, random::high_word(words[i], n_units));
            }
            continue;
        }
        std::size_t i = 0;
        for (; i + kUnitLanes <= now; i += kUnitLanes) {  // four words
            for (std::size_t w = 0; w < kUnitLanes / 2; ++w) {
                const std::uint64_t word = words[i / 2 + w];
                add(2 * w, random::high_word(word, n_units));
                add(2 * w + 1, random::high_word(word * n_units, n_units));
            }
        }
        for (; i < now; ++i) {
            const std::uint64_t word = words[i / 2];
            add(i % kUnitLanes, random::high_word(i % 2 == 0 ? word : word * n_units, n_units));
        }
    }
}

}  // namespace ietest::stats

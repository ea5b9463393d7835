// Which words of a text may be keys, or begin one: the sweep that every word goes through.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ietest/cpu.hpp"
#include "ietest/text/key_index.hpp"

namespace ietest::text {

// Words that may be keys, or begin one, field by field: vectors write several words at once.
struct Candidates {
    // What is written beyond the last one.
    static constexpr std::size_t kSlack = 8;

    std::uint64_t* heads;
    std::uint64_t* tails;
    std::uint64_t* hashes;
    std::uint32_t* words;
    std::uint8_t* may_go_on;  // whether a key may go on with the next word

    // In room for n of them.
    static std::size_t bytes_for(std::size_t n) { return (n + kSlack) * (3 * 8 + 4 + 1); }
    static Candidates in(std::uint64_t* room, std::size_t n) {
        n += kSlack;
        auto* const words = reinterpret_cast<std::uint32_t*>(room + 3 * n);
        return {room, room + n, room + 2 * n, words, reinterpret_cast<std::uint8_t*>(words + n)};
    }

    void set(std::size_t at, const Probe& probe, std::size_t word, std::uint8_t goes_on) const {
        heads[at] = probe.head;
        tails[at] = probe.tail;
        hashes[at] = probe.hash;
        words[at] = static_cast<std::uint32_t>(word);
        may_go_on[at] = goes_on;
    }
};

// What the words are held against.
struct CandidateFilters {
    KeyIndex::Filter::View words;
    KeyIndex::Filter::View pairs;  // a word and the next
};

// Writes the candidates among n words, from each of which 8 bytes can be read, and gives their
// number. Of the last word, whose next is not known, only the word itself is judged.
using FindCandidates = std::size_t (*)(const char* text, const std::uint32_t* begins,
                                       const std::uint32_t* ends, std::size_t n_words,
                                       const CandidateFilters& filters, const Candidates& out);

FindCandidates candidate_finder(InstructionSet instruction_set, bool ignores_case, bool has_pairs);

}  // namespace ietest::text

// Finding the keys of a table in a chunk of text.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ietest/text/string_column.hpp"
#include "ietest/text/substitution.hpp"

namespace ietest::text {

// A key found: bytes of the chunk, and the value to put there.
struct Match {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t value;
};

// A chunk's matches in order, and the bytes of its new texts.
struct ChunkMatches {
    Buffer buffer;
    std::size_t n_matches = 0;
    std::int64_t n_bytes_out = 0;

    std::span<const Match> matches() const { return {buffer.as<Match>(), n_matches}; }
};

// Finds a chunk's matches; has scratch of its own, so each thread needs one.
class MatchFinder {
  public:
    MatchFinder(const SubstitutionTable& table, InstructionSet instruction_set);
    ~MatchFinder();

    // text: the chunk, not empty; n_readable: bytes that may be read from its beginning, text or
    // not; row_begins: where each row begins in it, then where the last ends.
    ChunkMatches find(std::string_view text, std::size_t n_readable,
                      const std::vector<std::uint32_t>& row_begins);

  private:
    class Sweeps;
    std::unique_ptr<Sweeps> sweeps_;
};

}  // namespace ietest::text

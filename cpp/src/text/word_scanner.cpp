#include "ietest/text/word_scanner.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "block_masks.hpp"
#include "word_lists.hpp"

namespace ietest::text {
namespace {

void set_bit(std::vector<std::uint64_t>& bits, std::size_t at) {
    bits[at >> 6] |= std::uint64_t{1} << (at & 63);
}

// Sets or clears bits [begin, end).
void fill_bits(std::vector<std::uint64_t>& bits, std::size_t begin, std::size_t end, bool value) {
    for (std::size_t at = begin; at < end;) {
        const std::size_t in_block = std::min<std::size_t>(64 - (at & 63), end - at);
        const std::uint64_t mask =
            (in_block == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << in_block) - 1) << (at & 63);
        bits[at >> 6] = value ? bits[at >> 6] | mask : bits[at >> 6] & ~mask;
        at += in_block;
    }
}

}  // namespace

WordScanner::WordScanner(InstructionSet instruction_set) : instruction_set_(instruction_set) {
    require(instruction_set);
}

void WordScanner::mark_row_by_code_points(std::string_view text, std::size_t begin,
                                          std::size_t end) {
    const std::string_view row = text.substr(begin, end - begin);
    fill_bits(is_word_, begin, end, false);
    for (std::size_t at = 0; at < row.size();) {
        const Segment segment = next_segment(row, at);
        if (segment.is_word) fill_bits(is_word_, begin + at, begin + segment.end, true);
        at = segment.end;
    }
}

void WordScanner::mark_words(std::string_view text) {
    const ClassifyBlock classify_block = classifier(instruction_set_);
    const std::size_t n_blocks = (text.size() + 63) / 64;
    is_word_.resize(n_blocks + 1);
    beyond_ascii_.resize(n_blocks + 1);
    const auto classify = [&](std::size_t block, BlockMasks* masks) {
        const std::size_t begin = 64 * block;
        if (begin + 64 <= text.size()) {
            classify_block(text.data() + begin, masks);
        } else if (begin < text.size()) {
            // The last bytes, from a copy: what stands behind them may not be ours to read.
            std::array<char, 64> padded{};
            std::memcpy(padded.data(), text.data() + begin, text.size() - begin);
            classify_block(padded.data(), masks);
        } else {
            *masks = BlockMasks{};
        }
    };
    BlockMasks before;
    BlockMasks here;
    BlockMasks after;
    classify(0, &here);
    for (std::size_t block = 0; block < n_blocks; ++block) {
        classify(block + 1, &after);
        const auto left = [](std::uint64_t bits, std::uint64_t earlier) {
            return (bits << 1) | (earlier >> 63);
        };
        const auto right = [](std::uint64_t bits, std::uint64_t later) {
            return (bits >> 1) | (later << 63);
        };
        const std::uint64_t joined =
            (here.joins_letters & left(here.letter, before.letter) &
             right(here.letter, after.letter)) |
            (here.joins_digits & left(here.digit, before.digit) & right(here.digit, after.digit));
        // A character at either edge of a row has nothing to join.
        const std::uint64_t edge =
            row_begin_bits_[block] | right(row_begin_bits_[block], row_begin_bits_[block + 1]);
        is_word_[block] = here.word | (joined & ~edge);
        beyond_ascii_[block] = here.beyond_ascii;
        before = here;
        here = after;
    }
    is_word_[n_blocks] = 0;
    beyond_ascii_[n_blocks] = 0;
}

// Every word has a byte of its own, so there are at most as many as bytes.
void WordScanner::make_room(std::size_t n_bytes) {
    const auto needed =
        static_cast<std::int64_t>((n_bytes + 1 + kListSlack) * sizeof(std::uint32_t));
    if (begins_.size() >= needed) return;
    begins_ = Buffer(needed);
    ends_ = Buffer(needed);
}

void WordScanner::mark_rows(std::string_view text, const std::vector<std::uint32_t>& row_begins) {
    row_begin_bits_.assign((text.size() + 63) / 64 + 2, 0);
    for (const std::uint32_t begin : row_begins) set_bit(row_begin_bits_, begin);
}

void WordScanner::scan(std::string_view text, const std::vector<std::uint32_t>& row_begins) {
    const std::size_t n_blocks = (text.size() + 63) / 64;
    mark_rows(text, row_begins);
    mark_words(text);

    for (std::size_t block = 0; block < n_blocks; ++block) {
        while (beyond_ascii_[block] != 0) {
            const std::size_t at =
                64 * block + static_cast<std::size_t>(std::countr_zero(beyond_ascii_[block]));
            const auto next = std::upper_bound(row_begins.begin(), row_begins.end(), at);
            const std::size_t end = next == row_begins.end() ? text.size() : *next;
            mark_row_by_code_points(text, *(next - 1), end);
            fill_bits(beyond_ascii_, at, end, false);
        }
    }

    make_room(text.size());
    const BlockBits bits{is_word_.data(), row_begin_bits_.data(), n_blocks};
    auto* begins = begins_.as<std::uint32_t>();
    auto* ends = ends_.as<std::uint32_t>();
    n_words_ = word_lister(instruction_set_)(bits, begins, ends);
}

void WordScanner::add_pieces(std::string_view text, const std::array<bool, 128>& first_characters) {
    if (more_begins_.size() < begins_.size()) {
        more_begins_ = Buffer(begins_.size());
        more_ends_ = Buffer(begins_.size());
    }
    auto* begins = more_begins_.as<std::uint32_t>();
    auto* ends = more_ends_.as<std::uint32_t>();
    std::uint32_t at = 0;
    for (std::size_t word = 0; word <= n_words_; ++word) {
        const bool is_last = word == n_words_;
        const std::uint32_t next =
            is_last ? static_cast<std::uint32_t>(text.size()) : this->begins()[word];
        // Such a character is a piece of its own, with the accents that may follow it.
        for (; at < next; ++at) {
            const auto c = static_cast<unsigned char>(text[at]);
            if (c >= 0x80 || !first_characters[c]) continue;
            *begins++ = at;
            std::size_t end = at + std::size_t{1};
            if (end < text.size() && static_cast<unsigned char>(text[end]) >= 0x80) {
                end = next_segment(text.substr(0, row_end_after(at)), at).end;
            }
            *ends++ = static_cast<std::uint32_t>(end);
        }
        if (is_last) break;
        *begins++ = next;
        *ends++ = at = this->ends()[word];
    }
    n_words_ = static_cast<std::size_t>(begins - more_begins_.as<std::uint32_t>());
    std::swap(begins_, more_begins_);
    std::swap(ends_, more_ends_);
}

void WordScanner::scan_all(std::string_view text, const std::vector<std::uint32_t>& row_begins) {
    mark_rows(text, row_begins);
    make_room(text.size());
    auto* begins = begins_.as<std::uint32_t>();
    auto* ends = ends_.as<std::uint32_t>();
    for (std::size_t i = 0; i + 1 < row_begins.size(); ++i) {
        const std::string_view row = text.substr(row_begins[i], row_begins[i + 1] - row_begins[i]);
        for (std::size_t at = 0; at < row.size();) {
            const std::size_t end = next_segment(row, at).end;
            *begins++ = row_begins[i] + static_cast<std::uint32_t>(at);
            *ends++ = row_begins[i] + static_cast<std::uint32_t>(end);
            at = end;
        }
    }
    n_words_ = static_cast<std::size_t>(begins - begins_.as<std::uint32_t>());
}

}  // namespace ietest::text

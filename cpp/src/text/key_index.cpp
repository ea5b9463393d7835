#include "ietest/text/key_index.hpp"

#include <stdexcept>

namespace ietest::text {

void KeyIndex::rehash(std::size_t capacity) {
    std::vector<KeyEntry> old_entries = std::move(entries_);
    std::vector<std::uint64_t> old_begins = std::move(text_begin_);
    entries_.assign(capacity, KeyEntry{});
    text_begin_.assign(capacity, 0);
    mask_ = capacity - 1;
    for (std::size_t i = 0; i < old_entries.size(); ++i) {
        const KeyEntry& moved = old_entries[i];
        if (moved.size == 0) continue;
        const Probe probe = this->probe({text_.data() + old_begins[i], moved.size});
        std::size_t at = slot_of(probe.hash, moved.node);
        while (entries_[at].size != 0) at = (at + 1) & mask_;
        entries_[at] = moved;
        text_begin_[at] = old_begins[i];
    }
}

KeyEntry& KeyIndex::entry(std::uint32_t node, std::string_view piece) {
    if (piece.empty()) throw std::invalid_argument("a key must not be empty");
    if (piece.size() >= (std::size_t{1} << 31)) throw std::length_error("a key is too long");
    // A quarter full: most pieces stand in the first slot that is looked at.
    if (4 * (n_entries_ + 1) > entries_.size()) rehash(entries_.size() * 2);
    const Probe probe = this->probe(piece);
    if (const KeyEntry* known = find(probe, piece.data(), node)) {
        return entries_[static_cast<std::size_t>(known - entries_.data())];
    }
    std::size_t at = slot_of(probe.hash, node);
    while (entries_[at].size != 0) at = (at + 1) & mask_;
    text_begin_[at] = text_.size();
    text_ += piece;
    ++n_entries_;
    entries_[at] = {probe.head, probe.tail, probe.size, node, kNoValue, 0};
    return entries_[at];
}

bool KeyIndex::same_middle(std::size_t at, const char* piece) const {
    const char* key = text_.data() + text_begin_[at];
    for (std::size_t i = 8; i + 8 < entries_[at].size; ++i) {
        const bool same =
            ignore_case_ ? ascii_lower(key[i]) == ascii_lower(piece[i]) : key[i] == piece[i];
        if (!same) return false;
    }
    return true;
}

KeyIndex::Filter::Filter(std::size_t n_pieces) {
    const std::size_t n_words = std::max<std::size_t>(n_pieces * 10 / 64, 8);
    const int log2_words = std::min(20, static_cast<int>(std::bit_width(n_words - 1)));
    words_.assign(std::size_t{1} << log2_words, 0);
    shift_ = 64 - log2_words;
}

void KeyIndex::build_filter() {
    filter_ = Filter(n_entries_);
    for_each_first([&](const KeyEntry&, std::uint64_t hash) { filter_.add(hash); });
}

}  // namespace ietest::text

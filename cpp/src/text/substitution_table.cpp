#include <algorithm>
#include <stdexcept>

#include "ietest/text/substitution.hpp"
#include "ietest/text/word_boundaries.hpp"

namespace ietest::text {

SubstitutionTable::SubstitutionTable(const StringColumn& keys, const StringColumn& values,
                                     RuleCodes rules, const TableOptions& options)
    : options_(options), index_(options.ignore_case) {
    if (keys.length != values.length) {
        throw std::invalid_argument("as many values as keys are needed");
    }
    if (rules.size() != 1 && static_cast<std::int64_t>(rules.size()) != keys.length) {
        throw std::invalid_argument("one rule is needed, or one a key");
    }
    goes_on_otherwise_.assign(1, 0);
    std::vector<std::pair<std::string_view, std::string_view>> pairs;
    for (std::int64_t i = 0; options.by_words && i < keys.length; ++i) {
        if (!keys.is_valid(i) || keys[i].empty() || next_segment(keys[i], 0).is_word) continue;
        const auto first = static_cast<unsigned char>(keys[i].front());
        if (first > ' ' && first < 0x7F) {
            first_characters_[first] = has_first_characters_ = true;
        } else {
            begins_anywhere_ = true;
        }
    }
    const auto end_of_piece = [&](std::string_view key, std::size_t at) {
        const Segment segment = next_segment(key, at);
        if (!joins_blanks() || segment.end == key.size() ||
            key.substr(at, segment.end - at) != " ") {
            return segment.end;
        }
        const Segment next = next_segment(key, segment.end);
        return next.is_word ? next.end : segment.end;
    };
    for (std::int64_t i = 0; i < keys.length; ++i) {
        if (!keys.is_valid(i) || !values.is_valid(i)) {
            throw std::invalid_argument("key " + std::to_string(i) + " or its value is missing");
        }
        const std::string_view key = keys[i];
        if (key.empty()) throw std::invalid_argument("key " + std::to_string(i) + " is empty");
        std::uint32_t node = 0;
        std::string_view first;
        int n_pieces = 0;
        for (std::size_t at = 0;;) {
            const std::size_t end = options.by_words ? end_of_piece(key, at) : key.size();
            const std::string_view piece = key.substr(at, end - at);
            if (at > 0) {
                // Not so a blank with accents, which is one piece of its own.
                const bool blank_and_word =
                    piece[0] == ' ' && piece.size() > 1 && next_segment(key, at).end == at + 1;
                has_blank_edges_ = has_blank_edges_ || piece == " ";
                if (!blank_and_word) {
                    goes_on_otherwise_[node] = 1;
                    goes_on_with_odd_blanks_ = goes_on_with_odd_blanks_ || piece[0] == ' ';
                }
                if (blank_and_word && n_pieces == 1) {
                    pairs.emplace_back(first, piece.substr(1));
                }
            } else {
                first = piece;
            }
            ++n_pieces;
            KeyEntry& entry = index_.entry(node, piece);
            at = end;
            if (at == key.size()) {
                entry.value = static_cast<std::uint32_t>(i);
                break;
            }
            if (entry.next_node == 0) {
                entry.next_node = index_.new_node();
                goes_on_otherwise_.resize(entry.next_node + 1, 0);
            }
            node = entry.next_node;
        }
        const bool same =
            options.ignore_case ? equal_ignoring_case(key, values[i]) : key == values[i];
        may_change_nothing_ = may_change_nothing_ || same;
        values_ += values[i];
        value_begins_.push_back(values_.size());
        rules_.push_back(rules[rules.size() == 1 ? 0 : static_cast<std::size_t>(i)]);
    }
    n_keys_ = keys.length;
    values_.append(kValueSlack, '\0');
    index_.build_filter();
    word_filter_ = KeyIndex::Filter(index_.size());
    index_.for_each_first([&](const KeyEntry& entry, std::uint64_t hash) {
        if (entry.value != KeyIndex::kNoValue || goes_on_otherwise_[entry.next_node] != 0)
            word_filter_.add(hash);
    });
    has_pairs_ = !pairs.empty();
    pair_filter_ = KeyIndex::Filter(pairs.size());
    for (const auto& [first, word] : pairs) {
        pair_filter_.add(KeyIndex::pair_hash(index_.probe(first).hash, index_.probe(word).hash));
    }
}

}  // namespace ietest::text

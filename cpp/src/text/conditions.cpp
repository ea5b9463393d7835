#include "ietest/text/conditions.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace ietest::text {
namespace {

bool are_ascending(std::span<const std::int64_t> begins, std::int64_t last) {
    return !begins.empty() && begins.front() == 0 && begins.back() == last &&
           std::is_sorted(begins.begin(), begins.end());
}

std::int64_t token_at(std::int64_t head, std::int64_t tail, int place) {
    return place < 0 ? head + place : tail + place;
}

}  // namespace

Conditions::Conditions(const ConditionColumns& columns, std::int64_t n_entries)
    : begins_(columns.test_begins.begin(), columns.test_begins.end()) {
    const std::size_t n_tests = columns.place.size();
    if (columns.test_begins.size() != static_cast<std::size_t>(n_entries) + 1 ||
        columns.negated.size() != n_tests || columns.tags.size() != n_tests ||
        columns.word_begins.size() != n_tests + 1 ||
        !are_ascending(columns.test_begins, static_cast<std::int64_t>(n_tests)) ||
        !are_ascending(columns.word_begins, columns.words.length)) {
        throw std::invalid_argument("the columns of the conditions do not fit together");
    }
    word_ids_.reserve(static_cast<std::size_t>(columns.words.length));
    for (std::int64_t i = 0; i < columns.words.length; ++i) {
        if (!columns.words.is_valid(i) || columns.words[i].empty()) {
            throw std::invalid_argument("word " + std::to_string(i) +
                                        " of the conditions is empty");
        }
        KeyEntry& slot = vocabulary_.entry(0, columns.words[i]);
        if (slot.value == KeyIndex::kNoValue) {
            slot.value = static_cast<std::uint32_t>(vocabulary_.size() - 1);
        }
        word_ids_.push_back(slot.value);
    }
    tests_.reserve(n_tests);
    for (std::size_t i = 0; i < n_tests; ++i) {
        const std::int8_t place = columns.place[i];
        if (place == 0 || place < -2 || place > 2) {
            throw std::invalid_argument("the place of test " + std::to_string(i) +
                                        " is not -2, -1, 1 or 2");
        }
        const std::int64_t begin = columns.word_begins[i];
        const std::int64_t end = columns.word_begins[i + 1];
        std::sort(word_ids_.begin() + begin, word_ids_.begin() + end);
        tests_.push_back({begin, end, columns.tags[i], place, columns.negated[i] != 0});
    }
}

std::span<const Conditions::Test> Conditions::tests_of(std::int64_t entry) const {
    const auto at = static_cast<std::size_t>(entry);
    return std::span(tests_).subspan(static_cast<std::size_t>(begins_[at]),
                                     static_cast<std::size_t>(begins_[at + 1] - begins_[at]));
}

bool Conditions::lists_word(const Test& test, std::string_view word) const {
    if (test.words_begin == test.words_end) return false;
    const KeyEntry* found = vocabulary_.find(word);
    return found != nullptr && std::binary_search(word_ids_.begin() + test.words_begin,
                                                  word_ids_.begin() + test.words_end, found->value);
}

bool Conditions::hold(std::int64_t entry, const TextTokens& text, std::int64_t head,
                      std::int64_t tail) const {
    const auto holds = [&](const Test& test) {
        const std::int64_t t = token_at(head, tail, test.place);
        const int tag = text.has(t) ? text.pos(t) : ConditionColumns::kNoToken;
        const bool is_listed =
            (tag <= ConditionColumns::kNoToken && ((test.tags >> tag) & 1U) != 0) ||
            (text.has(t) && lists_word(test, text.word(t)));
        return is_listed != test.negated;
    };
    return std::ranges::all_of(tests_of(entry), holds);
}

bool Conditions::ask_for(std::int64_t entry, const TextTokens& text, std::int64_t head,
                         std::int64_t tail, int place) const {
    const std::int64_t t = token_at(head, tail, place);
    return text.has(t) && std::ranges::any_of(tests_of(entry), [&](const Test& test) {
               return test.place == place && !test.negated && lists_word(test, text.word(t));
           });
}

}  // namespace ietest::text

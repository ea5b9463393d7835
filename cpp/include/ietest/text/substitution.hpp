// Replacing words in bulk: a table of keys, and three ways of applying it to string columns.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ietest/cpu.hpp"
#include "ietest/parallel.hpp"
#include "ietest/text/conditions.hpp"
#include "ietest/text/edits.hpp"
#include "ietest/text/english.hpp"
#include "ietest/text/key_index.hpp"
#include "ietest/text/string_column.hpp"

namespace ietest::text {

// A column after substitution.
struct Substituted {
    OwnedStrings strings;
    Buffer changed;  // a byte a row: 1 where the text is another
    std::int64_t n_changed = 0;
    std::optional<EditList> edits;  // when they were asked for
};

// Which rules of Rule each key stands for; one for all, or one a key.
using RuleCodes = std::span<const std::int8_t>;

// ---- Whole words, longest match -------------------------------------------------------------

// How the keys of a table are matched.
struct TableOptions {
    // Between word boundaries; otherwise a key is a whole token between blanks, and nothing else.
    bool by_words = true;
    // A to Z are as good as a to z.
    bool ignore_case = false;
};

// Keys are matched between word boundaries (word_boundaries.hpp); a key of several pieces ("ice
// cream", "don't") must stand there piece by piece, its spaces as they are. Of the keys that begin
// at the same place the longest wins, and the search goes on behind it. Immutable.
class SubstitutionTable {
  public:
    // Keys and values of the same length; of equal keys the last counts. Throws
    // std::invalid_argument on missing or empty keys.
    SubstitutionTable(const StringColumn& keys, const StringColumn& values, RuleCodes rules,
                      const TableOptions& options = {});

    std::int64_t size() const { return n_keys_; }
    const TableOptions& options() const { return options_; }
    const KeyIndex& index() const { return index_; }
    // Where keys may begin besides words: at these characters, or (rarely) anywhere.
    const std::array<bool, 128>& first_characters() const { return first_characters_; }
    bool has_first_characters() const { return has_first_characters_; }
    bool begins_anywhere() const { return begins_anywhere_; }
    // True when keys hold "blank, word" as one piece; if so, a node may also have an edge for a
    // blank alone, which is then the end of its key.
    bool joins_blanks() const { return !begins_anywhere_; }
    bool has_blank_edges() const { return has_blank_edges_; }
    // Of each node, 1 when keys go on from it otherwise than by one blank and a word.
    const std::uint8_t* goes_on_otherwise() const { return goes_on_otherwise_.data(); }
    // True when one of those ways begins with a blank, too.
    bool goes_on_with_odd_blanks() const { return goes_on_with_odd_blanks_; }
    // What lets a word through that may be a key, or go on otherwise than with a blank and a word;
    // and a word with the one behind it that may begin a key together.
    const KeyIndex::Filter& word_filter() const { return word_filter_; }
    const KeyIndex::Filter& pair_filter() const { return pair_filter_; }
    bool has_pairs() const { return has_pairs_; }
    // True when a key may match a text that is its value already.
    bool may_change_nothing() const { return may_change_nothing_; }
    // kValueSlack bytes behind it can be read, too.
    static constexpr std::size_t kValueSlack = 32;
    std::string_view value(std::uint32_t id) const {
        return {values_.data() + value_begins_[id], value_begins_[id + 1] - value_begins_[id]};
    }
    Rule rule(std::uint32_t id) const { return static_cast<Rule>(rules_[id]); }

  private:
    TableOptions options_;
    KeyIndex index_;
    std::string values_;
    std::vector<std::size_t> value_begins_{0};
    std::vector<std::int8_t> rules_;
    std::int64_t n_keys_ = 0;
    std::array<bool, 128> first_characters_{};
    bool has_first_characters_ = false;
    bool begins_anywhere_ = false;
    bool may_change_nothing_ = false;
    bool has_blank_edges_ = false;
    bool goes_on_with_odd_blanks_ = false;
    std::vector<std::uint8_t> goes_on_otherwise_;  // of each node
    KeyIndex::Filter word_filter_;
    KeyIndex::Filter pair_filter_;
    bool has_pairs_ = false;
};

struct SubstitutionOptions {
    bool with_edits = false;
    // Whether replace_normalised lists what it did besides replacing keys.
    bool normalise_edits = true;
    // Changes no result.
    InstructionSet instruction_set = chosen_instruction_set();
    // Beyond this many bytes the result has 64-bit offsets; for tests.
    std::int64_t offset_limit = std::numeric_limits<std::int32_t>::max();
};

Substituted replace_words(const StringColumn& column, const SubstitutionTable& table,
                          const SubstitutionOptions& options, const Execution& execution);

// ---- The published rules --------------------------------------------------------------------

// Lower-cases, deletes every character outside [a-zA-z0-9\s] (A-z, as published: [ \ ] ^ _ and `
// stay), splits on white space, replaces each token that is a key and joins by one blank: the
// Python expression
//   " ".join(table.get(w, w) for w in re.sub(r"[^a-zA-z0-9\s]", "", text.lower()).split())
// An empty table normalises and nothing else. The table is one of whole tokens and minds case.
Substituted replace_normalised(const StringColumn& column, const SubstitutionTable& table,
                               const SubstitutionOptions& options, const Execution& execution);

// ---- Words of a part of speech, in their context ---------------------------------------------

// The part-of-speech codes that matter.
struct TagCodes {
    std::uint8_t noun;
    std::uint8_t proper_noun;
};

// What a table of tagged words is made of, a row for each entry.
struct TaggedColumns {
    StringColumn keys;  // lower-case forms, words parted by one blank
    StringColumn values;
    std::span<const std::uint8_t> pos;    // the tag that the (last) token of the key has to have
    std::span<const std::int8_t> number;  // 0 any, 1 singular, 2 plural
    std::span<const std::int32_t> group;  // entries of one group are forms of one word
    // Whether a row replaces all forms of the word or none, or each where it fits.
    std::span<const std::int8_t> is_bound;
    RuleCodes rules;
    ConditionColumns conditions;
    // Phrases, in lower case, whose words are left alone ("take place").
    StringColumn phrases;
};

// Entries of equal keys are tried in their order. Immutable.
class TaggedTable {
  public:
    explicit TaggedTable(const TaggedColumns& columns, const Language& language = english());

    const Language& language() const { return *language_; }
    const Conditions& conditions() const { return conditions_; }

    struct Entry {
        std::string value;
        std::string folded_value;       // lower-case, for comparisons
        std::uint64_t first_word_hash;  // of folded_value
        std::int32_t group;
        std::uint8_t pos;
        std::int8_t number;
        bool is_bound;
        Rule rule;
    };
    // The entries of one key.
    using Surface = std::vector<std::int64_t>;

    std::int64_t size() const { return static_cast<std::int64_t>(entries_.size()); }
    const Entry& entry(std::int64_t i) const { return entries_[static_cast<std::size_t>(i)]; }
    std::span<const std::int64_t> entries_of_group(std::int32_t group) const {
        const auto& members = groups_[static_cast<std::size_t>(group)];
        return {members.data(), members.size()};
    }
    const Surface* find_surface(std::string_view folded) const;
    // Bytes of the longest key that begins with this word; 0 when none does.
    std::uint32_t longest_from(std::string_view folded_first_word) const;
    bool is_phrase(std::string_view folded) const { return phrases_.find(folded) != nullptr; }

  private:
    const Language* language_;
    Conditions conditions_;
    KeyIndex surface_index_;
    KeyIndex first_word_index_;
    KeyIndex phrases_;
    std::vector<Surface> surfaces_;
    std::vector<Entry> entries_;
    std::vector<std::vector<std::int64_t>> groups_;
};

struct SubstitutedColumns {
    std::vector<Substituted> columns;
    Buffer changed;  // a byte a row: 1 where a text of the row is another
    std::int64_t n_changed = 0;
};

// Replaces words in the columns of one table together, row by row:
// - a key counts where it stands between word boundaries, begins and ends with a token, ends with a
//   token of its part of speech and number, holds no proper noun, and the conditions of the entry
//   hold; the first such entry is taken;
// - it is left alone as part of a hyphenated compound, of a name or title (capitalised within a
//   sentence, or beside a proper noun), of a phrase, between quotation marks, and, if it is a noun,
//   beside another noun, unless a condition asks for the word that stands there;
// - the words of a bound group are left alone in the whole row when one of its forms stands there
//   and cannot be replaced;
// - and those of any group when its value stands there already, or is put there for another group;
// - the replacement takes over the capitalisation, and the word before it is adapted to it ("a" or
//   "an"), as the table's language has it.
// All columns and spans have the same number of rows. Throws std::invalid_argument when a span
// does not fit its text.
SubstitutedColumns replace_tagged(std::span<const StringColumn> columns,
                                  std::span<const TokenSpans> tokens, TagCodes codes,
                                  const TaggedTable& table, const SubstitutionOptions& options,
                                  const Execution& execution);

}  // namespace ietest::text

#include "word_matches.hpp"

#include <algorithm>

#include "candidates.hpp"
#include "ietest/text/word_scanner.hpp"

namespace ietest::text {
namespace {

constexpr std::uint32_t kNoValue = KeyIndex::kNoValue;

}  // namespace

// Finds a chunk's matches. In sweeps, each of them short of unpredictable branches: where are
// words; which of them may be keys (a bit filter); which are; and the few that need a longer look.
class MatchFinder::Sweeps {
  public:
    Sweeps(const SubstitutionTable& table, InstructionSet instruction_set)
        : table_(table),
          index_(table.index()),
          instruction_set_(instruction_set),
          scanner_(instruction_set) {}

    // text: the chunk; n_readable: bytes that may be read from its beginning, text or not.
    ChunkMatches find(std::string_view text, std::size_t n_readable,
                      const std::vector<std::uint32_t>& row_begins) {
        if (table_.begins_anywhere()) {
            scanner_.scan_all(text, row_begins);
        } else {
            scanner_.scan(text, row_begins);
            if (table_.has_first_characters()) {
                scanner_.add_pieces(text, table_.first_characters());
            }
        }
        find_candidates(text, n_readable);
        look_up(text, n_readable);
        decide_open_cases(text, n_readable);
        return taken(text);
    }

  private:
    static constexpr std::size_t kAhead = 8;

    // A buffer that grows, and forgets what was in it when it does.
    class Scratch {
      public:
        void reserve_bytes(std::size_t n_bytes) {
            if (static_cast<std::size_t>(buffer_.size()) >= n_bytes) return;
            buffer_ = Buffer(static_cast<std::int64_t>(n_bytes + n_bytes / 2));
        }
        template <typename T>
        T* as() {
            return buffer_.as<T>();
        }
        template <typename T>
        const T* as() const {
            return buffer_.as<T>();
        }

      private:
        Buffer buffer_;
    };

    // A match that the first two slots of the index could not decide on.
    struct OpenCase {
        const KeyEntry* entry;  // of its first word; null: not known either
        std::uint32_t match;
        std::uint32_t candidate;
    };

    // Could a key that leads to a node go on behind the word that ends at `end`?
    struct MayGoOn {
        const char* text;
        std::size_t n_readable;
        const std::uint8_t* otherwise;
        std::uint32_t odd_blanks;

        std::uint32_t operator()(std::uint32_t with_next_word, std::uint32_t end,
                                 std::uint32_t node) const {
            // Whether a key could go on otherwise than with a blank cannot be foretold; that
            // nothing but a blank is there can.
            const bool blank_behind = end >= n_readable || text[end] == ' ';
            return with_next_word | (otherwise[node] & (odd_blanks | (blank_behind ? 0U : 1U)));
        }
    };
    MayGoOn may_go_on(std::string_view text, std::size_t n_readable) const {
        return {text.data(), n_readable, table_.goes_on_otherwise(),
                table_.goes_on_with_odd_blanks() ? 1U : 0U};
    }

    static Probe probe_of(const Candidates& candidates, std::size_t c, std::uint32_t size) {
        return {candidates.heads[c], candidates.tails[c], size, candidates.hashes[c]};
    }

    // Sets what the first two slots of the index tell, and lists what they do not decide.
    IETEST_NOINLINE void look_up(std::string_view text, std::size_t n_readable) {
        pending_.reserve_bytes((n_candidates_ + 1) * sizeof(Match));
        open_.reserve_bytes((n_candidates_ + 1) * sizeof(OpenCase));
        auto* const first_match = pending_.as<Match>();
        auto* const first_open = open_.as<OpenCase>();
        Match* match = first_match;
        OpenCase* open = first_open;
        const Candidates candidates = candidates_;
        const std::size_t n_candidates = n_candidates_;
        const std::uint32_t* begins = scanner_.begins();
        const std::uint32_t* ends = scanner_.ends();
        const KeyIndex::View index = index_.view();
        const MayGoOn goes_on = may_go_on(text, n_readable);
        for (std::size_t c = 0; c < n_candidates; ++c) {
            index.prefetch(candidates.hashes[std::min(c + kAhead, n_candidates - 1)]);
            const std::uint32_t begin = begins[candidates.words[c]];
            const std::uint32_t end = ends[candidates.words[c]];
            const auto [entry, found, unsure] =
                index.find_in_two_slots(probe_of(candidates, c, end - begin));
            const std::uint32_t next_node = entry->next_node & (0U - found);
            const std::uint32_t is_open =
                unsure | (found & goes_on(candidates.may_go_on[c], end, next_node));
            const std::uint32_t is_key = entry->value != kNoValue ? found : 0;
            *match = {begin, end, entry->value};
            *open = {unsure != 0 ? nullptr : entry, static_cast<std::uint32_t>(match - first_match),
                     static_cast<std::uint32_t>(c)};
            match += is_key | is_open;
            open += is_open;
        }
        n_pending_ = static_cast<std::size_t>(match - first_match);
        n_open_ = static_cast<std::size_t>(open - first_open);
    }

    // Follows keys of several pieces, and takes back what they cover.
    IETEST_NOINLINE void decide_open_cases(std::string_view text, std::size_t n_readable) {
        const MayGoOn goes_on = may_go_on(text, n_readable);
        const auto* open = open_.as<OpenCase>();
        auto* matches = pending_.as<Match>();
        std::uint32_t done = 0;
        for (std::size_t i = 0; i < n_open_; ++i) {
            Match& match = matches[open[i].match];
            if (match.begin < done) continue;
            const std::size_t candidate = open[i].candidate;
            const KeyEntry* entry = open[i].entry;
            if (entry == nullptr) {
                entry = index_.find(probe_of(candidates_, candidate, match.end - match.begin),
                                    text.data() + match.begin);
            }
            if (entry == nullptr) {
                match.value = kNoValue;
                continue;
            }
            match.value = entry->value;
            done = match.end;
            if (goes_on(candidates_.may_go_on[candidate], done, entry->next_node) != 0) {
                done = follow(text, n_readable, candidates_.words[candidate], *entry, match);
            }
            for (std::size_t next = open[i].match + std::size_t{1};
                 next < n_pending_ && matches[next].begin < done; ++next) {
                matches[next].value = kNoValue;
            }
        }
    }

    // The matches that are left, and what the chunk's new texts take.
    IETEST_NOINLINE ChunkMatches taken(std::string_view text) const {
        ChunkMatches chunk;
        chunk.buffer = Buffer(static_cast<std::int64_t>(n_pending_ * sizeof(Match)));
        chunk.n_bytes_out = static_cast<std::int64_t>(text.size());
        auto* const first = chunk.buffer.as<Match>();
        Match* out = first;
        const auto* matches = pending_.as<Match>();
        for (std::size_t i = 0; i < n_pending_; ++i) {
            const Match match = matches[i];
            std::uint32_t is_kept = match.value != kNoValue ? 1 : 0;
            const std::string_view value = table_.value(is_kept != 0 ? match.value : 0);
            const std::uint32_t size = match.end - match.begin;
            if (table_.may_change_nothing() && value == text.substr(match.begin, size)) is_kept = 0;
            const std::int64_t grown =
                static_cast<std::int64_t>(value.size()) - static_cast<std::int64_t>(size);
            chunk.n_bytes_out += grown & -static_cast<std::int64_t>(is_kept);
            *out = match;
            out += is_kept;
        }
        chunk.n_matches = static_cast<std::size_t>(out - first);
        return chunk;
    }

    void find_candidates(std::string_view text, std::size_t n_readable) {
        const std::size_t n_words = scanner_.n_words();
        candidates_room_.reserve_bytes(Candidates::bytes_for(n_words));
        candidates_ = Candidates::in(candidates_room_.as<std::uint64_t>(), n_words);
        // Eight bytes can be read from all words but the column's last few.
        std::size_t n_wide = n_words;
        while (n_wide > 0 && scanner_.begins()[n_wide - 1] + 8 > n_readable) --n_wide;
        const FindCandidates find_among =
            candidate_finder(instruction_set_, index_.ignore_case(), table_.has_pairs());
        n_candidates_ =
            find_among(text.data(), scanner_.begins(), scanner_.ends(), n_wide,
                       {table_.word_filter().view(), table_.pair_filter().view()}, candidates_);
        // The last wide word was judged without the word behind it.
        for (std::size_t word = n_wide - (n_wide > 0 ? 1 : 0); word < n_words; ++word) {
            if (n_candidates_ > 0 && candidates_.words[n_candidates_ - 1] == word) --n_candidates_;
            const std::size_t begin = scanner_.begins()[word];
            const std::string_view piece = text.substr(begin, scanner_.ends()[word] - begin);
            candidates_.set(n_candidates_++, index_.probe(piece), word, 1);
        }
    }

    // From a first piece to the longest key that goes on from it, if there is any: sets the match's
    // end and value. Gives where the search goes on.
    std::uint32_t follow(std::string_view text, std::size_t n_readable, std::size_t word,
                         const KeyEntry& first, Match& match) const {
        const std::uint32_t first_end = match.end;
        std::uint32_t at = match.end;
        const KeyEntry* entry = &first;
        while (entry->next_node != 0 && !ends_row(text, at)) {
            std::uint32_t end = 0;
            if (table_.joins_blanks() && stands_blank_and_word(text, at, word)) {
                if (table_.has_blank_edges()) {
                    const KeyEntry* blank = index_.find(" ", entry->next_node);
                    if (blank != nullptr && blank->value != kNoValue) {
                        match.end = at + 1;
                        match.value = blank->value;
                    }
                }
                end = scanner_.ends()[++word];
            } else {
                const std::string_view row = text.substr(0, scanner_.row_end_after(at));
                end = static_cast<std::uint32_t>(next_segment(row, at).end);
            }
            const char* piece = text.data() + at;
            const Probe probe = at + 8 <= n_readable ? index_.probe_wide(piece, end - at)
                                                     : index_.probe({piece, end - at});
            const KeyEntry* longer = index_.find(probe, piece, entry->next_node);
            if (longer == nullptr) break;
            entry = longer;
            at = end;
            while (word + 1 < scanner_.n_words() && scanner_.begins()[word + 1] < at) ++word;
            if (entry->value != kNoValue) {
                match.end = at;
                match.value = entry->value;
            }
        }
        return match.value != kNoValue ? match.end : first_end;
    }

    bool ends_row(std::string_view text, std::uint32_t at) const {
        return at == text.size() || scanner_.row_begins_at(at);
    }
    // Is the next piece one blank and the next word, in the same row?
    bool stands_blank_and_word(std::string_view text, std::uint32_t at, std::size_t word) const {
        if (word + 1 >= scanner_.n_words() || scanner_.begins()[word + 1] != at + 1 ||
            text[at] != ' ' || scanner_.row_begins_at(at + 1)) {
            return false;
        }
        // Among the words may be pieces that begin otherwise.
        const auto first = static_cast<unsigned char>(text[at + 1]);
        return first >= 0x80 || !table_.first_characters()[first];
    }

    const SubstitutionTable& table_;
    const KeyIndex& index_;
    InstructionSet instruction_set_;
    WordScanner scanner_;
    // Scratch; what is in use of each.
    Scratch candidates_room_;
    Candidates candidates_{};
    std::size_t n_candidates_ = 0;
    Scratch pending_;
    std::size_t n_pending_ = 0;
    Scratch open_;
    std::size_t n_open_ = 0;
};

MatchFinder::MatchFinder(const SubstitutionTable& table, InstructionSet instruction_set)
    : sweeps_(std::make_unique<Sweeps>(table, instruction_set)) {}

MatchFinder::~MatchFinder() = default;

ChunkMatches MatchFinder::find(std::string_view text, std::size_t n_readable,
                               const std::vector<std::uint32_t>& row_begins) {
    return sweeps_->find(text, n_readable, row_begins);
}

}  // namespace ietest::text

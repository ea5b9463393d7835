// A hash table from pieces of text to numbers, made for one question asked millions of times:
// is this word a key?
//
// A piece is known by its first and last eight bytes and its length, which is all of it up to 16
// bytes. Keys of several pieces hang in a trie whose edges stand in the same table: (node, piece)
// -> (value, next node), the root being node 0. In front of the root's entries stands a bit
// filter small enough for the first-level cache; it lets through all keys and few other words.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace ietest::text {

inline std::uint64_t load8(const char* from) {
    std::uint64_t value;
    std::memcpy(&value, from, 8);
    // Short pieces keep the low bytes, which must be the first ones.
    if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap64(value);
    return value;
}

// 'A'..'Z' of eight bytes at once; bytes beyond ASCII stay as they are.
inline std::uint64_t ascii_lower8(std::uint64_t bytes) {
    constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
    const std::uint64_t low7 = bytes & (0x7F * kOnes);
    const std::uint64_t from_a = low7 + (0x80 - 'A') * kOnes;
    const std::uint64_t beyond_z = low7 + (0x7F - 'Z') * kOnes;
    const std::uint64_t is_upper = ~bytes & (from_a ^ beyond_z) & (0x80 * kOnes);
    return bytes | (is_upper >> 2);
}

inline char ascii_lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}
inline char ascii_upper(char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c & ~0x20) : c;
}
// Of ASCII letters; other bytes have no case here.
inline bool equal_ignoring_case(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, {}, ascii_lower, ascii_lower);
}

// A piece as the table sees it.
struct Probe {
    std::uint64_t head;
    std::uint64_t tail;
    std::uint32_t size;
    std::uint64_t hash;
};

struct KeyEntry {
    std::uint64_t head = 0;
    std::uint64_t tail = 0;
    std::uint32_t size = 0;  // 0: an empty slot
    std::uint32_t node = 0;
    std::uint32_t value = 0;
    std::uint32_t next_node = 0;  // 0: no longer key goes on from here
};

class KeyIndex {
  public:
    static constexpr std::uint32_t kNoValue = 0xFFFFFFFFU;
    // What hashes are made with.
    static constexpr std::uint64_t kHeadFactor = 0x9E3779B97F4A7C15ULL;
    static constexpr std::uint64_t kTailFactor = 0xC2B2AE3D27D4EB4FULL;
    static constexpr std::uint64_t kPairFactor = 0xA0761D6478BD642FULL;

    explicit KeyIndex(bool ignore_case = false) : ignore_case_(ignore_case) { rehash(16); }

    // The entry of a piece at a node, made if there was none. Valid until the next one is made.
    KeyEntry& entry(std::uint32_t node, std::string_view piece);
    std::uint32_t new_node() { return ++last_node_; }
    // Call once, when all keys are in.
    void build_filter();
    // Calls visit(entry, hash) for all pieces at the root.
    template <typename Visit>
    void for_each_first(Visit&& visit) const {
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            const KeyEntry& entry = entries_[i];
            if (entry.size == 0 || entry.node != 0) continue;
            visit(entry, probe({text_.data() + text_begin_[i], entry.size}).hash);
        }
    }

    bool ignore_case() const { return ignore_case_; }
    std::size_t size() const { return n_entries_; }

    // At least 8 bytes must be readable at `from`; size >= 1.
    Probe probe_wide(const char* from, std::size_t size) const {
        return ignore_case_ ? make_probe<true>(from, size) : make_probe<false>(from, size);
    }
    // For loops that know whether case counts.
    template <bool ignores_case>
    static Probe make_probe(const char* from, std::size_t size) {
        const std::size_t beyond = size > 8 ? size - 8 : 0;
        const std::uint64_t kept = ~std::uint64_t{0} >> (8 * (8 - (size - beyond)));
        std::uint64_t head = load8(from) & kept;
        std::uint64_t tail = load8(from + beyond) & kept;
        if constexpr (ignores_case) {
            head = ascii_lower8(head);
            tail = ascii_lower8(tail);
        }
        const std::uint64_t hash = (head + size) * kHeadFactor + tail * kTailFactor;
        return {head, tail, static_cast<std::uint32_t>(size), hash};
    }
    // Reads nothing but the piece.
    Probe probe(std::string_view piece) const {
        if (piece.size() >= 8) return probe_wide(piece.data(), piece.size());
        char bytes[8] = {};
        std::memcpy(bytes, piece.data(), piece.size());
        return probe_wide(bytes, piece.size());
    }
    // Of the pieces told of, nearly all others are not let through: two bits a piece in one 64-bit
    // word, at least 10 bits a piece in all, so 3% slip through and 20,000 pieces take 32 KiB.
    class Filter {
      public:
        explicit Filter(std::size_t n_pieces = 0);
        void add(std::uint64_t hash) { words_[hash >> shift_] |= bits_of(hash); }
        bool may_hold(std::uint64_t hash) const { return view().may_hold(hash); }
        // For loops that keep it in registers.
        struct View {
            const std::uint64_t* words;
            int shift;
            bool may_hold(std::uint64_t hash) const {
                return (~words[hash >> shift] & bits_of(hash)) == 0;
            }
        };
        View view() const { return {words_.data(), shift_}; }

      private:
        static std::uint64_t bits_of(std::uint64_t hash) {
            return (std::uint64_t{1} << ((hash >> 32) & 63)) |
                   (std::uint64_t{1} << ((hash >> 38) & 63));
        }
        std::vector<std::uint64_t> words_;
        int shift_;
    };
    static std::uint64_t pair_hash(std::uint64_t first, std::uint64_t second) {
        return first * kPairFactor + second;
    }
    // Whether a piece at the root may be a key.
    bool may_hold(const Probe& probe) const { return filter_.may_hold(probe.hash); }

    const KeyEntry* find(const Probe& probe, const char* piece, std::uint32_t node = 0) const {
        for (std::size_t at = slot_of(probe.hash, node);; at = (at + 1) & mask_) {
            const KeyEntry& entry = entries_[at];
            if (entry.size == 0) return nullptr;
            if (is_entry_of(entry, probe, node) && (probe.size <= 16 || same_middle(at, piece))) {
                return &entry;
            }
        }
    }
    // What the first two slots tell of a piece at the root, without a branch: nearly always all.
    struct TwoSlots {
        const KeyEntry* entry;  // where it stands, if it was found
        std::uint32_t found;    // 0 or 1, like
        std::uint32_t unsure;   // ask find()
    };
    // For loops that keep it in registers.
    struct View {
        const KeyEntry* entries;
        std::size_t mask;

        void prefetch(std::uint64_t hash) const {
#if defined(__GNUC__) || defined(__clang__)
            __builtin_prefetch(entries + (mixed(hash) & mask));
#else
            (void)hash;
#endif
        }
        TwoSlots find_in_two_slots(const Probe& probe) const {
            const std::size_t at = mixed(probe.hash);
            const KeyEntry* first = entries + (at & mask);
            const KeyEntry* second = entries + ((at + 1) & mask);
            const std::uint32_t is_first = is_entry_of(*first, probe, 0) ? 1 : 0;
            const std::uint32_t found = is_first | (is_entry_of(*second, probe, 0) ? 1U : 0U);
            const std::uint32_t is_open =
                (first->size == 0 ? 1U : 0U) | (second->size == 0 ? 1U : 0U);
            const std::uint32_t is_long = probe.size > 16 ? 1 : 0;
            return {is_first != 0 ? first : second, found,
                    (found & is_long) | ((found | is_open) ^ 1)};
        }
    };
    View view() const { return {entries_.data(), mask_}; }
    const KeyEntry* find(std::string_view piece, std::uint32_t node = 0) const {
        return piece.empty() ? nullptr : find(probe(piece), piece.data(), node);
    }

  private:
    // The filter takes the hash's high bits as they are; the table mixes once more.
    std::size_t slot_of(std::uint64_t hash, std::uint32_t node) const {
        return mixed(hash + node * kPairFactor) & mask_;
    }
    static std::size_t mixed(std::uint64_t hash) {
        hash ^= hash >> 32;
        return static_cast<std::size_t>((hash * 0xD6E8FEB86659FD93ULL) >> 32);
    }
    // As far as 16 bytes tell.
    static bool is_entry_of(const KeyEntry& entry, const Probe& probe, std::uint32_t node) {
        return ((entry.head ^ probe.head) | (entry.tail ^ probe.tail) | (entry.size ^ probe.size) |
                (entry.node ^ node)) == 0;
    }
    bool same_middle(std::size_t at, const char* piece) const;
    void rehash(std::size_t capacity);

    bool ignore_case_;
    std::vector<KeyEntry> entries_;
    std::vector<std::uint64_t> text_begin_;  // of each slot's key in text_, for long keys
    std::string text_;
    std::size_t mask_ = 0;
    std::size_t n_entries_ = 0;
    std::uint32_t last_node_ = 0;
    Filter filter_;
};

}  // namespace ietest::text

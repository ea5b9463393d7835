#include "ietest/text/word_boundaries.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "../intrinsics.hpp"
#include "ietest/text/utf8.hpp"

namespace ietest::text {
namespace {

enum class CharClass : std::uint8_t {
    other,
    letter,
    digit,
    underscore,
    joins_letters,  // :
    joins_digits,   // , ;
    joins_both,     // . '
    space,
    carriage_return,
    line_break,
    extends,  // belongs to the character before it: combining marks, joiners, format characters
};

struct CodeRange {
    std::uint32_t first;
    std::uint32_t last;
    CharClass char_class;
};

// Beyond ASCII every character is a letter except these. Scripts that Annex 29 does not put into
// words (ideographs, hiragana, Thai, ...), symbols and punctuation stand alone.
constexpr std::array kRanges = {
    CodeRange{0x80, 0xA9, CharClass::other},
    CodeRange{0xAB, 0xAC, CharClass::other},
    CodeRange{0xAD, 0xAD, CharClass::extends},
    CodeRange{0xAE, 0xB4, CharClass::other},
    CodeRange{0xB6, 0xB6, CharClass::other},
    CodeRange{0xB7, 0xB7, CharClass::joins_letters},
    CodeRange{0xB8, 0xB9, CharClass::other},
    CodeRange{0xBB, 0xBF, CharClass::other},
    CodeRange{0xD7, 0xD7, CharClass::other},
    CodeRange{0xF7, 0xF7, CharClass::other},
    CodeRange{0x300, 0x36F, CharClass::extends},
    CodeRange{0x37E, 0x37E, CharClass::joins_digits},
    CodeRange{0xE00, 0xEFF, CharClass::other},
    CodeRange{0x1000, 0x109F, CharClass::other},
    CodeRange{0x1780, 0x17FF, CharClass::other},
    CodeRange{0x2000, 0x200B, CharClass::other},
    CodeRange{0x200C, 0x200F, CharClass::extends},
    CodeRange{0x2010, 0x2017, CharClass::other},
    CodeRange{0x2018, 0x2019, CharClass::joins_both},
    CodeRange{0x201A, 0x2023, CharClass::other},
    CodeRange{0x2024, 0x2024, CharClass::joins_both},
    CodeRange{0x2025, 0x2026, CharClass::other},
    CodeRange{0x2027, 0x2027, CharClass::joins_letters},
    CodeRange{0x2028, 0x2029, CharClass::line_break},
    CodeRange{0x202A, 0x202E, CharClass::extends},
    CodeRange{0x202F, 0x202F, CharClass::underscore},
    CodeRange{0x2030, 0x203E, CharClass::other},
    CodeRange{0x203F, 0x2040, CharClass::underscore},
    CodeRange{0x2041, 0x205F, CharClass::other},
    CodeRange{0x2060, 0x2064, CharClass::extends},
    CodeRange{0x2065, 0x2070, CharClass::other},
    CodeRange{0x2072, 0x207E, CharClass::other},
    CodeRange{0x2080, 0x208F, CharClass::other},
    CodeRange{0x20A0, 0x20CF, CharClass::other},
    CodeRange{0x20D0, 0x20FF, CharClass::extends},
    CodeRange{0x2190, 0x24B5, CharClass::other},
    CodeRange{0x24EA, 0x2BFF, CharClass::other},
    CodeRange{0x2E00, 0x3004, CharClass::other},
    CodeRange{0x3006, 0x303A, CharClass::other},
    CodeRange{0x303D, 0x30A0, CharClass::other},
    CodeRange{0x3190, 0x319F, CharClass::other},
    CodeRange{0x31C0, 0x31EF, CharClass::other},
    CodeRange{0x3200, 0x9FFF, CharClass::other},
    CodeRange{0xE000, 0xFAFF, CharClass::other},
    CodeRange{0xFE00, 0xFE0F, CharClass::extends},
    CodeRange{0xFE10, 0xFE1F, CharClass::other},
    CodeRange{0xFE20, 0xFE2F, CharClass::extends},
    CodeRange{0xFE30, 0xFE6F, CharClass::other},
    CodeRange{0xFEFF, 0xFEFF, CharClass::extends},
    CodeRange{0xFF01, 0xFF0F, CharClass::other},
    CodeRange{0xFF10, 0xFF19, CharClass::digit},
    CodeRange{0xFF1A, 0xFF20, CharClass::other},
    CodeRange{0xFF3B, 0xFF3E, CharClass::other},
    CodeRange{0xFF3F, 0xFF3F, CharClass::underscore},
    CodeRange{0xFF40, 0xFF40, CharClass::other},
    CodeRange{0xFF5B, 0xFF65, CharClass::other},
    CodeRange{0xFFE0, 0xFFFF, CharClass::other},
    CodeRange{0x1F000, 0x1F3FA, CharClass::other},
    CodeRange{0x1F3FB, 0x1F3FF, CharClass::extends},
    CodeRange{0x1F400, 0x1FFFF, CharClass::other},
    CodeRange{0x20000, 0x3FFFF, CharClass::other},
    CodeRange{0xE0000, 0xE0FFF, CharClass::extends},
    CodeRange{0xF0000, 0xFFFFFFFF, CharClass::other},
};

constexpr CharClass ascii_class_of(std::uint32_t c) {
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') return CharClass::letter;
    if (c >= '0' && c <= '9') return CharClass::digit;
    switch (c) {
        case '_':
            return CharClass::underscore;
        case ':':
            return CharClass::joins_letters;
        case ',':
        case ';':
            return CharClass::joins_digits;
        case '.':
        case '\'':
            return CharClass::joins_both;
        case ' ':
            return CharClass::space;
        case '\r':
            return CharClass::carriage_return;
        case '\n':
        case 0x0B:
        case 0x0C:
            return CharClass::line_break;
        default:
            return CharClass::other;
    }
}

constexpr std::array<CharClass, 128> kAscii = [] {
    std::array<CharClass, 128> table{};
    for (std::uint32_t c = 0; c < 128; ++c) table[c] = ascii_class_of(c);
    return table;
}();

CharClass class_of(std::uint32_t code) {
    if (code < 0x80) return kAscii[code];
    if (code == 0x85) return CharClass::line_break;
    const auto* range = std::lower_bound(
        kRanges.begin(), kRanges.end(), code,
        [](const CodeRange& candidate, std::uint32_t c) { return candidate.last < c; });
    if (range != kRanges.end() && range->first <= code) return range->char_class;
    return CharClass::letter;
}

bool is_word_class(CharClass c) {
    return c == CharClass::letter || c == CharClass::digit || c == CharClass::underscore;
}

struct Char {
    CharClass char_class;
    std::size_t end;
};

Char char_at(std::string_view text, std::size_t at) {
    const CodePoint code = code_point_at(text, at);
    return {class_of(code.value), at + code.n_bytes};
}

std::size_t skip_extending(std::string_view text, std::size_t at) {
    while (at < text.size()) {
        const Char c = char_at(text, at);
        if (c.char_class != CharClass::extends) break;
        at = c.end;
    }
    return at;
}

std::size_t word_end(std::string_view text, CharClass last, std::size_t at) {
    for (;;) {
        at = skip_extending(text, at);
        if (at >= text.size()) return at;
        const Char here = char_at(text, at);
        if (is_word_class(here.char_class)) {
            last = here.char_class;
            at = here.end;
            continue;
        }
        const bool between_letters =
            last == CharClass::letter && (here.char_class == CharClass::joins_letters ||
                                          here.char_class == CharClass::joins_both);
        const bool between_digits =
            last == CharClass::digit && (here.char_class == CharClass::joins_digits ||
                                         here.char_class == CharClass::joins_both);
        if (!between_letters && !between_digits) return at;
        const std::size_t beyond = skip_extending(text, here.end);
        if (beyond >= text.size()) return at;
        const Char next = char_at(text, beyond);
        const bool joined = (between_letters && next.char_class == CharClass::letter) ||
                            (between_digits && next.char_class == CharClass::digit);
        if (!joined) return at;
        last = next.char_class;
        at = next.end;
    }
}

// ---- 64 bytes at a time ---------------------------------------------------------------------

constexpr std::array<std::uint8_t, 256> kBlockClass = [] {
    // Bits: 1 letter, 2 digit, 4 word, 8 joins letters, 16 joins digits, 32 beyond ASCII.
    std::array<std::uint8_t, 256> table{};
    for (std::uint32_t c = 0; c < 256; ++c) {
        if (c >= 128) {
            table[c] = 32;
            continue;
        }
        switch (ascii_class_of(c)) {
            case CharClass::letter:
                table[c] = 1 | 4;
                break;
            case CharClass::digit:
                table[c] = 2 | 4;
                break;
            case CharClass::underscore:
                table[c] = 4;
                break;
            case CharClass::joins_letters:
                table[c] = 8;
                break;
            case CharClass::joins_digits:
                table[c] = 16;
                break;
            case CharClass::joins_both:
                table[c] = 8 | 16;
                break;
            default:
                break;
        }
    }
    return table;
}();

void classify_portable(const char* bytes, BlockMasks* masks) {
    BlockMasks result;
    for (std::uint32_t i = 0; i < 64; ++i) {
        const std::uint64_t c = kBlockClass[static_cast<unsigned char>(bytes[i])];
        result.letter |= (c & 1) << i;
        result.digit |= ((c >> 1) & 1) << i;
        result.word |= ((c >> 2) & 1) << i;
        result.joins_letters |= ((c >> 3) & 1) << i;
        result.joins_digits |= ((c >> 4) & 1) << i;
        result.beyond_ascii |= ((c >> 5) & 1) << i;
    }
    *masks = result;
}

#if defined(IETEST_X86)
// There are signed comparisons only: shift a range of n values down to [-128, -128 + n).
void classify_sse2(const char* bytes, BlockMasks* masks) {
    BlockMasks result;
    for (int part = 0; part < 4; ++part) {
        const __m128i c = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 16 * part));
        const auto is = [&](char value) { return _mm_cmpeq_epi8(c, _mm_set1_epi8(value)); };
        const auto bits = [part](__m128i mask) {
            return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(mask)))
                   << (16 * part);
        };
        const __m128i folded = _mm_or_si128(c, _mm_set1_epi8(0x20));
        const __m128i letter =
            _mm_cmplt_epi8(_mm_add_epi8(folded, _mm_set1_epi8(static_cast<char>(0x80 - 'a'))),
                           _mm_set1_epi8(static_cast<char>(-128 + 26)));
        const __m128i digit =
            _mm_cmplt_epi8(_mm_add_epi8(c, _mm_set1_epi8(static_cast<char>(0x80 - '0'))),
                           _mm_set1_epi8(static_cast<char>(-128 + 10)));
        const __m128i both = _mm_or_si128(is('.'), is('\''));
        result.letter |= bits(letter);
        result.digit |= bits(digit);
        result.word |= bits(_mm_or_si128(_mm_or_si128(letter, digit), is('_')));
        result.joins_letters |= bits(_mm_or_si128(both, is(':')));
        result.joins_digits |= bits(_mm_or_si128(both, _mm_or_si128(is(','), is(';'))));
        result.beyond_ascii |= bits(c);
    }
    *masks = result;
}
#endif

#if defined(IETEST_AVX2)
IETEST_TARGET_AVX2 std::uint64_t bits_avx2(__m256i mask, int part) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm256_movemask_epi8(mask)))
           << (32 * part);
}

IETEST_TARGET_AVX2 void classify_avx2(const char* bytes, BlockMasks* masks) {
    BlockMasks result;
    for (int part = 0; part < 2; ++part) {
        const __m256i c = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + 32 * part));
        const __m256i folded = _mm256_or_si256(c, _mm256_set1_epi8(0x20));
        const __m256i letter = _mm256_cmpgt_epi8(
            _mm256_set1_epi8(static_cast<char>(-128 + 26)),
            _mm256_add_epi8(folded, _mm256_set1_epi8(static_cast<char>(0x80 - 'a'))));
        const __m256i digit =
            _mm256_cmpgt_epi8(_mm256_set1_epi8(static_cast<char>(-128 + 10)),
                              _mm256_add_epi8(c, _mm256_set1_epi8(static_cast<char>(0x80 - '0'))));
        const __m256i underscore = _mm256_cmpeq_epi8(c, _mm256_set1_epi8('_'));
        const __m256i both = _mm256_or_si256(_mm256_cmpeq_epi8(c, _mm256_set1_epi8('.')),
                                             _mm256_cmpeq_epi8(c, _mm256_set1_epi8('\'')));
        const __m256i colon = _mm256_cmpeq_epi8(c, _mm256_set1_epi8(':'));
        const __m256i comma = _mm256_or_si256(_mm256_cmpeq_epi8(c, _mm256_set1_epi8(',')),
                                              _mm256_cmpeq_epi8(c, _mm256_set1_epi8(';')));
        result.letter |= bits_avx2(letter, part);
        result.digit |= bits_avx2(digit, part);
        result.word |= bits_avx2(_mm256_or_si256(_mm256_or_si256(letter, digit), underscore), part);
        result.joins_letters |= bits_avx2(_mm256_or_si256(both, colon), part);
        result.joins_digits |= bits_avx2(_mm256_or_si256(both, comma), part);
        result.beyond_ascii |= bits_avx2(c, part);
    }
    *masks = result;
}
#endif

// ---- From bits to positions -----------------------------------------------------------------

// Behind the last position this many more may be written.
constexpr std::size_t kListSlack = 16;

// Appends the positions of set bits; how many there are in 64 bytes cannot be foretold, that there
// are more than 8 and at most 16 can.
IETEST_ALWAYS_INLINE std::uint32_t* list_bits(std::uint64_t bits, std::uint32_t offset,
                                              std::uint32_t* out) {
    std::uint32_t* const end = out + std::popcount(bits);
    const auto eight = [&] {
        for (int i = 0; i < 8; ++i) {
            *out++ = offset + static_cast<std::uint32_t>(std::countr_zero(bits));
            bits &= bits - 1;
        }
    };
    eight();
    while (out < end) eight();
    return end;
}

struct BlockBits {
    const std::uint64_t* words;
    const std::uint64_t* row_begins;
    std::size_t n_blocks;  // there is one more, empty but for the end of the last row
};

template <std::uint32_t* (*list)(std::uint64_t, std::uint32_t, std::uint32_t*)>
IETEST_ALWAYS_INLINE std::size_t list_words_anyhow(const BlockBits& blocks, std::uint32_t* begins,
                                                   std::uint32_t* ends) {
    const std::uint32_t* const first = begins;
    std::uint64_t carry = 0;
    for (std::size_t block = 0; block <= blocks.n_blocks; ++block) {
        const std::uint64_t words = blocks.words[block];
        const std::uint64_t rows = blocks.row_begins[block];
        const std::uint64_t shifted = (words << 1) | carry;
        carry = words >> 63;
        const auto offset = static_cast<std::uint32_t>(64 * block);
        begins = list(words & (~shifted | rows), offset, begins);
        ends = list(shifted & (~words | rows), offset, ends);
    }
    return static_cast<std::size_t>(begins - first);
}

std::size_t list_words(const BlockBits& blocks, std::uint32_t* begins, std::uint32_t* ends) {
    return list_words_anyhow<list_bits>(blocks, begins, ends);
}

#if defined(IETEST_AVX2)
IETEST_TARGET_AVX2 std::size_t list_words_avx2(const BlockBits& blocks, std::uint32_t* begins,
                                               std::uint32_t* ends) {
    return list_words_anyhow<list_bits>(blocks, begins, ends);
}
#endif

#if defined(IETEST_AVX512)
// The same as list_bits.
IETEST_TARGET_AVX512 inline std::uint32_t* list_bits_avx512(std::uint64_t bits,
                                                            std::uint32_t offset,
                                                            std::uint32_t* out) {
    alignas(64) static constexpr std::array<std::uint8_t, 64> kPositions = [] {
        std::array<std::uint8_t, 64> positions{};
        for (std::uint8_t i = 0; i < 64; ++i) positions[i] = i;
        return positions;
    }();
    std::uint32_t* const end = out + _mm_popcnt_u64(bits);
    __m512i positions = _mm512_maskz_compress_epi8(bits, _mm512_load_si512(kPositions.data()));
    const auto sixteen = [&]() IETEST_TARGET_AVX512 {
        const __m512i listed = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(positions));
        _mm512_storeu_si512(out,
                            _mm512_add_epi32(listed, _mm512_set1_epi32(static_cast<int>(offset))));
        out += 16;
    };
    sixteen();
    while (out < end) {
        positions = _mm512_alignr_epi64(_mm512_setzero_si512(), positions, 2);
        sixteen();
    }
    return end;
}

IETEST_TARGET_AVX512 std::size_t list_words_avx512(const BlockBits& blocks, std::uint32_t* begins,
                                                   std::uint32_t* ends) {
    return list_words_anyhow<list_bits_avx512>(blocks, begins, ends);
}
#endif

using ListWords = std::size_t (*)(const BlockBits&, std::uint32_t*, std::uint32_t*);

ListWords word_lister(Instructions instructions) {
    switch (instructions) {
#if defined(IETEST_AVX512)
        case Instructions::avx512:
            return list_words_avx512;
#endif
#if defined(IETEST_AVX2)
        case Instructions::avx2:
            return list_words_avx2;
#endif
        default:
            return list_words;
    }
}

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

bool is_available(Instructions instructions) {
    switch (instructions) {
        case Instructions::portable:
            return true;
        case Instructions::sse2:
#if defined(IETEST_X86)
            return true;
#else
            return false;
#endif
        case Instructions::avx2:
            return has_avx2();
        case Instructions::avx512:
            return has_avx512();
    }
    return false;
}

Instructions best_instructions() {
    for (const Instructions candidate :
         {Instructions::avx512, Instructions::avx2, Instructions::sse2}) {
        if (is_available(candidate)) return candidate;
    }
    return Instructions::portable;
}

ClassifyBlock classifier(Instructions instructions) {
    if (!is_available(instructions)) {
        throw std::invalid_argument("this processor has no such instructions");
    }
    switch (instructions) {
#if defined(IETEST_AVX2)
        case Instructions::avx512:
        case Instructions::avx2:
            return classify_avx2;
#endif
#if defined(IETEST_X86)
        case Instructions::sse2:
            return classify_sse2;
#endif
        default:
            return classify_portable;
    }
}

bool is_word_character(std::uint32_t code) {
    const CharClass c = class_of(code);
    return is_word_class(c) || c == CharClass::extends;
}

Segment next_segment(std::string_view text, std::size_t begin) {
    const Char first = char_at(text, begin);
    switch (first.char_class) {
        case CharClass::letter:
        case CharClass::digit:
        case CharClass::underscore:
            return {word_end(text, first.char_class, first.end), true};
        case CharClass::space: {
            std::size_t end = first.end;
            while (end < text.size() && text[end] == ' ') ++end;
            return {skip_extending(text, end), false};
        }
        case CharClass::carriage_return:
            return {first.end + (first.end < text.size() && text[first.end] == '\n' ? 1 : 0),
                    false};
        case CharClass::line_break:
            return {first.end, false};
        default:
            return {skip_extending(text, first.end), false};
    }
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
    const std::size_t n_blocks = (text.size() + 63) / 64;
    is_word_.resize(n_blocks + 1);
    beyond_ascii_.resize(n_blocks + 1);
    const auto classify = [&](std::size_t block, BlockMasks* masks) {
        const std::size_t begin = 64 * block;
        if (begin + 64 <= text.size()) {
            classify_(text.data() + begin, masks);
        } else if (begin < text.size()) {
            // The last bytes, from a copy: what stands behind them may not be ours to read.
            std::array<char, 64> padded{};
            std::memcpy(padded.data(), text.data() + begin, text.size() - begin);
            classify_(padded.data(), masks);
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
    n_words_ = word_lister(instructions_)(bits, begins, ends);
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

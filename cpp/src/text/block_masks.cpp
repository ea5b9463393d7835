#include "block_masks.hpp"

#include <array>

#include "../intrinsics.hpp"
#include "char_classes.hpp"

namespace ietest::text {
namespace {

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

}  // namespace

ClassifyBlock classifier(InstructionSet instruction_set) {
    switch (instruction_set) {
#if defined(IETEST_AVX2)
        case InstructionSet::avx512:
        case InstructionSet::avx2:
            return classify_avx2;
#endif
#if defined(IETEST_X86)
        case InstructionSet::sse2:
            return classify_sse2;
#endif
        default:
            return classify_portable;
    }
}

}  // namespace ietest::text

#include "word_lists.hpp"

#include <array>
#include <bit>

#include "../intrinsics.hpp"

namespace ietest::text {
namespace {

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

}  // namespace

ListWords word_lister(InstructionSet instruction_set) {
    switch (instruction_set) {
#if defined(IETEST_AVX512)
        case InstructionSet::avx512:
            return list_words_avx512;
#endif
#if defined(IETEST_AVX2)
        case InstructionSet::avx2:
            return list_words_avx2;
#endif
        default:
            return list_words;
    }
}

}  // namespace ietest::text

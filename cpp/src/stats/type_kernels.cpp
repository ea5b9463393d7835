#include "type_kernels.hpp"

#include "../intrinsics.hpp"

namespace ietest::stats::kernels {
namespace {

using random::Block;
using random::Key;

void fill_blocks_portable(Key key, std::uint64_t first, std::uint64_t replicate,
                          std::uint64_t stream, std::uint64_t* words, std::size_t n_blocks) {
    for (std::size_t b = 0; b < n_blocks; ++b) {
        const Block block = random::philox({first + b, replicate, stream, 0}, key);
        for (std::size_t w = 0; w < 4; ++w) words[4 * b + w] = block[w];
    }
}

std::int64_t count_portable_from(std::size_t begin, const std::uint8_t* bytes, std::size_t n,
                                 const ByteLaw& law, std::int8_t* numbers,
                                 std::int8_t* signed_numbers, std::uint32_t* escapes,
                                 std::size_t* n_escapes) {
    const std::uint8_t escape = law.first[law.n_outcomes - 1];
    std::int64_t total = 0;
    std::size_t found = *n_escapes;
    for (std::size_t i = begin; i < n; ++i) {
        const std::uint8_t byte = bytes[i];
        numbers[i] = law.number[byte];
        signed_numbers[i] = law.signed_number[byte];
        total += numbers[i];
        escapes[found] = static_cast<std::uint32_t>(i);
        found += byte >= escape;
    }
    *n_escapes = found;
    return total;
}

std::int64_t count_portable(const std::uint8_t* bytes, std::size_t n, const ByteLaw& law,
                            std::int8_t* numbers, std::int8_t* signed_numbers,
                            std::uint32_t* escapes, std::size_t* n_escapes) {
    *n_escapes = 0;
    return count_portable_from(0, bytes, n, law, numbers, signed_numbers, escapes, n_escapes);
}

void add_products_from(std::size_t begin, const std::int8_t* numbers,
                       const std::int8_t* signed_numbers, const double* values,
                       const double* squares, std::size_t n, Lanes& lanes) {
    for (std::size_t i = begin; i < n; ++i) {
        lanes.sum[i % kLanes] += static_cast<double>(signed_numbers[i]) * values[i];
        lanes.squares[i % kLanes] += static_cast<double>(numbers[i]) * squares[i];
    }
}

void add_products_portable(const std::int8_t* numbers, const std::int8_t* signed_numbers,
                           const double* values, const double* squares, std::size_t n,
                           Lanes& lanes) {
    Lanes local = lanes;  // the compiler need not fear that values alias it
    std::size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        for (std::size_t j = 0; j < kLanes; ++j) {
            local.sum[j] += static_cast<double>(signed_numbers[i + j]) * values[i + j];
        }
        for (std::size_t j = 0; j < kLanes; ++j) {
            local.squares[j] += static_cast<double>(numbers[i + j]) * squares[i + j];
        }
    }
    lanes = local;
    add_products_from(i, numbers, signed_numbers, values, squares, n, lanes);
}

#if defined(IETEST_AVX2)

// Writes the positions of the bits set, first + 0 and on, and gives the new number of positions.
// How many there are cannot be foreseen, so four are written in any case: no branch to miss.
IETEST_TARGET_AVX2 inline std::size_t note_escapes(std::uint64_t bits, std::size_t first,
                                                   std::uint32_t* escapes, std::size_t found) {
    const auto base = static_cast<std::uint32_t>(first);
    const auto n_bits = static_cast<std::size_t>(__builtin_popcountll(bits));
    std::uint32_t* out = escapes + found;
    for (std::size_t e = 0; e < 4; ++e) {
        out[e] = base + static_cast<std::uint32_t>(_tzcnt_u64(bits));
        bits &= bits - 1;
    }
    for (std::size_t e = 4; e < n_bits; ++e) {
        out[e] = base + static_cast<std::uint32_t>(_tzcnt_u64(bits));
        bits &= bits - 1;
    }
    return found + n_bits;
}

IETEST_TARGET_AVX2 std::int64_t count_avx2(const std::uint8_t* bytes, std::size_t n,
                                           const ByteLaw& law, std::int8_t* numbers,
                                           std::int8_t* signed_numbers, std::uint32_t* escapes,
                                           std::size_t* n_escapes) {
    const auto escape = _mm256_set1_epi8(static_cast<char>(law.first[law.n_outcomes - 1]));
    __m256i first[ByteLaw::kMax];
    for (std::size_t j = 1; j < law.n_outcomes; ++j) {
        first[j] = _mm256_set1_epi8(static_cast<char>(law.first[j]));
    }
    const __m256i number_table = _mm256_broadcastsi128_si256(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(law.outcome_number.data())));
    const __m256i signed_table = _mm256_broadcastsi128_si256(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(law.outcome_signed.data())));
    __m256i total = _mm256_setzero_si256();
    std::size_t found = 0;
    std::size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        const __m256i byte = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + i));
        __m256i outcome = _mm256_setzero_si256();  // how many of the others it lies beyond
        for (std::size_t j = 1; j < law.n_outcomes; ++j) {
            outcome =
                _mm256_sub_epi8(outcome, _mm256_cmpeq_epi8(_mm256_max_epu8(byte, first[j]), byte));
        }
        const __m256i number = _mm256_shuffle_epi8(number_table, outcome);
        const __m256i signed_number = _mm256_shuffle_epi8(signed_table, outcome);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(numbers + i), number);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(signed_numbers + i), signed_number);
        total = _mm256_add_epi64(total, _mm256_sad_epu8(number, _mm256_setzero_si256()));
        auto escaped = static_cast<std::uint32_t>(
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(byte, escape), byte)));
        found = note_escapes(escaped, i, escapes, found);
    }
    alignas(32) std::int64_t parts[4];
    _mm256_store_si256(reinterpret_cast<__m256i*>(parts), total);
    *n_escapes = found;
    return parts[0] + parts[1] + parts[2] + parts[3] +
           count_portable_from(i, bytes, n, law, numbers, signed_numbers, escapes, n_escapes);
}

IETEST_TARGET_AVX2 inline __m256d four_doubles(const std::int8_t* bytes) {
    int packed;
    __builtin_memcpy(&packed, bytes, 4);
    return _mm256_cvtepi32_pd(_mm_cvtepi8_epi32(_mm_cvtsi32_si128(packed)));
}

IETEST_TARGET_AVX2 void add_products_avx2(const std::int8_t* numbers,
                                          const std::int8_t* signed_numbers, const double* values,
                                          const double* squares, std::size_t n, Lanes& lanes) {
    constexpr std::size_t kVectors = kLanes / 4;
    __m256d sum[kVectors], square[kVectors];
    for (std::size_t h = 0; h < kVectors; ++h) {
        sum[h] = _mm256_load_pd(lanes.sum + 4 * h);
        square[h] = _mm256_load_pd(lanes.squares + 4 * h);
    }
    std::size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        for (std::size_t h = 0; h < kVectors; ++h) {
            const std::size_t at = i + 4 * h;
            sum[h] = _mm256_add_pd(sum[h], _mm256_mul_pd(four_doubles(signed_numbers + at),
                                                         _mm256_loadu_pd(values + at)));
            square[h] = _mm256_add_pd(square[h], _mm256_mul_pd(four_doubles(numbers + at),
                                                               _mm256_loadu_pd(squares + at)));
        }
    }
    for (std::size_t h = 0; h < kVectors; ++h) {
        _mm256_store_pd(lanes.sum + 4 * h, sum[h]);
        _mm256_store_pd(lanes.squares + 4 * h, square[h]);
    }
    add_products_from(i, numbers, signed_numbers, values, squares, n, lanes);
}

// High and low words of a * multiplier in eight lanes, from 32-bit products.
IETEST_TARGET_AVX512 inline void multiply_512(__m512i a, std::uint64_t multiplier, __m512i& high,
                                              __m512i& low) {
    const __m512i m_low = _mm512_set1_epi64(static_cast<long long>(multiplier & 0xFFFFFFFFu));
    const __m512i m_high = _mm512_set1_epi64(static_cast<long long>(multiplier >> 32));
    const __m512i a_high = _mm512_srli_epi64(a, 32);
    const __m512i low_low = _mm512_mul_epu32(a, m_low);
    const __m512i low_high = _mm512_mul_epu32(a, m_high);
    const __m512i high_low = _mm512_mul_epu32(a_high, m_low);
    const __m512i high_high = _mm512_mul_epu32(a_high, m_high);
    const __m512i middle = _mm512_add_epi64(low_high, _mm512_srli_epi64(low_low, 32));
    const __m512i carried = _mm512_add_epi64(high_low, _mm512_maskz_mov_epi32(0x5555, middle));
    high = _mm512_add_epi64(_mm512_add_epi64(high_high, _mm512_srli_epi64(middle, 32)),
                            _mm512_srli_epi64(carried, 32));
    low = _mm512_mask_mov_epi32(_mm512_slli_epi64(carried, 32), 0x5555, low_low);
}

IETEST_TARGET_AVX512 inline __m512i broadcast(std::uint64_t x) {
    return _mm512_set1_epi64(static_cast<long long>(x));
}

// 128 bits of a and of b in turns, from their lower or upper halves.
IETEST_TARGET_AVX512 inline __m512i join_lower(__m512i a, __m512i b) {
    return _mm512_permutex2var_epi64(a, _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0), b);
}

IETEST_TARGET_AVX512 inline __m512i join_upper(__m512i a, __m512i b) {
    return _mm512_permutex2var_epi64(a, _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4), b);
}

IETEST_TARGET_AVX512 void fill_blocks_avx512(Key key, std::uint64_t first, std::uint64_t replicate,
                                             std::uint64_t stream, std::uint64_t* words,
                                             std::size_t n_blocks) {
    const __m512i steps = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    std::size_t b = 0;
    for (; b + 16 <= n_blocks; b += 16) {
        __m512i c0[2], c1[2], c2[2], c3[2];
        for (std::size_t h = 0; h < 2; ++h) {
            c0[h] = _mm512_add_epi64(broadcast(first + b + 8 * h), steps);
            c1[h] = broadcast(replicate);
            c2[h] = broadcast(stream);
            c3[h] = _mm512_setzero_si512();
        }
        std::uint64_t key0 = key[0];
        std::uint64_t key1 = key[1];
        for (int round = 0; round < 10; ++round) {
            const __m512i k0 = broadcast(key0);
            const __m512i k1 = broadcast(key1);
            for (std::size_t h = 0; h < 2; ++h) {
                __m512i high0, low0, high1, low1;
                multiply_512(c0[h], random::kMultiplier0, high0, low0);
                multiply_512(c2[h], random::kMultiplier1, high1, low1);
                c0[h] = _mm512_ternarylogic_epi64(high1, c1[h], k0, 0x96);
                c1[h] = low1;
                c2[h] = _mm512_ternarylogic_epi64(high0, c3[h], k1, 0x96);
                c3[h] = low0;
            }
            key0 += random::kWeyl0;
            key1 += random::kWeyl1;
        }
        // From four vectors of eight to eight blocks of four.
        for (std::size_t h = 0; h < 2; ++h) {
            const __m512i low01 = _mm512_unpacklo_epi64(c0[h], c1[h]);   // blocks 0 2 4 6
            const __m512i high01 = _mm512_unpackhi_epi64(c0[h], c1[h]);  // blocks 1 3 5 7
            const __m512i low23 = _mm512_unpacklo_epi64(c2[h], c3[h]);
            const __m512i high23 = _mm512_unpackhi_epi64(c2[h], c3[h]);
            std::uint64_t* out = words + 4 * (b + 8 * h);
            const __m512i halves[2][2] = {
                {join_lower(low01, low23), join_upper(low01, low23)},       // 0 2 and 4 6
                {join_lower(high01, high23), join_upper(high01, high23)}};  // 1 3 and 5 7
            const __m512i firsts = _mm512_set_epi64(11, 10, 9, 8, 3, 2, 1, 0);
            const __m512i seconds = _mm512_set_epi64(15, 14, 13, 12, 7, 6, 5, 4);
            for (std::size_t q = 0; q < 2; ++q) {
                _mm512_storeu_si512(out + 16 * q,
                                    _mm512_permutex2var_epi64(halves[0][q], firsts, halves[1][q]));
                _mm512_storeu_si512(out + 16 * q + 8,
                                    _mm512_permutex2var_epi64(halves[0][q], seconds, halves[1][q]));
            }
        }
    }
    fill_blocks_portable(key, first + b, replicate, stream, words + 4 * b, n_blocks - b);
}

// The entries of a table of 256 bytes.
IETEST_TARGET_AVX512 inline __m512i look_up(const __m512i (&table)[4], __m512i byte) {
    const __m512i lower = _mm512_permutex2var_epi8(table[0], byte, table[1]);
    const __m512i upper = _mm512_permutex2var_epi8(table[2], byte, table[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(byte), lower, upper);
}

IETEST_TARGET_AVX512 std::int64_t count_avx512(const std::uint8_t* bytes, std::size_t n,
                                               const ByteLaw& law, std::int8_t* numbers,
                                               std::int8_t* signed_numbers, std::uint32_t* escapes,
                                               std::size_t* n_escapes) {
    __m512i number_table[4], signed_table[4];
    for (std::size_t q = 0; q < 4; ++q) {
        number_table[q] = _mm512_loadu_si512(law.number.data() + 64 * q);
        signed_table[q] = _mm512_loadu_si512(law.signed_number.data() + 64 * q);
    }
    const __m512i escape = broadcast(law.first[law.n_outcomes - 1] * 0x0101010101010101ULL);
    __m512i total = _mm512_setzero_si512();
    std::size_t found = 0;
    std::size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        const __m512i byte = _mm512_loadu_si512(bytes + i);
        const __m512i number = look_up(number_table, byte);
        _mm512_storeu_si512(numbers + i, number);
        _mm512_storeu_si512(signed_numbers + i, look_up(signed_table, byte));
        total = _mm512_add_epi64(total, _mm512_sad_epu8(number, _mm512_setzero_si512()));
        found = note_escapes(_mm512_cmpge_epu8_mask(byte, escape), i, escapes, found);
    }
    alignas(64) std::int64_t parts[8];
    _mm512_store_si512(parts, total);
    std::int64_t sum = 0;
    for (const std::int64_t part : parts) sum += part;
    *n_escapes = found;
    return sum + count_portable_from(i, bytes, n, law, numbers, signed_numbers, escapes, n_escapes);
}

IETEST_TARGET_AVX512 inline __m512d eight_doubles(const std::int8_t* bytes) {
    return _mm512_cvtepi64_pd(
        _mm512_cvtepi8_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes))));
}

IETEST_TARGET_AVX512 void add_products_avx512(const std::int8_t* numbers,
                                              const std::int8_t* signed_numbers,
                                              const double* values, const double* squares,
                                              std::size_t n, Lanes& lanes) {
    constexpr std::size_t kVectors = kLanes / 8;
    __m512d sum[kVectors], square[kVectors];
    for (std::size_t h = 0; h < kVectors; ++h) {
        sum[h] = _mm512_load_pd(lanes.sum + 8 * h);
        square[h] = _mm512_load_pd(lanes.squares + 8 * h);
    }
    std::size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        for (std::size_t h = 0; h < kVectors; ++h) {
            const std::size_t at = i + 8 * h;
            sum[h] = _mm512_add_pd(sum[h], _mm512_mul_pd(eight_doubles(signed_numbers + at),
                                                         _mm512_loadu_pd(values + at)));
            square[h] = _mm512_add_pd(square[h], _mm512_mul_pd(eight_doubles(numbers + at),
                                                               _mm512_loadu_pd(squares + at)));
        }
    }
    for (std::size_t h = 0; h < kVectors; ++h) {
        _mm512_store_pd(lanes.sum + 8 * h, sum[h]);
        _mm512_store_pd(lanes.squares + 8 * h, square[h]);
    }
    add_products_from(i, numbers, signed_numbers, values, squares, n, lanes);
}

#endif

constexpr Kernels kPortable{fill_blocks_portable, count_portable, add_products_portable};
#if defined(IETEST_AVX2)
constexpr Kernels kAvx2{fill_blocks_portable, count_avx2, add_products_avx2};
constexpr Kernels kAvx512{fill_blocks_avx512, count_avx512, add_products_avx512};
#endif

}  // namespace

const Kernels& kernels_for(InstructionSet instruction_set) {
    require(instruction_set);
#if defined(IETEST_AVX2)
    if (instruction_set == InstructionSet::avx512) return kAvx512;
    if (instruction_set == InstructionSet::avx2) return kAvx2;
#endif
    return kPortable;
}

}  // namespace ietest::stats::kernels

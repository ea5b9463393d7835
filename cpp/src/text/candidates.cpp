#include "candidates.hpp"

#include <cstring>

#include "../intrinsics.hpp"

namespace ietest::text {
namespace {

// Writes the candidates from word `first` on behind those there are, and gives their number.
// Without branches: whether a word is one cannot be foretold.
template <bool ignores_case, bool has_pairs>
IETEST_ALWAYS_INLINE std::size_t find_from(std::size_t first, std::size_t n_found, const char* text,
                                           const std::uint32_t* begins, const std::uint32_t* ends,
                                           std::size_t n_words, const CandidateFilters& filters,
                                           const Candidates& out) {
    if (first >= n_words) return n_found;
    const auto probe_of = [&](std::size_t word) {
        return KeyIndex::make_probe<ignores_case>(text + begins[word], ends[word] - begins[word]);
    };
    Probe probe = probe_of(first);
    for (std::size_t word = first; word < n_words; ++word) {
        // Of the last word there is no next; its own hash will do.
        const Probe next = probe_of(word + 1 < n_words ? word + 1 : word);
        std::uint8_t may_go_on = 0;
        if constexpr (has_pairs) {
            may_go_on = filters.pairs.may_hold(KeyIndex::pair_hash(probe.hash, next.hash)) ? 1 : 0;
        }
        out.set(n_found, probe, word, may_go_on);
        n_found += (filters.words.may_hold(probe.hash) ? 1U : 0U) | may_go_on;
        probe = next;
    }
    return n_found;
}

template <bool ignores_case, bool has_pairs>
std::size_t find_portable(const char* text, const std::uint32_t* begins, const std::uint32_t* ends,
                          std::size_t n_words, const CandidateFilters& filters,
                          const Candidates& out) {
    return find_from<ignores_case, has_pairs>(0, 0, text, begins, ends, n_words, filters, out);
}

#if defined(IETEST_AVX2)
template <bool ignores_case, bool has_pairs>
IETEST_TARGET_AVX2 std::size_t find_avx2(const char* text, const std::uint32_t* begins,
                                         const std::uint32_t* ends, std::size_t n_words,
                                         const CandidateFilters& filters, const Candidates& out) {
    return find_from<ignores_case, has_pairs>(0, 0, text, begins, ends, n_words, filters, out);
}
#endif

#if defined(IETEST_AVX512)

// Eight words, as KeyIndex::make_probe sees them.
struct Probes8 {
    __m512i heads, tails, hashes;
};

IETEST_TARGET_AVX512 IETEST_ALWAYS_INLINE __m512i lower8(__m512i bytes) {
    const __m512i from_a = _mm512_sub_epi8(bytes, _mm512_set1_epi8('A'));
    const __mmask64 is_upper = _mm512_cmplt_epu8_mask(from_a, _mm512_set1_epi8(26));
    return _mm512_mask_add_epi8(bytes, is_upper, bytes, _mm512_set1_epi8(0x20));
}

template <bool ignores_case>
IETEST_TARGET_AVX512 IETEST_ALWAYS_INLINE Probes8 probe8(const char* text,
                                                         const std::uint32_t* begins,
                                                         const std::uint32_t* ends) {
    const __m512i eight = _mm512_set1_epi64(8);
    const __m512i begin =
        _mm512_cvtepu32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(begins)));
    const __m512i end =
        _mm512_cvtepu32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(ends)));
    const __m512i size = _mm512_sub_epi64(end, begin);
    const __m512i beyond = _mm512_sub_epi64(_mm512_max_epu64(size, eight), eight);
    const __m512i lacking =
        _mm512_slli_epi64(_mm512_sub_epi64(eight, _mm512_min_epu64(size, eight)), 3);
    const __m512i kept = _mm512_srlv_epi64(_mm512_set1_epi64(-1), lacking);
    __m512i head = _mm512_i64gather_epi64(begin, text, 1);
    __m512i tail = _mm512_i64gather_epi64(_mm512_add_epi64(begin, beyond), text, 1);
    head = _mm512_and_si512(head, kept);
    tail = _mm512_and_si512(tail, kept);
    if constexpr (ignores_case) {
        head = lower8(head);
        tail = lower8(tail);
    }
    const __m512i hash = _mm512_add_epi64(
        _mm512_mullo_epi64(_mm512_add_epi64(head, size),
                           _mm512_set1_epi64(static_cast<long long>(KeyIndex::kHeadFactor))),
        _mm512_mullo_epi64(tail, _mm512_set1_epi64(static_cast<long long>(KeyIndex::kTailFactor))));
    return {head, tail, hash};
}

IETEST_TARGET_AVX512 IETEST_ALWAYS_INLINE __mmask8 may_hold8(const KeyIndex::Filter::View& filter,
                                                             __m512i hashes) {
    const __m512i words = _mm512_i64gather_epi64(
        _mm512_srl_epi64(hashes, _mm_cvtsi32_si128(filter.shift)), filter.words, 8);
    const __m512i one = _mm512_set1_epi64(1);
    // Rotating by a count takes it modulo 64.
    const __m512i bits = _mm512_or_si512(_mm512_rolv_epi64(one, _mm512_srli_epi64(hashes, 32)),
                                         _mm512_rolv_epi64(one, _mm512_srli_epi64(hashes, 38)));
    const __m512i missing = _mm512_andnot_si512(words, bits);
    return _mm512_testn_epi64_mask(missing, missing);
}

template <bool ignores_case, bool has_pairs>
IETEST_TARGET_AVX512 std::size_t find_avx512(const char* text, const std::uint32_t* begins,
                                             const std::uint32_t* ends, std::size_t n_words,
                                             const CandidateFilters& filters,
                                             const Candidates& out) {
    constexpr std::size_t kWidth = 8;
    std::size_t n_found = 0;
    std::size_t word = 0;
    if (n_words >= 2 * kWidth) {
        Probes8 probes = probe8<ignores_case>(text, begins, ends);
        __m256i numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        // The next eight words are needed for the hash of the one behind the eighth.
        for (; word + 2 * kWidth <= n_words; word += kWidth) {
            const Probes8 next =
                probe8<ignores_case>(text, begins + word + kWidth, ends + word + kWidth);
            __mmask8 goes_on = 0;
            if constexpr (has_pairs) {
                const __m512i shifted = _mm512_alignr_epi64(next.hashes, probes.hashes, 1);
                const __m512i pairs = _mm512_add_epi64(
                    _mm512_mullo_epi64(probes.hashes, _mm512_set1_epi64(static_cast<long long>(
                                                          KeyIndex::kPairFactor))),
                    shifted);
                goes_on = may_hold8(filters.pairs, pairs);
            }
            const auto found =
                static_cast<__mmask8>(may_hold8(filters.words, probes.hashes) | goes_on);
            _mm512_storeu_si512(out.heads + n_found,
                                _mm512_maskz_compress_epi64(found, probes.heads));
            _mm512_storeu_si512(out.tails + n_found,
                                _mm512_maskz_compress_epi64(found, probes.tails));
            _mm512_storeu_si512(out.hashes + n_found,
                                _mm512_maskz_compress_epi64(found, probes.hashes));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(out.words + n_found),
                                _mm256_maskz_compress_epi32(found, numbers));
            const std::uint64_t flags = _pdep_u64(_pext_u32(goes_on, found), 0x0101010101010101ULL);
            std::memcpy(out.may_go_on + n_found, &flags, kWidth);
            n_found += static_cast<std::size_t>(_mm_popcnt_u32(found));
            numbers = _mm256_add_epi32(numbers, _mm256_set1_epi32(kWidth));
            probes = next;
        }
    }
    return find_from<ignores_case, has_pairs>(word, n_found, text, begins, ends, n_words, filters,
                                              out);
}

#endif

template <bool ignores_case, bool has_pairs>
FindCandidates candidate_finder_for(InstructionSet instruction_set) {
#if defined(IETEST_AVX512)
    if (instruction_set == InstructionSet::avx512) return find_avx512<ignores_case, has_pairs>;
#endif
#if defined(IETEST_AVX2)
    if (instruction_set == InstructionSet::avx2) return find_avx2<ignores_case, has_pairs>;
#endif
    (void)instruction_set;
    return find_portable<ignores_case, has_pairs>;
}

}  // namespace

FindCandidates candidate_finder(InstructionSet instruction_set, bool ignores_case, bool has_pairs) {
    if (ignores_case) {
        return has_pairs ? candidate_finder_for<true, true>(instruction_set)
                         : candidate_finder_for<true, false>(instruction_set);
    }
    return has_pairs ? candidate_finder_for<false, true>(instruction_set)
                     : candidate_finder_for<false, false>(instruction_set);
}

}  // namespace ietest::text

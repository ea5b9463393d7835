// Word n-grams as numbers of buckets: the hashing trick (Weinberger et al. 2009).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ietest/parallel.hpp"
#include "ietest/text/string_column.hpp"

namespace ietest::linear {

// MurmurHash3_x86_32 (Appleby) of some bytes, with seed 0.
std::uint32_t murmur3_32(std::string_view bytes);

// The bucket of a feature among 2^bits: the magnitude of the hash, read as a signed integer, modulo
// 2^bits. So does scikit-learn's HashingVectorizer.
std::int32_t bucket_of(std::string_view feature, int bits);

// Buckets of n texts: those of text i are buckets[offsets[i]] to buckets[offsets[i + 1]],
// ascending, each once.
struct HashedTexts {
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> buckets;
};

// Hashes every sequence of 1 to max_n consecutive words of each text. Words are separated by single
// blanks, and an n-gram is hashed with the blanks between its words. 1 <= bits <= 30.
HashedTexts hash_ngrams(const text::StringColumn& texts, int max_n, int bits,
                        const Execution& execution);

}  // namespace ietest::linear

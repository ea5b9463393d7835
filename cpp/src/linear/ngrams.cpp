#include "ietest/linear/ngrams.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

namespace ietest::linear {
namespace {

constexpr std::int64_t kTextsPerChunk = 1024;

std::uint32_t scramble(std::uint32_t block) {
    return std::rotl(block * 0xcc9e2d51U, 15) * 0x1b873593U;
}

std::uint32_t read_little_endian(const char* bytes) {
    std::uint32_t block;
    std::memcpy(&block, bytes, sizeof block);
    if constexpr (std::endian::native == std::endian::big) {
        block =
            (block >> 24) | ((block >> 8) & 0xff00U) | ((block << 8) & 0xff0000U) | (block << 24);
    }
    return block;
}

// Appends the buckets of one text, ascending and each once. `begins` is scratch.
void append_buckets(std::string_view text, int max_n, int bits, std::vector<std::size_t>& begins,
                    std::vector<std::int32_t>& buckets) {
    begins.clear();
    if (!text.empty()) begins.push_back(0);
    for (std::size_t at = text.find(' '); at != std::string_view::npos;
         at = text.find(' ', at + 1)) {
        begins.push_back(at + 1);
    }
    const std::size_t n_words = begins.size();
    begins.push_back(text.size() + 1);  // as if a blank stood behind the last word
    const std::size_t first = buckets.size();
    for (std::size_t i = 0; i < n_words; ++i) {
        const std::size_t longest = std::min(n_words, i + static_cast<std::size_t>(max_n));
        for (std::size_t end = i + 1; end <= longest; ++end) {
            const std::size_t n_bytes = begins[end] - 1 - begins[i];
            buckets.push_back(bucket_of(text.substr(begins[i], n_bytes), bits));
        }
    }
    const auto own = buckets.begin() + static_cast<std::ptrdiff_t>(first);
    std::sort(own, buckets.end());
    buckets.erase(std::unique(own, buckets.end()), buckets.end());
}

}  // namespace

std::uint32_t murmur3_32(std::string_view bytes) {
    std::uint32_t hash = 0;
    std::size_t at = 0;
    for (; at + 4 <= bytes.size(); at += 4) {
        hash = std::rotl(hash ^ scramble(read_little_endian(bytes.data() + at)), 13) * 5U +
               0xe6546b64U;
    }
    std::uint32_t tail = 0;
    for (std::size_t i = bytes.size(); i > at; --i) {
        tail = (tail << 8) | static_cast<unsigned char>(bytes[i - 1]);
    }
    if (at < bytes.size()) hash ^= scramble(tail);
    hash ^= static_cast<std::uint32_t>(bytes.size());
    hash = (hash ^ (hash >> 16)) * 0x85ebca6bU;
    hash = (hash ^ (hash >> 13)) * 0xc2b2ae35U;
    return hash ^ (hash >> 16);
}

std::int32_t bucket_of(std::string_view feature, int bits) {
    const std::uint32_t hash = murmur3_32(feature);
    const std::uint32_t magnitude = (hash >> 31) != 0 ? 0U - hash : hash;
    return static_cast<std::int32_t>(magnitude & ((std::uint32_t{1} << bits) - 1));
}

HashedTexts hash_ngrams(const text::StringColumn& texts, int max_n, int bits,
                        const Execution& execution) {
    if (max_n < 1) throw std::invalid_argument("max_n must be at least 1");
    if (bits < 1 || bits > 30) throw std::invalid_argument("bits must be 1 to 30");
    text::check_offsets(texts);
    const std::int64_t n_chunks = (texts.length + kTextsPerChunk - 1) / kTextsPerChunk;
    std::vector<std::vector<std::int32_t>> parts(static_cast<std::size_t>(n_chunks));
    HashedTexts hashed;
    hashed.offsets.assign(static_cast<std::size_t>(texts.length) + 1, 0);
    parallel_chunks(texts.length, kTextsPerChunk, execution, [&](Range range) {
        std::vector<std::int32_t>& own =
            parts[static_cast<std::size_t>(range.begin / kTextsPerChunk)];
        std::vector<std::size_t> begins;
        for (std::int64_t i = range.begin; i < range.end; ++i) {
            if (!texts.is_valid(i)) throw std::invalid_argument("a text is missing");
            const std::size_t before = own.size();
            append_buckets(texts[i], max_n, bits, begins, own);
            hashed.offsets[static_cast<std::size_t>(i) + 1] =
                static_cast<std::int64_t>(own.size() - before);
        }
    });
    for (std::size_t i = 1; i < hashed.offsets.size(); ++i) {
        hashed.offsets[i] += hashed.offsets[i - 1];
    }
    hashed.buckets.reserve(static_cast<std::size_t>(hashed.offsets.back()));
    for (const std::vector<std::int32_t>& part : parts) {
        hashed.buckets.insert(hashed.buckets.end(), part.begin(), part.end());
    }
    return hashed;
}

}  // namespace ietest::linear

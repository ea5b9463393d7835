#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "ietest/linear/ngrams.hpp"
#include "ietest/linear/softmax_regression.hpp"
#include "strings.hpp"

namespace linear = ietest::linear;

TEST_CASE("MurmurHash3 of known bytes") {
    // The published verification values of MurmurHash3_x86_32 with seed 0.
    CHECK(linear::murmur3_32("") == 0U);
    CHECK(linear::murmur3_32("test") == 0xba6bd213U);
    CHECK(linear::murmur3_32("Hello, world!") == 0xc0363e43U);
    CHECK(linear::murmur3_32("The quick brown fox jumps over the lazy dog") == 0x2e4ff723U);
}

TEST_CASE("n-grams of texts") {
    const ietest::Execution one{1};
    const ietest::text::Strings strings({"", "a", "a b c", "a a a"});
    const linear::HashedTexts found = linear::hash_ngrams(strings.view(), 2, 30, one);
    CHECK(found.offsets == std::vector<std::int64_t>{0, 0, 1, 6, 8});
    CHECK(found.buckets[0] == linear::bucket_of("a", 30));
    const std::vector<std::int32_t> last(found.buckets.begin() + 6, found.buckets.end());
    const std::int32_t word = linear::bucket_of("a", 30), pair = linear::bucket_of("a a", 30);
    CHECK(last == std::vector<std::int32_t>{std::min(word, pair), std::max(word, pair)});
    for (const int n_threads : {1, 2, 3, 7}) {
        CHECK(linear::hash_ngrams(strings.view(), 2, 30, {n_threads}).buckets == found.buckets);
    }
    CHECK_THROWS_AS(linear::hash_ngrams(strings.view(), 0, 30, one), std::invalid_argument);
    CHECK_THROWS_AS(linear::hash_ngrams(strings.view(), 1, 31, one), std::invalid_argument);
}

TEST_CASE("a softmax regression tells two words apart, and refuses what is not there") {
    const ietest::Execution one{1};
    const std::vector<std::int64_t> offsets{0, 1, 2};
    const std::vector<std::int32_t> columns{0, 1}, sizes{1, 1};
    const std::vector<std::int64_t> chosen{0, 1, 0, 1};
    const std::vector<std::int8_t> labels{0, 1, 0, 1};
    const linear::FeatureRows rows{offsets, columns, sizes, 2};
    linear::TrainingOptions options;
    options.epochs = 20;
    const linear::Weights found = linear::train_softmax(rows, chosen, labels, options, one);
    std::vector<float> scores(8);
    linear::score_rows(rows, chosen, 2, found.values, found.intercepts, one, scores);
    CHECK(scores[0] > scores[1]);
    CHECK(scores[2] < scores[3]);

    const std::vector<std::int64_t> beyond{0, 2};
    const std::vector<std::int8_t> two{0, 1}, wrong{0, 2};
    CHECK_THROWS_AS(linear::train_softmax(rows, beyond, two, options, one), std::out_of_range);
    const std::vector<std::int64_t> both{0, 1};
    CHECK_THROWS_AS(linear::train_softmax(rows, both, wrong, options, one), std::out_of_range);
    const linear::FeatureRows narrow{offsets, columns, sizes, 1};
    CHECK_THROWS_AS(linear::train_softmax(narrow, both, two, options, one), std::out_of_range);
    options.l2 = 1;
    CHECK_THROWS_AS(linear::train_softmax(rows, both, two, options, one), std::invalid_argument);
}

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "ietest/random/arrays.hpp"
#include "ietest/random/discrete.hpp"
#include "ietest/random/philox.hpp"

namespace {

using namespace ietest::random;

// numpy.random.Philox(key=[1, 2], counter=[0, 5, 3, 0]).random_raw(6), NumPy 2.4
TEST_CASE("words are those of NumPy's Philox") {
    const Key key{1, 2};
    const std::vector<std::uint64_t> expected{0x2e0702d88e446e90ULL, 0x9159f8fbd366b7fbULL,
                                              0x6e13f6184675f288ULL, 0xfa1288b3bdd897d2ULL,
                                              0xba3b96b76ddf22b5ULL, 0x98ba6d73fb0aed40ULL};
    WordStream words(key, 5, 3);
    for (const std::uint64_t word : expected) CHECK(words.next() == word);

    std::vector<std::uint64_t> filled(4);
    fill_words(key, {0, 5, 3, 0}, 2, filled.data(), filled.size());
    for (std::size_t i = 0; i < filled.size(); ++i) CHECK(filled[i] == expected[i + 2]);

    WordStream later(key, 5, 3, 3);
    CHECK(later.next() == expected[3]);
}

TEST_CASE("doubles lie in [0, 1)") {
    CHECK(unit_double(0) == 0);
    CHECK(unit_double(~std::uint64_t{0}) < 1);
}

double by_gamma_functions(std::int64_t x, std::int64_t n, double p) {
    const auto hits = static_cast<double>(x), misses = static_cast<double>(n - x);
    return std::lgamma(hits + misses + 1) - std::lgamma(hits + 1) - std::lgamma(misses + 1) +
           hits * std::log(p) + misses * std::log1p(-p);
}

TEST_CASE("binomial masses sum to one and hit the known values") {
    for (const std::int64_t n : {1, 7, 100, 3000}) {
        for (const double p : {1e-9, 0.02, 0.5, 0.93}) {
            double sum = 0;
            for (std::int64_t x = 0; x <= n; ++x) {
                const double log_mass = log_binomial_pmf(x, n, p, 1 - p);
                CHECK(log_mass == doctest::Approx(by_gamma_functions(x, n, p)).epsilon(1e-8));
                sum += std::exp(log_mass);
            }
            CHECK(sum == doctest::Approx(1).epsilon(1e-12));
        }
    }
    CHECK(std::exp(log_binomial_pmf(2, 4, 0.5, 0.5)) == doctest::Approx(0.375).epsilon(1e-14));
    CHECK(log_binomial_pmf(5, 4, 0.5, 0.5) == -INFINITY);
    CHECK(log_binomial_pmf(4, 4, 1, 0) == 0);
    CHECK(log_binomial_pmf(0, 4, 0, 1) == 0);
}

TEST_CASE("multinomial counts sum to n, also where nothing is left to share out") {
    WordStream words({3, 4}, 0, 0);
    const std::vector<double> law{0.25, 0.75, 0.0, 0.0};
    std::vector<std::int64_t> counts(4);
    for (int draw = 0; draw < 200; ++draw) {
        draw_multinomial(50, law, words, counts);
        CHECK(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) == 50);
        CHECK(counts[2] + counts[3] == 0);
    }
}

TEST_CASE("arrays hold the draws of their addresses, whatever the threads") {
    const Key key{1, 2};
    const Block counter{~std::uint64_t{0}, 5, 3, 0};  // carries into the second word
    const std::size_t size = 200'003;
    const std::vector<double> law{0.2, 0.3, 0.5};
    std::vector<std::uint64_t> words(size), expected_words(size);
    fill_words(key, counter, 0, expected_words.data(), size);
    for (const int n_threads : {1, 2, 3, 7}) {
        const ietest::Execution execution{n_threads, nullptr};
        draw_words(key, counter, execution, words);
        CHECK(words == expected_words);

        std::vector<double> uniforms(size);
        draw_uniforms(key, counter, execution, uniforms);
        bool same = true;
        for (std::size_t i = 0; i < size; ++i) same &= uniforms[i] == unit_double(words[i]);
        CHECK(same);

        std::vector<std::int64_t> counts(3 * 9001), expected(3);
        draw_multinomials(key, 9, 700, law, execution, counts);
        for (std::size_t r = 0; r < 9001; ++r) {
            WordStream own(key, r, 9);
            draw_multinomial(700, law, own, expected);
            same &= std::equal(expected.begin(), expected.end(),
                               counts.begin() + static_cast<std::ptrdiff_t>(3 * r));
        }
        CHECK(same);
    }
    std::vector<std::int64_t> odd(4);
    CHECK_THROWS(draw_multinomials(key, 0, 5, law, {}, odd));
    CHECK_THROWS(draw_multinomials(key, 0, 5, {}, {}, odd));
    CHECK_THROWS(BinomialSampler(-1, 0.5));
    CHECK_THROWS(BinomialSampler(5, 1.5));
    CHECK_THROWS(BinomialSampler(5, NAN));
}

TEST_CASE("a sampler for one draw draws what a sampler for many draws") {
    for (const std::int64_t n : {0, 3, 50, 1000, 1'000'000}) {
        for (const double p : {0.0, 1e-6, 0.03, 0.5, 0.9}) {
            WordStream a({5, 6}, 1, 2), b({5, 6}, 1, 2);
            const BinomialSampler often(n, p), once(n, p, BinomialSampler::Use::kOnce);
            bool same = true;
            for (int draw = 0; draw < 300; ++draw) same &= often(a) == once(b);
            CHECK(same);
        }
    }
}

TEST_CASE("an alias table gives each index its share") {
    const std::vector<double> weights{1, 0, 5, 2.5, 0.25, 1.25};
    const AliasTable table(weights);
    std::vector<double> drawn(weights.size(), 0);
    WordStream words({9, 9}, 1, 1);
    const int size = 400000;
    for (int i = 0; i < size; ++i) ++drawn[table(words.next())];
    CHECK(drawn[1] == 0);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const double share = weights[i] / 10;
        CHECK(std::abs(drawn[i] / size - share) <= 4.5 * std::sqrt(share * (1 - share) / size));
    }
    CHECK_THROWS(AliasTable(std::vector<double>{}));
    CHECK_THROWS(AliasTable(std::vector<double>{0, 0}));
}

}  // namespace

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ietest/stats/bootstrap.hpp"
#include "ietest/stats/exact_law.hpp"
#include "ietest/stats/paired_counts.hpp"

namespace {

using namespace ietest::stats;
using ietest::Execution;

TEST_CASE("t is 0 without discordant pairs and infinite where all point one way") {
    CHECK(paired_t(0, 0, 10) == 0);
    CHECK(paired_t(7, 7, 7) == std::numeric_limits<double>::infinity());
    CHECK(paired_t(-7, 7, 7) == -std::numeric_limits<double>::infinity());
    CHECK(paired_t(322, 906, 9824) == doctest::Approx(10.7605930775).epsilon(1e-11));
}

TEST_CASE("comparisons need no floating point") {
    CHECK(compare_t(2, 4, 3, 9) == 0);  // 2/sqrt(4) = 3/sqrt(9)
    CHECK(compare_t(-2, 4, -3, 9) == 0);
    CHECK(compare_t(0, 0, -1, 1) == 1);
    CHECK(compare_t(0, 0, 1, 1) == -1);
    CHECK(compare_t(0, 0, 0, 5) == 0);
    const std::int64_t big = kMaxPairs;
    CHECK(compare_t(big - 1, big, big, big) == -1);
    CHECK(compare_t(-big, big, 1 - big, big) == -1);
}

TEST_CASE("the tails of the smallest tables are right") {
    // n = 1: D* is +1 or -1.
    const ExactTails one = exact_tails({0, 1, 0, 0});
    CHECK(one.at_least == doctest::Approx(0.5));
    CHECK(one.above == 0);
    // n = 2, k = 1: K = 0, 1, 2 with 1/4, 1/2, 1/4; t* >= 1 needs D* = 1, K = 1 or D* = 2, K = 2.
    const ExactTails two = exact_tails({1, 1, 0, 0});
    CHECK(two.at_least == doctest::Approx(0.25 + 0.0625));
    CHECK(two.above == doctest::Approx(0.0625));
    CHECK(exact_p_values({5, 0, 0, 1}).equal_tailed == 1);
    CHECK(mcnemar_exact_p({0, 5, 0, 0}) == doctest::Approx(0.0625));
}

TEST_CASE("no table, however lopsided, gives anything but a probability") {
    for (const std::int64_t rest : {0, 1, 1000, 1000000}) {
        for (const std::int64_t n10 : {1, 2, 30, 5000, 400000}) {
            for (const std::int64_t n01 : {0, 1, 29, 5000, 400000}) {
                const ExactTails tails = exact_tails({rest, n10, n01, 0});
                CHECK(tails.at_least >= tails.above);
                CHECK(tails.above >= 0);
                CHECK(tails.at_least <= 1);
                const PValues p = exact_p_values({rest, n10, n01, 0});
                CHECK(p.equal_tailed >= 0);
                CHECK(p.equal_tailed <= 1);
            }
        }
    }
}

TEST_CASE("engines do not depend on the number of threads") {
    const PairedCounts table{500, 60, 40, 100};
    const PairedCounts wide{50000, 21000, 20500, 100};
    const std::vector<std::int8_t> differences = [] {
        std::vector<std::int8_t> d(700, 0);
        for (std::size_t i = 0; i < 100; ++i) d[i * 7] = i < 60 ? 1 : -1;
        return d;
    }();
    const auto same = [](const ReplicateCounts& a, const ReplicateCounts& b) {
        return a.at_most == b.at_most && a.at_least == b.at_least && a.beyond == b.beyond &&
               a.outside == b.outside && a.replicates == b.replicates;
    };
    const Execution serial{1, nullptr};
    for (const int n_threads : {2, 3, 7}) {
        const Execution execution{n_threads, nullptr};
        CHECK(same(multinomial_replicates(table, 3000001, {1, 2}, serial),
                   multinomial_replicates(table, 3000001, {1, 2}, execution)));
        CHECK(same(multinomial_replicates(wide, 50001, {1, 2}, serial),
                   multinomial_replicates(wide, 50001, {1, 2}, execution)));
        CHECK(same(resample_replicates(differences, 2001, {1, 2}, serial),
                   resample_replicates(differences, 2001, {1, 2}, execution)));
    }
}

TEST_CASE("bad arguments are refused") {
    CHECK_THROWS(exact_tails({0, 0, 0, 0}));
    CHECK_THROWS(exact_tails({-1, 2, 2, 2}));
    CHECK_THROWS(multinomial_replicates({1, 1, 1, 1}, 0, {0, 0}, {}));
    std::vector<double> short_by_one(9);
    CHECK_THROWS(multinomial_replicates({1, 1, 1, 1}, 10, {0, 0}, {}, short_by_one));
    const std::vector<std::int8_t> two{2};
    CHECK_THROWS(resample_replicates(two, 10, {0, 0}, {}));
}

}  // namespace

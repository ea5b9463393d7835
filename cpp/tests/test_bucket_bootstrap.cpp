#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "ietest/stats/bucket_bootstrap.hpp"

namespace {

using namespace ietest::stats;
using ietest::Execution;

// A table that owns its numbers: the first column is 1, the others are as given.
struct Owned {
    std::vector<double> values;
    std::vector<std::int64_t> weights;
    std::size_t n_columns;

    UnitTypeTable table() const { return {n_columns, values, weights}; }
};

// Types of one unit, of a few and of many; theta, theta (1 - theta) and a bucket each.
Owned make_types() {
    Owned owned{{}, {}, 3};
    const std::vector<std::int64_t> weights{1, 300, 1, 5, 60, 23, 24, 1};
    for (std::size_t u = 0; u < weights.size(); ++u) {
        const double theta = static_cast<double>(u) / 8;
        owned.values.insert(owned.values.end(), {theta, theta * (1 - theta), 1.0});
        owned.weights.push_back(weights[u]);
    }
    return owned;
}

std::vector<Measure> make_measures() {
    return {{.formula = Formula::kRatio, .columns = {0, 2}},
            {.formula = Formula::kBetween, .columns = {0, 1, 2}},
            {.formula = Formula::kLowerBound, .columns = {0, 2}},
            {.formula = Formula::kRatio,
             .columns = {0, 2},
             .is_difference = true,
             .subtracted = {1, 2}}};
}

TEST_CASE("measures are those of their formulas") {
    const std::vector<double> sums{3.0, 1.0, 6.0};
    const auto measures = make_measures();
    CHECK(value_of(measures[0], sums) == doctest::Approx(0.5));
    CHECK(value_of(measures[1], sums) == doctest::Approx(2.0 / 6 - 0.25));
    CHECK(value_of(measures[2], sums) == doctest::Approx(0.5));
    CHECK(value_of(measures[3], sums) == doctest::Approx(2.0 / 6));
    // theta (1 - theta), buckets, right answers, answers.
    const std::vector<double> shares{1.5, 10.0, 30.0, 40.0};
    const Measure share{.formula = Formula::kShare, .columns = {0, 1, 2, 3}};
    CHECK(value_of(share, shares) == doctest::Approx(0.15 / (0.75 * 0.25)));
    // theta 0.2, 0.5 and 0.8 with noise 0.1 in all.
    const std::vector<double> paired{1.5, 0.93, 0.1, 3.0, 0.3};
    const Measure between{.formula = Formula::kUnbiasedBetween, .columns = {0, 1, 2, 3, 4}};
    CHECK(value_of(between, paired) == doctest::Approx(0.09 - 0.1 / 3));
    const Measure unbiased{.formula = Formula::kUnbiasedShare, .columns = {0, 1, 2, 3, 4}};
    CHECK(value_of(unbiased, paired) == doctest::Approx(0.1 / (0.1 + 0.09 - 0.1 / 3)));
}

TEST_CASE("what is not defined is a NaN without a sign") {
    const std::vector<double> nothing(5, 0.0);
    for (std::int64_t formula = 0; formula <= kLastFormula; ++formula) {
        const double value = value_of(
            {.formula = static_cast<Formula>(formula), .columns = {0, 1, 2, 3, 4}}, nothing);
        CHECK(std::isnan(value));
        CHECK_FALSE(std::signbit(value));
    }
}

TEST_CASE("as many units are drawn as there are, and each as often as the others") {
    const Owned owned = make_types();
    const UnitSampler sampler(owned.table(), {3, 4});
    const auto n = std::accumulate(owned.weights.begin(), owned.weights.end(), std::int64_t{0});
    constexpr std::int64_t kReplicates = 20'000;
    std::vector<double> sums(3 * kReplicates);
    sampler.draw_all(kReplicates, Execution{1}, sums);
    double mean = 0, square = 0, total = 0, spread = 0;
    for (std::size_t u = 0; u < owned.weights.size(); ++u) {
        total += static_cast<double>(owned.weights[u]) * owned.values[3 * u];
    }
    for (std::size_t u = 0; u < owned.weights.size(); ++u) {
        spread += static_cast<double>(owned.weights[u]) *
                  std::pow(owned.values[3 * u] - total / static_cast<double>(n), 2);
    }
    for (std::size_t r = 0; r < kReplicates; ++r) {
        CHECK(sums[3 * r + 2] == static_cast<double>(n));
        mean += sums[3 * r] / kReplicates;
        square += std::pow(sums[3 * r] - total, 2) / kReplicates;
    }
    CHECK(std::abs(mean - total) < 4 * std::sqrt(spread / kReplicates));
    CHECK(square == doctest::Approx(spread).epsilon(0.05));
}

TEST_CASE("replicates do not depend on the number of threads") {
    const Owned owned = make_types();
    const UnitSampler sampler(owned.table(), {5, 6});
    std::vector<double> first(3 * 3000), other(3 * 3000);
    sampler.draw_all(3000, Execution{1}, first);
    const auto measures = make_measures();
    const std::vector<double> observed{0.2, 0.05, 0.6, 0.1};
    const std::vector<RankRequest> requests{{0, 75}, {1, 75}, {3, 2924}};
    BucketBootstrap alone(owned.table(), measures, 3000, {5, 6});
    const auto located = alone.locate(observed, Execution{1});
    const auto ends = alone.order_statistics(requests, Execution{1});
    for (const int n_threads : {2, 3, 7}) {
        sampler.draw_all(3000, Execution{n_threads}, other);
        CHECK(other == first);
        BucketBootstrap together(owned.table(), measures, 3000, {5, 6});
        const auto again = together.locate(observed, Execution{n_threads});
        for (std::size_t i = 0; i < measures.size(); ++i) {
            CHECK(again[i].below == located[i].below);
            CHECK(again[i].tied == located[i].tied);
            CHECK(again[i].defined == located[i].defined);
        }
        CHECK(together.order_statistics(requests, Execution{n_threads}) == ends);
    }
}

TEST_CASE("locations and order statistics are those of the replicates") {
    const Owned owned = make_types();
    const UnitSampler sampler(owned.table(), {7, 8});
    const auto measures = make_measures();
    std::vector<double> sums(3 * 1000);
    sampler.draw_all(1000, Execution{1}, sums);
    std::vector<double> means;
    for (std::size_t r = 0; r < 1000; ++r) {
        means.push_back(value_of(measures[0], std::span(sums).subspan(3 * r, 3)));
    }
    BucketBootstrap bootstrap(owned.table(), measures, 1000, {7, 8});
    const double middle = means[17];
    const auto located = bootstrap.locate(std::vector<double>{middle, 0.0, 0.0, 0.0}, Execution{1});
    const auto below = std::count_if(means.begin(), means.end(),
                                     [&](double mean) { return mean < middle - 1e-9; });
    const auto tied = std::count_if(means.begin(), means.end(),
                                    [&](double mean) { return std::abs(mean - middle) <= 1e-9; });
    CHECK(located[0].below == static_cast<std::uint64_t>(below));
    CHECK(located[0].tied == static_cast<std::uint64_t>(tied));
    CHECK(located[0].defined == 1000);
    std::sort(means.begin(), means.end());
    const std::vector<RankRequest> requests{{0, 0}, {0, 24}, {0, 999}};
    CHECK(bootstrap.order_statistics(requests, Execution{1}) ==
          std::vector<double>{means[0], means[24], means[999]});
}

TEST_CASE("impossible tables are refused") {
    Owned owned = make_types();
    const auto measures = make_measures();
    CHECK_THROWS(BucketBootstrap(owned.table(), measures, 0, {1, 2}));
    CHECK_THROWS(BucketBootstrap(owned.table(), {}, 9, {1, 2}));
    const std::vector<Measure> beyond{{.formula = Formula::kRatio, .columns = {0, 3}}};
    CHECK_THROWS(BucketBootstrap(owned.table(), beyond, 9, {1, 2}));
    const std::vector<Measure> unknown{{.formula = static_cast<Formula>(6)}};
    CHECK_THROWS(BucketBootstrap(owned.table(), unknown, 9, {1, 2}));
    owned.weights[2] = 0;
    CHECK_THROWS(UnitSampler(owned.table(), {1, 2}));
    owned = make_types();
    owned.values[0] = std::numeric_limits<double>::infinity();
    CHECK_THROWS(UnitSampler(owned.table(), {1, 2}));
    owned = make_types();
    owned.values.pop_back();
    CHECK_THROWS(UnitSampler(owned.table(), {1, 2}));
    CHECK_THROWS(UnitSampler({1, {}, {}}, {1, 2}));
}

}  // namespace

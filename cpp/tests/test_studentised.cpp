#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "ietest/stats/studentised.hpp"

namespace {

using namespace ietest::stats;
using ietest::Execution;
using ietest::InstructionSet;
using ietest::is_available;
using ietest::kInstructionSets;

constexpr double kInf = std::numeric_limits<double>::infinity();

// Units that own their numbers.
struct Owned {
    std::int64_t n_units;
    std::vector<double> values, excesses, sizes;

    UnitSample sample() const { return {n_units, values, excesses, sizes}; }
};

Owned pairs(std::int64_t n_units, std::size_t n_listed) {
    Owned owned{n_units, std::vector<double>(n_listed), {}, {}};
    for (std::size_t i = 0; i < n_listed; ++i) {
        owned.values[i] = std::exp(std::sin(1.7 * static_cast<double>(i) + 0.3));
    }
    const double mean = std::accumulate(owned.values.begin(), owned.values.end(), 0.0) /
                        static_cast<double>(std::max<std::size_t>(n_listed, 1));
    for (double& value : owned.values) value -= mean;
    return owned;
}

Owned clusters(std::size_t n) {
    Owned owned = pairs(static_cast<std::int64_t>(n), n);
    for (std::size_t i = 0; i < n; ++i) {
        owned.sizes.push_back(static_cast<double>(1 + i % 5));
        owned.excesses.push_back(0.25 * std::cos(static_cast<double>(i)));
    }
    return owned;
}

const std::vector<Owned>& samples() {
    static const std::vector<Owned> all{pairs(2, 2),     pairs(40, 40), pairs(5000, 5000),
                                        pairs(5000, 37), pairs(900, 0), clusters(3),
                                        clusters(700)};
    return all;
}

TEST_CASE("moments have the same bits for all instruction sets and numbers of threads") {
    for (const Owned& owned : samples()) {
        constexpr std::int64_t kReplicates = 300;
        const StudentisedSampler plain(owned.sample(), {3, 4}, InstructionSet::portable);
        std::vector<double> expected(kReplicates * plain.n_moments());
        plain.draw_all(kReplicates, {.n_threads = 1}, expected);
        for (const InstructionSet other : kInstructionSets) {
            if (!is_available(other)) continue;
            const StudentisedSampler fast(owned.sample(), {3, 4}, other);
            for (const int n_threads : {1, 2, 3, 7}) {
                std::vector<double> drawn(expected.size());
                fast.draw_all(kReplicates, {.n_threads = n_threads}, drawn);
                CHECK(drawn == expected);
            }
        }
    }
}

TEST_CASE("every listed pair is drawn as often as the others") {
    // With a single value of 1, sums count how often its pair is drawn.
    constexpr std::int64_t kReplicates = 4000;
    for (const std::size_t place : {std::size_t{0}, std::size_t{4}, std::size_t{9}}) {
        std::vector<double> values(10);
        values[place] = 1;
        const StudentisedSampler sampler({40, values, {}, {}}, {1, 2});
        std::vector<double> moments(kReplicates * kPairMoments);
        sampler.draw_all(kReplicates, {}, moments);
        double listed = 0;
        double hits = 0;
        for (std::int64_t r = 0; r < kReplicates; ++r) {
            listed += moments[static_cast<std::size_t>(3 * r)];
            hits += moments[static_cast<std::size_t>(3 * r + 1)];
        }
        // Binomial(40, 1/4) pairs with a difference; each tenth of them is the one.
        CHECK(listed / kReplicates == doctest::Approx(10).epsilon(0.02));
        CHECK(hits / kReplicates == doctest::Approx(1).epsilon(0.07));
    }
}

TEST_CASE("t of moments is t of the units") {
    const Owned owned = pairs(12, 7);
    const double shift = 0.3;
    // All seven drawn once, and five pairs without a difference.
    double squares = 0;
    double sum = 0;
    for (const double value : owned.values) {
        sum += value;
        squares += value * value;
    }
    const std::array<double, 3> moments{7, sum, squares};
    double total = 0;
    double spread = 0;
    const double mean = 7 * shift / 12;
    for (const double value : owned.values) {
        total += value + shift - mean;
        spread += (value + shift - mean) * (value + shift - mean);
    }
    total -= 5 * mean;
    spread += 5 * mean * mean;
    CHECK(total == doctest::Approx(0).epsilon(1e-12));
    const std::array<double, 3> more{
        9, sum + owned.values[0] + owned.values[3],
        squares + owned.values[0] * owned.values[0] + owned.values[3] * owned.values[3]};
    std::vector<double> drawn(owned.values);
    drawn.push_back(owned.values[0]);
    drawn.push_back(owned.values[3]);
    std::vector<double> all;
    for (const double value : drawn) all.push_back(value + shift);
    all.resize(12, 0.0);
    const double average = std::accumulate(all.begin(), all.end(), 0.0) / 12;
    double variance = 0;
    for (const double value : all) variance += (value - average) * (value - average) / 12;
    CHECK(studentised_t(more, 12, 7, shift) ==
          doctest::Approx(std::sqrt(12.0) * (average - mean) / std::sqrt(variance)));
    CHECK(studentised_t(moments, 12, 7, 0) ==
          doctest::Approx(sum / std::sqrt(squares - sum * sum / 12)));
}

TEST_CASE("samples without spread have an infinite t, and without a sum a t of 0") {
    const std::array<double, 3> equal{4, 2, 1};  // four times 0.5
    CHECK(studentised_t(equal, 4, 4, 0) == kInf);
    CHECK(studentised_t(std::array<double, 3>{4, -2, 1}, 4, 4, 0) == -kInf);
    CHECK(studentised_t(std::array<double, 3>{0, 0, 0}, 9, 3, 0) == 0);
    CHECK(studentised_t(std::array<double, 3>{0, 0, 0}, 9, 3, 0.5) == -kInf);
    CHECK(studentised_t(std::array<double, 3>{0, 0, 0}, 9, 3, -0.5) == kInf);
}

TEST_CASE("the range of t over shifts is that over a dense grid of them") {
    constexpr int kSteps = 4000;
    bool some_turn = false;
    for (const Owned& owned : {pairs(9, 4), pairs(400, 37), clusters(5), clusters(60)}) {
        const StudentisedSampler sampler(owned.sample(), {3, 4});
        const std::int64_t n = sampler.n_units(), k = sampler.n_listed();
        std::vector<double> drawn(sampler.n_moments());
        for (std::uint64_t r = 0; r < 200; ++r) {
            sampler.draw(r, drawn);
            const auto [lowest, highest] = studentised_t_range(drawn, n, k, 3.0, -2.0);
            double low = kInf, high = -kInf;
            for (int i = 0; i <= kSteps; ++i) {
                const double t = studentised_t(drawn, n, k, -2.0 + 5.0 * i / kSteps);
                low = std::min(low, t);
                high = std::max(high, t);
            }
            REQUIRE(lowest <= low);
            REQUIRE(highest >= high);
            if (std::isfinite(lowest)) REQUIRE(lowest == doctest::Approx(low).epsilon(1e-3));
            if (std::isfinite(highest)) REQUIRE(highest == doctest::Approx(high).epsilon(1e-3));
            const double first = studentised_t(drawn, n, k, -2.0);
            const double last = studentised_t(drawn, n, k, 3.0);
            some_turn |= highest > std::max(first, last) || lowest < std::min(first, last);
        }
    }
    CHECK(some_turn);
}

TEST_CASE("tails, quantiles and kept replicates agree") {
    for (const Owned& owned : samples()) {
        constexpr std::int64_t kReplicates = 2000;
        std::vector<double> kept(kReplicates);
        const std::vector<Hypothesis> hypotheses{{0, 0.5}, {0, kInf}, {0.1, -1}};
        const StudentisedReplicates one = studentised_replicates(
            owned.sample(), hypotheses, kReplicates, {5, 6}, {.n_threads = 1}, kept);
        for (const int n_threads : {2, 3, 7}) {
            const StudentisedReplicates other = studentised_replicates(
                owned.sample(), hypotheses, kReplicates, {5, 6}, {.n_threads = n_threads});
            CHECK(other.n_finite == one.n_finite);
            CHECK(other.mean == one.mean);
            CHECK(other.deviation == one.deviation);
            for (std::size_t i = 0; i < hypotheses.size(); ++i) {
                CHECK(other.tails[i].at_most == one.tails[i].at_most);
                CHECK(other.tails[i].at_least == one.tails[i].at_least);
            }
        }
        CHECK(one.tails[0].at_most ==
              static_cast<std::uint64_t>(
                  std::count_if(kept.begin(), kept.end(), [](double t) { return t <= 0.5; })));
        CHECK(one.tails[1].at_most == kReplicates);
        CHECK(std::none_of(kept.begin(), kept.end(), [](double t) { return std::isnan(t); }));
        std::sort(kept.begin(), kept.end());
        const std::vector<std::int64_t> ranks{0, 77, kReplicates - 1};
        const std::vector<double> found =
            studentised_order_statistics(owned.sample(), ranks, kReplicates, {5, 6}, {});
        for (std::size_t i = 0; i < ranks.size(); ++i) {
            CHECK(found[i] == kept[static_cast<std::size_t>(ranks[i])]);
        }
    }
}

TEST_CASE("what is no sample is refused") {
    const std::vector<double> ones(3, 1.0), zeros(3, 0.0), two(2, 1.0);
    const auto sampler = [](const UnitSample& sample) {
        return StudentisedSampler(sample, {1, 1});
    };
    CHECK_THROWS_AS(sampler({0, {}, {}, {}}), std::invalid_argument);
    CHECK_THROWS_AS(sampler({2, ones, {}, {}}), std::invalid_argument);
    CHECK_THROWS_AS(sampler({3, ones, two, ones}), std::invalid_argument);
    CHECK_THROWS_AS(sampler({3, ones, ones, zeros}), std::invalid_argument);
    CHECK_THROWS_AS(sampler({4, ones, ones, ones}), std::invalid_argument);
    const std::vector<double> infinite{kInf, 0};
    CHECK_THROWS_AS(sampler({2, infinite, {}, {}}), std::invalid_argument);
    const std::vector<Hypothesis> none{{0, std::nan("")}};
    CHECK_THROWS_AS(studentised_replicates({3, ones, {}, {}}, none, 5, {1, 1}, {}),
                    std::invalid_argument);
}

}  // namespace

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ietest/stats/joint.hpp"
#include "ietest/stats/replicates.hpp"
#include "ietest/stats/scores.hpp"
#include "ietest/stats/typed_sampler.hpp"

namespace {

using namespace ietest::stats;
using ietest::Execution;
using ietest::InstructionSet;
using ietest::is_available;
using ietest::kInstructionSets;

// A table that owns its numbers.
struct Owned {
    std::int64_t n_units;
    std::size_t n_columns;
    std::vector<double> values;
    std::vector<std::int64_t> weights;

    TypeTable table() const { return {n_units, n_columns, values, weights}; }
};

Owned make(std::size_t n_single, std::size_t n_multiple, std::int64_t n_zero,
           std::size_t n_columns = 1) {
    Owned owned{n_zero, n_columns, {}, {}};
    for (std::size_t u = 0; u < n_single + n_multiple; ++u) {
        owned.weights.push_back(u < n_single ? 1 : static_cast<std::int64_t>(2 + u % 50));
        owned.n_units += owned.weights.back();
    }
    for (std::size_t i = 0; i < n_columns * owned.weights.size(); ++i) {
        owned.values.push_back(std::sin(1.7 * static_cast<double>(i) + 0.3));
    }
    return owned;
}

const std::vector<Owned>& tables() {
    static const std::vector<Owned> all{
        make(3, 0, 0),    make(64, 0, 0),     make(5000, 0, 0),     make(0, 6, 0),
        make(0, 40, 900), make(333, 77, 500), make(9000, 5, 20, 3), make(10, 3000, 100)};
    return all;
}

TEST_CASE("all instruction sets give the same bits") {
    for (const Owned& owned : tables()) {
        for (const InstructionSet other : kInstructionSets) {
            if (!is_available(other)) continue;
            const TypedSampler plain(owned.table(), {3, 4}, InstructionSet::portable);
            const TypedSampler fast(owned.table(), {3, 4}, other);
            TypedSampler::Workspace plain_room, fast_room;
            std::vector<ColumnSums> a(owned.n_columns), b(owned.n_columns);
            for (std::uint64_t r = 0; r < 200; ++r) {
                plain.draw(r, plain_room, a);
                fast.draw(r, fast_room, b);
                for (std::size_t c = 0; c < owned.n_columns; ++c) {
                    REQUIRE(a[c].sum == b[c].sum);
                    REQUIRE(a[c].squares == b[c].squares);
                }
            }
        }
    }
}

TEST_CASE("all replicates at once are those drawn one by one") {
    const Owned owned = make(100, 30, 50, 3);
    const TypedSampler sampler(owned.table(), {3, 4});
    const std::int64_t n_replicates = 10 * sampler.chunk_size() + 1;
    std::vector<double> expected, drawn;
    TypedSampler::Workspace room;
    std::vector<ColumnSums> sums(owned.n_columns);
    for (std::int64_t r = 0; r < n_replicates; ++r) {
        sampler.draw(static_cast<std::uint64_t>(r), room, sums);
        for (const ColumnSums& column : sums) {
            expected.push_back(column.sum);
            expected.push_back(column.squares);
        }
    }
    for (const int n_threads : {1, 2, 3, 7}) {
        drawn.assign(expected.size(), -1);
        sampler.draw_all(n_replicates, {n_threads, nullptr}, drawn);
        CHECK(drawn == expected);
    }
    CHECK_THROWS(sampler.draw_all(n_replicates + 1, {}, drawn));
    CHECK_THROWS(sampler.draw_all(-1, {}, {}));
}

TEST_CASE("replicates have the moments of the law" * doctest::test_suite("one thread")) {
    constexpr int kReplicates = 20000;
    for (const Owned& owned : tables()) {
        double squares = 0;
        for (std::size_t u = 0; u < owned.weights.size(); ++u) {
            squares += static_cast<double>(owned.weights[u]) * owned.values[u] * owned.values[u];
        }
        const TypedSampler sampler(owned.table(), {1, 2});
        TypedSampler::Workspace room;
        std::vector<ColumnSums> sums(owned.n_columns);
        double mean = 0, variance = 0, mean_squares = 0;
        for (std::uint64_t r = 0; r < kReplicates; ++r) {
            sampler.draw(r, room, sums);
            mean += sums[0].sum / kReplicates;
            variance += sums[0].sum * sums[0].sum / kReplicates;
            mean_squares += sums[0].squares / kReplicates;
        }
        const double error = std::sqrt(squares / kReplicates);
        CHECK(std::abs(mean) < 4.5 * error);
        CHECK(variance == doctest::Approx(squares).epsilon(0.06));
        CHECK(mean_squares == doctest::Approx(squares).epsilon(0.02));
    }
}

TEST_CASE("the number of threads changes nothing") {
    const Owned owned = make(100, 30, 50);
    const ColumnSums observed{12, 90};
    std::vector<double> expected(20001), t(20001);
    const Execution serial{1, nullptr};
    const ScoreReplicates one =
        score_replicates(owned.table(), observed, false, 20001, {7, 8}, serial, expected);
    const Owned joint_table = make(50, 60, 10, 3);
    const std::vector<std::size_t> order{2, 0, 1};
    const std::vector<double> bounds(9, 1.5);
    const auto count = [&](const Execution& execution) {
        Replicates replicates(joint_table.table(), Quantity::both_sides, 20001, {7, 8});
        return joint_counts(replicates, order, bounds, execution);
    };
    const JointCounts joint_one = count(serial);
    for (const int n_threads : {2, 3, 7}) {
        const Execution execution{n_threads, nullptr};
        const ScoreReplicates other =
            score_replicates(owned.table(), observed, false, 20001, {7, 8}, execution, t);
        CHECK(t == expected);
        CHECK(other.counts.at_most == one.counts.at_most);
        CHECK(other.counts.at_least == one.counts.at_least);
        CHECK(other.counts.beyond == one.counts.beyond);
        CHECK(other.mean == one.mean);
        CHECK(other.deviation == one.deviation);
        const JointCounts joint = count(execution);
        CHECK(joint.marginal == joint_one.marginal);
        CHECK(joint.steps == joint_one.steps);
    }
}

// All replicates, as the sampler gives them, column by column and in order.
std::vector<std::vector<double>> sorted_columns(const Owned& owned, Quantity quantity,
                                                std::int64_t n_replicates) {
    const TypedSampler sampler(owned.table(), {5, 6});
    TypedSampler::Workspace room;
    std::vector<ColumnSums> sums(owned.n_columns);
    std::vector<std::vector<double>> columns(owned.n_columns);
    for (std::int64_t r = 0; r < n_replicates; ++r) {
        sampler.draw(static_cast<std::uint64_t>(r), room, sums);
        for (std::size_t c = 0; c < sums.size(); ++c) {
            columns[c].push_back(quantity_of(quantity, sums[c], owned.n_units));
        }
    }
    for (std::vector<double>& column : columns) std::sort(column.begin(), column.end());
    return columns;
}

TEST_CASE("order statistics are those of the sorted replicates") {
    struct Case {
        Owned owned;
        Quantity quantity;
        std::int64_t n_replicates;
    };
    // Few values with many ties; kept and collected; kept and counted first; too many to keep.
    const std::vector<Case> cases{{make(0, 3, 5), Quantity::t, 1'200'000},
                                  {make(4, 6, 2, 3), Quantity::both_sides, 1'000},
                                  {make(4, 6, 2, 3), Quantity::upper_side, 300'000},
                                  {make(4, 6, 2, 3), Quantity::lower_side, 800'000}};
    for (const auto& [owned, quantity, n_replicates] : cases) {
        const auto expected = sorted_columns(owned, quantity, n_replicates);
        std::vector<RankRequest> requests;
        for (std::size_t column = 0; column < owned.n_columns; ++column) {
            for (const std::int64_t rank :
                 {n_replicates / 2, std::int64_t{0}, n_replicates / 40, n_replicates - 1}) {
                requests.push_back({column, rank});
            }
        }
        Replicates replicates(owned.table(), quantity, n_replicates, {5, 6});
        // The second time from what is kept, where it is.
        for (int time = 0; time < 2; ++time) {
            const std::vector<double> found = replicates.order_statistics(requests, {});
            for (std::size_t i = 0; i < requests.size(); ++i) {
                const auto [column, rank] = requests[i];
                CHECK(found[i] == expected[column][static_cast<std::size_t>(rank)]);
            }
        }
    }
}

TEST_CASE("an order statistic of each rank for each of many columns") {
    const Owned owned = make(4, 6, 2, 40);
    const std::int64_t n_replicates = 30'000;
    const auto expected = sorted_columns(owned, Quantity::both_sides, n_replicates);
    std::vector<RankRequest> requests;
    for (std::size_t column = 0; column < owned.n_columns; ++column) {
        for (std::int64_t rank = 7; rank < n_replicates; rank += 750) {
            requests.push_back({column, rank});
        }
    }
    Replicates replicates(owned.table(), Quantity::both_sides, n_replicates, {5, 6});
    const std::vector<double> found = replicates.order_statistics(requests, {});
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const auto [column, rank] = requests[i];
        CHECK(found[i] == expected[column][static_cast<std::size_t>(rank)]);
    }
}

TEST_CASE("ties are found in spite of rounding") {
    // 0.1 + 0.2 - 0.3 and the like: one sum, several roundings.
    const ColumnSums a{0.1 + 0.2 + 0.3, 0.14};
    const ColumnSums b{0.3 + 0.2 + 0.1, 0.01 + 0.04 + 0.09};
    const TieBounds bounds = tie_bounds(a, false);
    CHECK(order_key(b) >= bounds.lowest);
    CHECK(order_key(b) <= bounds.highest);
    CHECK(std::abs(order_key(b)) >= bounds.beyond);
    const ColumnSums other{0.6 * (1 + 1e-7), 0.14};
    CHECK(order_key(other) > bounds.highest);
    const TieBounds exact = tie_bounds({2, 4}, true);
    CHECK(exact.lowest == 1);
    CHECK(exact.highest == 1);
    CHECK(order_key({3, 9}) == 1);  // 2/sqrt(4) = 3/sqrt(9)
    // A sample without any difference is reached by every replicate.
    CHECK(tie_bounds({0, 0}, true).beyond == 0);
    CHECK(order_key({0, 0}) == 0);
}

TEST_CASE("t of sums") {
    CHECK(t_of({0, 0}, 5) == 0);
    CHECK(t_of({5 * 0.3, 5 * 0.09}, 5) == std::numeric_limits<double>::infinity());
    CHECK(t_of({-4, 4}, 4) == -std::numeric_limits<double>::infinity());
    CHECK(t_of({322, 906}, 9824) == doctest::Approx(10.7605930775).epsilon(1e-11));
}

TEST_CASE("tables that are none are refused") {
    const std::vector<double> values{1, 2};
    const std::vector<std::int64_t> weights{1, 1};
    CHECK_THROWS(TypedSampler({0, 1, values, weights}, {0, 0}));
    CHECK_THROWS(TypedSampler({1, 1, values, weights}, {0, 0}));
    CHECK_THROWS(TypedSampler({5, 2, values, weights}, {0, 0}));
    CHECK_THROWS(TypedSampler({5, 0, {}, {}}, {0, 0}));
    const std::vector<std::int64_t> none{0, 1};
    CHECK_THROWS(TypedSampler({5, 1, values, none}, {0, 0}));
    const std::vector<double> infinite{1, std::numeric_limits<double>::infinity()};
    CHECK_THROWS(TypedSampler({5, 1, infinite, weights}, {0, 0}));
    const TypeTable good{5, 1, values, weights};
    CHECK_THROWS(score_replicates(good, {1, 1}, true, 0, {0, 0}, {}));
    const std::vector<RankRequest> beyond{{0, 10}};
    CHECK_THROWS(Replicates(good, Quantity::t, 0, {0, 0}));
    Replicates replicates(good, Quantity::both_sides, 10, {0, 0});
    CHECK_THROWS(replicates.order_statistics(beyond, {}));
    const std::vector<RankRequest> nowhere{{1, 0}};
    CHECK_THROWS(replicates.order_statistics(nowhere, {}));
    const std::vector<std::size_t> order{0};
    const std::vector<double> bounds{1};
    CHECK_THROWS(joint_counts(replicates, {}, bounds, {}));
    const std::vector<std::size_t> no_column{1};
    CHECK_THROWS(joint_counts(replicates, no_column, bounds, {}));
    CHECK_THROWS(side_bound({1, 1}, true, Quantity::t));
}

}  // namespace

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "ietest/stats/churn.hpp"

namespace {

using namespace ietest::stats;
using ietest::Execution;

// A table that owns its numbers.
struct Owned {
    std::vector<std::int64_t> sizes, counts, products;

    ChurnTypes types() const { return {sizes, counts, products}; }
};

// Types of several sizes, one of them too large to be listed.
Owned make_types() {
    Owned owned;
    for (const std::int64_t size : {2, 3, 5, 10, 12}) {
        owned.sizes.push_back(size);
        owned.counts.push_back(7 * size);
        for (std::int64_t i = 0; i < size * (size - 1) / 2; ++i) {
            owned.products.push_back((i * 5 + size) % 5 - 2);
        }
    }
    return owned;
}

TEST_CASE("all values of a type are listed") {
    const std::vector<std::int64_t> products{2, -1, 1};
    // Signs (+, s1, s2): 2 s1 - s2 + s1 s2, s1 being the low bit.
    CHECK(list_churn(products, 3) == std::vector<std::int64_t>{2, -4, 2, 0});
}

TEST_CASE("listed values have mean 0 and the squares' sum for their variance") {
    std::vector<std::int64_t> products;
    for (std::int64_t i = 0; i < 45; ++i) products.push_back(i % 7 - 3);
    const auto values = list_churn(products, 10);
    CHECK(values.size() == 512);
    CHECK(std::accumulate(values.begin(), values.end(), std::int64_t{0}) == 0);
    const auto squares = [](const auto& of) {
        return std::inner_product(of.begin(), of.end(), of.begin(), std::int64_t{0});
    };
    CHECK(squares(values) == 512 * squares(products));
}

TEST_CASE("replicates do not depend on the number of threads") {
    const Owned owned = make_types();
    std::vector<std::int64_t> first(5000), other(5000);
    const auto at_least = churn_at_least(owned.types(), 20, 5000, {1, 2}, Execution{1}, first);
    for (const int n_threads : {2, 3, 7}) {
        CHECK(churn_at_least(owned.types(), 20, 5000, {1, 2}, Execution{n_threads}, other) ==
              at_least);
        CHECK(other == first);
    }
    CHECK(at_least == static_cast<std::uint64_t>(std::count_if(
                          first.begin(), first.end(), [](std::int64_t sum) { return sum >= 20; })));
}

TEST_CASE("replicates have the mean and the variance of their law") {
    const Owned owned = make_types();
    constexpr std::size_t kReplicates = 40'000;
    std::vector<std::int64_t> sums(kReplicates);
    churn_at_least(owned.types(), 0, kReplicates, {5, 6}, Execution{1}, sums);
    double variance = 0.0, mean = 0.0, found = 0.0;
    std::size_t place = 0;
    for (std::size_t u = 0; u < owned.sizes.size(); ++u) {
        for (std::int64_t i = 0; i < owned.sizes[u] * (owned.sizes[u] - 1) / 2; ++i) {
            const auto product = static_cast<double>(owned.products[place++]);
            variance += static_cast<double>(owned.counts[u]) * product * product;
        }
    }
    for (const std::int64_t sum : sums) mean += static_cast<double>(sum) / kReplicates;
    for (const std::int64_t sum : sums) {
        found += std::pow(static_cast<double>(sum) - mean, 2) / kReplicates;
    }
    CHECK(std::abs(mean) < 4 * std::sqrt(variance / kReplicates));
    CHECK(found == doctest::Approx(variance).epsilon(0.05));
}

TEST_CASE("impossible types are refused") {
    const Execution alone{1};
    Owned owned = make_types();
    CHECK_THROWS(churn_at_least(owned.types(), 0, 0, {1, 2}, alone));
    owned.products.pop_back();
    CHECK_THROWS(churn_at_least(owned.types(), 0, 9, {1, 2}, alone));
    owned = make_types();
    owned.products.push_back(1);
    CHECK_THROWS(churn_at_least(owned.types(), 0, 9, {1, 2}, alone));
    owned = make_types();
    owned.sizes[0] = 1;
    CHECK_THROWS(churn_at_least(owned.types(), 0, 9, {1, 2}, alone));
    CHECK_THROWS(list_churn(owned.products, 11));
}

}  // namespace

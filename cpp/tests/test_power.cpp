#include <doctest/doctest.h>

#include <vector>

#include "ietest/stats/exact_law.hpp"
#include "ietest/stats/power.hpp"

namespace {

using namespace ietest::stats;
using ietest::Execution;

// The definition: every table of n pairs.
double brute_force(int n, Shares truth, double level) {
    double total = 0;
    for (int a = 0; a <= n; ++a) {
        for (int b = 0; a + b <= n; ++b) {
            if (exact_p_values({n - a - b, a, b, 0}).equal_tailed >= level) continue;
            double mass = 1;
            int left = n;
            const auto take = [&](int count, double share) {
                for (int i = 1; i <= count; ++i) mass *= share * left-- / i;
            };
            take(a, truth.original);
            take(b, truth.transformed);
            take(n - a - b, 1 - truth.original - truth.transformed);
            total += mass;
        }
    }
    return total;
}

TEST_CASE("power is the sum over every table") {
    for (const int n : {1, 4, 11, 25}) {
        for (const Shares truth : {Shares{0.3, 0.1}, Shares{0.5, 0.5}, Shares{0.25, 0}}) {
            const double got = powers(n, std::vector{truth}, 0.05, {}).front();
            CHECK(got == doctest::Approx(brute_force(n, truth, 0.05)).epsilon(1e-12));
        }
    }
}

TEST_CASE("a scan is the power at each n, on any number of threads") {
    const Shares truth{0.12, 0.07};
    const std::vector<double> scan = power_scan(1, 300, truth, 0.05, {.n_threads = 1});
    for (const int n : {1, 2, 50, 119, 300}) {
        CHECK(scan[static_cast<std::size_t>(n - 1)] ==
              doctest::Approx(powers(n, std::vector{truth}, 0.05, {}).front()).epsilon(1e-12));
    }
    const std::vector<std::int64_t> sizes{300, 2, 119};
    const std::vector<double> some = power_at_sizes(sizes, truth, 0.05, {});
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        CHECK(some[i] == powers(sizes[i], std::vector{truth}, 0.05, {}).front());
    }
    for (const int n_threads : {2, 3, 7}) {
        CHECK(some == power_at_sizes(sizes, truth, 0.05, {.n_threads = n_threads}));
        CHECK(scan == power_scan(1, 300, truth, 0.05, {.n_threads = n_threads}));
    }
}

TEST_CASE("wrong questions are refused") {
    CHECK_THROWS(powers(0, std::vector{Shares{0.1, 0.1}}, 0.05, {}));
    CHECK_THROWS(powers(10, std::vector{Shares{0.9, 0.2}}, 0.05, {}));
    CHECK_THROWS(powers(10, std::vector{Shares{0.1, 0.1}}, 1.0, {}));
    CHECK_THROWS(power_scan(10, 9, Shares{0.1, 0.1}, 0.05, {}));
    CHECK_THROWS(critical_differences(10, 3, 11, 0.05, {}));
    CHECK_THROWS(
        powers(10, std::vector{Shares{0.1, 0.1}}, {0, 3}, std::vector<std::int64_t>(4), {}));
}

}  // namespace

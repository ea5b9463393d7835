#include "integer_law.hpp"

#include <vector>

namespace ietest::stats {
namespace {

// step_up(x): P(x + 1) / P(x). Built from the mode outwards until the masses vanish against it.
template <typename Ratio>
IntegerLaw make_integer_law(std::int64_t mode, std::int64_t last, Ratio&& step_up) {
    constexpr double kNothing = 0x1.0p-80;
    std::vector<double> below, masses{1.0};
    double mass = 1;
    for (std::int64_t x = mode; x > 0; --x) {
        mass /= step_up(x - 1);
        if (!(mass > kNothing)) break;
        below.push_back(mass);
    }
    mass = 1;
    for (std::int64_t x = mode; x < last; ++x) {
        mass *= step_up(x);
        if (!(mass > kNothing)) break;
        masses.push_back(mass);
    }
    const auto first = mode - static_cast<std::int64_t>(below.size());
    below = std::vector<double>(below.rbegin(), below.rend());
    below.insert(below.end(), masses.begin(), masses.end());
    return {first, random::AliasTable(below)};
}

}  // namespace

IntegerLaw poisson_law(double mean) {
    return make_integer_law(static_cast<std::int64_t>(mean), std::int64_t{1} << 40,
                            [mean](std::int64_t x) { return mean / static_cast<double>(x + 1); });
}

IntegerLaw binomial_law(std::int64_t n, std::int64_t k) {
    const double odds = static_cast<double>(k) / static_cast<double>(n - k);
    return make_integer_law(k, n, [n, odds](std::int64_t x) {
        return odds * static_cast<double>(n - x) / static_cast<double>(x + 1);
    });
}

}  // namespace ietest::stats

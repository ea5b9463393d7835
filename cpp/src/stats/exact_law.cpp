#include "ietest/stats/exact_law.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ietest/int128.hpp"
#include "ietest/random/discrete.hpp"

namespace ietest::stats {
namespace {

using random::binomial_exponent;
using random::log_binomial_pmf;

// P(Binomial(trials, 1/2) > hits) / P(Binomial(trials, 1/2) = hits), for hits >= trials / 2.
// The terms fall from the first, so the sum is right to the last digits.
double mills_ratio_above(std::int64_t hits, std::int64_t trials) {
    double sum = 0;
    double term = 1;
    for (std::int64_t a = hits; a < trials; ++a) {
        term *= static_cast<double>(trials - a) / static_cast<double>(a + 1);
        sum += term;
        if (term < 1e-18 * sum) break;
    }
    return sum;
}

// The law for one observed table with D > 0, seen as a function of the drawn K.
class Law {
  public:
    Law(std::int64_t n, std::int64_t discordant, std::int64_t difference)
        : n_(n),
          discordant_(discordant),
          square_(static_cast<UInt128>(difference) * static_cast<UInt128>(difference)),
          p_(static_cast<double>(discordant) / static_cast<double>(n)),
          q_(static_cast<double>(n - discordant) / static_cast<double>(n)) {}

    // Does D* = 2 * hits - drawn reach t (D*^2 k >= D^2 K with D* > 0)?
    bool reaches(std::int64_t hits, std::int64_t drawn) const { return order(hits, drawn) >= 0; }

    bool ties(std::int64_t hits, std::int64_t drawn) const { return order(hits, drawn) == 0; }

    // Fewest hits that reach t when K = drawn; more than drawn if none does.
    std::int64_t fewest_hits(std::int64_t drawn) const {
        const double needed =
            std::sqrt(static_cast<double>(square_) / static_cast<double>(discordant_) *
                      static_cast<double>(drawn));
        auto hits = static_cast<std::int64_t>((static_cast<double>(drawn) + needed) / 2);
        while (hits > 0 && reaches(hits - 1, drawn)) --hits;
        while (hits <= drawn && !reaches(hits, drawn)) ++hits;
        return hits;
    }

    // Smallest K for which some D* reaches t: D* = K does iff K k >= D^2.
    std::int64_t first_drawn() const {
        const auto k = static_cast<UInt128>(discordant_);
        return static_cast<std::int64_t>((square_ + k - 1) / k);
    }

    // log of P(K = drawn) P(Binomial(drawn, 1/2) = hits).
    double log_mass(std::int64_t hits, std::int64_t drawn) const {
        return log_binomial_pmf(drawn, n_, p_, q_) + log_binomial_pmf(hits, drawn, 0.5, 0.5);
    }

    // The exponent of P(K = drawn) P(D* at the edge of the tail | K), D* taken as a real number:
    // within a few nats of the logarithm of the summand, and unimodal.
    double exponent(std::int64_t drawn) const {
        const auto size = static_cast<double>(drawn);
        const double reach =
            std::sqrt(static_cast<double>(square_) / static_cast<double>(discordant_) * size);
        const double hits = std::min(size, (size + reach) / 2);
        return binomial_exponent(size, static_cast<double>(n_), p_, q_) +
               binomial_exponent(hits, size, 0.5, 0.5);
    }

    // P(K = drawn + 1) / P(K = drawn).
    double step_up(std::int64_t drawn) const {
        return static_cast<double>(n_ - drawn) / static_cast<double>(drawn + 1) *
               (static_cast<double>(discordant_) / static_cast<double>(n_ - discordant_));
    }

  private:
    int order(std::int64_t hits, std::int64_t drawn) const {
        const std::int64_t d = 2 * hits - drawn;
        if (d <= 0) return -1;
        const UInt128 left =
            static_cast<UInt128>(d) * static_cast<UInt128>(d) * static_cast<UInt128>(discordant_);
        const UInt128 right = square_ * static_cast<UInt128>(drawn);
        return left < right ? -1 : left > right ? 1 : 0;
    }

    std::int64_t n_;
    std::int64_t discordant_;
    UInt128 square_;
    double p_, q_;
};

// Where the sweep has to begin: the last K before which nothing counts. P(K) peaks at K = k and the
// tail given K grows with K, so the summand peaks at max(first, k) or later. The margin of 70 nats
// (1e-30) leaves room for what the exponent neglects.
std::int64_t find_start(const Law& law, std::int64_t first, std::int64_t discordant,
                        std::int64_t n) {
    constexpr double kMargin = 70;
    // Gallop to a bracket of the peak, then cut the bracket by thirds.
    std::int64_t low = std::max(first, discordant);
    std::int64_t high = low;
    for (std::int64_t step = 16, at = low; high < n; step *= 2) {
        high = std::min(n, at + step);
        if (law.exponent(high) <= law.exponent(at)) break;
        low = at;
        at = high;
    }
    while (high - low > 8) {
        const std::int64_t third = (high - low) / 3;
        if (law.exponent(low + third) < law.exponent(high - third)) {
            low += third;
        } else {
            high -= third;
        }
    }
    const std::int64_t peak = low;
    const double peak_exponent = law.exponent(peak);
    if (law.exponent(first) >= peak_exponent - kMargin) return first;
    std::int64_t below = first;
    std::int64_t above = peak;
    while (above - below > 1) {
        const std::int64_t middle = below + (above - below) / 2;
        (law.exponent(middle) < peak_exponent - kMargin ? below : above) = middle;
    }
    return below;
}

ExactTails from_logs(double log_at_least, double log_above) {
    return {std::exp(log_at_least), std::exp(log_above), log_at_least, log_above};
}

// D = 0: t is 0, so the tails differ by P(t* = 0) = sum over even K of P(K) P(D* = 0 | K).
ExactTails tails_at_zero(std::int64_t n, std::int64_t discordant) {
    const Law law(n, discordant, 0);
    const std::int64_t mode = std::min(
        n, static_cast<std::int64_t>(static_cast<double>(discordant) *
                                     (static_cast<double>(n) + 1) / static_cast<double>(n)));
    double zero = 0;
    if (discordant == n) {
        zero = n % 2 == 0 ? std::exp(log_binomial_pmf(n / 2, n, 0.5, 0.5)) : 0;
    } else {
        const std::int64_t even = mode - mode % 2;
        const double start = std::exp(law.log_mass(even / 2, even));
        // From K to K + 2 the middle term changes by (K + 1) / (K + 2).
        double mass = start;
        for (std::int64_t k = even; k <= n && mass > 1e-20 * zero; k += 2) {
            zero += mass;
            if (k + 2 > n) break;
            mass *= law.step_up(k) * law.step_up(k + 1) * static_cast<double>(k + 1) /
                    static_cast<double>(k + 2);
        }
        mass = start;
        for (std::int64_t k = even; k >= 2 && mass > 1e-20 * zero; k -= 2) {
            mass /= law.step_up(k - 2) * law.step_up(k - 1) * static_cast<double>(k - 1) /
                    static_cast<double>(k);
            zero += mass;
        }
    }
    zero = std::min(zero, 1.0);
    return {(1 + zero) / 2, (1 - zero) / 2, std::log1p(zero) - std::log(2.0),
            std::log1p(-zero) - std::log(2.0)};
}

// k = n: K is n with certainty, one binomial tail is left.
ExactTails tails_all_discordant(std::int64_t n, std::int64_t difference) {
    const std::int64_t hits = (n + difference) / 2;
    const double log_edge = log_binomial_pmf(hits, n, 0.5, 0.5);
    const double ratio = mills_ratio_above(hits, n);
    return from_logs(log_edge + std::log1p(ratio), log_edge + std::log(ratio));
}

}  // namespace

ExactTails exact_tails(const PairedCounts& counts) {
    check(counts);
    const std::int64_t n = counts.n();
    const std::int64_t discordant = counts.discordant();
    const std::int64_t difference = std::abs(counts.difference());
    if (discordant == 0) return {1, 0, 0, -std::numeric_limits<double>::infinity()};
    if (difference == 0) return tails_at_zero(n, discordant);
    if (discordant == n) return tails_all_discordant(n, difference);

    const Law law(n, discordant, difference);
    std::int64_t drawn = find_start(law, law.first_drawn(), discordant, n);
    std::int64_t hits = law.fewest_hits(drawn);
    const double log_scale = law.log_mass(hits, drawn);

    // Everything below is divided by exp(log_scale).
    double edge = 1;                                   // P(K) P(hits | K)
    double tail = 1 + mills_ratio_above(hits, drawn);  // P(K) P(at least hits | K)
    double at_least = 0;
    double above = 0;
    double largest = 0;
    while (true) {
        at_least += tail;
        // Where the edge is a tie, the strict tail is summed afresh: tail - edge would cancel.
        above += law.ties(hits, drawn) ? edge * mills_ratio_above(hits, drawn) : tail;
        largest = std::max(largest, tail);
        if (drawn == n || (tail < largest && tail < 1e-18 * at_least)) break;

        // K -> K + 1 by one term of Pascal's rule: P(a | K+1) = (P(a | K) + P(a-1 | K)) / 2.
        const double step = law.step_up(drawn);
        const auto next = static_cast<double>(drawn + 1);
        if (law.reaches(hits, drawn + 1)) {
            const double lower = static_cast<double>(hits) / static_cast<double>(drawn + 1 - hits);
            tail = step * (tail + 0.5 * edge * lower);
            edge *= step * 0.5 * next / static_cast<double>(drawn + 1 - hits);
        } else {
            tail = step * (tail - 0.5 * edge);
            edge *= step * 0.5 * next / static_cast<double>(hits + 1);
            ++hits;
        }
        ++drawn;
    }
    return from_logs(log_scale + std::log(at_least), log_scale + std::log(above));
}

PValues exact_p_values(const PairedCounts& counts) {
    const ExactTails tails = exact_tails(counts);
    const std::int64_t difference = counts.difference();
    if (counts.discordant() == 0) return {1, 1, 1};
    if (difference == 0) return {1, 2 * tails.above, 1};
    const double two_tails = std::min(1.0, 2 * tails.at_least);
    // P(t* <= t) is 1 - above for t > 0; for t < 0 it is at_least, by symmetry.
    const double paper = difference > 0 ? 2 * std::min(1 - tails.above, tails.above)
                                        : 2 * std::min(tails.at_least, 1 - tails.at_least);
    return {two_tails, paper, two_tails};
}

double mcnemar_exact_p(const PairedCounts& counts) {
    check(counts);
    const std::int64_t discordant = counts.discordant();
    if (counts.n10 == counts.n01) return 1;
    const std::int64_t more = std::max(counts.n10, counts.n01);
    const double edge = std::exp(log_binomial_pmf(more, discordant, 0.5, 0.5));
    return std::min(1.0, 2 * edge * (1 + mills_ratio_above(more, discordant)));
}

double mcnemar_mid_p(const PairedCounts& counts) {
    check(counts);
    const std::int64_t discordant = counts.discordant();
    if (discordant == 0) return 1;
    const std::int64_t more = std::max(counts.n10, counts.n01);
    const double edge = std::exp(log_binomial_pmf(more, discordant, 0.5, 0.5));
    // At n10 = n01 the edge is the middle, of which there is one; elsewhere there are two edges.
    if (counts.n10 == counts.n01) return 1 - 0.5 * edge;
    return edge * (1 + 2 * mills_ratio_above(more, discordant));
}

}  // namespace ietest::stats

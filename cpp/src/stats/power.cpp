#include "ietest/stats/power.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "ietest/random/discrete.hpp"
#include "ietest/stats/exact_law.hpp"

namespace ietest::stats {
namespace {

using random::binomial_exponent;
using random::log_binomial_pmf;

constexpr std::int64_t kChunk = 64;

// Values of K whose mass is below exp(-40) of the mode's are left out.
constexpr double kNegligible = -40;

bool rejects(std::int64_t n, std::int64_t k, std::int64_t d, double level) {
    return exact_p_values({n - k, (k + d) / 2, (k - d) / 2, 0}).equal_tailed < level;
}

// c(k), found from a value that is likely to be near; the p-value falls as |D| grows in steps of 2.
std::int64_t find_critical(std::int64_t n, std::int64_t k, double level, std::int64_t near) {
    std::int64_t d = std::clamp<std::int64_t>(near + ((near ^ k) & 1), k & 1, k);
    while (d <= k && !rejects(n, k, d, level)) d += 2;
    if (d > k) return k + 1;
    while (d >= 2 && rejects(n, k, d - 2, level)) d -= 2;
    return d;
}

// c(k) without a neighbour to start from: the normal law is near.
std::int64_t find_critical(std::int64_t n, std::int64_t k, double level) {
    if (k == 0) return 1;
    double low = 0;
    double high = 40;
    for (int i = 0; i < 40; ++i) {
        const double middle = (low + high) / 2;
        (std::erfc(middle / std::numbers::sqrt2) > level ? low : high) = middle;
    }
    return find_critical(n, k, level,
                         static_cast<std::int64_t>(low * std::sqrt(static_cast<double>(k))));
}

// P(Binomial(trials, p) >= hits), summed from the edge away from the mean; q = 1 - p.
double upper_tail(std::int64_t hits, std::int64_t trials, double p, double q) {
    if (hits <= 0) return 1;
    if (hits > trials) return 0;
    if (p == 0) return 0;
    if (q == 0) return 1;
    const bool above = static_cast<double>(hits) >= static_cast<double>(trials) * p;
    // Below the mean: one minus the other tail, which begins at hits - 1 and goes down.
    const std::int64_t edge = above ? hits : trials - hits + 1;
    const double odds = above ? p / q : q / p;
    double term = 1;
    double sum = 1;
    for (std::int64_t a = edge; a < trials && term > 1e-18 * sum; ++a) {
        term *= odds * static_cast<double>(trials - a) / static_cast<double>(a + 1);
        sum += term;
    }
    const double mass = std::exp(log_binomial_pmf(above ? hits : hits - 1, trials, p, q)) * sum;
    return above ? std::min(mass, 1.0) : std::max(1 - mass, 0.0);
}

// P(|D| >= critical | k).
double reject_probability(std::int64_t k, std::int64_t critical, Shares truth) {
    if (critical > k) return 0;
    const double p = truth.original / (truth.original + truth.transformed);
    const double q = truth.transformed / (truth.original + truth.transformed);
    const std::int64_t hits = (k + critical) / 2;
    return std::min(1.0, upper_tail(hits, k, p, q) + upper_tail(hits, k, q, p));
}

// Sum of P(K = k) * weight(k) over the values of K that count, from the mode outwards.
template <typename Weight>
double expected_over_discordant(std::int64_t n, double psi, const Weight& weight) {
    const DiscordantRange span = likely_discordant(n, psi);
    if (span.first == span.last) return weight(span.first);
    const double rest = 1 - psi;
    const auto mode =
        std::clamp(static_cast<std::int64_t>(static_cast<double>(n) * psi), span.first, span.last);
    const double at_mode = std::exp(log_binomial_pmf(mode, n, psi, rest));
    const double odds = psi / rest;
    double sum = 0;
    double mass = at_mode;
    for (std::int64_t k = mode; k <= span.last; ++k) {
        sum += mass * weight(k);
        mass *= odds * static_cast<double>(n - k) / static_cast<double>(k + 1);
    }
    mass = at_mode;
    for (std::int64_t k = mode; k > span.first; --k) {
        mass *= static_cast<double>(k) / (odds * static_cast<double>(n - k + 1));
        sum += mass * weight(k - 1);
    }
    return std::min(sum, 1.0);
}

void check(std::int64_t n, double level) {
    if (n < 1 || n > kMaxPairs) throw std::invalid_argument("n must lie between 1 and 2^40");
    if (!(level > 0 && level < 1)) throw std::invalid_argument("the level must lie in (0, 1)");
}

void check(Shares truth) {
    if (!(truth.original >= 0 && truth.transformed >= 0 &&
          truth.original + truth.transformed <= 1 + 1e-12)) {
        throw std::invalid_argument("shares must not be negative nor sum to more than 1");
    }
}

// What c(k) does to the power over a range of n: from sample size n_begin on, tables with k
// discordant pairs are rejected with this probability.
struct Piece {
    std::int64_t n_begin;
    double reject;
};

// c(k; n) over the sample sizes [begin, end], given it at both ends: pieces without a step.
class Steps {
  public:
    Steps(std::int64_t k, Shares truth, double level, std::vector<Piece>& pieces)
        : k_(k), truth_(truth), level_(level), pieces_(pieces) {}

    void trace(std::int64_t begin, std::int64_t end) {
        std::int64_t at_begin = find_critical(begin, k_, level_);
        add(begin, at_begin);
        while (begin < end) {
            const std::int64_t stop =
                std::min(end, begin + std::max<std::int64_t>(1, (begin - k_) / 16));
            const std::int64_t at_stop = find_critical(stop, k_, level_, at_begin);
            split(begin, at_begin, stop, at_stop);
            begin = stop;
            at_begin = at_stop;
        }
    }

  private:
    void split(std::int64_t begin, std::int64_t at_begin, std::int64_t end, std::int64_t at_end) {
        if (at_begin == at_end) return;
        if (end - begin == 1) return add(end, at_end);
        const std::int64_t middle = begin + (end - begin) / 2;
        const std::int64_t at_middle = find_critical(middle, k_, level_, at_begin);
        split(begin, at_begin, middle, at_middle);
        split(middle, at_middle, end, at_end);
    }

    void add(std::int64_t n_begin, std::int64_t critical) {
        pieces_.push_back({n_begin, reject_probability(k_, critical, truth_)});
    }

    std::int64_t k_;
    Shares truth_;
    double level_;
    std::vector<Piece>& pieces_;
};

}  // namespace

DiscordantRange likely_discordant(std::int64_t n, double psi) {
    const auto size = static_cast<double>(n);
    const double rest = 1 - psi;
    if (psi == 0) return {0, 0};
    if (rest == 0) return {n, n};
    const auto mode = std::clamp<std::int64_t>(static_cast<std::int64_t>(size * psi), 0, n);
    const auto negligible = [&](std::int64_t k) {
        return binomial_exponent(static_cast<double>(k), size, psi, rest) < kNegligible;
    };
    std::int64_t first = mode;
    if (!negligible(0)) {
        first = 0;
    } else {
        std::int64_t below = 0;
        while (first - below > 1) {
            const std::int64_t middle = below + (first - below) / 2;
            (negligible(middle) ? below : first) = middle;
        }
    }
    std::int64_t last = mode;
    if (!negligible(n)) {
        last = n;
    } else {
        std::int64_t above = n;
        while (above - last > 1) {
            const std::int64_t middle = last + (above - last) / 2;
            (negligible(middle) ? above : last) = middle;
        }
    }
    return {first, last};
}

std::vector<std::int64_t> critical_differences(std::int64_t n, std::int64_t first,
                                               std::int64_t last, double level,
                                               const Execution& execution) {
    check(n, level);
    if (first < 0 || last < first || last > n) {
        throw std::invalid_argument("discordant pairs must lie between 0 and n");
    }
    std::vector<std::int64_t> critical(static_cast<std::size_t>(last - first + 1));
    parallel_chunks(last - first + 1, kChunk, execution, [&](Range range) {
        for (std::int64_t i = range.begin; i < range.end; ++i) {
            const auto place = static_cast<std::size_t>(i);
            const std::int64_t k = first + i;
            // c(k) grows like sqrt(k): from one k to the next it changes by its parity.
            const bool near = i > range.begin && critical[place - 1] < k;
            critical[place] = near ? find_critical(n, k, level, critical[place - 1] - 1)
                                   : find_critical(n, k, level);
        }
    });
    return critical;
}

std::vector<double> powers(std::int64_t n, std::span<const Shares> truths, DiscordantRange range,
                           std::span<const std::int64_t> critical, const Execution& execution) {
    for (const Shares truth : truths) {
        check(truth);
        const DiscordantRange each = likely_discordant(n, truth.discordant());
        if (each.first < range.first || each.last > range.last) {
            throw std::invalid_argument("critical differences of some K that count are missing");
        }
    }
    if (static_cast<std::int64_t>(critical.size()) != range.size()) {
        throw std::invalid_argument("one critical difference for each K is needed");
    }
    std::vector<double> result(truths.size());
    parallel_chunks(static_cast<std::int64_t>(truths.size()), 1, execution, [&](Range chunk) {
        for (std::int64_t i = chunk.begin; i < chunk.end; ++i) {
            const Shares truth = truths[static_cast<std::size_t>(i)];
            result[static_cast<std::size_t>(i)] =
                expected_over_discordant(n, truth.discordant(), [&](std::int64_t k) {
                    return reject_probability(k, critical[range.place(k)], truth);
                });
        }
    });
    return result;
}

std::vector<double> powers(std::int64_t n, std::span<const Shares> truths, double level,
                           const Execution& execution) {
    check(n, level);
    if (truths.empty()) return {};
    DiscordantRange range{n, 0};
    for (const Shares truth : truths) {
        check(truth);
        const DiscordantRange each = likely_discordant(n, truth.discordant());
        range = {std::min(range.first, each.first), std::max(range.last, each.last)};
    }
    const std::vector<std::int64_t> critical =
        critical_differences(n, range.first, range.last, level, execution);
    return powers(n, truths, range, critical, execution);
}

std::vector<double> power_at_sizes(std::span<const std::int64_t> sizes, Shares truth, double level,
                                   const Execution& execution) {
    check(truth);
    for (const std::int64_t n : sizes) check(n, level);
    std::vector<double> result(sizes.size());
    // One thread for each size: a region of threads for each would mostly wait for its last one.
    parallel_chunks(static_cast<std::int64_t>(sizes.size()), 1, execution, [&](Range range) {
        for (std::int64_t i = range.begin; i < range.end; ++i) {
            const auto place = static_cast<std::size_t>(i);
            result[place] =
                powers(sizes[place], std::span(&truth, 1), level, {.n_threads = 1}).front();
        }
    });
    return result;
}

std::vector<double> power_scan(std::int64_t n_first, std::int64_t n_last, Shares truth,
                               double level, const Execution& execution) {
    check(n_first, level);
    check(n_last, level);
    check(truth);
    if (n_last < n_first) throw std::invalid_argument("the last n is smaller than the first");
    const double psi = truth.discordant();
    const DiscordantRange span{likely_discordant(n_first, psi).first,
                               likely_discordant(n_last, psi).last};
    std::vector<std::vector<Piece>> pieces(static_cast<std::size_t>(span.size()));
    parallel_chunks(span.size(), kChunk, execution, [&](Range range) {
        for (std::int64_t i = range.begin; i < range.end; ++i) {
            const std::int64_t k = span.first + i;
            Steps(k, truth, level, pieces[static_cast<std::size_t>(i)])
                .trace(std::max(k, n_first), n_last);
        }
    });
    std::vector<double> result(static_cast<std::size_t>(n_last - n_first + 1));
    parallel_chunks(n_last - n_first + 1, kChunk, execution, [&](Range range) {
        for (std::int64_t i = range.begin; i < range.end; ++i) {
            const std::int64_t n = n_first + i;
            result[static_cast<std::size_t>(i)] =
                expected_over_discordant(n, psi, [&](std::int64_t k) {
                    const std::vector<Piece>& of_k = pieces[span.place(k)];
                    auto piece = of_k.end() - 1;
                    while (piece->n_begin > n) --piece;
                    return piece->reject;
                });
        }
    });
    return result;
}

}  // namespace ietest::stats

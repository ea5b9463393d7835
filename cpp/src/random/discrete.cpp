#include "ietest/random/discrete.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <stdexcept>

namespace ietest::random {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// log(x!) - log(sqrt(2 pi x) (x/e)^x), the error of Stirling's formula, for x >= 1.
double stirling_error(double x) {
    if (x < 16) {
        static const auto table = [] {
            std::array<double, 16> errors{};
            long double log_factorial = 0;
            for (int i = 1; i < 16; ++i) {
                const long double xi = i;
                log_factorial += std::log(xi);
                errors[static_cast<std::size_t>(i)] = static_cast<double>(
                    log_factorial - (0.5L * std::log(2 * std::numbers::pi_v<long double> * xi) +
                                     xi * std::log(xi) - xi));
            }
            return errors;
        }();
        return table[static_cast<std::size_t>(x)];
    }
    // Asymptotic series with the Bernoulli numbers B2 .. B12.
    const double inverse = 1 / x;
    const double square = inverse * inverse;
    return inverse *
           (1.0 / 12 -
            square * (1.0 / 360 -
                      square * (1.0 / 1260 -
                                square * (1.0 / 1680 -
                                          square * (1.0 / 1188 - square * (691.0 / 360360))))));
}

// x log(x/mean) + mean - x >= 0 without the cancellation near x = mean.
double deviance(double x, double mean) {
    const double difference = x - mean;
    if (std::abs(difference) < 0.1 * (x + mean)) {
        const double v = difference / (x + mean);
        double sum = difference * v;
        double term = 2 * x * v;
        for (int j = 1; j < 1000; ++j) {
            term *= v * v;
            const double next = sum + term / (2 * j + 1);
            if (next == sum) break;
            sum = next;
        }
        return sum;
    }
    return x > 0 ? x * std::log(x / mean) - difference : mean;
}

}  // namespace

double log_binomial_pmf(std::int64_t x, std::int64_t n, double p, double q) {
    if (x < 0 || x > n) return -kInfinity;
    if (p == 0) return x == 0 ? 0 : -kInfinity;
    if (q == 0) return x == n ? 0 : -kInfinity;
    const auto size = static_cast<double>(n);
    if (x == 0) return p < 0.5 ? size * std::log1p(-p) : size * std::log(q);
    if (x == n) return q < 0.5 ? size * std::log1p(-q) : size * std::log(p);
    const auto hits = static_cast<double>(x);
    const auto misses = static_cast<double>(n - x);
    return stirling_error(size) - stirling_error(hits) - stirling_error(misses) +
           binomial_exponent(hits, size, p, q) +
           0.5 * std::log(size / (2 * std::numbers::pi * hits * misses));
}

double binomial_exponent(double x, double n, double p, double q) {
    return -deviance(x, n * p) - deviance(n - x, n * q);
}

BinomialSampler::BinomialSampler(std::int64_t n, double p, Use use)
    : n_(n), flipped_(p > 0.5), use_(use), p_(flipped_ ? 1 - p : p), q_(flipped_ ? p : 1 - p) {
    if (n < 0) throw std::invalid_argument("a binomial needs n >= 0");
    if (!(p >= 0 && p <= 1)) throw std::invalid_argument("a binomial needs 0 <= p <= 1");
    const auto size = static_cast<double>(n);
    if (size * p_ >= 10) {
        const double deviation = std::sqrt(size * p_ * q_);
        b_ = 1.15 + 2.53 * deviation;
        a_ = -0.0873 + 0.0248 * b_ + 0.01 * p_;
        centre_ = size * p_ + 0.5;
        squeeze_ = 0.92 - 4.2 / b_;
        scale_ = (2.83 + 5.1 / b_) * deviation;
        if (use == Use::kOften) log_mode_pmf_ = log_mode_pmf();
    }
}

double BinomialSampler::log_mode_pmf() const {
    const auto mode = static_cast<std::int64_t>(static_cast<double>(n_ + 1) * p_);
    return log_binomial_pmf(mode, n_, p_, q_);
}

std::int64_t BinomialSampler::operator()(WordStream& words) const {
    if (n_ == 0 || p_ == 0) return flipped_ ? n_ : 0;
    const std::int64_t hits = scale_ > 0 ? reject(words) : invert(words);
    return flipped_ ? n_ - hits : hits;
}

std::int64_t BinomialSampler::invert(WordStream& words) const {
    const double odds = p_ / q_;
    double u = words.next_double();
    double mass = std::exp(static_cast<double>(n_) * std::log1p(-p_));
    std::int64_t x = 0;
    while (u >= mass && x < n_) {
        u -= mass;
        mass *= odds * static_cast<double>(n_ - x) / static_cast<double>(x + 1);
        ++x;
        if (mass < 1e-300) break;  // u is rounding dust beyond the last atom that counts
    }
    return x;
}

std::int64_t BinomialSampler::reject(WordStream& words) const {
    while (true) {
        const double u = words.next_double() - 0.5;
        const double v = words.next_double();
        const double us = 0.5 - std::abs(u);
        if (us <= 0) continue;
        const double candidate = std::floor((2 * a_ / us + b_) * u + centre_);
        if (candidate < 0 || candidate > static_cast<double>(n_)) continue;
        const auto x = static_cast<std::int64_t>(candidate);
        if (us >= 0.07 && v <= squeeze_) return x;
        if (std::log(v * scale_ / (a_ / (us * us) + b_)) <=
            log_binomial_pmf(x, n_, p_, q_) -
                (use_ == Use::kOnce ? log_mode_pmf() : log_mode_pmf_)) {
            return x;
        }
    }
}

void draw_multinomial(std::int64_t n, std::span<const double> probabilities, WordStream& words,
                      std::span<std::int64_t> counts) {
    if (probabilities.empty() || counts.size() != probabilities.size()) {
        throw std::invalid_argument("counts and probabilities must have one length, at least 1");
    }
    double remaining_mass = 1;
    std::int64_t remaining = n;
    const std::size_t last = probabilities.size() - 1;
    for (std::size_t i = 0; i < last; ++i) {
        const double share =
            remaining_mass > 0 ? std::clamp(probabilities[i] / remaining_mass, 0.0, 1.0) : 0.0;
        counts[i] = BinomialSampler(remaining, share, BinomialSampler::Use::kOnce)(words);
        remaining -= counts[i];
        remaining_mass -= probabilities[i];
    }
    counts[last] = remaining;
}

void AliasBuilder::build(std::span<double> weights, AliasCell* cells) {
    small_.clear();
    large_.clear();
    for (std::uint32_t i = 0; i < weights.size(); ++i) {
        (weights[i] < 1 ? small_ : large_).push_back(i);
    }
    while (!small_.empty() && !large_.empty()) {
        const std::uint32_t poor = small_.back();
        const std::uint32_t rich = large_.back();
        small_.pop_back();
        cells[poor] = {static_cast<std::uint64_t>(weights[poor] * 0x1.0p64), rich};
        weights[rich] -= 1 - weights[poor];
        if (weights[rich] < 1) {
            large_.pop_back();
            small_.push_back(rich);
        }
    }
    // What is left over is full up to rounding. Its alias is itself, so the last 2^-64 is right
    // too.
    constexpr std::uint64_t kFull = std::numeric_limits<std::uint64_t>::max();
    for (const std::uint32_t i : small_) cells[i] = {kFull, i};
    for (const std::uint32_t i : large_) cells[i] = {kFull, i};
}

AliasTable::AliasTable(std::span<const double> weights) {
    if (weights.empty()) throw std::invalid_argument("an alias table needs at least one weight");
    if (weights.size() > std::numeric_limits<std::uint32_t>::max()) {
        throw std::length_error("an alias table holds fewer than 2^32 weights");
    }
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    if (!(total > 0) || !std::isfinite(total)) {
        throw std::invalid_argument("the weights of an alias table need a positive, finite sum");
    }
    const auto n = static_cast<std::uint32_t>(weights.size());
    std::vector<double> scaled(n);
    for (std::uint32_t i = 0; i < n; ++i) scaled[i] = weights[i] / total * n;
    cells_.resize(n);
    AliasBuilder().build(scaled, cells_.data());
}

}  // namespace ietest::random

#include "ietest/stats/studentised.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "checks.hpp"
#include "ietest/random/discrete.hpp"
#include "ietest/stats/scores.hpp"
#include "integer_law.hpp"
#include "moments.hpp"
#include "type_kernels.hpp"

namespace ietest::stats {
namespace {

// Third word of the counter: the rows of a replicate, and how many of them are listed ones.
constexpr std::uint64_t kRowStream = 18;
constexpr std::uint64_t kNumberStream = 19;

constexpr std::size_t kSumLanes = 8;
constexpr std::size_t kRowBlocks = 64;
constexpr std::size_t kRowWords = 4 * kRowBlocks;

// What is left of a word's product serves for a second draw from so many units, whose odds depart
// from even by less than 2^-24.
constexpr std::uint64_t kMostPerHalfWord = std::uint64_t{1} << 20;

// Lanes let additions go on side by side, in an order that is always the same.
double fold(const double (&lanes)[kSumLanes]) {
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
           ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

double to_t(double total, double spread, double squares) {
    if (total == 0 || squares == 0) return 0;
    // Equal values leave nothing but rounding errors.
    if (spread <= 0x1.0p-44 * squares) {
        return std::copysign(std::numeric_limits<double>::infinity(), total);
    }
    return total / std::sqrt(spread);
}

struct Bounds {
    double highest;  // of what is at most the value
    double lowest;   // of what is at least the value
};

Bounds bounds_of(double t) {
    if (std::isnan(t)) throw std::invalid_argument("a value to compare with is no number");
    if (std::isinf(t)) return {t, t};
    const double tolerance = kTieTolerance * std::max(1.0, std::abs(t));
    return {t + tolerance, t - tolerance};
}

}  // namespace

struct StudentisedSampler::Plan {
    struct LaneSums {
        double values[kSumLanes] = {};
        double squares[kSumLanes] = {};

        void add(std::size_t lane, double value) {
            values[lane] += value;
            squares[lane] += value * value;
        }
    };

    struct LaneRatioSums {
        double values[kSumLanes] = {};
        double squares[kSumLanes] = {};
        double sizes[kSumLanes] = {};
        double products[kSumLanes] = {};
        double size_squares[kSumLanes] = {};

        void add(std::size_t lane, double value, double size) {
            values[lane] += value;
            squares[lane] += value * value;
            sizes[lane] += size;
            products[lane] += value * size;
            size_squares[lane] += size * size;
        }
    };

    const kernels::Kernels& kernels;
    random::Key key;
    std::int64_t n_units;
    double rest;
    std::vector<double> values;  // with sizes: value, size, value, size, ...
    bool has_sizes;
    std::uint64_t n_listed;
    IntegerLaw drawn;  // listed units among those drawn, where there is a rest

    Plan(const UnitSample& sample, random::Key k, InstructionSet instruction_set)
        : kernels(kernels::kernels_for(instruction_set)),
          key(k),
          n_units(sample.n_units),
          rest(sample.rest),
          has_sizes(!sample.sizes.empty()),
          n_listed(sample.values.size()) {
        if (n_units < 1) throw std::invalid_argument("there is no unit at all");
        if (static_cast<std::int64_t>(n_listed) > n_units) {
            throw std::invalid_argument("more units are listed than there are");
        }
        const bool has_rest = static_cast<std::int64_t>(n_listed) < n_units;
        if (has_sizes && (has_rest || sample.sizes.size() != n_listed)) {
            throw std::invalid_argument("with sizes every unit is listed and has one");
        }
        for (std::size_t i = 0; i < n_listed; ++i) {
            values.push_back(sample.values[i]);
            if (has_sizes) values.push_back(sample.sizes[i]);
        }
        values.push_back(rest);
        for (const double value : values) {
            if (!std::isfinite(value)) throw std::invalid_argument("a value is not finite");
        }
        values.pop_back();
        if (has_rest) drawn = binomial_law(n_units, static_cast<std::int64_t>(n_listed));
    }

    bool has_rest() const { return static_cast<std::int64_t>(n_listed) < n_units; }

    // Calls add(lane, row) for each of n rows drawn.
    template <typename Add>
    void draw_rows(std::uint64_t replicate, std::uint64_t n, Add&& add) const {
        const std::uint64_t per_word = n_listed <= kMostPerHalfWord ? 2 : 1;
        std::uint64_t words[kRowWords];
        std::uint64_t block = 0;
        for (std::uint64_t left = n; left > 0;) {
            const std::uint64_t now = std::min(left, per_word * kRowWords);
            const std::uint64_t n_blocks = (now + 4 * per_word - 1) / (4 * per_word);
            kernels.fill_blocks(key, block, replicate, kRowStream, words,
                                static_cast<std::size_t>(n_blocks));
            block += n_blocks;
            left -= now;
            if (per_word == 1) {
                for (std::size_t i = 0; i < now; ++i) {
                    add(i % kSumLanes, random::high_word(words[i], n_listed));
                }
                continue;
            }
            std::size_t i = 0;
            for (; i + kSumLanes <= now; i += kSumLanes) {  // four words
                for (std::size_t w = 0; w < kSumLanes / 2; ++w) {
                    const std::uint64_t word = words[i / 2 + w];
                    add(2 * w, random::high_word(word, n_listed));
                    add(2 * w + 1, random::high_word(word * n_listed, n_listed));
                }
            }
            for (; i < now; ++i) {
                const std::uint64_t word = words[i / 2];
                add(i % kSumLanes, random::high_word(i % 2 == 0 ? word : word * n_listed, n_listed));
            }
        }
    }

    double draw(std::uint64_t replicate) const {
        if (has_sizes) {
            LaneRatioSums lanes;
            draw_rows(replicate, n_listed, [&](std::size_t lane, std::uint64_t row) {
                lanes.add(lane, values[2 * row], values[2 * row + 1]);
            });
            const double total = fold(lanes.values);
            const double squares = fold(lanes.squares);
            const double shift = total / fold(lanes.sizes);
            const double spread = squares - 2 * shift * fold(lanes.products) +
                                  shift * shift * fold(lanes.size_squares);
            return to_t(total, spread, squares);
        }
        std::uint64_t n = n_listed;
        if (has_rest() && n > 0) {
            n = static_cast<std::uint64_t>(
                drawn(random::philox({0, replicate, kNumberStream, 0}, key)[0]));
        }
        LaneSums lanes;
        draw_rows(replicate, n,
                  [&](std::size_t lane, std::uint64_t row) { lanes.add(lane, values[row]); });
        const double n_rest = static_cast<double>(n_units) - static_cast<double>(n);
        const double total = fold(lanes.values) + n_rest * rest;
        const double squares = fold(lanes.squares) + n_rest * (rest * rest);
        const double spread = squares - total * total / static_cast<double>(n_units);
        return to_t(total, spread, squares);
    }
};

StudentisedSampler::StudentisedSampler(const UnitSample& sample, random::Key key,
                                       InstructionSet instruction_set)
    : plan_(std::make_shared<const Plan>(sample, key, instruction_set)) {}

std::int64_t StudentisedSampler::chunk_size() const {
    // Some 10^6 draws: a chunk lasts a millisecond.
    const double cost = static_cast<double>(plan_->n_listed) * (plan_->has_sizes ? 2.5 : 1) + 40;
    return std::max<std::int64_t>(8, static_cast<std::int64_t>(1e6 / cost));
}

void StudentisedSampler::draw(Range replicates, std::span<double> t) const {
    for (std::int64_t r = replicates.begin; r < replicates.end; ++r) {
        t[static_cast<std::size_t>(r - replicates.begin)] =
            plan_->draw(static_cast<std::uint64_t>(r));
    }
}

StudentisedReplicates studentised_replicates(const UnitSample& sample,
                                             std::span<const double> compared,
                                             std::int64_t n_replicates, random::Key key,
                                             const Execution& execution,
                                             std::span<double> t_replicates,
                                             InstructionSet instruction_set) {
    check_replicates(n_replicates, t_replicates);
    const StudentisedSampler sampler(sample, key, instruction_set);
    std::vector<Bounds> bounds;
    for (const double t : compared) bounds.push_back(bounds_of(t));
    std::mutex mutex;
    StudentisedReplicates result;
    result.tails.resize(bounds.size());
    Moments moments;
    parallel_chunks(n_replicates, sampler.chunk_size(), execution, [&](Range range) {
        std::vector<TailCounts> tails(bounds.size());
        Moments part;
        for (std::int64_t r = range.begin; r < range.end; ++r) {
            double t = 0;
            sampler.draw({r, r + 1}, {&t, 1});
            for (std::size_t i = 0; i < bounds.size(); ++i) {
                tails[i].at_most += t <= bounds[i].highest;
                tails[i].at_least += t >= bounds[i].lowest;
            }
            part.add(t);
            if (!t_replicates.empty()) t_replicates[static_cast<std::size_t>(r)] = t;
        }
        const std::lock_guard lock(mutex);
        for (std::size_t i = 0; i < bounds.size(); ++i) {
            result.tails[i].at_most += tails[i].at_most;
            result.tails[i].at_least += tails[i].at_least;
        }
        moments += part;
    });
    result.n_finite = moments.n;
    result.mean = moments.mean();
    result.deviation = moments.deviation();
    return result;
}

std::vector<double> studentised_order_statistics(const UnitSample& sample,
                                                 std::span<const std::int64_t> ranks,
                                                 std::int64_t n_replicates, random::Key key,
                                                 const Execution& execution) {
    const StudentisedSampler sampler(sample, key);
    Replicates replicates([&](Range range, std::span<double> t) { sampler.draw(range, t); }, 1,
                          sampler.chunk_size(), n_replicates);
    std::vector<RankRequest> requests;
    for (const std::int64_t rank : ranks) requests.push_back({0, rank});
    return replicates.order_statistics(requests, execution);
}

}  // namespace ietest::stats

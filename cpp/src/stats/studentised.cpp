#include "ietest/stats/studentised.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <stdexcept>

#include "checks.hpp"
#include "ietest/random/discrete.hpp"
#include "ietest/stats/replicates.hpp"
#include "ietest/stats/scores.hpp"
#include "integer_law.hpp"
#include "moments.hpp"
#include "unit_draws.hpp"

namespace ietest::stats {
namespace {

// Third word of the counter: the rows of a replicate, and how many of them have a difference.
constexpr std::uint64_t kRowStream = 18;
constexpr std::uint64_t kNumberStream = 19;

// Lanes let additions go on side by side, in an order that is always the same.
double fold(const double (&lanes)[kUnitLanes]) {
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
           ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

double studentise(double total, double spread, double scale) {
    if (total == 0) return 0;
    // Equal values leave nothing but rounding errors.
    if (spread <= 0x1.0p-44 * scale) {
        return std::copysign(std::numeric_limits<double>::infinity(), total);
    }
    return total / std::sqrt(spread);
}

// The shift at which t turns: that of (a + b s) / sqrt(c + d s + e s*s). Not finite where none
// does.
double turning_shift(std::span<const double> moments, std::int64_t n_units, std::int64_t n_listed) {
    double a, b, c, half_d, e;
    if (moments.size() == kPairMoments) {
        const auto n = static_cast<double>(n_units);
        const double others = 1 - moments[0] / n;
        a = moments[1];
        b = moments[0] - static_cast<double>(n_listed);
        c = moments[2] - a * a / n;
        half_d = others * a;
        e = others * moments[0];
    } else {
        a = moments[0];
        b = moments[1];
        const double h = a / moments[2];  // of a shift of 0, and how it grows with the shift
        const double g = b / moments[2];
        c = moments[3] - 2 * h * moments[6] + h * h * moments[8];
        half_d = moments[4] - h * moments[7] - g * moments[6] + h * g * moments[8];
        e = moments[5] - 2 * g * moments[7] + g * g * moments[8];
    }
    return (a * half_d - b * c) / (b * half_d - a * e);
}

struct TailBounds {
    double shift;
    double highest;  // of what is at most the sample's t
    double lowest;   // of what is at least that
};

TailBounds tail_bounds(const Hypothesis& hypothesis) {
    const double t = hypothesis.t;
    if (std::isnan(t)) throw std::invalid_argument("t is no number");
    if (!std::isfinite(hypothesis.shift)) throw std::invalid_argument("a shift is not finite");
    const double tolerance = std::isinf(t) ? 0 : kTieTolerance * std::max(1.0, std::abs(t));
    return {hypothesis.shift, t + tolerance, t - tolerance};
}

}  // namespace

double studentised_t(std::span<const double> moments, std::int64_t n_units, std::int64_t n_listed,
                     double shift) {
    const double s = shift;
    if (moments.size() == kPairMoments) {
        const double drawn = moments[0];
        const double sum = moments[1];
        const double squares = moments[2];
        const auto n = static_cast<double>(n_units);
        const double others = 1 - drawn / n;
        const double shifted = s * (drawn - static_cast<double>(n_listed));
        double total = sum + shifted;
        // Terms that cancel leave rounding.
        if (std::abs(total) <= 0x1.0p-40 * std::max(std::abs(sum), std::abs(shifted))) total = 0;
        const double spread = squares - sum * sum / n + others * (2 * s * sum + s * s * drawn);
        return studentise(total, spread, squares + others * s * s * drawn);
    }
    double total = moments[0] + s * moments[1];
    // Shifted values may cancel in every cluster: what is left of their sum is rounding.
    const double summed = static_cast<double>(n_units) * (moments[3] + s * s * moments[5]);
    if (total * total <= 0x1.0p-88 * summed) total = 0;
    const double squares = moments[3] + 2 * s * moments[4] + s * s * moments[5];
    const double step = total / moments[2];
    const double spread =
        squares - 2 * step * (moments[6] + s * moments[7]) + step * step * moments[8];
    return studentise(total, spread, squares);
}

TRange studentised_t_range(std::span<const double> moments, std::int64_t n_units,
                           std::int64_t n_listed, double first, double last) {
    const auto t_of = [&](double shift) {
        return studentised_t(moments, n_units, n_listed, shift);
    };
    const auto [low, high] = std::minmax(first, last);
    auto [lowest, highest] = std::minmax({t_of(low), t_of(high)});
    const double turn = turning_shift(moments, n_units, n_listed);
    if (low < turn && turn < high) {
        const double t = t_of(turn);
        lowest = std::min(lowest, t);
        highest = std::max(highest, t);
    }
    return {lowest, highest};
}

struct StudentisedSampler::Plan {
    struct PairSums {
        double values[kUnitLanes] = {};
        double squares[kUnitLanes] = {};

        void add(std::size_t lane, double value) {
            values[lane] += value;
            squares[lane] += value * value;
        }
    };

    struct ClusterSums {
        double sums[kClusterMoments][kUnitLanes] = {};

        void add(std::size_t lane, double value, double excess, double size) {
            sums[0][lane] += value;
            sums[1][lane] += excess;
            sums[2][lane] += size;
            sums[3][lane] += value * value;
            sums[4][lane] += value * excess;
            sums[5][lane] += excess * excess;
            sums[6][lane] += value * size;
            sums[7][lane] += excess * size;
            sums[8][lane] += size * size;
        }
    };

    const kernels::Kernels& kernels;
    random::Key key;
    std::int64_t n_units;
    std::uint64_t n_listed;
    bool are_clusters;
    std::vector<double> values;  // of clusters: value, excess, size, value, ...
    IntegerLaw drawn;            // pairs with a difference among those drawn, where some have none

    Plan(const UnitSample& sample, random::Key k, InstructionSet instruction_set)
        : kernels(kernels::kernels_for(instruction_set)),
          key(k),
          n_units(sample.n_units),
          n_listed(sample.values.size()),
          are_clusters(!sample.sizes.empty()) {
        if (n_units < 1) throw std::invalid_argument("there is no unit at all");
        const bool all_listed = static_cast<std::int64_t>(n_listed) == n_units;
        if (static_cast<std::int64_t>(n_listed) > n_units) {
            throw std::invalid_argument("more units are listed than there are");
        }
        if (sample.excesses.size() != sample.sizes.size() ||
            (are_clusters && (!all_listed || sample.sizes.size() != n_listed))) {
            throw std::invalid_argument("every cluster needs a value, an excess and a size");
        }
        for (std::size_t i = 0; i < n_listed; ++i) {
            values.push_back(sample.values[i]);
            if (!are_clusters) continue;
            if (!(sample.sizes[i] > 0)) throw std::invalid_argument("a size must be positive");
            values.push_back(sample.excesses[i]);
            values.push_back(sample.sizes[i]);
        }
        for (const double value : values) {
            if (!std::isfinite(value)) throw std::invalid_argument("a value is not finite");
        }
        if (!all_listed) drawn = binomial_law(n_units, static_cast<std::int64_t>(n_listed));
    }

    // Calls add(lane, row) for each of n rows drawn.
    template <typename Add>
    void draw_rows(std::uint64_t replicate, std::uint64_t n, Add&& add) const {
        draw_units(kernels, {key, replicate, kRowStream, 0}, n_listed, n, add);
    }

    void draw(std::uint64_t replicate, double* moments) const {
        if (are_clusters) {
            ClusterSums lanes;
            draw_rows(replicate, n_listed, [&](std::size_t lane, std::uint64_t row) {
                lanes.add(lane, values[3 * row], values[3 * row + 1], values[3 * row + 2]);
            });
            for (const auto& sums : lanes.sums) *moments++ = fold(sums);
            return;
        }
        std::uint64_t n = n_listed;
        if (static_cast<std::int64_t>(n) < n_units && n > 0) {
            n = static_cast<std::uint64_t>(
                drawn(random::philox({0, replicate, kNumberStream, 0}, key)[0]));
        }
        PairSums lanes;
        draw_rows(replicate, n,
                  [&](std::size_t lane, std::uint64_t row) { lanes.add(lane, values[row]); });
        moments[0] = static_cast<double>(n);
        moments[1] = fold(lanes.values);
        moments[2] = fold(lanes.squares);
    }
};

StudentisedSampler::StudentisedSampler(const UnitSample& sample, random::Key key,
                                       InstructionSet instruction_set)
    : plan_(std::make_shared<const Plan>(sample, key, instruction_set)) {}

std::int64_t StudentisedSampler::n_units() const {
    return plan_->n_units;
}

std::int64_t StudentisedSampler::n_listed() const {
    return static_cast<std::int64_t>(plan_->n_listed);
}

std::size_t StudentisedSampler::n_moments() const {
    return plan_->are_clusters ? kClusterMoments : kPairMoments;
}

std::int64_t StudentisedSampler::chunk_size() const {
    // Some 10^6 draws: a chunk lasts a millisecond.
    const double cost = static_cast<double>(plan_->n_listed) * (plan_->are_clusters ? 3 : 1) + 40;
    return std::max<std::int64_t>(8, static_cast<std::int64_t>(1e6 / cost));
}

void StudentisedSampler::draw(std::uint64_t replicate, std::span<double> moments) const {
    if (moments.size() != n_moments()) throw std::invalid_argument("wrong number of moments");
    plan_->draw(replicate, moments.data());
}

void StudentisedSampler::draw_all(std::int64_t n_replicates, const Execution& execution,
                                  std::span<double> moments) const {
    const std::size_t width = n_moments();
    if (n_replicates < 0 || moments.size() != width * static_cast<std::size_t>(n_replicates)) {
        throw std::invalid_argument("every replicate needs a place for its moments");
    }
    parallel_chunks(n_replicates, chunk_size(), execution, [&](Range range) {
        for (std::int64_t r = range.begin; r < range.end; ++r) {
            plan_->draw(static_cast<std::uint64_t>(r),
                        moments.data() + width * static_cast<std::size_t>(r));
        }
    });
}

StudentisedReplicates studentised_replicates(const UnitSample& sample,
                                             std::span<const Hypothesis> hypotheses,
                                             std::int64_t n_replicates, random::Key key,
                                             const Execution& execution,
                                             std::span<double> t_replicates,
                                             InstructionSet instruction_set) {
    check_replicates(n_replicates, t_replicates);
    const StudentisedSampler sampler(sample, key, instruction_set);
    const std::int64_t n_units = sampler.n_units();
    const std::int64_t n_listed = sampler.n_listed();
    std::vector<TailBounds> bounds;
    for (const Hypothesis& hypothesis : hypotheses) bounds.push_back(tail_bounds(hypothesis));
    std::mutex mutex;
    StudentisedReplicates result;
    result.tails.resize(bounds.size());
    Moments of_t;
    parallel_chunks(n_replicates, sampler.chunk_size(), execution, [&](Range range) {
        std::array<double, kClusterMoments> room;
        const std::span<double> moments(room.data(), sampler.n_moments());
        std::vector<TailCounts> tails(bounds.size());
        Moments part;
        for (std::int64_t r = range.begin; r < range.end; ++r) {
            sampler.draw(static_cast<std::uint64_t>(r), moments);
            const double t_of_zero = studentised_t(moments, n_units, n_listed, 0);
            for (std::size_t i = 0; i < bounds.size(); ++i) {
                const double t = bounds[i].shift == 0
                                     ? t_of_zero
                                     : studentised_t(moments, n_units, n_listed, bounds[i].shift);
                tails[i].at_most += t <= bounds[i].highest;
                tails[i].at_least += t >= bounds[i].lowest;
            }
            part.add(t_of_zero);
            if (!t_replicates.empty()) t_replicates[static_cast<std::size_t>(r)] = t_of_zero;
        }
        const std::lock_guard lock(mutex);
        for (std::size_t i = 0; i < bounds.size(); ++i) {
            result.tails[i].at_most += tails[i].at_most;
            result.tails[i].at_least += tails[i].at_least;
        }
        of_t += part;
    });
    result.n_finite = of_t.n;
    result.mean = of_t.mean();
    result.deviation = of_t.deviation();
    return result;
}

std::vector<double> studentised_order_statistics(const UnitSample& sample,
                                                 std::span<const std::int64_t> ranks,
                                                 std::int64_t n_replicates, random::Key key,
                                                 const Execution& execution) {
    const StudentisedSampler sampler(sample, key);
    const auto draw = [&](Range range, std::span<double> t) {
        std::array<double, kClusterMoments> room;
        const std::span<double> moments(room.data(), sampler.n_moments());
        for (std::int64_t r = range.begin; r < range.end; ++r) {
            sampler.draw(static_cast<std::uint64_t>(r), moments);
            t[static_cast<std::size_t>(r - range.begin)] =
                studentised_t(moments, sampler.n_units(), sampler.n_listed(), 0);
        }
    };
    Replicates replicates(draw, 1, sampler.chunk_size(), n_replicates);
    std::vector<RankRequest> requests;
    for (const std::int64_t rank : ranks) requests.push_back({0, rank});
    return replicates.order_statistics(requests, execution);
}

}  // namespace ietest::stats

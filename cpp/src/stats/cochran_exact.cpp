#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "cochran_parts.hpp"
#include "ietest/int128.hpp"
#include "ietest/random/discrete.hpp"

namespace ietest::stats {
namespace {

using random::log_binomial_pmf;

// Log of the probability below which one term is left out: exp(-80) = 2e-35 for up to three
// versions, exp(-50) = 2e-22 for more. Terms are left out where so many texts of a group are drawn
// (most_drawn), or such numbers of all groups (ExactSum::visit), or where a coordinate leaves the
// cube (Plan::radius; on either side, at whatever draw). Terms fall off fast in all of these, so
// what they sum to stays below the 1e-30 and 1e-18 that the header promises.
double log_nothing(std::size_t versions) {
    return versions <= 3 ? -80 : -50;
}

constexpr double kMostCells = 8.4e6;
constexpr double kMostTuples = 1e7;

// Levels l and v - l weigh the same, l (v - l), and are drawn as one group.
struct LevelGroup {
    std::int64_t count = 0;               // texts in it
    std::int64_t weight = 0;              // l (v - l)
    std::vector<std::vector<int>> steps;  // change of each coordinate G_j - G_v, j < v
    std::vector<double> shares;           // probability of each step
    double variance = 0;                  // of one coordinate's step
};

std::vector<LevelGroup> make_groups(std::span<const std::int64_t> levels) {
    const int versions = static_cast<int>(levels.size()) - 1;
    std::vector<LevelGroup> groups;
    for (int low = 1; 2 * low <= versions; ++low) {
        const int high = versions - low;
        const std::int64_t low_count = levels[static_cast<std::size_t>(low)];
        const std::int64_t high_count = low == high ? 0 : levels[static_cast<std::size_t>(high)];
        if (low_count + high_count == 0) continue;
        LevelGroup group;
        group.count = low_count + high_count;
        group.weight = static_cast<std::int64_t>(low) * high;
        group.variance = 2.0 * low * high / (static_cast<double>(versions) * (versions - 1));
        const auto add_level = [&](int level, std::int64_t count) {
            if (count == 0) return;
            const std::vector<std::uint32_t> masks = subsets(versions, level);
            const double share = static_cast<double>(count) / static_cast<double>(group.count) /
                                 static_cast<double>(masks.size());
            for (const std::uint32_t mask : masks) {
                const int last = static_cast<int>(mask >> (versions - 1) & 1);
                std::vector<int> step;
                for (int j = 0; j + 1 < versions; ++j) {
                    step.push_back(static_cast<int>(mask >> j & 1) - last);
                }
                group.steps.push_back(step);
                group.shares.push_back(share);
            }
        };
        add_level(low, low_count);
        add_level(high, high_count);
        groups.push_back(group);
    }
    return groups;
}

// The most texts of `count` in `n` that n draws take, but for a probability of exp(nothing).
std::int64_t most_drawn(std::int64_t n, std::int64_t count, double nothing) {
    const double p = static_cast<double>(count) / static_cast<double>(n);
    const double q = static_cast<double>(n - count) / static_cast<double>(n);
    std::int64_t drawn = count;
    while (drawn < n && log_binomial_pmf(drawn, n, p, q) > nothing) ++drawn;
    return drawn;
}

struct Plan {
    int dimensions = 0;
    std::vector<LevelGroup> groups;
    std::vector<std::int64_t> most;  // drawn of each group
    double nothing = 0;              // log of the probability below which a term is left out
    std::int64_t radius = 0;         // coordinates go beyond with no larger probability

    explicit Plan(std::span<const std::int64_t> levels)
        : dimensions(static_cast<int>(levels.size()) - 2),
          groups(make_groups(levels)),
          nothing(log_nothing(levels.size() - 1)) {
        const std::int64_t n = total(levels);
        std::int64_t drawn = 0;
        double variance = 0;
        for (const LevelGroup& group : groups) {
            most.push_back(most_drawn(n, group.count, nothing));
            drawn += most.back();
            variance = std::max(variance, group.variance);
        }
        // Bernstein's inequality for a sum of steps -1, 0 and 1 of mean 0, on one side; it holds
        // for the largest of the partial sums too.
        const double t = -nothing;
        const double spread = 2 * t * variance * static_cast<double>(drawn);
        radius = std::min(drawn, static_cast<std::int64_t>(t / 3 + std::sqrt(t * t / 9 + spread)));
    }

    double cells() const {
        return std::pow(2.0 * static_cast<double>(radius) + 3, static_cast<double>(dimensions));
    }
};

double updates_from(const Plan& plan, std::size_t depth, std::int64_t drawn_before) {
    double updates = 0;
    for (std::int64_t drawn = 0; drawn <= plan.most[depth]; ++drawn) {
        const auto r = static_cast<double>(std::min(plan.radius, drawn_before + drawn + 1));
        const double box = std::pow(2 * r + 1, plan.dimensions);
        updates += box * (static_cast<double>(plan.groups[depth].steps.size()) + 1);
        if (depth + 1 < plan.groups.size()) {
            updates += updates_from(plan, depth + 1, drawn_before + drawn);
        }
    }
    return updates;
}

// Probabilities on the cube of coordinates G_j - G_v, |.| <= radius, with a border of zeros.
class Cube {
  public:
    Cube(const Plan& plan, int versions, const Execution& execution)
        : dimensions_(plan.dimensions),
          versions_(versions),
          radius_(plan.radius),
          side_(2 * plan.radius + 3),
          execution_(execution) {
        std::size_t size = 1;
        for (int d = 0; d < dimensions_; ++d) size *= static_cast<std::size_t>(side_);
        now_.assign(size, 0.0);
        next_.assign(size, 0.0);
    }

    void start() {
        clear();
        now_[static_cast<std::size_t>(index_of_origin())] = 1;
        reach_ = 0;
    }

    void start(const Cube& other) {
        clear();
        for_rows(other.reach_, [&](std::int64_t begin, const Row& row) {
            std::copy_n(other.now_.data() + begin, row.size, now_.data() + begin);
        });
        reach_ = other.reach_;
    }

    void draw_one(const LevelGroup& group) {
        reach_ = std::min(radius_, reach_ + 1);
        std::vector<std::int64_t> offsets;
        for (const std::vector<int>& step : group.steps) {
            std::int64_t offset = 0;
            for (const int change : step) offset = offset * side_ + change;
            offsets.push_back(offset);
        }
        for_rows(reach_, [&](std::int64_t begin, const Row& row) {
            double* to = next_.data() + begin;
            const double* from = now_.data() + begin;
            std::fill_n(to, row.size, 0.0);
            for (std::size_t s = 0; s < offsets.size(); ++s) {
                const double* source = from - offsets[s];
                const double share = group.shares[s];
                for (std::int64_t i = 0; i < row.size; ++i) to[i] += share * source[i];
            }
        });
        now_.swap(next_);
    }

    // P(spread >= least) and P(spread > most), for integers below 2^53.
    CochranExact tails(double least, double most) const {
        const std::int64_t rows = count_rows(reach_);
        std::vector<CochranExact> parts(static_cast<std::size_t>(rows), CochranExact{0, 0});
        for_rows(reach_, [&](std::int64_t begin, const Row& row) {
            CochranExact& part = parts[static_cast<std::size_t>(row.number)];
            const double* from = now_.data() + begin;
            const auto v = static_cast<double>(versions_);
            for (std::int64_t i = 0; i < row.size; ++i) {
                const auto y = static_cast<double>(i - reach_);
                const double sum = row.sum + y;
                const double spread = v * (row.squares + y * y) - sum * sum;
                part.at_least += spread >= least ? from[i] : 0.0;
                part.above += spread > most ? from[i] : 0.0;
            }
        });
        CochranExact all{0, 0};
        for (const CochranExact& part : parts) {
            all.at_least += part.at_least;
            all.above += part.above;
        }
        return all;
    }

  private:
    // Cells that differ in the last coordinate only, which runs from -reach to reach.
    struct Row {
        std::int64_t number;
        std::int64_t size;
        double sum;      // of the other coordinates
        double squares;  // of the other coordinates
    };

    void clear() {
        std::fill(now_.begin(), now_.end(), 0.0);
        std::fill(next_.begin(), next_.end(), 0.0);
    }

    std::int64_t index_of_origin() const {
        std::int64_t index = 0;
        for (int d = 0; d < dimensions_; ++d) index = index * side_ + radius_ + 1;
        return index;
    }

    std::int64_t count_rows(std::int64_t reach) const {
        std::int64_t rows = 1;
        for (int d = 0; d + 1 < dimensions_; ++d) rows *= 2 * reach + 1;
        return rows;
    }

    template <typename Body>
    void for_rows(std::int64_t reach, Body&& body) const {
        const std::int64_t width = 2 * reach + 1;
        const std::int64_t chunk = std::max<std::int64_t>(1, 30'000 / width);
        parallel_chunks(count_rows(reach), chunk, execution_, [&](Range range) {
            for (std::int64_t number = range.begin; number < range.end; ++number) {
                Row row{number, width, 0, 0};
                std::int64_t rest = number;
                std::int64_t index = radius_ + 1 - reach;
                std::int64_t stride = side_;
                for (int d = 0; d + 1 < dimensions_; ++d) {
                    const std::int64_t y = rest % width - reach;
                    rest /= width;
                    index += (y + radius_ + 1) * stride;
                    stride *= side_;
                    row.sum += static_cast<double>(y);
                    row.squares += static_cast<double>(y * y);
                }
                body(index, row);
            }
        });
    }

    int dimensions_;
    int versions_;
    std::int64_t radius_;
    std::int64_t side_;
    std::int64_t reach_ = 0;
    Execution execution_;
    std::vector<double> now_, next_;
};

class ExactSum {
  public:
    ExactSum(std::span<const std::int64_t> levels, CochranStatistic observed,
             const Execution& execution)
        : plan_(levels), observed_(observed), n_(total(levels)) {
        // One thread: the steps are too short to be worth a meeting of several after each.
        const Execution serial{1, execution.interrupted};
        for (std::size_t g = 0; g < plan_.groups.size(); ++g) {
            cubes_.emplace_back(plan_, static_cast<int>(levels.size()) - 1, serial);
        }
    }

    CochranExact run() {
        cubes_[0].start();
        visit(0, 0, 0, 0, 0);
        return {std::min(1.0, sum_.at_least), std::min(1.0, sum_.above)};
    }

  private:
    // Draws 0, 1, 2, ... texts of the group at this depth, and for each number all those of the
    // groups after it. `taken` texts of groups that had `seen` texts are drawn already.
    void visit(std::size_t depth, std::int64_t taken, std::int64_t seen, std::int64_t weight,
               double log_mass) {
        const LevelGroup& group = plan_.groups[depth];
        const auto left = static_cast<double>(n_ - seen);
        const double p = static_cast<double>(group.count) / left;
        const double q = static_cast<double>(n_ - seen - group.count) / left;
        const std::int64_t most = std::min(plan_.most[depth], n_ - taken);
        for (std::int64_t drawn = 0; drawn <= most; ++drawn) {
            if (drawn > 0) cubes_[depth].draw_one(group);
            const double log_here = log_mass + log_binomial_pmf(drawn, n_ - taken, p, q);
            if (!(log_here > plan_.nothing)) continue;
            const std::int64_t weight_here = weight + drawn * group.weight;
            if (depth + 1 < plan_.groups.size()) {
                cubes_[depth + 1].start(cubes_[depth]);
                visit(depth + 1, taken + drawn, seen + group.count, weight_here, log_here);
            } else {
                add(cubes_[depth], weight_here, std::exp(log_here));
            }
        }
    }

    void add(const Cube& cube, std::int64_t weight, double mass) {
        // Q* >= Q: spread >= Q weight. Where the weight is 0 the spread is 0 too, and so is Q*; a
        // weight of 1 says that.
        const Int128 product =
            static_cast<Int128>(observed_.spread) * std::max<std::int64_t>(1, weight);
        const Int128 divisor = observed_.weight == 0 ? 1 : observed_.weight;
        const Int128 floor = product / divisor;
        const Int128 ceiling = floor * divisor == product ? floor : floor + 1;
        const CochranExact here =
            cube.tails(static_cast<double>(ceiling), static_cast<double>(floor));
        sum_.at_least += mass * here.at_least;
        sum_.above += mass * here.above;
    }

    Plan plan_;
    CochranStatistic observed_;
    std::int64_t n_;
    std::vector<Cube> cubes_;
    CochranExact sum_{0, 0};
};

}  // namespace

CochranCost cochran_exact_cost(std::span<const std::int64_t> levels) {
    check_levels(levels);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (levels.size() - 1 > static_cast<std::size_t>(kMaxListedVersions)) {
        return {kInfinity, kInfinity};
    }
    const Plan plan(levels);
    if (plan.groups.empty()) return {0, 0};
    double tuples = 1;
    for (const std::int64_t most : plan.most) tuples *= static_cast<double>(most + 1);
    if (plan.cells() > kMostCells || tuples > kMostTuples) return {kInfinity, plan.cells()};
    return {updates_from(plan, 0, 0), plan.cells()};
}

CochranExact cochran_exact(std::span<const std::int64_t> levels, CochranStatistic observed,
                           const Execution& execution) {
    if (!std::isfinite(cochran_exact_cost(levels).updates)) {
        throw std::length_error("the exact law of Q has too many values");
    }
    if (make_groups(levels).empty()) return {1, 0};  // Q* = Q = 0
    return ExactSum(levels, observed, execution).run();
}

}  // namespace ietest::stats

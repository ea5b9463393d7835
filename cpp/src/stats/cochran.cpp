#include "ietest/stats/cochran.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>

#include "ietest/random/binomial_tables.hpp"
#include "ietest/random/discrete.hpp"

namespace ietest::stats {
namespace {

using random::BinomialSampler;
using random::BinomialTables;
using random::Key;
using random::log_binomial_pmf;
using random::WordStream;

__extension__ using Wide = __int128;

// Third word of the counter: engines never share a word.
constexpr std::uint64_t kMultinomialStream = 32;
constexpr std::uint64_t kResampleStream = 33;

void check_levels(std::span<const std::int64_t> levels) {
    if (levels.size() < 3) throw std::invalid_argument("there must be at least two versions");
    std::int64_t n = 0;
    for (const std::int64_t count : levels) {
        if (count < 0) throw std::invalid_argument("counts must not be negative");
        if (count > kMaxOutcomes) throw std::invalid_argument("too many outcomes");
        n += count;
    }
    if (n == 0) throw std::invalid_argument("there is no row at all");
    if (n > kMaxOutcomes / static_cast<std::int64_t>(levels.size() - 1)) {
        throw std::invalid_argument("too many outcomes");
    }
}

std::int64_t total(std::span<const std::int64_t> levels) {
    std::int64_t n = 0;
    for (const std::int64_t count : levels) n += count;
    return n;
}

std::int64_t spread_of(std::span<const std::int64_t> column_sums) {
    Wide sum = 0;
    Wide squares = 0;
    for (const std::int64_t g : column_sums) {
        sum += g;
        squares += static_cast<Wide>(g) * g;
    }
    return static_cast<std::int64_t>(static_cast<Wide>(column_sums.size()) * squares - sum * sum);
}

void check_replicates(std::int64_t n_replicates, std::span<double> q_replicates) {
    if (n_replicates < 1) throw std::invalid_argument("n_replicates must be at least 1");
    if (!q_replicates.empty() && static_cast<std::int64_t>(q_replicates.size()) != n_replicates) {
        throw std::invalid_argument("q_replicates must have n_replicates places");
    }
}

// Takes the replicates of one chunk, and adds them to the common sum when it is done.
class Collector {
  public:
    Collector(CochranStatistic observed, int versions, std::span<double> q_replicates)
        : observed_(observed), factor_(versions - 1), q_replicates_(q_replicates) {}

    void add(std::int64_t replicate, CochranStatistic drawn, CochranTails& part) const {
        const int order = compare_q(drawn, observed_);
        part.at_least += order >= 0;
        part.above += order > 0;
        ++part.replicates;
        if (!q_replicates_.empty()) {
            const double q = drawn.weight == 0 ? 0
                                               : factor_ * static_cast<double>(drawn.spread) /
                                                     static_cast<double>(drawn.weight);
            q_replicates_[static_cast<std::size_t>(replicate)] = q;
        }
    }

    void finish(const CochranTails& part) {
        const std::lock_guard lock(mutex_);
        sum_.at_least += part.at_least;
        sum_.above += part.above;
        sum_.replicates += part.replicates;
    }

    CochranTails sum() const { return sum_; }

  private:
    CochranStatistic observed_;
    double factor_;
    std::span<double> q_replicates_;
    std::mutex mutex_;
    CochranTails sum_;
};

// Binomial draws with one p, by tables where there is room for them.
class Draw {
  public:
    Draw(random::TrialRange trials, double p, bool in_tables) : p_(p) {
        if (in_tables && p < 1) tables_.emplace(trials, p);
    }
    std::int64_t operator()(std::int64_t trials, WordStream& words) const {
        if (tables_.has_value()) return (*tables_)(trials, words);
        return BinomialSampler(trials, p_, BinomialSampler::Use::kOnce)(words);
    }

  private:
    double p_;
    std::optional<BinomialTables> tables_;
};

// The sums of the columns of a bootstrap table. First how many texts of each level are drawn; then,
// version by version, a text that has `ones` right answers to place in `left` versions is right in
// the next one with probability ones / left.
class ColumnDraws {
  public:
    explicit ColumnDraws(std::span<const std::int64_t> levels)
        : versions_(levels.size() - 1), n_(total(levels)) {
        // Whether it goes by tables depends on the levels alone, never on S: the first replicates
        // of a long run are those of a short one.
        constexpr double kMostCells = 1 << 20;
        double cells = 0;
        for_states(levels, [&](random::TrialRange trials, double p) {
            cells += BinomialTables::estimate_cells(trials, p);
        });
        const bool in_tables = cells <= kMostCells;
        std::vector<Draw> all;
        for_states(levels, [&](random::TrialRange trials, double p) {
            all.emplace_back(trials, p, in_tables);
        });
        for (std::size_t level = 1; level < versions_; ++level) {
            if (levels[level] > 0) levels_.push_back(level);
        }
        by_level_.assign(std::make_move_iterator(all.begin()),
                         std::make_move_iterator(all.begin() + count(levels_.size())));
        by_state_.assign(std::make_move_iterator(all.begin() + count(levels_.size())),
                         std::make_move_iterator(all.end()));
    }

    // Writes the column sums (without level v, which adds to all alike) and gives the weight.
    std::int64_t draw(WordStream& words, std::vector<std::int64_t>& waiting,
                      std::vector<std::int64_t>& sums) const {
        std::fill(waiting.begin(), waiting.end(), 0);
        std::int64_t draws = n_;
        std::int64_t weight = 0;
        for (std::size_t i = 0; i < levels_.size(); ++i) {
            const std::size_t level = levels_[i];
            const std::int64_t drawn = by_level_[i](draws, words);
            waiting[level] = drawn;
            weight += drawn * static_cast<std::int64_t>(level * (versions_ - level));
            draws -= drawn;
        }
        std::size_t state = 0;
        for (std::size_t left = versions_; left >= 1; --left) {
            std::int64_t right = 0;
            for (std::size_t ones = 1; ones < left; ++ones) {
                const Draw& draw_hits = by_state_[state++];
                if (waiting[ones] == 0) continue;
                const std::int64_t hits = draw_hits(waiting[ones], words);
                right += hits;
                waiting[ones] -= hits;
                waiting[ones - 1] += hits;
            }
            right += waiting[left];
            waiting[left - 1] += waiting[left];
            waiting[left] = 0;
            sums[versions_ - left] = right;
        }
        return weight;
    }

  private:
    static std::ptrdiff_t count(std::size_t size) { return static_cast<std::ptrdiff_t>(size); }

    // Calls back with p and the likely numbers of trials of every draw, in the order of draw().
    template <typename Callback>
    void for_states(std::span<const std::int64_t> levels, Callback&& callback) const {
        const auto size = static_cast<double>(n_);
        std::int64_t texts = n_;
        std::vector<double> share(versions_ + 1, 0.0);  // of texts that wait with so many ones
        for (std::size_t level = 1; level < versions_; ++level) {
            share[level] = static_cast<double>(levels[level]) / size;
            if (levels[level] == 0) continue;
            const double p = static_cast<double>(levels[level]) / static_cast<double>(texts);
            callback(random::likely_range(n_, static_cast<double>(texts) / size), p);
            texts -= levels[level];
        }
        for (std::size_t left = versions_; left >= 1; --left) {
            for (std::size_t ones = 1; ones < left; ++ones) {
                const double p = static_cast<double>(ones) / static_cast<double>(left);
                callback(random::likely_range(n_, std::min(1.0, share[ones])), p);
                share[ones - 1] += p * share[ones];
                share[ones] *= 1 - p;
            }
            share[left - 1] += share[left];
            share[left] = 0;
        }
    }

    std::size_t versions_;
    std::int64_t n_;
    std::vector<std::size_t> levels_;  // those that texts have
    std::vector<Draw> by_level_;
    std::vector<Draw> by_state_;
};

// All ways to choose `level` of `versions`, as bit masks in increasing order.
std::vector<std::uint32_t> subsets(int versions, int level) {
    std::vector<std::uint32_t> masks;
    for (std::uint32_t mask = 0; mask < (std::uint32_t{1} << versions); ++mask) {
        if (std::popcount(mask) == level) masks.push_back(mask);
    }
    return masks;
}

// ---- The exact law ---------------------------------------------------------------------------

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
struct Group {
    std::int64_t count = 0;               // texts in it
    std::int64_t weight = 0;              // l (v - l)
    std::vector<std::vector<int>> steps;  // change of each coordinate G_j - G_v, j < v
    std::vector<double> shares;           // probability of each step
    double variance = 0;                  // of one coordinate's step
};

std::vector<Group> make_groups(std::span<const std::int64_t> levels) {
    const int versions = static_cast<int>(levels.size()) - 1;
    std::vector<Group> groups;
    for (int low = 1; 2 * low <= versions; ++low) {
        const int high = versions - low;
        const std::int64_t low_count = levels[static_cast<std::size_t>(low)];
        const std::int64_t high_count = low == high ? 0 : levels[static_cast<std::size_t>(high)];
        if (low_count + high_count == 0) continue;
        Group group;
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
    std::vector<Group> groups;
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
        for (const Group& group : groups) {
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

    void draw_one(const Group& group) {
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
        const Group& group = plan_.groups[depth];
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
        const Wide product =
            static_cast<Wide>(observed_.spread) * std::max<std::int64_t>(1, weight);
        const Wide divisor = observed_.weight == 0 ? 1 : observed_.weight;
        const Wide floor = product / divisor;
        const Wide ceiling = floor * divisor == product ? floor : floor + 1;
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

int compare_q(CochranStatistic first, CochranStatistic second) {
    const Wide left = static_cast<Wide>(first.spread) * (second.weight == 0 ? 1 : second.weight);
    const Wide right = static_cast<Wide>(second.spread) * (first.weight == 0 ? 1 : first.weight);
    return left < right ? -1 : left > right ? 1 : 0;
}

CochranStatistic CochranTable::statistic() const {
    CochranStatistic statistic{spread_of(column_sums), 0};
    const auto v = static_cast<std::int64_t>(column_sums.size());
    for (std::int64_t level = 0; level <= v; ++level) {
        statistic.weight += levels[static_cast<std::size_t>(level)] * level * (v - level);
    }
    return statistic;
}

CochranTable count_versions(std::span<const std::uint8_t> outcomes, int versions) {
    if (versions < 2) throw std::invalid_argument("there must be at least two versions");
    if (versions > 255) throw std::invalid_argument("there are more than 255 versions");
    const auto v = static_cast<std::size_t>(versions);
    if (outcomes.empty() || outcomes.size() % v != 0) {
        throw std::invalid_argument("outcomes must be whole rows, at least one");
    }
    if (outcomes.size() > static_cast<std::size_t>(kMaxOutcomes)) {
        throw std::invalid_argument("too many outcomes");
    }
    CochranTable table;
    table.levels.assign(v + 1, 0);
    table.column_sums.assign(v, 0);
    table.row_levels.resize(outcomes.size() / v);
    for (std::size_t i = 0; i < table.row_levels.size(); ++i) {
        std::uint8_t level = 0;
        for (std::size_t j = 0; j < v; ++j) {
            const std::uint8_t outcome = outcomes[i * v + j];
            level = static_cast<std::uint8_t>(level + outcome);
            table.column_sums[j] += outcome;
        }
        table.row_levels[i] = level;
        ++table.levels[level];
    }
    return table;
}

CochranTails cochran_multinomial(std::span<const std::int64_t> levels, CochranStatistic observed,
                                 std::int64_t n_replicates, Key key, const Execution& execution,
                                 std::span<double> q_replicates) {
    check_levels(levels);
    check_replicates(n_replicates, q_replicates);
    constexpr std::int64_t kChunk = std::int64_t{1} << 14;
    const std::size_t v = levels.size() - 1;
    const ColumnDraws draws(levels);
    Collector collector(observed, static_cast<int>(v), q_replicates);
    parallel_chunks(n_replicates, kChunk, execution, [&](Range range) {
        CochranTails part;
        std::vector<std::int64_t> waiting(v + 1);
        std::vector<std::int64_t> sums(v);
        for (std::int64_t r = range.begin; r < range.end; ++r) {
            WordStream words(key, static_cast<std::uint64_t>(r), kMultinomialStream);
            CochranStatistic drawn{0, draws.draw(words, waiting, sums)};
            drawn.spread = spread_of(sums);
            collector.add(r, drawn, part);
        }
        collector.finish(part);
    });
    return collector.sum();
}

CochranTails cochran_resample(std::span<const std::uint8_t> row_levels, int versions,
                              CochranStatistic observed, std::int64_t n_replicates, Key key,
                              const Execution& execution, std::span<double> q_replicates) {
    check_replicates(n_replicates, q_replicates);
    if (versions < 2) throw std::invalid_argument("there must be at least two versions");
    if (versions > kMaxListedVersions) throw std::invalid_argument("there are too many versions");
    if (row_levels.empty()) throw std::invalid_argument("there is no row at all");
    if (row_levels.size() > static_cast<std::size_t>(kMaxOutcomes / versions)) {
        throw std::invalid_argument("too many outcomes");
    }
    for (const std::uint8_t level : row_levels) {
        if (level > versions) throw std::invalid_argument("a level is above the versions");
    }
    // One byte a version: 255 rows can be added before a byte overflows.
    using Lanes = std::array<std::uint64_t, 2>;
    std::vector<Lanes> lanes;
    std::array<std::uint32_t, kMaxListedVersions + 1> first{}, count{};
    for (int level = 0; level <= versions; ++level) {
        first[static_cast<std::size_t>(level)] = static_cast<std::uint32_t>(lanes.size());
        for (const std::uint32_t mask : subsets(versions, level)) {
            Lanes spread{};
            for (unsigned j = 0; j < static_cast<unsigned>(versions); ++j) {
                spread[j / 8] |= static_cast<std::uint64_t>(mask >> j & 1) << (8 * (j % 8));
            }
            lanes.push_back(spread);
        }
        count[static_cast<std::size_t>(level)] =
            static_cast<std::uint32_t>(lanes.size()) - first[static_cast<std::size_t>(level)];
    }
    const std::uint64_t n = row_levels.size();
    const auto chunk = static_cast<std::int64_t>(std::max<std::uint64_t>(1, 100'000 / n));
    Collector collector(observed, versions, q_replicates);
    parallel_chunks(n_replicates, chunk, execution, [&](Range range) {
        CochranTails part;
        std::vector<std::int64_t> sums(static_cast<std::size_t>(versions));
        std::array<std::int64_t, kMaxListedVersions + 1> drawn_levels{};
        for (std::int64_t r = range.begin; r < range.end; ++r) {
            std::fill(sums.begin(), sums.end(), 0);
            drawn_levels.fill(0);
            Lanes sum{};
            std::uint64_t in_lanes = 0;
            const auto flush = [&] {
                for (std::size_t j = 0; j < sums.size(); ++j) {
                    sums[j] += static_cast<std::int64_t>(sum[j / 8] >> (8 * (j % 8)) & 0xFF);
                }
                sum = {};
                in_lanes = 0;
            };
            std::uint64_t done = 0;
            for (std::uint64_t block = 1; done < n; ++block) {
                const random::Block words =
                    random::philox({block, static_cast<std::uint64_t>(r), kResampleStream, 0}, key);
                const std::uint64_t taken = std::min<std::uint64_t>(4, n - done);
                for (std::uint64_t w = 0; w < taken; ++w) {
                    // The word times n: its high half is the row, its low half a fresh fraction
                    // that chooses one of the row's permutations.
                    const random::Wide product = static_cast<random::Wide>(words[w]) * n;
                    const std::size_t level = row_levels[static_cast<std::size_t>(product >> 64)];
                    const auto fraction = static_cast<std::uint64_t>(product);
                    const Lanes& chosen =
                        lanes[first[level] + random::high_word(fraction, count[level])];
                    sum[0] += chosen[0];
                    sum[1] += chosen[1];
                    ++drawn_levels[level];
                }
                done += taken;
                in_lanes += taken;
                if (in_lanes > 251) flush();
            }
            flush();
            CochranStatistic drawn{spread_of(sums), 0};
            for (std::int64_t level = 1; level < versions; ++level) {
                drawn.weight +=
                    drawn_levels[static_cast<std::size_t>(level)] * level * (versions - level);
            }
            collector.add(r, drawn, part);
        }
        collector.finish(part);
    });
    return collector.sum();
}

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

#include "ietest/stats/bucket_bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <stdexcept>

#include "ietest/random/discrete.hpp"
#include "ietest/stats/scores.hpp"
#include "integer_law.hpp"
#include "poisson_margin.hpp"
#include "unit_draws.hpp"

namespace ietest::stats {
namespace {

// Third word of the counter: how often types of many units are drawn, and the units of the others.
constexpr std::uint64_t kTypeStream = 49;
constexpr std::uint64_t kUnitStream = 50;

// From so many units on, a Poisson number is quicker than their single draws.
constexpr std::int64_t kManyUnits = 6;

// After so many totals that exceeded it, all draws are made singly.
constexpr int kMaxTotals = 32;

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();  // its sign bit is 0

double ratio(double numerator, double denominator) {
    return denominator == 0 ? kUndefined : numerator / denominator;
}

double evaluate(Formula formula, const std::array<std::size_t, kMeasureColumns>& columns,
                std::span<const double> sums) {
    const auto sum = [&](std::size_t place) { return sums[columns[place]]; };
    switch (formula) {
        case Formula::kRatio:
            return ratio(sum(0), sum(1));
        case Formula::kBetween: {
            // theta, theta (1 - theta), buckets. theta**2 is the first minus the second.
            const double mean = ratio(sum(0), sum(2));
            return (sum(0) - sum(1)) / sum(2) - mean * mean;
        }
        case Formula::kShare: {
            // theta (1 - theta), buckets, right answers, answers.
            const double right = ratio(sum(2), sum(3));
            return ratio(sum(0) / sum(1), right * (1 - right));
        }
        case Formula::kLowerBound: {
            // theta, buckets.
            const double mean = ratio(sum(0), sum(1));
            return mean * mean + (1 - mean) * (1 - mean);
        }
        case Formula::kUnbiasedBetween:
        case Formula::kUnbiasedShare: {
            // Of buckets of two wordings or more: theta, theta**2, v / wordings, buckets, v, which
            // is the unbiased variance within.
            const double n = sum(3);
            if (n < 2) return kUndefined;
            const double spread = (sum(1) - sum(0) * sum(0) / n) / (n - 1);
            const double between = spread - sum(2) / n;
            if (formula == Formula::kUnbiasedBetween) return between;
            const double within = sum(4) / n;
            return ratio(within, within + std::max(between, 0.0));
        }
    }
    throw std::invalid_argument("there is no such formula");
}

}  // namespace

double value_of(const Measure& measure, std::span<const double> sums) {
    double value = evaluate(measure.formula, measure.columns, sums);
    if (measure.is_difference) value -= evaluate(measure.formula, measure.subtracted, sums);
    return std::isnan(value) ? kUndefined : value;
}

struct UnitSampler::Plan {
    const kernels::Kernels& kernels = kernels::kernels_for(chosen_instruction_set());
    random::Key key;
    std::size_t n_columns;
    std::int64_t n_units = 0;
    std::int64_t n_many_units = 0;       // of types of several units
    std::vector<double> values;          // these types first
    std::vector<std::uint32_t> law;      // which law each of these types has
    std::vector<IntegerLaw> laws;        // Poisson, by number of units
    IntegerLaw drawn;                    // units drawn of these types, where there are others
    random::AliasTable table;            // of these types
    std::vector<std::uint32_t> singles;  // the type of each other unit
    std::size_t first_blocks = 1;        // of words that are made at first

    Plan(const UnitTypeTable& types, random::Key k) : key(k), n_columns(types.n_columns) {
        const std::size_t n_types = types.weights.size();
        if (n_columns == 0) throw std::invalid_argument("a table of units needs a column");
        if (n_types == 0) throw std::invalid_argument("there is no unit at all");
        if (n_types > std::numeric_limits<std::uint32_t>::max()) {
            throw std::length_error("a table of units holds fewer than 2^32 types");
        }
        if (types.values.size() != n_types * n_columns) {
            throw std::invalid_argument("every type needs a value in each column");
        }
        for (const double value : types.values) {
            if (!std::isfinite(value)) throw std::invalid_argument("a value is not finite");
        }
        for (const std::int64_t weight : types.weights) {
            if (weight < 1) throw std::invalid_argument("a type needs a unit");
            if (weight > (std::int64_t{1} << 40) - n_units) {
                throw std::invalid_argument("there are too many units");
            }
            n_units += weight;
        }
        std::vector<std::size_t> order(n_types);
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return types.weights[a] > types.weights[b];
        });
        values.reserve(types.values.size());
        std::vector<double> many;
        for (std::size_t place = 0; place < n_types; ++place) {
            const std::int64_t weight = types.weights[order[place]];
            const auto row = types.values.subspan(order[place] * n_columns, n_columns);
            values.insert(values.end(), row.begin(), row.end());
            if (weight >= kManyUnits) {
                many.push_back(static_cast<double>(weight));
                n_many_units += weight;
            } else {
                singles.insert(singles.end(), static_cast<std::size_t>(weight),
                               static_cast<std::uint32_t>(place));
            }
        }
        if (many.empty()) return;
        if (!singles.empty()) drawn = binomial_law(n_units, n_many_units);
        table = random::AliasTable(many);
        const auto size = static_cast<double>(n_many_units);
        const double variance = 2 - size / static_cast<double>(n_units);
        // Nanoseconds, roughly, on a processor of 2024; only their ratio matters.
        const double margin =
            best_margin(6.0 * static_cast<double>(many.size()), 12.0 * std::sqrt(variance * size));
        const double rate = 1 - margin * std::sqrt(variance / size);
        const double n_words = static_cast<double>(many.size()) + size * (1 - rate) + 1;
        first_blocks = std::min(kBufferBlocks, static_cast<std::size_t>(n_words / 4) + 1);
        for (std::size_t place = 0; place < many.size(); ++place) {
            if (place == 0 || many[place] != many[place - 1]) {
                // A rate that is not positive lets all be drawn singly.
                laws.push_back(poisson_law(std::max(rate, 0.0) * many[place]));
            }
            law.push_back(static_cast<std::uint32_t>(laws.size() - 1));
        }
    }

    // Adds up the drawn units of types of several units; gives how many they are.
    std::int64_t draw_many(std::uint64_t replicate, std::span<double> sums) const {
        if (law.empty()) return 0;
        BufferedWords words(kernels, key, replicate, kTypeStream, first_blocks);
        const std::int64_t wanted = singles.empty() ? n_units : drawn(words.next());
        std::vector<std::int64_t> counts(law.size());
        std::int64_t total = 0;
        for (int attempt = 0; attempt < kMaxTotals; ++attempt) {
            total = 0;
            for (std::size_t type = 0; type < law.size(); ++type) {
                counts[type] = laws[law[type]](words.next());
                total += counts[type];
            }
            if (total <= wanted) break;
        }
        if (total > wanted) {
            total = 0;
            std::fill(counts.begin(), counts.end(), std::int64_t{0});
        }
        for (; total < wanted; ++total) ++counts[table(words.next())];
        for (std::size_t type = 0; type < law.size(); ++type) {
            const auto times = static_cast<double>(counts[type]);
            const double* row = values.data() + type * n_columns;
            for (std::size_t c = 0; c < n_columns; ++c) sums[c] += times * row[c];
        }
        return wanted;
    }

    void draw_singles(std::uint64_t replicate, std::uint64_t n, std::span<double> sums) const {
        draw_units(kernels, {key, replicate, kUnitStream, 1}, singles.size(), n,
                   [&](std::size_t, std::uint64_t unit) {
                       const double* row = values.data() + singles[unit] * n_columns;
                       for (std::size_t c = 0; c < n_columns; ++c) sums[c] += row[c];
                   });
    }
};

UnitSampler::UnitSampler(const UnitTypeTable& table, random::Key key)
    : plan_(std::make_shared<const Plan>(table, key)) {}

std::size_t UnitSampler::n_columns() const {
    return plan_->n_columns;
}

std::int64_t UnitSampler::chunk_size() const {
    // Nanoseconds, roughly; a chunk lasts a millisecond.
    const auto columns = static_cast<double>(plan_->n_columns);
    const double cost = 100 + (8 + columns) * static_cast<double>(plan_->law.size()) +
                        4 * std::sqrt(static_cast<double>(plan_->n_many_units)) +
                        (2 + columns / 2) * static_cast<double>(plan_->singles.size());
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(1e6 / cost));
}

void UnitSampler::draw(std::uint64_t replicate, std::span<double> sums) const {
    if (sums.size() != plan_->n_columns) throw std::invalid_argument("every column needs a place");
    std::fill(sums.begin(), sums.end(), 0.0);
    const std::int64_t left = plan_->n_units - plan_->draw_many(replicate, sums);
    plan_->draw_singles(replicate, static_cast<std::uint64_t>(left), sums);
}

void UnitSampler::draw_all(std::int64_t n_replicates, const Execution& execution,
                           std::span<double> sums) const {
    const std::size_t width = plan_->n_columns;
    if (n_replicates < 0 || sums.size() != width * static_cast<std::size_t>(n_replicates)) {
        throw std::invalid_argument("every replicate needs a place for each column");
    }
    parallel_chunks(n_replicates, chunk_size(), execution, [&](Range range) {
        for (std::int64_t r = range.begin; r < range.end; ++r) {
            draw(static_cast<std::uint64_t>(r),
                 sums.subspan(static_cast<std::size_t>(r) * width, width));
        }
    });
}

namespace {

Replicates make_replicates(const UnitTypeTable& table, std::span<const Measure> measures,
                           std::int64_t n_replicates, random::Key key) {
    if (measures.empty()) throw std::invalid_argument("there is no measure");
    const auto check = [&](const std::array<std::size_t, kMeasureColumns>& columns) {
        for (const std::size_t column : columns) {
            if (column >= table.n_columns) throw std::invalid_argument("there is no such column");
        }
    };
    for (const Measure& measure : measures) {
        const auto formula = static_cast<std::int64_t>(measure.formula);
        if (formula < 0 || formula > kLastFormula) {
            throw std::invalid_argument("there is no such formula");
        }
        check(measure.columns);
        check(measure.subtracted);
    }
    const auto sampler = std::make_shared<const UnitSampler>(table, key);
    const auto draw = [sampler, wanted = std::vector<Measure>(measures.begin(), measures.end())](
                          Range range, std::span<double> rows) {
        std::vector<double> sums(sampler->n_columns());
        double* next = rows.data();
        for (std::int64_t r = range.begin; r < range.end; ++r) {
            sampler->draw(static_cast<std::uint64_t>(r), sums);
            for (const Measure& measure : wanted) *next++ = value_of(measure, sums);
        }
    };
    return Replicates(draw, measures.size(), sampler->chunk_size(), n_replicates);
}

}  // namespace

BucketBootstrap::BucketBootstrap(const UnitTypeTable& table, std::span<const Measure> measures,
                                 std::int64_t n_replicates, random::Key key)
    : replicates_(make_replicates(table, measures, n_replicates, key)) {}

std::vector<Location> BucketBootstrap::locate(std::span<const double> observed,
                                              const Execution& execution) {
    const std::size_t width = replicates_.n_columns();
    if (observed.size() != width) throw std::invalid_argument("every measure needs its value");
    std::vector<Location> found(width);
    std::mutex mutex;
    replicates_.for_each_rows(execution, [&](Replicates::Rows rows) {
        std::vector<Location> part(width);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const std::size_t column = i % width;
            const double value = rows[i];
            if (std::isnan(value)) continue;
            const double middle = observed[column];
            const double tolerance = kTieTolerance * std::max(1.0, std::abs(middle));
            ++part[column].defined;
            part[column].below += value < middle - tolerance;
            part[column].tied += std::abs(value - middle) <= tolerance;
        }
        const std::lock_guard lock(mutex);
        for (std::size_t c = 0; c < width; ++c) {
            found[c].below += part[c].below;
            found[c].tied += part[c].tied;
            found[c].defined += part[c].defined;
        }
    });
    return found;
}

std::vector<double> BucketBootstrap::order_statistics(std::span<const RankRequest> requests,
                                                      const Execution& execution) {
    return replicates_.order_statistics(requests, execution);
}

}  // namespace ietest::stats

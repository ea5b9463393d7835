#include "ietest/stats/scores.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>

namespace ietest::stats {
namespace {

__extension__ using Wide = __int128;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Sums in fixed point: integers add up to the same in any order.
struct Moments {
    static constexpr double kUnit = 0x1.0p40;
    std::uint64_t n = 0;
    Wide sum = 0;
    Wide squares = 0;

    void add(double t) {
        if (!std::isfinite(t)) return;
        ++n;
        sum += static_cast<Wide>(t * kUnit);
        squares += static_cast<Wide>(t * t * kUnit);
    }
    Moments& operator+=(const Moments& other) {
        n += other.n;
        sum += other.sum;
        squares += other.squares;
        return *this;
    }
};

// Doubles as integers of the same order. -0 and 0 are one value.
std::uint64_t to_ordered(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
    return (bits >> 63) != 0 ? ~bits : bits | (std::uint64_t{1} << 63);
}

double from_ordered(std::uint64_t ordered) {
    const bool positive = (ordered >> 63) != 0;
    return std::bit_cast<double>(positive ? ordered & ~(std::uint64_t{1} << 63) : ~ordered);
}

void check_count(std::int64_t n_replicates) {
    if (n_replicates < 1) throw std::invalid_argument("n_replicates must be at least 1");
}

constexpr int kDigitBits = 16;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
constexpr std::uint64_t kMaxCollected = std::uint64_t{1} << 20;

// Replicates of one column whose leading bits are known.
struct Group {
    std::size_t column;
    std::uint64_t prefix;
    std::unique_ptr<std::atomic<std::uint64_t>[]> counts;
    std::vector<std::uint64_t> collected;
};

struct Search {
    RankRequest request;
    std::uint64_t prefix = 0;
    std::uint64_t rank = 0;  // among the replicates with this prefix
    std::uint64_t size = 0;  // how many have it
    std::size_t group = 0;
};

template <typename Body>
void for_each_replicate(const TypedSampler& sampler, std::int64_t n_replicates,
                        const Execution& execution, Body&& body) {
    parallel_chunks(n_replicates, sampler.chunk_size(), execution, [&](Range range) {
        TypedSampler::Workspace workspace;
        std::vector<ColumnSums> sums(sampler.n_columns());
        for (std::int64_t r = range.begin; r < range.end; ++r) {
            sampler.draw(static_cast<std::uint64_t>(r), workspace, sums);
            body(r, sums);
        }
    });
}

}  // namespace

double t_of(const ColumnSums& sums, std::int64_t n_units) {
    if (sums.sum == 0 || sums.squares == 0) return 0;
    const auto n = static_cast<double>(n_units);
    const double spread = n * sums.squares - sums.sum * sums.sum;
    // Equal values leave nothing but rounding errors.
    if (spread <= 0x1.0p-44 * n * sums.squares) return std::copysign(kInfinity, sums.sum);
    return sums.sum * std::sqrt(n) / std::sqrt(spread);
}

double order_key(const ColumnSums& sums) {
    return sums.squares == 0 ? 0 : sums.sum * std::abs(sums.sum) / sums.squares;
}

TieBounds tie_bounds(const ColumnSums& sums, bool exact) {
    const double key = order_key(sums);
    if (exact) return {key, key, std::abs(key)};
    const double r = std::copysign(std::sqrt(std::abs(key)), key);
    const double tolerance = kTieTolerance * std::max(1.0, std::abs(r));
    const auto squared = [](double x) { return x * std::abs(x); };
    return {squared(r - tolerance), squared(r + tolerance), squared(std::abs(r) - tolerance)};
}

double quantity_of(Quantity quantity, const ColumnSums& sums, std::int64_t n_units) {
    switch (quantity) {
        case Quantity::t:
            return t_of(sums, n_units);
        case Quantity::both_sides:
            return std::abs(order_key(sums));
        case Quantity::upper_side:
            return order_key(sums);
        case Quantity::lower_side:
            return -order_key(sums);
    }
    throw std::invalid_argument("no such quantity");
}

ScoreReplicates score_replicates(const TypeTable& table, const ColumnSums& observed, bool exact,
                                 std::int64_t n_replicates, random::Key key,
                                 const Execution& execution, std::span<double> t_replicates,
                                 Instructions instructions) {
    check_count(n_replicates);
    if (table.n_columns != 1) throw std::invalid_argument("a test of scores has one column");
    if (!t_replicates.empty() && static_cast<std::int64_t>(t_replicates.size()) != n_replicates) {
        throw std::invalid_argument("t_replicates must have n_replicates places");
    }
    const TypedSampler sampler(table, key, instructions);
    const TieBounds bounds = tie_bounds(observed, exact);
    std::mutex mutex;
    ReplicateCounts counts;
    Moments moments;
    parallel_chunks(n_replicates, sampler.chunk_size(), execution, [&](Range range) {
        TypedSampler::Workspace workspace;
        ColumnSums sums[1];
        ReplicateCounts part;
        Moments part_moments;
        for (std::int64_t r = range.begin; r < range.end; ++r) {
            sampler.draw(static_cast<std::uint64_t>(r), workspace, sums);
            const double replicate_key = order_key(sums[0]);
            part.at_most += replicate_key <= bounds.highest;
            part.at_least += replicate_key >= bounds.lowest;
            part.beyond += std::abs(replicate_key) >= bounds.beyond;
            const double t = t_of(sums[0], table.n_units);
            part_moments.add(t);
            if (!t_replicates.empty()) t_replicates[static_cast<std::size_t>(r)] = t;
        }
        part.replicates = static_cast<std::uint64_t>(range.end - range.begin);
        const std::lock_guard lock(mutex);
        counts += part;
        moments += part_moments;
    });
    ScoreReplicates result;
    result.counts = counts;
    result.n_finite = moments.n;
    if (moments.n > 0) {
        const auto n = static_cast<double>(moments.n);
        result.mean = static_cast<double>(moments.sum) / Moments::kUnit / n;
        const double square = static_cast<double>(moments.squares) / Moments::kUnit / n;
        result.deviation = std::sqrt(std::max(0.0, square - result.mean * result.mean));
    }
    return result;
}

std::vector<double> order_statistics(const TypeTable& table, Quantity quantity,
                                     std::span<const RankRequest> requests,
                                     std::int64_t n_replicates, random::Key key,
                                     const Execution& execution) {
    check_count(n_replicates);
    const TypedSampler sampler(table, key);
    std::vector<Search> searches;
    for (const RankRequest& request : requests) {
        if (request.column >= table.n_columns) throw std::invalid_argument("no such column");
        if (request.rank < 0 || request.rank >= n_replicates) {
            throw std::invalid_argument("a rank must lie in [0, n_replicates)");
        }
        Search search;
        search.request = request;
        search.rank = static_cast<std::uint64_t>(request.rank);
        search.size = static_cast<std::uint64_t>(n_replicates);
        searches.push_back(search);
    }
    const auto value_of = [&](const std::vector<ColumnSums>& sums, std::size_t column) {
        return to_ordered(quantity_of(quantity, sums[column], table.n_units));
    };
    int known_bits = 0;
    while (known_bits < 64 && !searches.empty()) {
        std::vector<Group> groups;
        std::map<std::pair<std::size_t, std::uint64_t>, std::size_t> places;
        std::uint64_t left = 0;
        for (Search& search : searches) {
            const auto [place, is_new] =
                places.try_emplace({search.request.column, search.prefix}, groups.size());
            if (is_new) {
                groups.push_back({search.request.column, search.prefix, nullptr, {}});
                left += search.size;
            }
            search.group = place->second;
        }
        const auto has_prefix = [known_bits](std::uint64_t value, const Group& group) {
            return known_bits == 0 || value >> (64 - known_bits) == group.prefix;
        };
        if (left <= kMaxCollected) {
            std::mutex mutex;
            for_each_replicate(sampler, n_replicates, execution,
                               [&](std::int64_t, const std::vector<ColumnSums>& sums) {
                                   for (Group& group : groups) {
                                       const std::uint64_t value = value_of(sums, group.column);
                                       if (!has_prefix(value, group)) continue;
                                       const std::lock_guard lock(mutex);
                                       group.collected.push_back(value);
                                   }
                               });
            for (Group& group : groups) std::sort(group.collected.begin(), group.collected.end());
            for (Search& search : searches) {
                search.prefix = groups[search.group].collected[search.rank];
            }
            known_bits = 64;
            break;
        }
        for (Group& group : groups) {
            group.counts = std::make_unique<std::atomic<std::uint64_t>[]>(kDigits);
        }
        const int shift = 64 - known_bits - kDigitBits;
        for_each_replicate(sampler, n_replicates, execution,
                           [&](std::int64_t, const std::vector<ColumnSums>& sums) {
                               for (Group& group : groups) {
                                   const std::uint64_t value = value_of(sums, group.column);
                                   if (!has_prefix(value, group)) continue;
                                   group.counts[(value >> shift) & (kDigits - 1)].fetch_add(
                                       1, std::memory_order_relaxed);
                               }
                           });
        for (Search& search : searches) {
            const auto& counts = groups[search.group].counts;
            std::uint64_t digit = 0;
            while (search.rank >= counts[digit].load()) {
                search.rank -= counts[digit].load();
                ++digit;
            }
            search.size = counts[digit].load();
            search.prefix = search.prefix << kDigitBits | digit;
        }
        known_bits += kDigitBits;
    }
    std::vector<double> values;
    for (const Search& search : searches) values.push_back(from_ordered(search.prefix));
    return values;
}

}  // namespace ietest::stats

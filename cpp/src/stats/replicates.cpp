#include "ietest/stats/replicates.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace ietest::stats {
namespace {

// Bounds on memory, in numbers of 8 bytes: the replicates kept, the counters of a pass, and what
// its last pass collects. What a request takes comes on top: it grows with their number, not with
// S.
constexpr std::int64_t kMaxKept = std::int64_t{1} << 20;
constexpr std::uint64_t kMaxCounters = std::uint64_t{1} << 20;
constexpr std::uint64_t kMaxCollected = std::uint64_t{1} << 19;

constexpr std::int64_t kRowsAtOnce = 256;
constexpr int kMaxDigitBits = 16;

// Doubles as integers of the same order. -0 and 0 are one value.
std::uint64_t to_ordered(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
    return (bits >> 63) != 0 ? ~bits : bits | (std::uint64_t{1} << 63);
}

double from_ordered(std::uint64_t ordered) {
    const bool positive = (ordered >> 63) != 0;
    return std::bit_cast<double>(positive ? ordered & ~(std::uint64_t{1} << 63) : ~ordered);
}

// What is known of a value sought.
struct Search {
    std::size_t request;
    std::size_t column;
    std::uint64_t prefix = 0;  // its leading bits
    std::uint64_t rank;        // among the replicates with this prefix
    std::uint64_t size;        // how many have it
};

// The replicates of one column with one prefix; searches [first, last) are for some of them.
struct SearchGroup {
    std::size_t column;
    std::uint64_t prefix;
    std::size_t first, last;
};

std::vector<SearchGroup> group_searches(std::vector<Search>& searches) {
    std::sort(searches.begin(), searches.end(), [](const Search& a, const Search& b) {
        return std::tie(a.column, a.prefix) < std::tie(b.column, b.prefix);
    });
    std::vector<SearchGroup> groups;
    for (std::size_t s = 0; s < searches.size(); ++s) {
        const Search& search = searches[s];
        if (groups.empty() || groups.back().column != search.column ||
            groups.back().prefix != search.prefix) {
            groups.push_back({search.column, search.prefix, s, s});
        }
        groups.back().last = s + 1;
    }
    return groups;
}

// Calls found(group number, value in order) for every value of these rows that is in a group.
template <typename Found>
void for_each_member(Replicates::Rows rows, std::size_t n_columns,
                     std::span<const SearchGroup> groups, int known_bits, Found&& found) {
    for (std::size_t begin = 0; begin < groups.size();) {
        const std::size_t column = groups[begin].column;
        std::size_t end = begin;
        while (end < groups.size() && groups[end].column == column) ++end;
        for (std::size_t i = column; i < rows.size(); i += n_columns) {
            const std::uint64_t value = to_ordered(rows[i]);
            const std::uint64_t prefix = known_bits == 0 ? 0 : value >> (64 - known_bits);
            const auto place =
                std::lower_bound(groups.begin() + static_cast<std::ptrdiff_t>(begin),
                                 groups.begin() + static_cast<std::ptrdiff_t>(end), prefix,
                                 [](const SearchGroup& group, std::uint64_t wanted) {
                                     return group.prefix < wanted;
                                 });
            const auto group = static_cast<std::size_t>(place - groups.begin());
            if (group < end && place->prefix == prefix) found(group, value);
        }
        begin = end;
    }
}

void narrow_by_collecting(Replicates& replicates, std::vector<Search>& searches,
                          std::span<const SearchGroup> groups, int known_bits,
                          const Execution& execution) {
    std::vector<std::vector<std::uint64_t>> collected(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g) {
        collected[g].reserve(searches[groups[g].first].size);
    }
    std::mutex mutex;
    replicates.for_each_rows(execution, [&](Replicates::Rows rows) {
        std::vector<std::pair<std::size_t, std::uint64_t>> members;
        for_each_member(
            rows, replicates.n_columns(), groups, known_bits,
            [&](std::size_t group, std::uint64_t value) { members.emplace_back(group, value); });
        const std::lock_guard lock(mutex);
        for (const auto& [group, value] : members) collected[group].push_back(value);
    });
    parallel_chunks(static_cast<std::int64_t>(groups.size()), 1, execution, [&](Range range) {
        const auto g = static_cast<std::size_t>(range.begin);
        std::vector<std::uint64_t>& values = collected[g];
        std::sort(values.begin(), values.end());
        for (std::size_t s = groups[g].first; s < groups[g].last; ++s) {
            searches[s].prefix = values[searches[s].rank];
        }
    });
}

// Gives the number of bits by which the prefixes have grown.
int narrow_by_counting(Replicates& replicates, std::vector<Search>& searches,
                       std::span<const SearchGroup> groups, int known_bits,
                       const Execution& execution) {
    const int room = static_cast<int>(std::bit_width(kMaxCounters / groups.size())) - 1;
    const int digit_bits = std::min({std::max(room, 1), kMaxDigitBits, 64 - known_bits});
    const int shift = 64 - known_bits - digit_bits;
    const std::size_t n_digits = std::size_t{1} << digit_bits;
    std::vector<std::atomic<std::uint64_t>> counters(groups.size() * n_digits);
    replicates.for_each_rows(execution, [&](Replicates::Rows rows) {
        for_each_member(rows, replicates.n_columns(), groups, known_bits,
                        [&](std::size_t group, std::uint64_t value) {
                            const std::size_t digit = (value >> shift) & (n_digits - 1);
                            counters[group * n_digits + digit].fetch_add(1,
                                                                         std::memory_order_relaxed);
                        });
    });
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const std::atomic<std::uint64_t>* counts = counters.data() + g * n_digits;
        for (std::size_t s = groups[g].first; s < groups[g].last; ++s) {
            Search& search = searches[s];
            std::uint64_t digit = 0;
            while (search.rank >= counts[digit]) search.rank -= counts[digit++];
            search.size = counts[digit];
            search.prefix = search.prefix << digit_bits | digit;
        }
    }
    return digit_bits;
}

}  // namespace

Replicates::Replicates(Draw draw, std::size_t n_columns, std::int64_t chunk_size,
                       std::int64_t n_replicates)
    : draw_(std::move(draw)),
      n_columns_(n_columns),
      chunk_size_(chunk_size),
      n_replicates_(n_replicates) {
    if (n_replicates < 1) throw std::invalid_argument("n_replicates must be at least 1");
}

Replicates::Replicates(const TypeTable& table, Quantity quantity, std::int64_t n_replicates,
                       random::Key key)
    : Replicates({}, table.n_columns, 1, n_replicates) {
    const auto sampler = std::make_shared<const TypedSampler>(table, key);
    chunk_size_ = sampler->chunk_size();
    draw_ = [sampler, quantity](Range range, std::span<double> rows) {
        TypedSampler::Workspace workspace;
        std::vector<ColumnSums> sums(sampler->n_columns());
        double* next = rows.data();
        for (std::int64_t r = range.begin; r < range.end; ++r) {
            sampler->draw(static_cast<std::uint64_t>(r), workspace, sums);
            for (const ColumnSums& column : sums) {
                *next++ = quantity_of(quantity, column, sampler->n_units());
            }
        }
    };
}

void Replicates::for_each_rows(const Execution& execution, const std::function<void(Rows)>& body) {
    const std::size_t width = n_columns();
    if (is_kept_) {
        const std::int64_t chunk = std::max<std::int64_t>(
            kRowsAtOnce, (std::int64_t{1} << 15) / static_cast<std::int64_t>(width));
        parallel_chunks(n_replicates_, chunk, execution, [&](Range range) {
            body({kept_.data() + static_cast<std::size_t>(range.begin) * width,
                  static_cast<std::size_t>(range.end - range.begin) * width});
        });
        return;
    }
    const bool keep = n_replicates_ <= kMaxKept / static_cast<std::int64_t>(width);
    if (keep) kept_.resize(static_cast<std::size_t>(n_replicates_) * width);
    parallel_chunks(n_replicates_, chunk_size_, execution, [&](Range range) {
        std::vector<double> room(keep ? 0 : static_cast<std::size_t>(kRowsAtOnce) * width);
        for (std::int64_t begin = range.begin; begin < range.end; begin += kRowsAtOnce) {
            const std::int64_t end = std::min(begin + kRowsAtOnce, range.end);
            double* rows =
                keep ? kept_.data() + static_cast<std::size_t>(begin) * width : room.data();
            const std::span<double> written(rows, static_cast<std::size_t>(end - begin) * width);
            draw_({begin, end}, written);
            body(written);
        }
    });
    is_kept_ = keep;
}

std::vector<double> Replicates::order_statistics(std::span<const RankRequest> requests,
                                                 const Execution& execution) {
    std::vector<Search> searches;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const auto [column, rank] = requests[i];
        if (column >= n_columns()) throw std::invalid_argument("no such column");
        if (rank < 0 || rank >= n_replicates_) {
            throw std::invalid_argument("a rank must lie in [0, n_replicates)");
        }
        searches.push_back({.request = i,
                            .column = column,
                            .rank = static_cast<std::uint64_t>(rank),
                            .size = static_cast<std::uint64_t>(n_replicates_)});
    }
    for (int known_bits = 0; known_bits < 64 && !searches.empty();) {
        const std::vector<SearchGroup> groups = group_searches(searches);
        std::uint64_t left = 0;
        for (const SearchGroup& group : groups) left += searches[group.first].size;
        if (left <= kMaxCollected) {
            narrow_by_collecting(*this, searches, groups, known_bits, execution);
            break;
        }
        known_bits += narrow_by_counting(*this, searches, groups, known_bits, execution);
    }
    std::vector<double> values(requests.size());
    for (const Search& search : searches) values[search.request] = from_ordered(search.prefix);
    return values;
}

}  // namespace ietest::stats

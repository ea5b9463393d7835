#include <algorithm>
#include <array>
#include <stdexcept>

#include "checks.hpp"
#include "cochran_parts.hpp"
#include "ietest/int128.hpp"
#include "ietest/random/discrete.hpp"

namespace ietest::stats {
namespace {

using random::Key;

// Third word of the counter: engines never share a word.
constexpr std::uint64_t kCochranResampleStream = 33;

}  // namespace

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
                const random::Block words = random::philox(
                    {block, static_cast<std::uint64_t>(r), kCochranResampleStream, 0}, key);
                const std::uint64_t taken = std::min<std::uint64_t>(4, n - done);
                for (std::uint64_t w = 0; w < taken; ++w) {
                    // The word times n: its high half is the row, its low half a fresh fraction
                    // that chooses one of the row's permutations.
                    const UInt128 product = static_cast<UInt128>(words[w]) * n;
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

}  // namespace ietest::stats

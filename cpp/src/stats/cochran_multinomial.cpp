#include <algorithm>
#include <iterator>
#include <optional>

#include "checks.hpp"
#include "cochran_parts.hpp"
#include "ietest/random/binomial_tables.hpp"
#include "ietest/random/discrete.hpp"

namespace ietest::stats {
namespace {

using random::BinomialSampler;
using random::BinomialTables;
using random::Key;
using random::WordStream;

// Third word of the counter: engines never share a word.
constexpr std::uint64_t kMultinomialStream = 32;

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
        constexpr double kMostTableCells = 1 << 20;
        double cells = 0;
        for_states(levels, [&](random::TrialRange trials, double p) {
            cells += BinomialTables::estimate_cells(trials, p);
        });
        const bool in_tables = cells <= kMostTableCells;
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

}  // namespace

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

}  // namespace ietest::stats

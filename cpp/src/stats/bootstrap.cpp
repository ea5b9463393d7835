#include "ietest/stats/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <vector>

#include "checks.hpp"
#include "ietest/random/discrete.hpp"
#include "type_kernels.hpp"

namespace ietest::stats {
namespace {

using random::AliasTable;
using random::BinomialSampler;
using random::Key;
using random::log_binomial_pmf;
using random::WordStream;

// Third word of the counter: engines never share a word.
constexpr std::uint64_t kTableStream = 1;
constexpr std::uint64_t kBinomialStream = 2;
constexpr std::uint64_t kResampleStream = 3;
constexpr std::uint64_t kRareStream = 4;

// A value of (D*, K*) that a replicate can take.
struct Outcome {
    std::int64_t difference;
    std::int64_t discordant;
};

// Adds up chunk results; the sum of integers does not depend on their order.
class Total {
  public:
    void add(const ReplicateCounts& part) {
        const std::lock_guard lock(mutex_);
        sum_ += part;
    }
    ReplicateCounts sum() const { return sum_; }

  private:
    std::mutex mutex_;
    ReplicateCounts sum_;
};

class Observed {
  public:
    explicit Observed(const PairedCounts& counts)
        : difference_(counts.difference()), discordant_(counts.discordant()), n_(counts.n()) {}

    // Five classes in the order of t*: below -|t|, -|t|, between, |t|, above |t|. With t = 0 the
    // two ties are one and count as the fourth.
    int classify(Outcome outcome) const {
        const std::int64_t size = std::abs(difference_);
        const int upper = compare_t(outcome.difference, outcome.discordant, size, discordant_);
        if (upper >= 0) return 3 + upper;
        const int lower = compare_t(outcome.difference, outcome.discordant, -size, discordant_);
        return lower < 0 ? 0 : lower == 0 ? 1 : 2;
    }

    // Turns cumulated class counts (below[c]: replicates in classes < c) into the result.
    ReplicateCounts result(const std::uint64_t (&below)[5], std::uint64_t replicates) const {
        ReplicateCounts counts;
        counts.replicates = replicates;
        counts.at_most = difference_ >= 0 ? below[4] : below[2];
        counts.at_least = replicates - (difference_ >= 0 ? below[3] : below[1]);
        counts.beyond = difference_ == 0 ? replicates : below[2] + (replicates - below[3]);
        counts.outside = below[1] + (replicates - below[4]);
        return counts;
    }

    double t_of(Outcome outcome) const {
        return paired_t(outcome.difference, outcome.discordant, n_);
    }

  private:
    std::int64_t difference_;
    std::int64_t discordant_;
    std::int64_t n_;
};

// Classes counted one replicate at a time.
class ClassCounter {
  public:
    explicit ClassCounter(const Observed& observed) : observed_(observed) {}
    void add(Outcome outcome) { ++counts_[observed_.classify(outcome)]; }
    ReplicateCounts result() const {
        std::uint64_t below[5] = {};
        std::uint64_t sum = 0;
        for (int c = 0; c < 5; ++c) {
            below[c] = sum;
            sum += counts_[c];
        }
        return observed_.result(below, sum);
    }

  private:
    const Observed& observed_;
    std::uint64_t counts_[5] = {};
};

// The joint law of (D*, K*) as alias tables. Outcomes at least 2^-10 times as probable as the mode
// are common: one table small enough for the cache nearest to it, one of whose columns leads to the
// table of all the others, since a plane normal law has 2^-10 of its mass where its density is
// below 2^-10 of the mode's. What both leave out has a probability of less than 2^-64 in all, the
// weight of the last bit of a word. Outcomes are sorted by part and class, so that the class is
// read off the index.
class JointLaw {
  public:
    static constexpr std::size_t kMaxOutcomes = std::size_t{1} << 20;

    struct Part {
        AliasTable table;
        std::uint32_t first = 0;        // its first outcome in the order of all
        std::uint32_t boundaries[4]{};  // the first index in it of classes 1 to 4
    };

    // None if the law has more outcomes than are worth two tables, or if so few replicates are
    // asked for that binomial draws are done before the tables are made.
    static std::optional<JointLaw> make(const PairedCounts& counts, const Observed& observed,
                                        std::int64_t n_replicates) {
        const std::size_t n_outcomes = expected_outcomes(counts);
        if (n_outcomes > kMaxOutcomes) return std::nullopt;
        if (static_cast<std::size_t>(n_replicates) < n_outcomes / 4) return std::nullopt;
        return JointLaw(counts, observed);
    }

    const Part& common() const { return common_; }
    const Part& rare() const { return rare_; }
    Outcome outcome(std::uint32_t index) const { return outcomes_[index]; }

  private:
    struct Weighted {
        Outcome outcome;
        double weight;
    };

    // Those in an ellipse of about 10.5 standard deviations.
    static std::size_t expected_outcomes(const PairedCounts& counts) {
        return static_cast<std::size_t>(
            std::min(175.0 * static_cast<double>(counts.discordant()) + 1000, 1e18));
    }

    JointLaw(const PairedCounts& counts, const Observed& observed) {
        const std::vector<Weighted> outcomes = weighted_outcomes(counts);
        double largest = 0;
        for (const Weighted& outcome : outcomes) largest = std::max(largest, outcome.weight);
        // A counting sort: first what is common, then what is rare, by class in each.
        std::vector<std::uint8_t> place_of(outcomes.size());
        std::uint32_t sizes[2 * kClasses] = {};
        for (std::size_t i = 0; i < outcomes.size(); ++i) {
            const bool is_rare = outcomes[i].weight < 0x1.0p-10 * largest;
            const int place = observed.classify(outcomes[i].outcome) + (is_rare ? kClasses : 0);
            place_of[i] = static_cast<std::uint8_t>(place);
            ++sizes[place];
        }
        std::uint32_t next[2 * kClasses] = {};
        for (int c = 1; c < 2 * kClasses; ++c) next[c] = next[c - 1] + sizes[c - 1];
        rare_.first = next[kClasses];
        for (int c = 0; c < 4; ++c) {
            common_.boundaries[c] = next[c + 1];
            rare_.boundaries[c] = next[kClasses + c + 1] - rare_.first;
        }
        outcomes_.resize(outcomes.size());
        std::vector<double> weights(outcomes.size());
        for (std::size_t i = 0; i < outcomes.size(); ++i) {
            const std::uint32_t index = next[place_of[i]]++;
            outcomes_[index] = outcomes[i].outcome;
            weights[index] = outcomes[i].weight;
        }
        const std::span<double> rare_weights = std::span(weights).subspan(rare_.first);
        if (!rare_weights.empty()) {
            rare_.table = AliasTable(rare_weights);
            rare_weights[0] = std::accumulate(rare_weights.begin(), rare_weights.end(), 0.0);
        }
        // The column of index rare_.first leads to the rare ones.
        const std::size_t columns = std::min<std::size_t>(rare_.first + 1, weights.size());
        common_.table = AliasTable(std::span(weights).first(columns));
    }

    static std::vector<Weighted> weighted_outcomes(const PairedCounts& counts) {
        constexpr double kSmallest = -60.0;  // log of the lightest outcome kept: 2^-86
        const double smallest = std::exp(kSmallest);
        const std::int64_t n = counts.n();
        const std::int64_t k = counts.discordant();
        const double p = static_cast<double>(k) / static_cast<double>(n);
        const double q = static_cast<double>(n - k) / static_cast<double>(n);
        std::vector<Weighted> outcomes;
        outcomes.reserve(expected_outcomes(counts));
        const auto add_drawn = [&](std::int64_t drawn) {
            const double log_drawn = log_binomial_pmf(drawn, n, p, q);
            if (log_drawn < kSmallest) return false;
            const std::int64_t middle = drawn / 2;
            const double start = std::exp(log_drawn + log_binomial_pmf(middle, drawn, 0.5, 0.5));
            double weight = start;
            for (std::int64_t hits = middle; hits <= drawn && weight >= smallest; ++hits) {
                outcomes.push_back({{2 * hits - drawn, drawn}, weight});
                weight *= static_cast<double>(drawn - hits) / static_cast<double>(hits + 1);
            }
            weight = start;
            for (std::int64_t hits = middle; hits >= 1; --hits) {
                weight *= static_cast<double>(hits) / static_cast<double>(drawn - hits + 1);
                if (weight < smallest) break;
                outcomes.push_back({{2 * (hits - 1) - drawn, drawn}, weight});
            }
            return true;
        };
        for (std::int64_t drawn = k; drawn <= n && add_drawn(drawn); ++drawn) {
        }
        for (std::int64_t drawn = k - 1; drawn >= 0 && add_drawn(drawn); --drawn) {
        }
        return outcomes;
    }

    static constexpr int kClasses = 5;

    Part common_;
    Part rare_;
    std::vector<Outcome> outcomes_;
};

// Adds to under[c] how many of the drawn indices lie in classes up to c.
void count_classes(const JointLaw::Part& part, std::span<const std::uint32_t> drawn,
                   std::uint32_t (&under)[4]) {
    const std::uint32_t b1 = part.boundaries[0], b2 = part.boundaries[1];
    const std::uint32_t b3 = part.boundaries[2], b4 = part.boundaries[3];
    for (const std::uint32_t index : drawn) {
        under[0] += index < b1;
        under[1] += index < b2;
        under[2] += index < b3;
        under[3] += index < b4;
    }
}

ReplicateCounts draw_from_table(const JointLaw& law, const Observed& observed,
                                std::int64_t n_replicates, Key key, const Execution& execution,
                                std::span<double> t_replicates) {
    constexpr std::int64_t kChunk = std::int64_t{1} << 20;
    constexpr std::int64_t kBatch = 256;
    const kernels::Kernels& kernels = kernels::kernels_for(chosen_instruction_set());
    const std::uint32_t n_common = law.rare().first;
    Total total;
    // Replicate r takes word r of the stream, and word r of the other if it is a rare one.
    parallel_chunks(n_replicates, kChunk, execution, [&](Range range) {
        std::uint64_t below[5] = {};
        alignas(64) std::uint64_t words[kBatch];
        std::uint32_t drawn[kBatch];
        for (std::int64_t begin = range.begin; begin < range.end; begin += kBatch) {
            const auto size = static_cast<std::size_t>(std::min(kBatch, range.end - begin));
            const auto first_block = static_cast<std::uint64_t>(begin / 4 + 1);
            kernels.fill_blocks(key, first_block, 0, kTableStream, words, (size + 3) / 4);
            for (std::size_t i = 0; i < size; ++i) drawn[i] = law.common().table(words[i]);
            std::uint32_t under[4] = {};
            count_classes(law.common(), {drawn, size}, under);  // rare ones are beyond all classes
            auto n_rare = std::count(drawn, drawn + size, n_common);
            for (std::size_t i = 0; n_rare > 0; ++i) {
                if (drawn[i] != n_common) continue;
                WordStream other(key, 0, kRareStream, static_cast<std::uint64_t>(begin) + i);
                const std::uint32_t index = law.rare().table(other.next());
                count_classes(law.rare(), {&index, 1}, under);
                drawn[i] += index;
                --n_rare;
            }
            for (int c = 0; c < 4; ++c) below[c + 1] += under[c];
            if (!t_replicates.empty()) {
                for (std::size_t i = 0; i < size; ++i) {
                    t_replicates[static_cast<std::size_t>(begin) + i] =
                        observed.t_of(law.outcome(drawn[i]));
                }
            }
        }
        total.add(observed.result(below, static_cast<std::uint64_t>(range.end - range.begin)));
    });
    return total.sum();
}

// For laws too wide for tables, or too few replicates: two binomial draws a replicate, each with
// words of its own.
ReplicateCounts draw_binomials(const PairedCounts& counts, const Observed& observed,
                               std::int64_t n_replicates, Key key, const Execution& execution,
                               std::span<double> t_replicates) {
    constexpr std::int64_t kChunk = std::int64_t{1} << 14;
    const BinomialSampler draw_discordant(
        counts.n(), static_cast<double>(counts.discordant()) / static_cast<double>(counts.n()));
    Total total;
    parallel_chunks(n_replicates, kChunk, execution, [&](Range range) {
        ClassCounter counter(observed);
        for (std::int64_t r = range.begin; r < range.end; ++r) {
            WordStream words(key, static_cast<std::uint64_t>(r), kBinomialStream);
            const std::int64_t discordant = draw_discordant(words);
            const std::int64_t hits =
                BinomialSampler(discordant, 0.5, BinomialSampler::Use::kOnce)(words);
            const Outcome outcome{2 * hits - discordant, discordant};
            counter.add(outcome);
            if (!t_replicates.empty()) {
                t_replicates[static_cast<std::size_t>(r)] = observed.t_of(outcome);
            }
        }
        total.add(counter.result());
    });
    return total.sum();
}

}  // namespace

ReplicateCounts& ReplicateCounts::operator+=(const ReplicateCounts& other) {
    at_most += other.at_most;
    at_least += other.at_least;
    beyond += other.beyond;
    outside += other.outside;
    replicates += other.replicates;
    return *this;
}

PValues monte_carlo_p_values(const ReplicateCounts& counts) {
    const auto s = static_cast<double>(counts.replicates);
    const auto share = [s](std::uint64_t count) {
        return (static_cast<double>(count) + 1) / (s + 1);
    };
    const double equal_tailed = 2 * std::min(share(counts.at_most), share(counts.at_least));
    const double paper = 2 * static_cast<double>(std::min(counts.at_most, counts.above())) / s;
    return {std::min(1.0, equal_tailed), paper, share(counts.beyond)};
}

ReplicateCounts multinomial_replicates(const PairedCounts& counts, std::int64_t n_replicates,
                                       Key key, const Execution& execution,
                                       std::span<double> t_replicates) {
    check(counts);
    check_replicates(n_replicates, t_replicates);
    const Observed observed(counts);
    if (const auto law = JointLaw::make(counts, observed, n_replicates)) {
        return draw_from_table(*law, observed, n_replicates, key, execution, t_replicates);
    }
    return draw_binomials(counts, observed, n_replicates, key, execution, t_replicates);
}

ReplicateCounts resample_replicates(std::span<const std::int8_t> differences,
                                    std::int64_t n_replicates, Key key, const Execution& execution,
                                    std::span<double> t_replicates) {
    check_replicates(n_replicates, t_replicates);
    if (differences.empty()) throw std::invalid_argument("there is no pair at all");
    PairedCounts counts{0, 0, 0, 0};
    for (const std::int8_t difference : differences) {
        if (difference < -1 || difference > 1) {
            throw std::invalid_argument("differences of outcomes are -1, 0 or 1");
        }
        ++(difference > 0 ? counts.n10 : difference < 0 ? counts.n01 : counts.n11);
    }
    const Observed observed(counts);
    const std::uint64_t n = differences.size();
    // Chunks of some 10^5 draws: long enough to be worth giving out, short enough for Ctrl-C.
    const auto chunk = static_cast<std::int64_t>(std::max<std::uint64_t>(1, 100'000 / n));
    Total total;
    parallel_chunks(n_replicates, chunk, execution, [&](Range range) {
        ClassCounter counter(observed);
        for (std::int64_t r = range.begin; r < range.end; ++r) {
            std::int64_t difference = 0;
            std::int64_t discordant = 0;
            // The high bits of a word choose the pair, its lowest bit is the coin.
            const auto draw = [&](std::uint64_t word) {
                const std::int64_t d = differences[random::high_word(word, n)];
                const auto coin = static_cast<std::int64_t>(word & 1);
                difference += (d ^ -coin) + coin;
                discordant += d & 1;
            };
            std::uint64_t done = 0;
            for (std::uint64_t block = 1; done < n; ++block) {
                const random::Block words =
                    random::philox({block, static_cast<std::uint64_t>(r), kResampleStream, 0}, key);
                const std::uint64_t taken = std::min<std::uint64_t>(4, n - done);
                for (std::uint64_t w = 0; w < taken; ++w) draw(words[w]);
                done += taken;
            }
            const Outcome outcome{difference, discordant};
            counter.add(outcome);
            if (!t_replicates.empty()) {
                t_replicates[static_cast<std::size_t>(r)] = observed.t_of(outcome);
            }
        }
        total.add(counter.result());
    });
    return total.sum();
}

}  // namespace ietest::stats

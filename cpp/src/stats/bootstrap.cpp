#include "ietest/stats/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <vector>

#include "ietest/random/discrete.hpp"

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

// The joint law of (D*, K*) as one alias table: a random word, a multiplication and a comparison
// are a replicate. What is left out has a probability of less than 2^-64 in all, the weight of the
// last bit of a word. Outcomes are sorted by class, so that the class is read off the index.
class JointLaw {
  public:
    static constexpr std::size_t kMaxOutcomes = std::size_t{1} << 20;

    // None if the law has more outcomes than fit into a cache.
    static std::optional<JointLaw> make(const PairedCounts& counts, const Observed& observed) {
        // An ellipse of about 10.5 standard deviations.
        const double area = 175.0 * static_cast<double>(counts.discordant()) + 1000;
        if (area > static_cast<double>(kMaxOutcomes)) return std::nullopt;
        return JointLaw(counts, observed);
    }

    const AliasTable& table() const { return table_; }
    std::uint32_t boundary(int index) const { return boundaries_[index]; }
    double t(std::uint32_t index) const { return t_[index]; }

  private:
    struct Weighted {
        Outcome outcome;
        double weight;
        int order;
    };

    JointLaw(const PairedCounts& counts, const Observed& observed) {
        constexpr double kSmallest = -60.0;  // log of the lightest outcome kept: 2^-86
        const std::int64_t n = counts.n();
        const std::int64_t k = counts.discordant();
        const double p = static_cast<double>(k) / static_cast<double>(n);
        const double q = static_cast<double>(n - k) / static_cast<double>(n);
        std::vector<Weighted> outcomes;
        const auto add_drawn = [&](std::int64_t drawn) {
            const double log_drawn = log_binomial_pmf(drawn, n, p, q);
            if (log_drawn < kSmallest) return false;
            const std::int64_t middle = drawn / 2;
            const double start = std::exp(log_drawn + log_binomial_pmf(middle, drawn, 0.5, 0.5));
            const double smallest = std::exp(kSmallest);
            double weight = start;
            for (std::int64_t hits = middle; hits <= drawn && weight >= smallest; ++hits) {
                outcomes.push_back({{2 * hits - drawn, drawn}, weight, 0});
                weight *= static_cast<double>(drawn - hits) / static_cast<double>(hits + 1);
            }
            weight = start;
            for (std::int64_t hits = middle; hits >= 1; --hits) {
                weight *= static_cast<double>(hits) / static_cast<double>(drawn - hits + 1);
                if (weight < smallest) break;
                outcomes.push_back({{2 * (hits - 1) - drawn, drawn}, weight, 0});
            }
            return true;
        };
        for (std::int64_t drawn = k; drawn <= n && add_drawn(drawn); ++drawn) {
        }
        for (std::int64_t drawn = k - 1; drawn >= 0 && add_drawn(drawn); --drawn) {
        }
        std::uint32_t sizes[5] = {};
        for (Weighted& outcome : outcomes) {
            outcome.order = observed.classify(outcome.outcome);
            ++sizes[outcome.order];
        }
        std::stable_sort(outcomes.begin(), outcomes.end(),
                         [](const Weighted& a, const Weighted& b) { return a.order < b.order; });
        std::uint32_t sum = 0;
        for (int c = 0; c < 4; ++c) boundaries_[c] = sum += sizes[c];
        std::vector<double> weights(outcomes.size());
        t_.resize(outcomes.size());
        for (std::size_t i = 0; i < outcomes.size(); ++i) {
            weights[i] = outcomes[i].weight;
            t_[i] = observed.t_of(outcomes[i].outcome);
        }
        table_ = AliasTable(weights);
    }

    AliasTable table_;
    std::uint32_t boundaries_[4] = {};  // first index of classes 1 to 4
    std::vector<double> t_;
};

void check_replicates(std::int64_t n_replicates, std::span<double> t_replicates) {
    if (n_replicates < 1) throw std::invalid_argument("n_replicates must be at least 1");
    if (!t_replicates.empty() && static_cast<std::int64_t>(t_replicates.size()) != n_replicates) {
        throw std::invalid_argument("t_replicates must have n_replicates places");
    }
}

ReplicateCounts draw_from_table(const JointLaw& law, const Observed& observed,
                                std::int64_t n_replicates, Key key, const Execution& execution,
                                std::span<double> t_replicates) {
    constexpr std::int64_t kChunk = std::int64_t{1} << 20;
    constexpr std::int64_t kBatch = 256;
    Total total;
    // A block of four words is four replicates; replicate r takes word r of the stream.
    parallel_chunks(n_replicates, kChunk, execution, [&](Range range) {
        const std::uint32_t b1 = law.boundary(0), b2 = law.boundary(1);
        const std::uint32_t b3 = law.boundary(2), b4 = law.boundary(3);
        std::uint64_t below[5] = {};
        std::uint32_t drawn[kBatch];
        for (std::int64_t begin = range.begin; begin < range.end; begin += kBatch) {
            const std::int64_t size = std::min(kBatch, range.end - begin);
            for (std::int64_t i = 0; i < size; i += 4) {
                const auto block = static_cast<std::uint64_t>((begin + i) / 4 + 1);
                const random::Block words = random::philox({block, 0, kTableStream, 0}, key);
                for (std::int64_t w = 0; w < 4; ++w) {
                    drawn[i + w] = law.table()(words[static_cast<std::size_t>(w)]);
                }
            }
            std::uint32_t under[4] = {};
            for (std::int64_t i = 0; i < size; ++i) {
                under[0] += drawn[i] < b1;
                under[1] += drawn[i] < b2;
                under[2] += drawn[i] < b3;
                under[3] += drawn[i] < b4;
            }
            for (int c = 0; c < 4; ++c) below[c + 1] += under[c];
            if (!t_replicates.empty()) {
                for (std::int64_t i = 0; i < size; ++i) {
                    t_replicates[static_cast<std::size_t>(begin + i)] = law.t(drawn[i]);
                }
            }
        }
        total.add(observed.result(below, static_cast<std::uint64_t>(range.end - range.begin)));
    });
    return total.sum();
}

// For laws too wide for a table: two binomial draws a replicate, each with words of its own.
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
            const std::int64_t hits = BinomialSampler(discordant, 0.5)(words);
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
    if (const auto law = JointLaw::make(counts, observed)) {
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

// Discrete laws on addressed random words: binomial, multinomial, and any finite law by alias
// table.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ietest/int128.hpp"
#include "ietest/random/philox.hpp"

namespace ietest::random {

// log P(X = x) for X ~ Binomial(n, p), with relative error near 1e-15 in P however large n is
// (saddle-point form of Loader 2000). -infinity outside the support. q = 1 - p is given apart so
// that neither side of a tiny probability is rounded away.
double log_binomial_pmf(std::int64_t x, std::int64_t n, double p, double q);

// The exponential part of that logarithm, for real 0 <= x <= n: minus the Kullback-Leibler
// divergence of x/n from p, times n. At most 0, and smooth where the masses step.
double binomial_exponent(double x, double n, double p, double q);

// Draws from Binomial(n, p): inversion where n*min(p, q) is small, else Hormann's transformed
// rejection (BTRS, 1993), accepted against log_binomial_pmf.
class BinomialSampler {
  public:
    // A sampler that is used once leaves out what most draws do not need. The draws are the same.
    enum class Use { kOften, kOnce };

    BinomialSampler(std::int64_t n, double p, Use use = Use::kOften);
    std::int64_t operator()(WordStream& words) const;

  private:
    std::int64_t invert(WordStream& words) const;
    std::int64_t reject(WordStream& words) const;
    double log_mode_pmf() const;

    std::int64_t n_;
    bool flipped_;  // the sampler works with p <= 1/2
    Use use_;
    double p_, q_;
    double a_ = 0, b_ = 0, centre_ = 0, squeeze_ = 0, scale_ = 0, log_mode_pmf_ = 0;
};

// One draw from Multinomial(n, probabilities) into counts (same length), by conditional binomials.
// probabilities must be non-negative; what is missing to 1 belongs to the last category.
void draw_multinomial(std::int64_t n, std::span<const double> probabilities, WordStream& words,
                      std::span<std::int64_t> counts);

// Walker's alias method: a column is drawn, which stays if the rest of the word is low enough.
struct AliasCell {
    std::uint64_t threshold;
    std::uint32_t alias;
};

inline std::uint32_t draw_cell(const AliasCell* cells, std::size_t n_cells, std::uint64_t word) {
    const UInt128 product = static_cast<UInt128>(word) * n_cells;
    const auto column = static_cast<std::uint32_t>(product >> 64);
    const AliasCell& cell = cells[column];
    // Which of the two it is cannot be foreseen: bits, so that no compiler makes it a branch.
    const auto kept =
        -static_cast<std::uint32_t>(static_cast<std::uint64_t>(product) < cell.threshold);
    return cell.alias ^ ((cell.alias ^ column) & kept);
}

// Makes such cells in Vose's form.
class AliasBuilder {
  public:
    // Weights of mean 1, which are used up; one cell for each.
    void build(std::span<double> weights, AliasCell* cells);

  private:
    std::vector<std::uint32_t> small_, large_;  // kept, since many small tables are made
};

// One word gives one draw from a finite law.
class AliasTable {
  public:
    AliasTable() = default;
    // Weights are non-negative with a positive sum; they need not be normalised.
    explicit AliasTable(std::span<const double> weights);

    std::uint32_t operator()(std::uint64_t word) const {
        return draw_cell(cells_.data(), cells_.size(), word);
    }

  private:
    std::vector<AliasCell> cells_;
};

}  // namespace ietest::random

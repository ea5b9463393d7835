// The bootstrap under H0 by types: units (pairs or clusters) with equal values are drawn together.
//
// A bootstrap sample under H0 has n units, each drawn with replacement from the observed ones and
// swapped (all its values change sign) with probability 1/2. Only the sums of the values and of
// their squares matter, so a replicate is a multinomial draw over the types, each type's number
// split by fair coins. The multinomial is drawn by Poisson numbers: independent Poisson numbers
// with means in the right proportions are, given their total N, multinomial with N draws. Their
// means are made so small that N rarely exceeds the number of draws wanted (else they are drawn
// again, which depends on N alone and so leaves the law as it is), and the few draws that lack are
// made singly. No index is drawn and nothing is gathered for most units: a unit costs one random
// byte and two multiplications.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ietest/cpu.hpp"
#include "ietest/parallel.hpp"
#include "ietest/random/philox.hpp"

namespace ietest::stats {

// n_units units with n_columns values each. Type u stands for weights[u] units whose values are
// +-values[c * n_types + u]; units without any value but 0 are no type, they are what the weights
// lack to n_units.
struct TypeTable {
    std::int64_t n_units = 0;
    std::size_t n_columns = 1;
    std::span<const double> values;
    std::span<const std::int64_t> weights;
};

// Sums of one column over a bootstrap sample.
struct ColumnSums {
    double sum;      // of the values
    double squares;  // of their squares
};

class TypedSampler {
  public:
    // Room for one replicate; one for each thread (or chunk).
    class Workspace {
      public:
        Workspace();
        ~Workspace();
        Workspace(Workspace&&) noexcept;

      private:
        friend class TypedSampler;
        struct State;
        std::unique_ptr<State> state_;
    };

    // The instruction set changes no bit of a draw. Throws std::invalid_argument on a table that is
    // none, or an instruction set that this machine lacks.
    TypedSampler(const TypeTable& table, random::Key key,
                 InstructionSet instruction_set = chosen_instruction_set());
    ~TypedSampler();

    std::int64_t n_units() const;
    std::size_t n_columns() const;

    // Replicates that take about as long as a chunk of work should.
    std::int64_t chunk_size() const;

    // Draws replicate number `replicate` into sums (one for each column). The result depends on
    // key, table and number alone.
    void draw(std::uint64_t replicate, Workspace& workspace, std::span<ColumnSums> sums) const;

    // Draws replicates 0 to n_replicates - 1. Of each replicate and each column, sums gets the sum
    // and the sum of the squares.
    void draw_all(std::int64_t n_replicates, const Execution& execution,
                  std::span<double> sums) const;

  private:
    struct Plan;
    std::unique_ptr<Plan> plan_;
};

}  // namespace ietest::stats

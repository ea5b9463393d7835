#include "ietest/stats/typed_sampler.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "ietest/random/discrete.hpp"
#include "integer_law.hpp"
#include "poisson_margin.hpp"
#include "unit_draws.hpp"

namespace ietest::stats {
namespace {

using kernels::ByteLaw;
using kernels::Kernels;
using kernels::Lanes;
using random::AliasTable;
using random::Key;

// Third word of the counter. A replicate reads the bytes of its single units from one stream and
// everything else from the other.
constexpr std::uint64_t kByteStream = 16;
constexpr std::uint64_t kWordStream = 17;

// Below this the Poisson numbers would be hardly worth while.
constexpr double kSmallestRate = 0.25;
// After so many totals that exceeded the number of draws, all draws are made singly.
constexpr int kMaxAttempts = 32;

// Up to so many units, a list of their types is quicker than an alias table of the types.
constexpr std::int64_t kMaxListed = 1 << 15;

constexpr std::size_t kPieceBytes = 4096;
constexpr std::size_t kBlockBytes = 32;

double fold(const double (&lanes)[kernels::kLanes]) {
    double halves[kernels::kLanes];
    std::copy(std::begin(lanes), std::end(lanes), halves);
    for (std::size_t width = kernels::kLanes / 2; width > 0; width /= 2) {
        for (std::size_t j = 0; j < width; ++j) halves[j] += halves[j + width];
    }
    return halves[0];
}

}  // namespace

struct TypedSampler::Workspace::State {
    std::vector<std::int8_t> numbers, signed_numbers;
    std::vector<double> type_numbers, type_signed;
    std::vector<std::uint32_t> escapes = std::vector<std::uint32_t>(kPieceBytes + kernels::kSlack);
    std::vector<std::int64_t> extra_counts;  // of each multiple type, by the coin
    std::vector<double> extra_sums, extra_squares;
    alignas(64) std::uint64_t bytes[kPieceBytes / 8];
};

TypedSampler::Workspace::Workspace() : state_(std::make_unique<State>()) {}
TypedSampler::Workspace::~Workspace() = default;
TypedSampler::Workspace::Workspace(Workspace&&) noexcept = default;

struct TypedSampler::Plan {
    struct UnitDraw {
        std::int8_t number;
        std::int8_t signed_number;
    };

    const Kernels& kernels;
    Key key;
    std::int64_t n_units;
    std::int64_t n_nonzero = 0;  // units of some type
    std::size_t n_columns;
    std::size_t n_single = 0;    // types of one unit: they come first
    std::size_t n_multiple = 0;  // types of several
    // Column by column, single types before the others.
    std::vector<double> values, squares;
    double rate = 0;   // mean of the Poisson number of a unit; 0: every draw is made singly
    IntegerLaw drawn;  // units drawn that have a type, where some have not
    ByteLaw byte_law;  // of a single unit
    // What a byte cannot say, a second byte can; and what that cannot, a word.
    std::array<UnitDraw, 256> second_byte{};
    unsigned n_second = 0;  // second bytes from here on escape again
    AliasTable escape_table;
    std::vector<UnitDraw> escape_draws;
    std::vector<IntegerLaw> half_laws;    // Poisson(rate * weight / 2), by distinct weight
    std::vector<std::uint32_t> half_law;  // which one a multiple type has
    // A unit's type, where types have several units: listed, or drawn if the list would be long.
    std::vector<std::uint32_t> type_of_unit;
    AliasTable type_table;
    std::size_t first_blocks = 1;
    double cost = 20;  // of a replicate, in draws

    Plan(const TypeTable& table, Key k, InstructionSet instruction_set)
        : kernels(kernels::kernels_for(instruction_set)),
          key(k),
          n_units(table.n_units),
          n_columns(table.n_columns) {
        const std::size_t n_types = table.weights.size();
        if (n_units < 1) throw std::invalid_argument("there is no unit at all");
        if (n_columns < 1) throw std::invalid_argument("a table of types needs a column");
        if (table.values.size() != n_types * n_columns) {
            throw std::invalid_argument("values must be n_columns by n_types");
        }
        std::vector<std::size_t> order;
        for (const bool single : {true, false}) {
            for (std::size_t u = 0; u < n_types; ++u) {
                if (table.weights[u] < 1) throw std::invalid_argument("a type needs a unit");
                if ((table.weights[u] == 1) == single) order.push_back(u);
            }
            if (single) n_single = order.size();
        }
        n_multiple = n_types - n_single;
        std::vector<double> weights(n_types);
        for (std::size_t i = 0; i < n_types; ++i) {
            const std::int64_t weight = table.weights[order[i]];
            if (weight > n_units - n_nonzero) {
                throw std::invalid_argument("the types have more units than there are");
            }
            n_nonzero += weight;
            weights[i] = static_cast<double>(weight);
        }
        values.resize(table.values.size());
        squares.resize(table.values.size());
        for (std::size_t c = 0; c < n_columns; ++c) {
            for (std::size_t i = 0; i < n_types; ++i) {
                const double value = table.values[c * n_types + order[i]];
                if (!std::isfinite(value)) throw std::invalid_argument("a value is not finite");
                values[c * n_types + i] = value;
                squares[c * n_types + i] = value * value;
            }
        }
        if (n_nonzero == 0) return;
        if (n_nonzero < n_units) drawn = binomial_law(n_units, n_nonzero);
        const auto size = static_cast<double>(n_nonzero);
        const double variance = 2 - size / static_cast<double>(n_units);
        // Nanoseconds, roughly, on a processor of 2024; only their ratio matters.
        const double attempt =
            0.35 * static_cast<double>(n_single) + 4.0 * static_cast<double>(n_multiple);
        const double single_draw = n_multiple > 0 ? 2.5 : 1.5 + static_cast<double>(n_columns);
        const double margin = best_margin(attempt, single_draw * std::sqrt(variance * size));
        rate = 1 - margin * std::sqrt(variance / size);
        if (rate < kSmallestRate) rate = 0;
        if (rate > 0) {
            make_byte_law();
            make_half_laws(weights);
        }
        if (n_multiple > 0) {
            if (n_nonzero <= kMaxListed) {
                for (std::uint32_t i = 0; i < n_types; ++i) {
                    type_of_unit.insert(type_of_unit.end(), static_cast<std::size_t>(weights[i]),
                                        i);
                }
            } else {
                type_table = AliasTable(weights);
            }
        }
        const double extras = size * (1 - rate);
        const double n_words =
            extras + 2 * static_cast<double>(n_multiple) + 0.03 * static_cast<double>(n_single) + 1;
        first_blocks = std::min(kBufferBlocks, static_cast<std::size_t>(n_words / 4) + 1);
        cost = 20 + 4 * extras + (rate > 0 ? static_cast<double>(n_single) : 0) +
               static_cast<double>(n_multiple) * (8 + static_cast<double>(n_columns));
    }

    std::size_t n_types() const { return n_single + n_multiple; }

    void make_byte_law() {
        const double half = rate / 2;
        std::vector<double> left;
        std::size_t outcomes = 0;
        unsigned first = 0;
        const auto add = [&](UnitDraw outcome, unsigned cells) {
            if (outcomes == ByteLaw::kMax) throw std::logic_error("too many outcomes for a byte");
            byte_law.first[outcomes] = static_cast<std::uint8_t>(first);
            byte_law.outcome_number[outcomes] = outcome.number;
            byte_law.outcome_signed[outcomes] = outcome.signed_number;
            for (unsigned b = first; b < first + cells; ++b) {
                byte_law.number[b] = outcome.number;
                byte_law.signed_number[b] = outcome.signed_number;
            }
            first += cells;
            ++outcomes;
        };
        constexpr int kMost = 24;  // a unit is drawn so often with probability 1e-26
        double plus_mass = std::exp(-half);
        for (int plus = 0; plus <= kMost; ++plus) {
            double mass = plus_mass * std::exp(-half);
            for (int minus = 0; minus <= kMost; ++minus) {
                const UnitDraw outcome{static_cast<std::int8_t>(plus + minus),
                                       static_cast<std::int8_t>(plus - minus)};
                const auto cells = static_cast<unsigned>(256 * mass);
                if (cells > 0) add(outcome, cells);
                left.push_back(256 * mass - cells);
                escape_draws.push_back(outcome);
                mass *= half / (minus + 1);
            }
            plus_mass *= half / (plus + 1);
        }
        add({0, 0}, 256 - first);
        byte_law.n_outcomes = outcomes;
        double escaping = 0;
        for (const double weight : left) escaping += weight;
        for (std::size_t j = 0; j < left.size(); ++j) {
            left[j] *= 256 / escaping;
            const auto cells = static_cast<unsigned>(left[j]);
            std::fill_n(second_byte.begin() + n_second, cells, escape_draws[j]);
            n_second += cells;
            left[j] -= cells;
        }
        escape_table = AliasTable(left);
    }

    void make_half_laws(const std::vector<double>& weights) {
        std::vector<double> distinct(weights.begin() + static_cast<std::ptrdiff_t>(n_single),
                                     weights.end());
        std::sort(distinct.begin(), distinct.end());
        distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
        for (const double weight : distinct) half_laws.push_back(poisson_law(rate * weight / 2));
        for (std::size_t i = n_single; i < weights.size(); ++i) {
            const auto place = std::lower_bound(distinct.begin(), distinct.end(), weights[i]);
            half_law.push_back(static_cast<std::uint32_t>(place - distinct.begin()));
        }
    }

    // Poisson numbers of all single units; gives their sum.
    std::int64_t draw_singles(std::uint64_t replicate, std::uint64_t attempt, BufferedWords& words,
                              Workspace::State& state) const {
        const std::uint64_t blocks = (n_single + kBlockBytes - 1) / kBlockBytes;
        std::uint64_t block = 1 + attempt * blocks;
        std::int64_t total = 0;
        for (std::size_t begin = 0; begin < n_single; begin += kPieceBytes) {
            const std::size_t size = std::min(kPieceBytes, n_single - begin);
            const std::size_t n_blocks = (size + kBlockBytes - 1) / kBlockBytes;
            kernels.fill_blocks(key, block, replicate, kByteStream, state.bytes, n_blocks);
            block += n_blocks;
            if constexpr (std::endian::native == std::endian::big) {
                for (std::size_t w = 0; w < 4 * n_blocks; ++w) {
                    std::uint8_t parts[8];
                    for (unsigned b = 0; b < 8; ++b) {
                        parts[b] = static_cast<std::uint8_t>(state.bytes[w] >> (8 * b));
                    }
                    std::memcpy(&state.bytes[w], parts, 8);
                }
            }
            std::int8_t* numbers = state.numbers.data() + begin;
            std::int8_t* signed_numbers = state.signed_numbers.data() + begin;
            std::size_t n_escapes = 0;
            total +=
                kernels.count(reinterpret_cast<const std::uint8_t*>(state.bytes), size, byte_law,
                              numbers, signed_numbers, state.escapes.data(), &n_escapes);
            std::uint64_t second_bytes = 0;
            for (std::size_t e = 0; e < n_escapes; ++e) {
                if (e % 8 == 0) second_bytes = words.next();
                const auto byte = static_cast<std::uint8_t>(second_bytes);
                second_bytes >>= 8;
                UnitDraw outcome = second_byte[byte];
                if (byte >= n_second) outcome = escape_draws[escape_table(words.next())];
                const std::uint32_t place = state.escapes[e];
                numbers[place] = outcome.number;
                signed_numbers[place] = outcome.signed_number;
                total += outcome.number;
            }
        }
        return total;
    }

    std::int64_t draw_multiples(BufferedWords& words, Workspace::State& state) const {
        std::int64_t total = 0;
        for (std::size_t i = 0; i < n_multiple; ++i) {
            const IntegerLaw& law = half_laws[half_law[i]];
            const std::int64_t plus = law(words.next());
            const std::int64_t minus = law(words.next());
            state.type_numbers[i] = static_cast<double>(plus + minus);
            state.type_signed[i] = static_cast<double>(plus - minus);
            total += plus + minus;
        }
        return total;
    }

    // Units drawn one by one.
    void draw_extras(std::int64_t n_extras, BufferedWords& words, Workspace::State& state) const {
        if (n_multiple > 0 && type_of_unit.empty()) {
            std::uint64_t coins = 0;
            for (std::int64_t e = 0; e < n_extras; ++e) {
                if (e % 64 == 0) coins = words.next();
                add_extra(type_table(words.next()), coins & 1, state);
                coins >>= 1;
            }
            return;
        }
        // A word times 2k is a unit and its coin; what is left of the word serves for one more,
        // which departs from even odds by less than 2^-22 for 2^20 units.
        const std::uint64_t cells = 2 * static_cast<std::uint64_t>(n_nonzero);
        const unsigned per_word = cells <= (std::uint64_t{1} << 21) ? 2 : 1;
        if (n_multiple > 0) {
            for_each_cell(n_extras, cells, per_word, words, [&](std::uint64_t cell) {
                add_extra(type_of_unit[cell >> 1], cell & 1, state);
            });
            return;
        }
        if (n_columns > 1) {
            for_each_cell(n_extras, cells, per_word, words, [&](std::uint64_t cell) {
                add_extra(static_cast<std::uint32_t>(cell >> 1), cell & 1, state);
            });
            return;
        }
        double sum = 0;
        double square = 0;
        for_each_cell(n_extras, cells, per_word, words, [&](std::uint64_t cell) {
            sum += (1 - 2 * static_cast<double>(cell & 1)) * values[cell >> 1];
            square += squares[cell >> 1];
        });
        state.extra_sums[0] = sum;
        state.extra_squares[0] = square;
    }

    template <typename Body>
    static void for_each_cell(std::int64_t n_extras, std::uint64_t cells, unsigned per_word,
                              BufferedWords& words, Body&& body) {
        for (std::int64_t e = 0; e < n_extras;) {
            std::uint64_t word = words.next();
            for (unsigned part = 0; part < per_word && e < n_extras; ++part, ++e) {
                body(random::high_word(word, cells));
                word *= cells;
            }
        }
    }

    void add_extra(std::uint32_t type, std::uint64_t coin, Workspace::State& state) const {
        if (type >= n_single) {
            ++state.extra_counts[2 * (type - n_single) + coin];
            return;
        }
        const double sign = 1 - 2 * static_cast<double>(coin);  // a branch would miss every other
        for (std::size_t c = 0; c < n_columns; ++c) {
            state.extra_sums[c] += sign * values[c * n_types() + type];
            state.extra_squares[c] += squares[c * n_types() + type];
        }
    }

    void add_extra_counts(Workspace::State& state) const {
        for (std::size_t i = 0; i < n_multiple; ++i) {
            const auto plus = static_cast<double>(state.extra_counts[2 * i]);
            const auto minus = static_cast<double>(state.extra_counts[2 * i + 1]);
            state.type_numbers[i] += plus + minus;
            state.type_signed[i] += plus - minus;
        }
    }

    ColumnSums sum_column(std::size_t column, bool with_singles,
                          const Workspace::State& state) const {
        Lanes lanes;
        const double* value = values.data() + column * n_types();
        const double* square = squares.data() + column * n_types();
        if (with_singles) {
            kernels.add_products(state.numbers.data(), state.signed_numbers.data(), value, square,
                                 n_single, lanes);
        }
        const double* numbers = state.type_numbers.data();
        const double* signed_numbers = state.type_signed.data();
        value += n_single;
        square += n_single;
        std::size_t i = 0;
        for (; i + 4 <= n_multiple; i += 4) {  // types are often few
            for (std::size_t j = 0; j < 4; ++j) {
                lanes.sum[j] += signed_numbers[i + j] * value[i + j];
            }
            for (std::size_t j = 0; j < 4; ++j) {
                lanes.squares[j] += numbers[i + j] * square[i + j];
            }
        }
        for (; i < n_multiple; ++i) {
            lanes.sum[i % 4] += signed_numbers[i] * value[i];
            lanes.squares[i % 4] += numbers[i] * square[i];
        }
        return {fold(lanes.sum) + state.extra_sums[column],
                fold(lanes.squares) + state.extra_squares[column]};
    }

    void draw(std::uint64_t replicate, Workspace::State& state, std::span<ColumnSums> sums) const {
        if (n_nonzero == 0) {
            std::fill(sums.begin(), sums.end(), ColumnSums{0, 0});
            return;
        }
        if (state.type_numbers.size() != n_multiple || state.numbers.size() != n_single ||
            state.extra_sums.size() != n_columns) {
            state.type_numbers.resize(n_multiple);
            state.type_signed.resize(n_multiple);
            state.extra_counts.resize(2 * n_multiple);
            state.numbers.resize(n_single);
            state.signed_numbers.resize(n_single);
            state.extra_sums.resize(n_columns);
            state.extra_squares.resize(n_columns);
        }
        BufferedWords words(kernels, key, replicate, kWordStream, first_blocks);
        std::int64_t wanted = n_nonzero;
        if (n_nonzero < n_units) wanted = drawn(words.next());
        std::int64_t total = -1;
        for (int attempt = 0; rate > 0 && attempt < kMaxAttempts; ++attempt) {
            total = draw_singles(replicate, static_cast<std::uint64_t>(attempt), words, state) +
                    draw_multiples(words, state);
            if (total <= wanted) break;
            total = -1;
        }
        const bool with_poisson = total >= 0;
        if (!with_poisson) {
            total = 0;
            std::fill(state.type_numbers.begin(), state.type_numbers.end(), 0.0);
            std::fill(state.type_signed.begin(), state.type_signed.end(), 0.0);
        }
        std::fill(state.extra_sums.begin(), state.extra_sums.end(), 0.0);
        std::fill(state.extra_squares.begin(), state.extra_squares.end(), 0.0);
        std::fill(state.extra_counts.begin(), state.extra_counts.end(), 0);
        draw_extras(wanted - total, words, state);
        add_extra_counts(state);
        for (std::size_t c = 0; c < n_columns; ++c) sums[c] = sum_column(c, with_poisson, state);
    }
};

TypedSampler::TypedSampler(const TypeTable& table, Key key, InstructionSet instruction_set)
    : plan_(std::make_unique<Plan>(table, key, instruction_set)) {}
TypedSampler::~TypedSampler() = default;

std::int64_t TypedSampler::n_units() const {
    return plan_->n_units;
}

std::size_t TypedSampler::n_columns() const {
    return plan_->n_columns;
}

std::int64_t TypedSampler::chunk_size() const {
    // Some 10^6 draws: a chunk lasts half a millisecond. Not a single replicate, however long, so
    // that its room is made once for several.
    return std::max<std::int64_t>(8, static_cast<std::int64_t>(1e6 / plan_->cost));
}

void TypedSampler::draw(std::uint64_t replicate, Workspace& workspace,
                        std::span<ColumnSums> sums) const {
    if (sums.size() != plan_->n_columns) {
        throw std::invalid_argument("sums must have a place for each column");
    }
    plan_->draw(replicate, *workspace.state_, sums);
}

void TypedSampler::draw_all(std::int64_t n_replicates, const Execution& execution,
                            std::span<double> sums) const {
    const std::size_t n_columns = plan_->n_columns;
    if (n_replicates < 0) throw std::invalid_argument("n_replicates must be 0 or more");
    if (sums.size() != 2 * n_columns * static_cast<std::size_t>(n_replicates)) {
        throw std::invalid_argument("sums must have two places for each replicate and column");
    }
    parallel_chunks(n_replicates, chunk_size(), execution, [&](Range range) {
        Workspace workspace;
        std::vector<ColumnSums> drawn(n_columns);
        double* out = sums.data() + 2 * n_columns * static_cast<std::size_t>(range.begin);
        for (std::int64_t r = range.begin; r < range.end; ++r) {
            draw(static_cast<std::uint64_t>(r), workspace, drawn);
            for (const ColumnSums& column : drawn) {
                *out++ = column.sum;
                *out++ = column.squares;
            }
        }
    });
}

}  // namespace ietest::stats

// Pairs of texts from skeletons with places for names.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ietest/parallel.hpp"
#include "ietest/random/discrete.hpp"
#include "ietest/random/philox.hpp"
#include "ietest/text/string_column.hpp"

namespace ietest::templates {

enum class PieceKind : std::int32_t {
    literal,  // the text `what`
    name,     // the name of the entity `what`
    verb,  // in wording w the text `what` + 2w if one of the people of `group` is a man, else the
           // one behind it
};

// A part of a text.
struct Piece {
    PieceKind kind;
    std::int32_t what;
    std::int32_t group;
};

// Texts with places for names. Shape s has the texts 2s (premise) and 2s + 1 (hypothesis). Its
// entities have numbers: those of people come first.
struct Skeletons {
    std::span<const Piece> pieces;
    std::span<const std::int64_t> text_ends;  // text t has the pieces from text_ends[t] on
    text::StringColumn literals;
    std::span<const std::int32_t> group_ends;
    std::span<const std::int32_t> group_people;
    std::span<const std::int32_t> n_people;  // of each shape
    std::span<const std::int32_t> n_places;
    std::int32_t n_wordings;

    std::int64_t size() const { return static_cast<std::int64_t>(n_people.size()); }
};

struct Names {
    text::StringColumn people;
    std::span<const std::uint8_t> is_woman;
    text::StringColumn places;
};

// With which probability each shape is drawn. Every label has the same share of the rows: with k
// labels, each stands once in rows 0 to k - 1, once in the k rows behind them and so on, in random
// order.
class ShapeLaw {
  public:
    // Shape s has the weight weights[s], among those of its label.
    ShapeLaw(std::span<const double> weights, std::span<const std::int32_t> labels,
             std::int32_t n_labels);

    std::int64_t size() const { return n_shapes_; }

    // `scratch` is overwritten.
    std::int64_t draw(random::Key key, std::int64_t row, random::WordStream& words,
                      std::vector<std::int32_t>& scratch) const;

  private:
    std::int64_t n_shapes_;
    std::vector<std::vector<std::int64_t>> shapes_;  // by label
    std::vector<random::AliasTable> tables_;
};

struct FilledPairs {
    text::OwnedStrings premises;
    text::OwnedStrings hypotheses;
    std::vector<std::int32_t> shapes;
};

// Draws pairs. A row is a function of the key and its number: its shape, for each entity a name
// that no other entity has, and a wording. What it is made of must stay where it is.
class PairFiller {
  public:
    // Throws std::invalid_argument if there are too few names for a shape, or a piece names what is
    // not there.
    PairFiller(Skeletons skeletons, ShapeLaw law, Names names);

    // The rows from `first` on.
    FilledPairs fill(random::Key key, std::int64_t first, std::int64_t n_rows,
                     const Execution& execution) const;

  private:
    Skeletons skeletons_;
    ShapeLaw law_;
    Names names_;
};

}  // namespace ietest::templates

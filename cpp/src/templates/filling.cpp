#include "ietest/templates/filling.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace ietest::templates {
namespace {

constexpr std::int64_t kChunkRows = 512;

// Words of a row's own stream, and of the one that orders labels.
constexpr std::uint64_t kRowStream = 0;
constexpr std::uint64_t kOrderStream = 1;

// One of 0, ..., n - 1.
std::int32_t draw_below(std::int32_t n, random::WordStream& words) {
    const UInt128 product = static_cast<UInt128>(words.next()) * static_cast<std::uint32_t>(n);
    return static_cast<std::int32_t>(product >> 64);
}

// Appends `count` different ones of 0, ..., n - 1.
void draw_different(std::int32_t count, std::int32_t n, random::WordStream& words,
                    std::vector<std::int32_t>& drawn) {
    const auto begin = static_cast<std::ptrdiff_t>(drawn.size());
    // Floyd's algorithm gives each set with the same probability, but not each order.
    for (std::int32_t last = n - count; last < n; ++last) {
        const std::int32_t candidate = draw_below(last + 1, words);
        const bool is_new = std::find(drawn.begin() + begin, drawn.end(), candidate) == drawn.end();
        drawn.push_back(is_new ? candidate : last);
    }
    for (std::int32_t i = count - 1; i > 0; --i) {
        std::swap(drawn[static_cast<std::size_t>(begin + i)],
                  drawn[static_cast<std::size_t>(begin + draw_below(i + 1, words))]);
    }
}

template <typename T>
std::span<const T> part_of(std::span<const T> all, std::int64_t begin, std::int64_t end) {
    return all.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
}

template <typename End>
void check_ends(std::span<const End> ends, std::size_t n_parts, std::size_t n_all,
                const char* what) {
    const bool fits = ends.size() == n_parts + 1 && ends.front() == 0 &&
                      static_cast<std::size_t>(ends.back()) == n_all &&
                      std::is_sorted(ends.begin(), ends.end());
    if (!fits) throw std::invalid_argument(std::string(what) + " do not fit together");
}

void check(const Skeletons& skeletons, const ShapeLaw& law, const Names& names) {
    const auto n_shapes = static_cast<std::size_t>(skeletons.size());
    if (skeletons.n_wordings < 1) throw std::invalid_argument("there must be a wording");
    if (skeletons.n_places.size() != n_shapes || law.size() != skeletons.size()) {
        throw std::invalid_argument("the arrays of shapes differ in length");
    }
    check_ends(skeletons.text_ends, 2 * n_shapes, skeletons.pieces.size(), "texts and pieces");
    const std::size_t n_groups = std::max<std::size_t>(skeletons.group_ends.size(), 1) - 1;
    check_ends(skeletons.group_ends, n_groups, skeletons.group_people.size(), "groups");
    if (static_cast<std::int64_t>(names.is_woman.size()) != names.people.length) {
        throw std::invalid_argument("there must be a gender for each person");
    }
    for (std::size_t shape = 0; shape < n_shapes; ++shape) {
        const std::int32_t n_people = skeletons.n_people[shape];
        const std::int32_t n_places = skeletons.n_places[shape];
        if (n_people < 0 || n_places < 0) {
            throw std::invalid_argument("a number of names is negative");
        }
        const std::int64_t n_entities = static_cast<std::int64_t>(n_people) + n_places;
        if (n_people > names.people.length || n_places > names.places.length) {
            throw std::invalid_argument("there are too few names for a shape");
        }
        const auto begin = skeletons.text_ends[2 * shape];
        const auto end = skeletons.text_ends[2 * shape + 2];
        for (const Piece& piece : part_of(skeletons.pieces, begin, end)) {
            const bool is_name = piece.kind == PieceKind::name;
            const bool is_verb = piece.kind == PieceKind::verb;
            const std::int64_t n_texts = is_verb ? 2 * std::int64_t{skeletons.n_wordings} : 1;
            const std::int64_t n_known = is_name ? n_entities : skeletons.literals.length;
            bool is_known = piece.what >= 0 && piece.what + n_texts <= n_known;
            if (is_verb && is_known) {
                is_known = piece.group >= 0 && piece.group < static_cast<std::int64_t>(n_groups);
                if (is_known) {
                    const auto group = static_cast<std::size_t>(piece.group);
                    const auto people = part_of(skeletons.group_people, skeletons.group_ends[group],
                                                skeletons.group_ends[group + 1]);
                    is_known = std::all_of(people.begin(), people.end(), [&](std::int32_t person) {
                        return person >= 0 && person < n_people;
                    });
                }
            }
            if (!is_known) throw std::invalid_argument("a piece names what is not there");
        }
    }
}

// What a row says: its shape, and the name of each of its entities.
class Row {
  public:
    Row(const Skeletons& skeletons, const ShapeLaw& law, const Names& names, random::Key key)
        : skeletons_(skeletons), law_(law), names_(names), key_(key) {}

    void draw(std::int64_t row) {
        random::WordStream words(key_, static_cast<std::uint64_t>(row), kRowStream);
        shape_ = static_cast<std::size_t>(law_.draw(key_, row, words, chosen_));
        chosen_.clear();
        const std::int32_t n_people = skeletons_.n_people[shape_];
        draw_different(n_people, static_cast<std::int32_t>(names_.people.length), words, chosen_);
        draw_different(skeletons_.n_places[shape_], static_cast<std::int32_t>(names_.places.length),
                       words, chosen_);
        if (skeletons_.n_wordings > 1) wording_ = draw_below(skeletons_.n_wordings, words);
    }

    std::size_t shape() const { return shape_; }

    // The texts of its pieces, one after the other; `part` is 0 for the premise, else 1.
    template <typename Take>
    void give(std::size_t part, Take&& take) const {
        const std::size_t text = 2 * shape_ + part;
        for (const Piece& piece : part_of(skeletons_.pieces, skeletons_.text_ends[text],
                                          skeletons_.text_ends[text + 1])) {
            take(text_of(piece));
        }
    }

  private:
    std::string_view text_of(const Piece& piece) const {
        switch (piece.kind) {
            case PieceKind::literal:
                return skeletons_.literals[piece.what];
            case PieceKind::name: {
                const bool is_person = piece.what < skeletons_.n_people[shape_];
                const std::int32_t name = chosen_[static_cast<std::size_t>(piece.what)];
                return is_person ? names_.people[name] : names_.places[name];
            }
            default:
                return skeletons_.literals[piece.what + 2 * wording_ + are_women(piece.group)];
        }
    }

    bool are_women(std::int32_t group) const {
        const auto number = static_cast<std::size_t>(group);
        const auto people = part_of(skeletons_.group_people, skeletons_.group_ends[number],
                                    skeletons_.group_ends[number + 1]);
        return std::all_of(people.begin(), people.end(), [&](std::int32_t person) {
            const std::int32_t name = chosen_[static_cast<std::size_t>(person)];
            return names_.is_woman[static_cast<std::size_t>(name)] != 0;
        });
    }

    const Skeletons& skeletons_;
    const ShapeLaw& law_;
    const Names& names_;
    random::Key key_;
    std::size_t shape_ = 0;
    std::vector<std::int32_t> chosen_;
    std::int32_t wording_ = 0;
};

text::OwnedStrings room_for(std::int64_t n_rows, std::int64_t n_bytes) {
    text::StringColumn like;
    like.length = n_rows;
    return {like, n_bytes};
}

}  // namespace

ShapeLaw::ShapeLaw(std::span<const double> weights, std::span<const std::int32_t> labels,
                   std::int32_t n_labels)
    : n_shapes_(static_cast<std::int64_t>(weights.size())),
      shapes_(static_cast<std::size_t>(std::max(n_labels, 0))) {
    if (labels.size() != weights.size() || shapes_.empty()) {
        throw std::invalid_argument("each shape must have a weight and a label");
    }
    std::vector<std::vector<double>> own(shapes_.size());
    for (std::size_t shape = 0; shape < weights.size(); ++shape) {
        const auto label = static_cast<std::size_t>(labels[shape]);
        if (label >= shapes_.size() || !(weights[shape] > 0)) {
            throw std::invalid_argument("each shape must have a label and a positive weight");
        }
        shapes_[label].push_back(static_cast<std::int64_t>(shape));
        own[label].push_back(weights[shape]);
    }
    for (const std::vector<double>& of_label : own) {
        if (of_label.empty()) throw std::invalid_argument("a label has no shape");
        tables_.emplace_back(of_label);
    }
}

std::int64_t ShapeLaw::draw(random::Key key, std::int64_t row, random::WordStream& words,
                            std::vector<std::int32_t>& scratch) const {
    const auto n_labels = static_cast<std::int32_t>(shapes_.size());
    random::WordStream order(key, static_cast<std::uint64_t>(row / n_labels), kOrderStream);
    scratch.clear();
    draw_different(n_labels, n_labels, order, scratch);
    const auto label = static_cast<std::size_t>(scratch[static_cast<std::size_t>(row % n_labels)]);
    return shapes_[label][tables_[label](words.next())];
}

PairFiller::PairFiller(Skeletons skeletons, ShapeLaw law, Names names)
    : skeletons_(skeletons), law_(std::move(law)), names_(names) {
    check(skeletons_, law_, names_);
}

FilledPairs PairFiller::fill(random::Key key, std::int64_t first, std::int64_t n_rows,
                             const Execution& execution) const {
    const std::int64_t n_chunks = n_rows == 0 ? 0 : (n_rows - 1) / kChunkRows + 1;
    std::array<std::vector<std::int64_t>, 2> begins;
    begins.fill(std::vector<std::int64_t>(static_cast<std::size_t>(n_chunks) + 1, 0));
    FilledPairs pairs;
    pairs.shapes.resize(static_cast<std::size_t>(n_rows));
    // A row is drawn twice, which is cheaper than to keep its text until the lengths are known.
    parallel_chunks(n_rows, kChunkRows, execution, [&](Range rows) {
        Row row(skeletons_, law_, names_, key);
        std::array<std::int64_t, 2> n_bytes{};
        for (std::int64_t i = rows.begin; i < rows.end; ++i) {
            row.draw(first + i);
            pairs.shapes[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(row.shape());
            for (std::size_t part = 0; part < 2; ++part) {
                row.give(part, [&](std::string_view piece) {
                    n_bytes[part] += static_cast<std::int64_t>(piece.size());
                });
            }
        }
        const auto next = static_cast<std::size_t>(rows.begin / kChunkRows) + 1;
        for (std::size_t part = 0; part < 2; ++part) begins[part][next] = n_bytes[part];
    });
    for (std::vector<std::int64_t>& own : begins) {
        std::partial_sum(own.begin(), own.end(), own.begin());
    }
    pairs.premises = room_for(n_rows, begins[0].back());
    pairs.hypotheses = room_for(n_rows, begins[1].back());
    const std::array<text::OwnedStrings*, 2> columns{&pairs.premises, &pairs.hypotheses};
    parallel_chunks(n_rows, kChunkRows, execution, [&](Range rows) {
        Row row(skeletons_, law_, names_, key);
        const auto number = static_cast<std::size_t>(rows.begin / kChunkRows);
        std::array<char*, 2> out{columns[0]->data() + begins[0][number],
                                 columns[1]->data() + begins[1][number]};
        for (std::int64_t i = rows.begin; i < rows.end; ++i) {
            row.draw(first + i);
            for (std::size_t part = 0; part < 2; ++part) {
                row.give(part, [&](std::string_view piece) {
                    out[part] = std::copy(piece.begin(), piece.end(), out[part]);
                });
                columns[part]->set_offset(i + 1, out[part] - columns[part]->data());
            }
        }
    });
    return pairs;
}

}  // namespace ietest::templates

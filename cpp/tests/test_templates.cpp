#include <doctest/doctest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "ietest/templates/filling.hpp"
#include "strings.hpp"

namespace templates = ietest::templates;
using templates::Piece;
using templates::PieceKind;

TEST_CASE("pairs are filled with names that differ") {
    const ietest::text::Strings literals({" is taller than ", " e alto", " e alta"});
    const ietest::text::Strings people({"Ana", "Bia", "Caio"});
    const ietest::text::Strings places({});
    const std::vector<std::uint8_t> is_woman{1, 1, 0};
    std::vector<Piece> pieces{{PieceKind::name, 0, 0},
                              {PieceKind::literal, 0, 0},
                              {PieceKind::name, 1, 0},
                              {PieceKind::name, 1, 0},
                              {PieceKind::verb, 1, 0}};
    const std::vector<std::int64_t> text_ends{0, 3, 5};
    const std::vector<std::int32_t> group_ends{0, 1}, group_people{1}, n_people{2}, n_places{0};
    const std::vector<double> weights{1.0};
    const std::vector<std::int32_t> labels{0};
    const auto make = [&] {
        return templates::PairFiller(
            {pieces, text_ends, literals.view(), group_ends, group_people, n_people, n_places, 1},
            templates::ShapeLaw(weights, labels, 1), {people.view(), is_woman, places.view()});
    };
    constexpr std::int64_t kRows = 2000;
    const ietest::random::Key key{1, 2};
    const templates::FilledPairs filled = make().fill(key, 0, kRows, {1});
    int n_women = 0;
    for (std::int64_t i = 0; i < kRows; ++i) {
        const std::string premise(filled.premises.view()[i]);
        const std::string hypothesis(filled.hypotheses.view()[i]);
        const std::string second = hypothesis.substr(0, hypothesis.find(' '));
        CHECK(premise.ends_with(" is taller than " + second));
        CHECK(premise.substr(0, premise.find(' ')) != second);
        CHECK(hypothesis == second + (second == "Caio" ? " e alto" : " e alta"));
        n_women += second == "Caio" ? 0 : 1;
    }
    CHECK(n_women >
          1200);  // two thirds of 2,000 are expected, 6 standard deviations more than this
    for (const int n_threads : {2, 3, 7}) {
        const templates::FilledPairs again = make().fill(key, 1000, 1000, {n_threads});
        for (std::int64_t i = 0; i < 1000; ++i) {
            CHECK(again.premises.view()[i] == filled.premises.view()[1000 + i]);
            CHECK(again.hypotheses.view()[i] == filled.hypotheses.view()[1000 + i]);
        }
    }
    CHECK(make().fill(key, 0, 0, {1}).shapes.empty());
    pieces[4].group = 1;
    CHECK_THROWS_AS(make(), std::invalid_argument);
}

TEST_CASE("both texts of a pair have the same wording") {
    const ietest::text::Strings literals(
        {"has seen", "has seen", "has drawn", "has drawn", "saw", "saw", "drew", "drew"});
    const ietest::text::Strings none({});
    const std::vector<Piece> pieces{{PieceKind::verb, 0, 0}, {PieceKind::verb, 4, 0}};
    const std::vector<std::int64_t> text_ends{0, 1, 2};
    const std::vector<std::int32_t> group_ends{0, 0}, group_people, n_people{0}, n_places{0};
    const std::vector<double> weights{1.0};
    const std::vector<std::int32_t> labels{0};
    const auto make = [&](std::int32_t n_wordings) {
        return templates::PairFiller({pieces, text_ends, literals.view(), group_ends, group_people,
                                      n_people, n_places, n_wordings},
                                     templates::ShapeLaw(weights, labels, 1),
                                     {none.view(), {}, none.view()});
    };
    const templates::FilledPairs filled = make(2).fill({1, 2}, 0, 1000, {2});
    int n_drawn = 0;
    for (std::int64_t i = 0; i < 1000; ++i) {
        const bool is_drawn = filled.premises.view()[i] == "has drawn";
        CHECK(filled.hypotheses.view()[i] == (is_drawn ? "drew" : "saw"));
        n_drawn += is_drawn;
    }
    CHECK(n_drawn > 400);  // 500 are expected, 6 standard deviations from both bounds
    CHECK(n_drawn < 600);
    CHECK(make(1).fill({1, 2}, 0, 1, {1}).premises.view()[0] == "has seen");
    CHECK_THROWS_AS(make(3), std::invalid_argument);
    CHECK_THROWS_AS(make(0), std::invalid_argument);
}

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "ietest/text/insertion.hpp"
#include "ietest/text/noise.hpp"
#include "strings.hpp"

using namespace ietest;
using namespace ietest::text;

namespace {

SubstitutionOptions with_edits() {
    SubstitutionOptions options;
    options.with_edits = true;
    return options;
}

std::vector<std::string> inserted(const Strings& texts, InsertionPlace place, int n_threads = 1) {
    Insertion insertion;
    insertion.phrase = place == InsertionPlace::before_first_mark ? " and so on" : "and so on";
    insertion.place = place;
    const Substituted made = insert_phrase(texts.view(), insertion, with_edits(), {n_threads});
    CHECK(made.edits->size() >= made.n_changed);
    return rows_of(made.strings.view());
}

NoiseOptions noise_options(std::int64_t n_words) {
    NoiseOptions options;
    options.n_words = n_words;
    options.key = {1, 2};
    return options;
}

}  // namespace

TEST_CASE("a phrase goes before the marks that end a text") {
    const Strings texts{"A dog runs.",
                        "Is it so?! ",
                        "no mark",
                        "It is in the U.S.",
                        "Well .",
                        "\"I am.\"",
                        "...",
                        "\u4F60\u3002",
                        "",
                        " \n"};
    CHECK(inserted(texts, InsertionPlace::before_final_mark) ==
          std::vector<std::string>{"A dog runs and so on.", "Is it so and so on?! ",
                                   "no mark and so on", "It is in the U.S. and so on.",
                                   "Well and so on .", "\"I am.\" and so on", "...",
                                   "\u4F60 and so on\u3002", "", " \n"});
}

TEST_CASE("as published, a phrase goes before the first mark, and the rest is dropped") {
    const Strings texts{"Mr. Smith runs. Fast.", "no mark", "", "a?  b"};
    CHECK(inserted(texts, InsertionPlace::before_first_mark) ==
          std::vector<std::string>{"Mr and so on. ", "no mark and so on", " and so on",
                                   "a and so on?  "});
}

TEST_CASE("threads put a phrase where one puts it") {
    std::vector<std::string> rows;
    for (int i = 0; i < 3000; ++i)
        rows.push_back(std::to_string(i) + std::string(i % 40, 'x') + ".");
    const Strings texts(rows);
    const auto one = inserted(texts, InsertionPlace::before_final_mark);
    CHECK(inserted(texts, InsertionPlace::before_final_mark, 3) == one);
    CHECK(inserted(texts, InsertionPlace::before_final_mark, 7) == one);
}

TEST_CASE("words are misspelt, and never into another word") {
    const Strings letters{"a", "b", "\u00FC"};
    const Strings neighbours{"s", "vn", "p"};
    const Strings known{"ba", "AV"};
    const Strings listed{"the"};
    const Strings none{};
    // "ab": swapped it is known, as are "av" and "sb" with an ending; only "an" is left.
    const Strings known_too{"ba", "AV", "sb"};
    const Misspelling strict(letters.view(), neighbours.view(), known_too.view(), none.view(),
                             noise_options(1));
    const Strings texts{"Ab", "1b", "", "...", "\u00DC!"};
    const Substituted made = misspell(texts.view(), strict, with_edits(), {1});
    CHECK(rows_of(made.strings.view()) ==
          std::vector<std::string>{"An", "1b", "", "...", "\u00DC!"});
    CHECK(made.n_changed == 1);

    NoiseOptions only = noise_options(9);
    only.words = WordChoice::listed;
    only.neighbours = false;
    const Misspelling function_words(letters.view(), neighbours.view(), none.view(), listed.view(),
                                     only);
    const Strings more{"The cat and the dog"};
    const auto changed = rows_of(misspell(more.view(), function_words, {}, {1}).strings.view());
    CHECK(changed[0].substr(3, 9) == " cat and ");
    CHECK(changed[0].substr(15) == " dog");
    CHECK(changed[0].substr(0, 3) != "The");

    std::vector<std::string> rows;
    for (int i = 0; i < 2000; ++i) rows.push_back("a cab, bad and " + std::string(i % 9, 'b'));
    const Strings many(rows);
    const Misspelling any(letters.view(), neighbours.view(), known.view(), none.view(),
                          noise_options(2));
    const auto one = rows_of(misspell(many.view(), any, {}, {1}).strings.view());
    CHECK(rows_of(misspell(many.view(), any, {}, {7}).strings.view()) == one);
    CHECK(one[0] == one[9]);
    CHECK_THROWS_AS(Misspelling(letters.view(), none.view(), none.view(), none.view(), only),
                    std::invalid_argument);
}

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "ietest/text/insertion.hpp"
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

TEST_CASE("a phrase goes behind the full stop of an abbreviation") {
    const Strings texts{"etc.",   "Ask DR.", "fetch.", "fetc.",
                        "x.inc.", "5 p.m.",  "a..b.",  "\u00E9tc."};
    CHECK(inserted(texts, InsertionPlace::before_final_mark) ==
          std::vector<std::string>{"etc. and so on.", "Ask DR. and so on.", "fetch and so on.",
                                   "fetc and so on.", "x.inc and so on.", "5 p.m. and so on.",
                                   "a..b. and so on.", "\u00E9tc and so on."});
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

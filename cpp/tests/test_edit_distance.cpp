#include <doctest/doctest.h>

#include "ietest/text/edit_distance.hpp"

using ietest::text::edit_distance;

TEST_CASE("edit distance of known words") {
    CHECK(edit_distance(U"", U"") == 0);
    CHECK(edit_distance(U"", U"abc") == 3);
    CHECK(edit_distance(U"kitten", U"sitting") == 3);
    CHECK(edit_distance(U"sitting", U"kitten") == 3);
    CHECK(edit_distance(U"couch", U"lounge") == 4);
    CHECK(edit_distance(U"abcd", U"acd") == 1);
    CHECK(edit_distance(U"aaaa", U"aa") == 2);
    CHECK(edit_distance(U"na\u00efve", U"naive") == 1);
}

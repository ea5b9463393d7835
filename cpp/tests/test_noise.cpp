#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "ietest/text/edits.hpp"
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

NoiseOptions noise_options(std::int64_t n_words) {
    NoiseOptions options;
    options.n_words = n_words;
    options.key = {1, 2};
    return options;
}

const Strings kLetters{"a", "b", "\u00FC"};
const Strings kNeighbours{"s", "vn", "p"};
const Strings kNone{};

std::vector<std::string> misspelt(const Strings& texts, const NoiseOptions& options,
                                  const Strings& known = kNone, int n_threads = 1) {
    const Misspelling how(kLetters.view(), kNeighbours.view(), known.view(), kNone.view(), options);
    return rows_of(misspell(texts.view(), how, {}, {n_threads}).strings.view());
}

}  // namespace

TEST_CASE("words are misspelt, and never into another word") {
    // "ab": swapped it is known, as are "av" and "sb" with an ending; only "an" is left.
    const Strings known{"ba", "AV", "sb"};
    const Misspelling strict(kLetters.view(), kNeighbours.view(), known.view(), kNone.view(),
                             noise_options(1));
    const Strings texts{"Ab", "1b", "", "...", "\u00DC!"};
    const Substituted made = misspell(texts.view(), strict, with_edits(), {1});
    CHECK(rows_of(made.strings.view()) ==
          std::vector<std::string>{"An", "1b", "", "...", "\u00DC!"});
    CHECK(made.n_changed == 1);
    REQUIRE(made.edits.has_value());
    CHECK(made.edits->size() == 1);
    // "avs" is as good as "av", and so is "AVS".
    const Strings plural{"abs", "ABS"};
    const Strings stems{"av", "ba", "sb", "an", "as"};
    NoiseOptions keys = noise_options(1);
    keys.swaps = false;
    CHECK(misspelt(plural, keys, stems) == std::vector<std::string>{"abs", "ABS"});
}

TEST_CASE("only words of a list are misspelt") {
    NoiseOptions only = noise_options(9);
    only.words = WordChoice::listed;
    only.neighbours = false;
    const Strings listed{"the"};
    const Misspelling function_words(kLetters.view(), kNeighbours.view(), kNone.view(),
                                     listed.view(), only);
    const Strings texts{"The cat and the dog"};
    const auto changed = rows_of(misspell(texts.view(), function_words, {}, {1}).strings.view());
    CHECK(changed[0].substr(3, 9) == " cat and ");
    CHECK(changed[0].substr(15) == " dog");
    CHECK(changed[0].substr(0, 3) != "The");
    only.words = WordChoice::unlisted;
    const Misspelling others(kLetters.view(), kNeighbours.view(), kNone.view(), listed.view(),
                             only);
    const auto rest = rows_of(misspell(texts.view(), others, {}, {1}).strings.view());
    CHECK(rest[0].substr(0, 4) == "The ");
    CHECK(rest[0].substr(11, 5) == " the ");
    CHECK(rest[0].substr(4, 7) != "cat and");
}

TEST_CASE("letters of other lengths move what stands behind them") {
    NoiseOptions keys = noise_options(5);
    keys.swaps = false;
    const Strings texts{"\u00FC\u00FC x", "\u00DC\u00DC, \u00FC\u00FC", "b\u0301b"};
    const auto found = misspelt(texts, keys);
    CHECK((found[0] == "p\u00FC x" || found[0] == "\u00FCp x"));
    CHECK(found[1].size() == texts.view()[1].size() - 2);
    // A letter under an accent is left alone.
    CHECK((found[2] == "b\u0301v" || found[2] == "b\u0301n"));
}

TEST_CASE("as published, pieces between blanks are misspelt by keys, whatever they are") {
    NoiseOptions pieces = noise_options(1);
    pieces.swaps = false;
    pieces.between_blanks = true;
    const Strings texts{" a1 ", "b", "\u00A0b2\n",
                        "\xFF\xFE"
                        "b"};
    const auto found = misspelt(texts, pieces);
    CHECK(found[0] == " s1 ");
    CHECK(found[1] == "b");
    CHECK((found[2] == "\u00A0v2\n" || found[2] == "\u00A0n2\n"));
    CHECK((found[3] == "\xFF\xFEv" || found[3] == "\xFF\xFEn"));
}

TEST_CASE("every way to misspell a word is drawn") {
    std::set<std::string> seen;
    std::vector<std::string> rows;
    for (int i = 0; i < 400; ++i)
        rows.push_back("ab " + std::string(static_cast<std::size_t>(i), '.'));
    for (const std::string& row : misspelt(Strings(rows), noise_options(1))) {
        seen.insert(row.substr(0, 2));
    }
    CHECK(seen == std::set<std::string>{"ba", "sb", "av", "an"});
}

TEST_CASE("equal texts are misspelt alike, by any number of threads") {
    const Strings known{"ba", "AV"};
    std::vector<std::string> rows;
    for (int i = 0; i < 6000; ++i) {
        rows.push_back("a cab, bad \u00FCb and " +
                       std::string(static_cast<std::size_t>(i % 9), 'b'));
    }
    const Strings many(rows);
    const auto one = misspelt(many, noise_options(2), known);
    for (const int n_threads : {2, 3, 7}) {
        CHECK(misspelt(many, noise_options(2), known, n_threads) == one);
    }
    CHECK(one[0] == one[9]);
    CHECK(one[0] != rows[0]);
}

TEST_CASE("edits tell what became of each text") {
    std::vector<std::string> rows;
    for (int i = 0; i < 500; ++i) {
        rows.push_back(std::to_string(i) + " \u00FCb bad, cab ab " +
                       std::string(static_cast<std::size_t>(i % 5), 'a'));
    }
    const Strings texts(rows);
    const Misspelling how(kLetters.view(), kNeighbours.view(), kNone.view(), kNone.view(),
                          noise_options(3));
    const Substituted made = misspell(texts.view(), how, with_edits(), {2});
    REQUIRE(made.edits.has_value());
    const EditList& edits = *made.edits;
    CHECK(made.n_changed == 500);
    REQUIRE(edits.size() == 1500);
    const auto pieces = [](const std::vector<char>& text, const std::vector<std::int64_t>& ends) {
        std::vector<std::string> found;
        for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
            found.emplace_back(text.begin() + ends[i], text.begin() + ends[i + 1]);
        }
        return Strings(found);
    };
    const OwnedStrings applied =
        apply_edits(texts.view(), edits.size(), edits.row.data(), edits.start.data(),
                    edits.end.data(), pieces(edits.old_text, edits.old_offsets).view(),
                    pieces(edits.new_text, edits.new_offsets).view());
    CHECK(rows_of(applied.view()) == rows_of(made.strings.view()));
}

TEST_CASE("missing texts stay, and bytes under them") {
    const Strings texts{"ab", "ab", "ab"};
    const std::uint8_t validity = 0b101;
    StringColumn column = texts.view();
    column.validity = &validity;
    const Misspelling how(kLetters.view(), kNeighbours.view(), kNone.view(), kNone.view(),
                          noise_options(1));
    const Substituted made = misspell(column, how, with_edits(), {1});
    const auto found = rows_of(made.strings.view());
    CHECK(found[1] == "<null>");
    CHECK(found[0] == found[2]);
    CHECK(made.n_changed == 2);
    CHECK(misspell(kNone.view(), how, with_edits(), {2}).n_changed == 0);
}

TEST_CASE("a text's address hangs on all its bytes and on its length") {
    std::set<std::uint64_t> seen;
    std::vector<std::string> texts{"", "a", "aa", std::string(1, '\0'), std::string(8, '\0')};
    for (std::size_t i = 0; i < 24; ++i) {
        std::string text(24, 'x');
        text[i] = 'y';
        texts.push_back(text);
    }
    for (const std::string& text : texts) seen.insert(address_of(text));
    CHECK(seen.size() == texts.size());
}

TEST_CASE("columns that do not fit are refused") {
    CHECK_THROWS_AS(
        Misspelling(kLetters.view(), kNone.view(), kNone.view(), kNone.view(), noise_options(1)),
        std::invalid_argument);
    const Strings two{"ab"};
    const Strings one{"s"};
    CHECK_THROWS_AS(
        Misspelling(two.view(), one.view(), kNone.view(), kNone.view(), noise_options(1)),
        std::invalid_argument);
}

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "ietest/text/arrow_interface.hpp"
#include "ietest/text/english.hpp"
#include "ietest/text/substitution.hpp"
#include "ietest/text/word_boundaries.hpp"
#include "strings.hpp"

using namespace ietest;
using namespace ietest::text;

namespace {

const std::int8_t kOneRule[1] = {0};

SubstitutionTable table_of(const Strings& keys, const Strings& values, TableOptions options = {}) {
    return SubstitutionTable(keys.view(), values.view(), RuleCodes(kOneRule, 1), options);
}

std::vector<InstructionSet> available() {
    std::vector<InstructionSet> all;
    for (const InstructionSet one : kInstructionSets) {
        if (is_available(one)) all.push_back(one);
    }
    return all;
}

std::vector<std::string> random_rows(std::mt19937_64& bits, const std::vector<std::string>& pieces,
                                     int n_rows, int most_pieces) {
    std::vector<std::string> rows;
    for (int i = 0; i < n_rows; ++i) {
        std::string row;
        const int n = static_cast<int>(bits() % static_cast<unsigned>(most_pieces + 1));
        for (int j = 0; j < n; ++j) row += pieces[bits() % pieces.size()];
        rows.push_back(row);
    }
    return rows;
}

}  // namespace

TEST_CASE("words end where the annex says") {
    const auto end = [](std::string_view text) { return next_segment(text, 0).end; };
    CHECK(end("don't stop") == 5);
    CHECK(end("3,000.5 x") == 7);
    CHECK(end("a.b") == 3);
    CHECK(end("a..b") == 1);
    CHECK(end("a,b") == 1);
    CHECK(end("cat_3-x") == 5);
    CHECK(end("   x") == 3);
    CHECK(end("\r\nx") == 2);
    CHECK(end("caf\xC3\xA9 x") == 5);
    CHECK(end("don\xE2\x80\x99t x") == 7);
    CHECK(end("\xE2\x80\x9Cx") == 3);
    CHECK(end("\xFFx") == 1);
}

TEST_CASE("the longest key wins and rows are kept apart") {
    const Strings keys{"ice", "ice cream", "cat", "longer than sixteen bytes", "dog"};
    const Strings values{"frost", "sorbet", "", "x", "hound and more"};
    const SubstitutionTable table = table_of(keys, values);
    const Strings texts{"ice", " cream", "ice cream, ice creams",      "",
                        "cat", "dog",    "longer than sixteen bytes!", "a dog_ dog"};
    for (const InstructionSet instruction_set : available()) {
        SubstitutionOptions options;
        options.instruction_set = instruction_set;
        options.with_edits = true;
        const Substituted result = replace_words(texts.view(), table, options, {});
        CHECK(rows_of(result.strings.view()) ==
              std::vector<std::string>{"frost", " cream", "sorbet, frost creams", "", "",
                                       "hound and more", "x!", "a dog_ hound and more"});
        CHECK(result.n_changed == 6);
        REQUIRE(result.edits.has_value());
        CHECK(result.edits->size() == 7);
    }
}

TEST_CASE("threads, instruction sets and slices make no difference") {
    std::mt19937_64 bits(7);
    const std::vector<std::string> pieces{"cat",
                                          "dog",
                                          " ",
                                          " ",
                                          " ",
                                          ".",
                                          "'",
                                          "3",
                                          ",",
                                          "ice cream",
                                          "x",
                                          "\xC3\xA9",
                                          "\xE2\x80\x99",
                                          "averyverylongwordindeed",
                                          "_",
                                          "\n",
                                          "Cat"};
    const Strings keys{"cat", "ice cream", "dog", "averyverylongwordindeed", "3"};
    const Strings values{"feline", "", "d", "short", "three"};
    // More chunks than threads.
    const Strings texts(random_rows(bits, pieces, 8000, 20));
    for (const bool ignore_case : {false, true}) {
        TableOptions table_options;
        table_options.ignore_case = ignore_case;
        const SubstitutionTable table = table_of(keys, values, table_options);
        SubstitutionOptions options;
        options.instruction_set = InstructionSet::portable;
        const auto expected =
            rows_of(replace_words(texts.view(), table, options, {1}).strings.view());
        for (const InstructionSet instruction_set : available()) {
            for (const int n_threads : {1, 2, 3, 7}) {
                options.instruction_set = instruction_set;
                const Substituted got = replace_words(texts.view(), table, options, {n_threads});
                CHECK(rows_of(got.strings.view()) == expected);
            }
        }
        StringColumn slice = texts.view();
        slice.offset = 1234;
        slice.length = 4321;
        CHECK(rows_of(replace_words(slice, table, options, {2}).strings.view()) ==
              std::vector<std::string>(expected.begin() + 1234, expected.begin() + 1234 + 4321));
    }
}

TEST_CASE("an interruption in the middle stops the kernels") {
    const Strings texts(std::vector<std::string>(100'000, "a cat sat"));
    const SubstitutionTable table = table_of({"cat"}, {"feline"});
    TableOptions whole_tokens;
    whole_tokens.by_words = false;
    const SubstitutionTable tokens = table_of({"cat"}, {"feline"}, whole_tokens);
    static int n_asked;
    // The first question is asked before the work begins.
    const Execution interrupted{1, [] { return ++n_asked == 3; }};
    n_asked = 0;
    CHECK_THROWS_AS(replace_words(texts.view(), table, {}, interrupted), Interrupted);
    CHECK(n_asked == 3);
    n_asked = 0;
    CHECK_THROWS_AS(replace_normalised(texts.view(), tokens, {}, interrupted), Interrupted);
    CHECK(n_asked == 3);
}

TEST_CASE("missing texts stay missing and offsets grow when they must") {
    const Strings texts{"cat", "cat", "dog"};
    StringColumn column = texts.view();
    const std::uint8_t validity[1] = {0b101};
    column.validity = validity;
    const SubstitutionTable table = table_of({"cat"}, {"a much longer text"});
    SubstitutionOptions options;
    options.offset_limit = 10;
    const Substituted result = replace_words(column, table, options, {});
    CHECK(result.strings.is_large());
    CHECK(result.strings.null_count() == 1);
    CHECK(rows_of(result.strings.view()) ==
          std::vector<std::string>{"a much longer text", "<null>", "dog"});
}

TEST_CASE("normalised text") {
    TableOptions tokens;
    tokens.by_words = false;
    const SubstitutionTable table =
        table_of({"man", "a^b", "kelvin"}, {"adult male", "c", "k"}, tokens);
    const Strings texts{" A  Man, a man. ",
                        "A^b! 3.5%",
                        "\xE2\x84\xAA"
                        "ELVIN\xC2\xA0x",
                        "\xC4\xB0zmir \xC3\x89t\xC3\xA9",
                        "...",
                        "",
                        "\xFF\xC4"};
    SubstitutionOptions options;
    options.with_edits = true;
    const Substituted result = replace_normalised(texts.view(), table, options, {2});
    CHECK(rows_of(result.strings.view()) == std::vector<std::string>{"a adult male a adult male",
                                                                     "c 35", "k x", "izmir t", "",
                                                                     "", ""});
    const EditList& edits = *result.edits;
    std::vector<std::int64_t> starts;
    std::vector<std::string> expected;
    std::vector<std::string> pieces;
    for (std::size_t e = 0; e < static_cast<std::size_t>(edits.size()); ++e) {
        expected.emplace_back(edits.old_text.begin() + edits.old_offsets[e],
                              edits.old_text.begin() + edits.old_offsets[e + 1]);
        pieces.emplace_back(edits.new_text.begin() + edits.new_offsets[e],
                            edits.new_text.begin() + edits.new_offsets[e + 1]);
    }
    const OwnedStrings applied =
        apply_edits(texts.view(), edits.size(), edits.row.data(), edits.start.data(),
                    edits.end.data(), Strings(expected).view(), Strings(pieces).view());
    CHECK(rows_of(applied.view()) == rows_of(result.strings.view()));
    CHECK_THROWS_AS(replace_words(texts.view(), table, options, {}), std::invalid_argument);
}

TEST_CASE("random bytes are no danger") {
    std::mt19937_64 bits(11);
    std::vector<std::string> pieces{" ", "cat"};
    for (int c = 0; c < 256; ++c) pieces.emplace_back(1, static_cast<char>(c));
    const Strings texts(random_rows(bits, pieces, 3000, 90));
    const SubstitutionTable words = table_of({"cat", "a b", ". "}, {"feline", "", "x"});
    TableOptions tokens;
    tokens.by_words = false;
    const SubstitutionTable whole =
        table_of({"cat", "a"}, {"feline", "much longer than the key"}, tokens);
    SubstitutionOptions options;
    options.with_edits = true;
    for (const InstructionSet instruction_set : available()) {
        options.instruction_set = instruction_set;
        CHECK(replace_words(texts.view(), words, options, {2}).strings.length() == 3000);
    }
    CHECK(replace_normalised(texts.view(), whole, options, {2}).strings.length() == 3000);
}

TEST_CASE("a key without text, or a table of unequal lengths, is refused") {
    CHECK_THROWS_AS(table_of({""}, {"x"}), std::invalid_argument);
    CHECK_THROWS_AS(table_of({"a", "b"}, {"x"}), std::invalid_argument);
}

TEST_CASE("tagged words are replaced with their number, capitals and article") {
    // The boys are bound; "big" is replaced before a noun or "dog", unless "hot" stands before it.
    const Strings keys{"boy", "boys", "eel", "big"};
    const Strings values{"lad", "lads", "snake", "large"};
    const std::uint8_t pos[4] = {1, 1, 1, 3};
    const std::int8_t number[4] = {1, 2, 1, 0};
    const std::int32_t group[4] = {0, 0, 1, 2};
    const std::int8_t is_bound[4] = {1, 1, 1, 0};
    const std::int64_t test_begins[5] = {0, 0, 0, 0, 2};
    const std::int8_t place[2] = {1, -1};
    const std::int8_t negated[2] = {0, 1};
    const std::uint32_t tags[2] = {1U << 1, 0};
    const std::int64_t word_begins[3] = {0, 1, 2};
    const Strings words{"dog", "hot"};
    const Strings phrases{"eel pie"};
    TaggedColumns parts{
        keys.view(),
        values.view(),
        pos,
        number,
        group,
        is_bound,
        RuleCodes(kOneRule, 1),
        ConditionColumns{test_begins, place, negated, tags, word_begins, words.view()},
        phrases.view()};
    const TaggedTable table(parts);
    CHECK(table.size() == 4);
    CHECK(table.is_phrase("eel pie"));

    const Strings premises{"Boys, an eel", "A boy", "hot big dog", "eel pie"};
    const Strings hypotheses{"boys", "the lad", "big boy", "big cat"};
    // Tokens of the texts; part of speech 1 is the noun, 2 the name, 3 the adjective, 4 a sign.
    const std::int64_t offsets1[5] = {0, 4, 6, 9, 11};
    const std::int32_t start1[11] = {0, 4, 6, 9, 0, 2, 0, 4, 8, 0, 4};
    const std::int32_t end1[11] = {4, 5, 8, 12, 1, 5, 3, 7, 11, 3, 7};
    const std::uint8_t pos1[11] = {1, 4, 0, 1, 0, 1, 0, 3, 1, 1, 0};
    const std::int8_t number1[11] = {2, 0, 0, 1, 0, 1, 0, 0, 1, 1, 0};
    const std::int64_t offsets2[5] = {0, 1, 3, 5, 7};
    const std::int32_t start2[7] = {0, 0, 4, 0, 4, 0, 4};
    const std::int32_t end2[7] = {4, 3, 7, 3, 7, 3, 7};
    const std::uint8_t pos2[7] = {1, 0, 1, 3, 1, 3, 0};
    const std::int8_t number2[7] = {2, 0, 1, 0, 1, 0, 0};
    const StringColumn columns[2] = {premises.view(), hypotheses.view()};
    TokenSpans spans[2] = {{offsets1, start1, end1, pos1, number1, 11},
                           {offsets2, start2, end2, pos2, number2, 7}};
    SubstitutionOptions options;
    options.with_edits = true;
    const SubstitutedColumns result = replace_tagged(columns, spans, {1, 2}, table, options, {2});
    CHECK(rows_of(result.columns[0].strings.view()) ==
          std::vector<std::string>{"Lads, a snake", "A boy", "hot big dog", "eel pie"});
    CHECK(rows_of(result.columns[1].strings.view()) ==
          std::vector<std::string>{"lads", "the lad", "large lad", "big cat"});
    CHECK(result.n_changed == 2);
    // Spans of another text are found out, not followed.
    spans[0].n_tokens = 3;
    CHECK_THROWS_AS(replace_tagged(columns, spans, {1, 2}, table, options, {1}),
                    std::invalid_argument);

    // So are columns that do not fit together.
    const std::int64_t short_begins[4] = {0, 0, 0, 2};
    parts.conditions.test_begins = short_begins;
    CHECK_THROWS_AS(TaggedTable{parts}, std::invalid_argument);
    parts.conditions.test_begins = test_begins;
    const std::int8_t nowhere[2] = {1, 3};
    parts.conditions.place = nowhere;
    CHECK_THROWS_AS(TaggedTable{parts}, std::invalid_argument);
    parts.conditions.place = place;
    parts.number = parts.number.first(3);
    CHECK_THROWS_AS(TaggedTable{parts}, std::invalid_argument);
}

TEST_CASE("an ending decides whether a word fits before it") {
    CHECK(english().fits_before("'s", "child", "kid"));
    CHECK(english().fits_before("'", "boys", "lads"));
    CHECK(english().fits_before("-like", "children", "kids"));
    CHECK_FALSE(english().fits_before("'s", "children", "kids"));
    CHECK_FALSE(english().fits_before("\u2019", "ladies", "women"));
}

TEST_CASE("an or a, by sound") {
    for (const char* word :
         {"apple", "hour", "honest man", "heir", "umbrella", "urchin", "MRI", "x-ray", "8-ball",
          "11 men", "18", "unimportant man", "FBI agent", "owl", "onion", "usher"}) {
        CAPTURE(word);
        CHECK(takes_an(word));
    }
    for (const char* word :
         {"lad", "house", "university", "European", "one", "one-way street", "unicorn", "user",
          "NATO", "ukulele", "ewe", "T-shirt", "U-turn", "yard", "1100", "7", "", "UFO"}) {
        CAPTURE(word);
        CHECK_FALSE(takes_an(word));
    }
}

TEST_CASE("what is exported is released once, children and all") {
    ArrowSchema schema;
    ArrowArray array;
    const Strings texts{"a cat", "a dog"};
    SubstitutionOptions options;
    options.with_edits = true;
    Substituted result = replace_words(texts.view(), table_of({"cat"}, {"feline"}), options, {});
    export_strings(std::move(result.strings), &schema, &array);
    const StringColumn back = view_of(schema, array);
    CHECK(rows_of(back) == std::vector<std::string>{"a feline", "a dog"});
    array.release(&array);
    CHECK((array.release == nullptr));
    schema.release(&schema);
    CHECK((schema.release == nullptr));

    export_edits(std::move(*result.edits), &schema, &array);
    CHECK(array.n_children == 6);
    CHECK(array.length == 1);
    // A consumer may move a child out and keep it longer than its parent.
    ArrowArray child = *array.children[3];
    array.children[3]->release = nullptr;
    array.release(&array);
    schema.release(&schema);
    CHECK(std::string(static_cast<const char*>(child.buffers[2]), 3) == "cat");
    child.release(&child);
}

TEST_CASE("a column with decreasing offsets is refused") {
    ArrowSchema schema{};
    schema.format = "u";
    const std::int32_t offsets[3] = {0, 4, 2};
    const void* buffers[3] = {nullptr, offsets, "text"};
    ArrowArray array{};
    array.length = 2;
    array.n_buffers = 3;
    array.buffers = buffers;
    CHECK_THROWS_AS(view_of(schema, array), MalformedColumn);
    schema.format = "i";
    CHECK_THROWS_AS(view_of(schema, array), std::invalid_argument);
}

TEST_CASE("a column without buffers is refused") {
    ArrowSchema schema{};
    schema.format = "u";
    ArrowArray array{};
    array.length = 1;
    array.n_buffers = 3;
    CHECK_THROWS_AS(view_of(schema, array), MalformedColumn);
    // The specification lets an empty array have no offsets; one with a row needs them.
    const void* buffers[3] = {nullptr, nullptr, nullptr};
    array.buffers = buffers;
    CHECK_THROWS_AS(view_of(schema, array), MalformedColumn);
    array.length = 0;
    CHECK(view_of(schema, array).length == 0);
}

TEST_CASE("edits that do not fit are refused") {
    const Strings texts{"ab\u00E9c"};
    const Strings pieces{"x"};
    const auto apply = [&](std::int64_t start, std::int64_t end, const char* expected) {
        const std::int64_t row = 0;
        const OwnedStrings made = apply_edits(texts.view(), 1, &row, &start, &end,
                                              Strings{expected}.view(), pieces.view());
        return rows_of(made.view()).at(0);
    };
    CHECK(apply(1, 4, "b\u00E9") == "axc");
    CHECK_THROWS_AS(apply(4, 6, "c"), std::invalid_argument);
    CHECK_THROWS_AS(apply(1, 2, "c"), std::invalid_argument);
    CHECK_THROWS_AS(apply(1, 2, ""), std::invalid_argument);
    CHECK_THROWS_AS(apply(3, 3, ""), std::invalid_argument);  // within a character
    CHECK_THROWS_AS(apply(1, 3, "b\xC3"), std::invalid_argument);
}

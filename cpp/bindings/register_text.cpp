#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "arrow_capsule.hpp"
#include "execution.hpp"
#include "ietest/text/english.hpp"
#include "ietest/text/insertion.hpp"
#include "ietest/text/noise.hpp"
#include "ietest/text/substitution.hpp"
#include "instruction_set.hpp"
#include "registers.hpp"

namespace py = pybind11;

namespace ietest::python {
namespace {

// (strings, changed, n_changed, edits or None)
py::tuple result_of(text::Substituted&& result) {
    py::object edits = py::none();
    if (result.edits.has_value()) edits = py::cast(ExportedArray::of(std::move(*result.edits)));
    return py::make_tuple(ExportedArray::of(std::move(result.strings)),
                          array_on<bool>(std::move(result.changed)), result.n_changed, edits);
}

// What a tagger found in a column, as NumPy arrays that outlive the kernel.
struct Tokens {
    Array<std::int64_t> offsets;
    Array<std::int32_t> start;
    Array<std::int32_t> end;
    Array<std::uint8_t> pos;
    Array<std::int8_t> number;

    text::TokenSpans spans(std::int64_t n_rows) const {
        const auto n_tokens = static_cast<std::int64_t>(start.size());
        if (end.size() != n_tokens || pos.size() != n_tokens || number.size() != n_tokens) {
            throw py::value_error("the arrays of tokens differ in length");
        }
        if (offsets.size() != n_rows + 1) {
            throw py::value_error("token offsets are one more than the rows of the column");
        }
        return {vector_of(offsets).data(), vector_of(start).data(),  vector_of(end).data(),
                vector_of(pos).data(),     vector_of(number).data(), n_tokens};
    }
};

using WordKernel = text::Substituted (*)(const text::StringColumn&, const text::SubstitutionTable&,
                                         const text::SubstitutionOptions&, const Execution&);

template <WordKernel kernel>
py::tuple replace(const text::SubstitutionTable& table, const py::object& source, bool with_edits,
                  bool normalise_edits, std::optional<int> n_threads,
                  const std::optional<std::string>& instruction_set,
                  std::optional<std::int64_t> offset_limit) {
    const BorrowedStrings borrowed(source);
    text::SubstitutionOptions options;
    options.with_edits = with_edits;
    options.normalise_edits = normalise_edits;
    options.instruction_set = to_instruction_set(instruction_set);
    if (offset_limit.has_value()) options.offset_limit = *offset_limit;
    return result_of(without_gil(n_threads, [&](const Execution& execution) {
        return kernel(borrowed.column(), table, options, execution);
    }));
}

text::TaggedTable make_tagged_table(const py::object& keys, const py::object& values,
                                    const Array<std::uint8_t>& pos,
                                    const Array<std::int8_t>& number,
                                    const Array<std::int32_t>& group,
                                    const Array<std::int8_t>& is_bound,
                                    const Array<std::int8_t>& rules, const py::tuple& conditions,
                                    const py::object& phrases) {
    if (conditions.size() != 6) {
        throw py::value_error(
            "conditions are (test_begins, place, negated, tags, word_begins, words)");
    }
    const auto test_begins = conditions[0].cast<Array<std::int64_t>>();
    const auto place = conditions[1].cast<Array<std::int8_t>>();
    const auto negated = conditions[2].cast<Array<std::int8_t>>();
    const auto tags = conditions[3].cast<Array<std::uint32_t>>();
    const auto word_begins = conditions[4].cast<Array<std::int64_t>>();
    const BorrowedStrings words(conditions[5]);
    const BorrowedStrings borrowed_keys(keys);
    const BorrowedStrings borrowed_values(values);
    const BorrowedStrings borrowed_phrases(phrases);
    return text::TaggedTable(text::TaggedColumns{
        borrowed_keys.column(), borrowed_values.column(), vector_of(pos), vector_of(number),
        vector_of(group), vector_of(is_bound), vector_of(rules),
        text::ConditionColumns{vector_of(test_begins), vector_of(place), vector_of(negated),
                               vector_of(tags), vector_of(word_begins), words.column()},
        borrowed_phrases.column()});
}

py::tuple replace_tagged(const text::TaggedTable& table, const std::vector<py::object>& sources,
                         const std::vector<py::tuple>& tokens, const std::array<int, 2>& tags,
                         bool with_edits, std::optional<int> n_threads) {
    std::vector<BorrowedStrings> borrowed;
    std::vector<text::StringColumn> columns;
    borrowed.reserve(sources.size());
    for (const py::object& source : sources) {
        borrowed.emplace_back(source);
        columns.push_back(borrowed.back().column());
    }
    if (tokens.size() != columns.size()) throw py::value_error("tokens of each column are needed");
    std::vector<Tokens> kept;
    std::vector<text::TokenSpans> spans;
    for (std::size_t c = 0; c < columns.size(); ++c) {
        if (tokens[c].size() != 5) {
            throw py::value_error("tokens are (offsets, start, end, pos, number)");
        }
        kept.push_back(
            {tokens[c][0].cast<Array<std::int64_t>>(), tokens[c][1].cast<Array<std::int32_t>>(),
             tokens[c][2].cast<Array<std::int32_t>>(), tokens[c][3].cast<Array<std::uint8_t>>(),
             tokens[c][4].cast<Array<std::int8_t>>()});
        spans.push_back(kept.back().spans(columns[c].length));
    }
    const text::TagCodes codes{static_cast<std::uint8_t>(tags[0]),
                               static_cast<std::uint8_t>(tags[1])};
    text::SubstitutedColumns result = without_gil(n_threads, [&](const Execution& execution) {
        return text::replace_tagged(columns, spans, codes, table, {.with_edits = with_edits},
                                    execution);
    });
    py::list parts;
    for (text::Substituted& column : result.columns) parts.append(result_of(std::move(column)));
    return py::make_tuple(parts, array_on<bool>(std::move(result.changed)), result.n_changed);
}

py::tuple insert_phrase(const py::object& source, const std::string& phrase, bool before_first_mark,
                        bool with_edits, std::optional<int> n_threads) {
    const BorrowedStrings borrowed(source);
    text::Insertion insertion;
    insertion.phrase = phrase;
    insertion.place = before_first_mark ? text::InsertionPlace::before_first_mark
                                        : text::InsertionPlace::before_final_mark;
    return result_of(without_gil(n_threads, [&](const Execution& execution) {
        return text::insert_phrase(borrowed.column(), insertion, {.with_edits = with_edits},
                                   execution);
    }));
}

text::Misspelling make_misspelling(const py::object& letters, const py::object& neighbours,
                                   const py::object& known, const py::object& listed,
                                   const std::array<std::uint64_t, 2>& key, std::int64_t n_words,
                                   bool swaps, bool with_neighbours,
                                   const std::optional<bool>& only_listed, std::int64_t min_letters,
                                   bool between_blanks) {
    text::NoiseOptions options;
    options.n_words = n_words;
    options.swaps = swaps;
    options.neighbours = with_neighbours;
    if (only_listed.has_value()) {
        options.words = *only_listed ? text::WordChoice::listed : text::WordChoice::unlisted;
    }
    options.min_letters = min_letters;
    options.between_blanks = between_blanks;
    options.key = key;
    const BorrowedStrings borrowed_letters(letters);
    const BorrowedStrings borrowed_neighbours(neighbours);
    const BorrowedStrings borrowed_known(known);
    const BorrowedStrings borrowed_listed(listed);
    return {borrowed_letters.column(), borrowed_neighbours.column(), borrowed_known.column(),
            borrowed_listed.column(), options};
}

py::tuple misspell(const text::Misspelling& misspelling, const py::object& source, bool with_edits,
                   std::optional<int> n_threads) {
    const BorrowedStrings borrowed(source);
    return result_of(without_gil(n_threads, [&](const Execution& execution) {
        return text::misspell(borrowed.column(), misspelling, {.with_edits = with_edits},
                              execution);
    }));
}

ExportedArray apply_edits(const py::object& source, const Array<std::int64_t>& row,
                          const Array<std::int64_t>& start, const Array<std::int64_t>& end,
                          const py::object& expected, const py::object& pieces) {
    const BorrowedStrings borrowed(source);
    const BorrowedStrings borrowed_expected(expected);
    const BorrowedStrings borrowed_pieces(pieces);
    if (start.size() != row.size() || end.size() != row.size()) {
        throw py::value_error("row, start and end differ in length");
    }
    return ExportedArray::of(without_gil(1, [&](const Execution&) {
        return text::apply_edits(borrowed.column(), static_cast<std::int64_t>(row.size()),
                                 row.data(), start.data(), end.data(), borrowed_expected.column(),
                                 borrowed_pieces.column());
    }));
}

}  // namespace

void register_text(py::module_& module) {
    auto text_module = module.def_submodule("text", "Kernels on Arrow string columns.");

    py::class_<ExportedArray>(text_module, "ExportedArray")
        .def(
            "__arrow_c_array__",
            [](ExportedArray& array, const py::object&) { return array.capsules(); },
            py::arg("requested_schema") = py::none());

    py::class_<text::SubstitutionTable>(text_module, "SubstitutionTable")
        .def(py::init([](const py::object& keys, const py::object& values,
                         const Array<std::int8_t>& rules, bool by_words, bool ignore_case) {
                 const BorrowedStrings borrowed_keys(keys);
                 const BorrowedStrings borrowed_values(values);
                 return text::SubstitutionTable(borrowed_keys.column(), borrowed_values.column(),
                                                vector_of(rules), {by_words, ignore_case});
             }),
             py::arg("keys"), py::arg("values"), py::arg("rules"), py::kw_only(),
             py::arg("by_words") = true, py::arg("ignore_case") = false)
        .def("__len__", &text::SubstitutionTable::size)
        .def("replace_words", &replace<text::replace_words>, py::arg("strings"), py::kw_only(),
             py::arg("with_edits") = false, py::arg("normalise_edits") = true,
             py::arg("n_threads") = py::none(), py::arg("instruction_set") = py::none(),
             py::arg("offset_limit") = py::none())
        .def("replace_normalised", &replace<text::replace_normalised>, py::arg("strings"),
             py::kw_only(), py::arg("with_edits") = false, py::arg("normalise_edits") = true,
             py::arg("n_threads") = py::none(), py::arg("instruction_set") = py::none(),
             py::arg("offset_limit") = py::none());

    py::class_<text::TaggedTable>(text_module, "TaggedTable")
        .def(py::init(&make_tagged_table), py::arg("keys"), py::arg("values"), py::kw_only(),
             py::arg("pos"), py::arg("number"), py::arg("group"), py::arg("is_bound"),
             py::arg("rules"), py::arg("conditions"), py::arg("phrases"))
        .def("__len__", &text::TaggedTable::size)
        .def("replace_tagged", &replace_tagged, py::arg("columns"), py::arg("tokens"),
             py::kw_only(), py::arg("tags"), py::arg("with_edits") = false,
             py::arg("n_threads") = py::none());

    py::class_<text::Misspelling>(text_module, "Misspelling")
        .def(py::init(&make_misspelling), py::arg("letters"), py::arg("neighbours"), py::kw_only(),
             py::arg("known"), py::arg("listed"), py::arg("key"), py::arg("n_words"),
             py::arg("swaps"), py::arg("with_neighbours"), py::arg("only_listed"),
             py::arg("min_letters"), py::arg("between_blanks"))
        .def("misspell", &misspell, py::arg("strings"), py::kw_only(),
             py::arg("with_edits") = false, py::arg("n_threads") = py::none());

    text_module.def("insert_phrase", &insert_phrase, py::arg("strings"), py::kw_only(),
                    py::arg("phrase"), py::arg("before_first_mark"), py::arg("with_edits") = false,
                    py::arg("n_threads") = py::none());

    text_module.def("apply_edits", &apply_edits, py::arg("strings"), py::arg("row"),
                    py::arg("start"), py::arg("end"), py::arg("expected"), py::arg("pieces"));
    text_module.def("takes_an", &text::takes_an, py::arg("phrase"));
}

}  // namespace ietest::python

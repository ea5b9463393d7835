#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "arrow_capsule.hpp"
#include "execution.hpp"
#include "ietest/linear/ngrams.hpp"
#include "ietest/linear/softmax_regression.hpp"
#include "random_key.hpp"
#include "registers.hpp"

namespace py = pybind11;

namespace ietest::python {
namespace {

using Labels = Array<std::int8_t>;
using Columns = Array<std::int32_t>;
using Floats = Array<float>;

py::tuple hash_ngrams(const py::object& texts, int max_n, int bits, std::optional<int> n_threads) {
    const BorrowedStrings borrowed(texts);
    linear::HashedTexts hashed = without_gil(n_threads, [&](const Execution& execution) {
        return linear::hash_ngrams(borrowed.column(), max_n, bits, execution);
    });
    return py::make_tuple(array_of(std::move(hashed.offsets)), array_of(std::move(hashed.buckets)));
}

linear::FeatureRows rows_of(const Integers& offsets, const Columns& columns, const Columns& sizes,
                            std::int64_t n_columns) {
    return {vector_of(offsets), vector_of(columns), vector_of(sizes), n_columns};
}

// (weights, intercepts); weights are of shape (n_columns, padded classes)
py::tuple train_softmax(const Integers& offsets, const Columns& columns, const Columns& sizes,
                        std::int64_t n_columns, const Integers& chosen, const Labels& labels,
                        int n_classes, int epochs, double learning_rate, double l2,
                        const Words& key) {
    const linear::FeatureRows rows = rows_of(offsets, columns, sizes, n_columns);
    const linear::TrainingOptions options{n_classes, epochs, learning_rate, l2, to_key(key)};
    const auto which = vector_of(chosen);
    const auto gold = vector_of(labels);
    linear::Weights weights = without_gil(1, [&](const Execution& execution) {
        return linear::train_softmax(rows, which, gold, options, execution);
    });
    const py::ssize_t stride = linear::padded_classes(n_classes);
    return py::make_tuple(array_of(std::move(weights.values)).reshape({n_columns, stride}),
                          array_of(std::move(weights.intercepts)));
}

py::array_t<float> score_rows(const Integers& offsets, const Columns& columns, const Columns& sizes,
                              const Integers& chosen, const Floats& weights,
                              const Floats& intercepts, std::optional<int> n_threads) {
    if (weights.ndim() != 2) throw py::value_error("weights must have two dimensions");
    const linear::FeatureRows rows = rows_of(offsets, columns, sizes, weights.shape(0));
    const auto n_classes = static_cast<int>(intercepts.size());
    const std::span<const float> values = entries_of(weights);
    const auto which = vector_of(chosen);
    const auto offset = vector_of(intercepts);
    Floats scores({chosen.size(), intercepts.size()});
    const std::span<float> out = places_of(scores);
    without_gil(n_threads, [&](const Execution& execution) {
        linear::score_rows(rows, which, n_classes, values, offset, execution, out);
    });
    return scores;
}

}  // namespace

void register_linear(py::module_& module) {
    auto linear = module.def_submodule("linear");
    linear.def("hash_ngrams", &hash_ngrams, py::arg("texts"), py::kw_only(), py::arg("max_n"),
               py::arg("bits"), py::arg("n_threads") = py::none());
    linear.def("train_softmax", &train_softmax, py::arg("offsets"), py::arg("columns"),
               py::arg("sizes"), py::kw_only(), py::arg("n_columns"), py::arg("chosen"),
               py::arg("labels"), py::arg("n_classes"), py::arg("epochs"), py::arg("learning_rate"),
               py::arg("l2"), py::arg("key"));
    linear.def("score_rows", &score_rows, py::arg("offsets"), py::arg("columns"), py::arg("sizes"),
               py::kw_only(), py::arg("chosen"), py::arg("weights"), py::arg("intercepts"),
               py::arg("n_threads") = py::none());
}

}  // namespace ietest::python

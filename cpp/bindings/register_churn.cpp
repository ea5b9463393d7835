#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "arrays.hpp"
#include "execution.hpp"
#include "ietest/stats/churn.hpp"
#include "random_key.hpp"
#include "registers.hpp"

namespace py = pybind11;

namespace ietest::python {
namespace {

std::span<const std::int64_t> to_span(const Integers& values, const char* name) {
    if (values.ndim() != 1) throw py::value_error(std::string(name) + " must be a vector");
    return {values.data(), static_cast<std::size_t>(values.size())};
}

}  // namespace

void register_churn(py::module_& module) {
    auto churn = module.def_submodule("churn", "Excess churn of retrained classifiers.");
    churn.attr("MAX_LISTED_CLASSIFIERS") = stats::kMaxListedClassifiers;
    churn.def(
        "list_values",
        [](const Integers& products, std::int64_t size) {
            const auto values = stats::list_churn(to_span(products, "products"), size);
            return Integers(static_cast<py::ssize_t>(values.size()), values.data());
        },
        py::arg("products"), py::arg("size"));
    churn.def(
        "count_at_least",
        [](const Integers& sizes, const Integers& counts, const Integers& products,
           std::int64_t observed, std::int64_t n_replicates, const Words& key_words,
           std::optional<Integers> sums, std::optional<int> n_threads) {
            const stats::ChurnTypes types{to_span(sizes, "sizes"), to_span(counts, "counts"),
                                          to_span(products, "products")};
            std::span<std::int64_t> out;
            if (sums.has_value()) {
                if (sums->ndim() != 1) throw py::value_error("sums must be a vector");
                out = {sums->mutable_data(), static_cast<std::size_t>(sums->size())};
            }
            const random::Key key = to_key(key_words);
            return without_gil(n_threads, [&](const Execution& execution) {
                return stats::churn_at_least(types, observed, n_replicates, key, execution, out);
            });
        },
        py::arg("sizes"), py::arg("counts"), py::arg("products"), py::kw_only(),
        py::arg("observed"), py::arg("n_replicates"), py::arg("key"),
        py::arg("sums").noconvert() = py::none(), py::arg("n_threads") = py::none());
}

}  // namespace ietest::python

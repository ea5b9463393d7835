#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "arrays.hpp"
#include "execution.hpp"
#include "ietest/stats/churn.hpp"
#include "random_key.hpp"
#include "registers.hpp"

namespace py = pybind11;

namespace ietest::python {

void register_churn(py::module_& module) {
    auto churn = module.def_submodule("churn", "Excess churn of retrained classifiers.");
    churn.attr("MAX_LISTED_CLASSIFIERS") = stats::kMaxListedClassifiers;
    churn.def(
        "list_values",
        [](const Integers& products, std::int64_t size) {
            return array_of(
                stats::list_churn(vector_of(products, "products must be a vector"), size));
        },
        py::arg("products"), py::arg("size"));
    churn.def(
        "count_at_least",
        [](const Integers& sizes, const Integers& counts, const Integers& products,
           std::int64_t observed, std::int64_t n_replicates, const Words& key_words,
           std::optional<Integers> sums, std::optional<int> n_threads) {
            const stats::ChurnTypes types{vector_of(sizes, "sizes must be a vector"),
                                          vector_of(counts, "counts must be a vector"),
                                          vector_of(products, "products must be a vector")};
            const std::span<std::int64_t> out = places_of(sums, "sums must be a vector");
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

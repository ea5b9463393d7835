#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "execution.hpp"
#include "ietest/stats/studentised.hpp"
#include "instruction_set.hpp"
#include "random_key.hpp"
#include "registers.hpp"

namespace py = pybind11;

namespace ietest::python {
namespace {

std::span<const double> to_span(const Doubles& vector) {
    if (vector.ndim() != 1) throw py::value_error("values, sizes and t must be vectors");
    return {vector.data(), static_cast<std::size_t>(vector.size())};
}

stats::UnitSample to_sample(std::int64_t n_units, const Doubles& values,
                            const std::optional<Doubles>& sizes, double rest) {
    return {n_units, to_span(values),
            sizes.has_value() ? to_span(*sizes) : std::span<const double>{}, rest};
}

}  // namespace

void register_studentised(py::module_& module) {
    auto studentised = module.def_submodule("studentised", "The studentised bootstrap of scores.");
    studentised.def(
        "replicates",
        [](const Doubles& values, std::int64_t n_units, const std::optional<Doubles>& sizes,
           double rest, const Doubles& compared, std::int64_t n_replicates, const Words& key_words,
           StatisticsOut t_replicates, const std::optional<std::string>& instruction_set,
           std::optional<int> n_threads) {
            const stats::UnitSample sample = to_sample(n_units, values, sizes, rest);
            const std::span<const double> thresholds = to_span(compared);
            std::span<double> out;
            if (t_replicates.has_value()) {
                if (t_replicates->ndim() != 1) {
                    throw py::value_error("t_replicates must be a vector");
                }
                out = {t_replicates->mutable_data(),
                       static_cast<std::size_t>(t_replicates->size())};
                if (static_cast<std::int64_t>(out.size()) != n_replicates) {
                    throw py::value_error("t_replicates must have n_replicates places");
                }
            }
            const random::Key key = to_key(key_words);
            const InstructionSet chosen = to_instruction_set(instruction_set);
            const stats::StudentisedReplicates result =
                without_gil(n_threads, [&](const Execution& execution) {
                    return stats::studentised_replicates(sample, thresholds, n_replicates, key,
                                                         execution, out, chosen);
                });
            std::vector<std::pair<std::uint64_t, std::uint64_t>> tails;
            for (const stats::TailCounts& tail : result.tails) {
                tails.emplace_back(tail.at_most, tail.at_least);
            }
            return py::make_tuple(tails,
                                  py::make_tuple(result.n_finite, result.mean, result.deviation));
        },
        py::arg("values"), py::kw_only(), py::arg("n_units"), py::arg("sizes") = py::none(),
        py::arg("rest") = 0.0, py::arg("compared"), py::arg("n_replicates"), py::arg("key"),
        py::arg("t_replicates").noconvert() = py::none(), py::arg("instruction_set") = py::none(),
        py::arg("n_threads") = py::none());
    studentised.def(
        "order_statistics",
        [](const Doubles& values, std::int64_t n_units, const std::optional<Doubles>& sizes,
           double rest, const Integers& ranks, std::int64_t n_replicates, const Words& key_words,
           std::optional<int> n_threads) {
            const stats::UnitSample sample = to_sample(n_units, values, sizes, rest);
            if (ranks.ndim() != 1) throw py::value_error("ranks must be a vector");
            const std::span<const std::int64_t> wanted(ranks.data(),
                                                       static_cast<std::size_t>(ranks.size()));
            const random::Key key = to_key(key_words);
            const std::vector<double> found =
                without_gil(n_threads, [&](const Execution& execution) {
                    return stats::studentised_order_statistics(sample, wanted, n_replicates, key,
                                                               execution);
                });
            return Doubles(static_cast<py::ssize_t>(found.size()), found.data());
        },
        py::arg("values"), py::kw_only(), py::arg("n_units"), py::arg("sizes") = py::none(),
        py::arg("rest") = 0.0, py::arg("ranks"), py::arg("n_replicates"), py::arg("key"),
        py::arg("n_threads") = py::none());
}

}  // namespace ietest::python

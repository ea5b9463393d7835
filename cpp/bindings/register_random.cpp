#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <span>

#include "execution.hpp"
#include "ietest/random/arrays.hpp"
#include "random_key.hpp"
#include "registers.hpp"

namespace py = pybind11;

namespace ietest::python {
namespace {

void check_size(std::int64_t size) {
    if (size < 0) throw py::value_error("size must not be negative");
}

template <typename Value>
using DrawStream = void (*)(random::Key, random::Block, const Execution&, std::span<Value>);

template <typename Value>
py::array_t<Value> draw_stream(DrawStream<Value> draw, const Words& key_words,
                               const Words& counter_words, std::int64_t size,
                               std::optional<int> n_threads) {
    check_size(size);
    const random::Key key = to_key(key_words);
    const auto counter = fixed_words<random::Block>(counter_words, "counter");
    Array<Value> values(size);
    const std::span<Value> out = places_of(values);
    without_gil(n_threads, [&](const Execution& execution) { draw(key, counter, execution, out); });
    return values;
}

py::array_t<std::uint64_t> philox_words(const Words& key, const Words& counter, std::int64_t size,
                                        std::optional<int> n_threads) {
    return draw_stream(&random::draw_words, key, counter, size, n_threads);
}

py::array_t<double> uniforms(const Words& key, const Words& counter, std::int64_t size,
                             std::optional<int> n_threads) {
    return draw_stream(&random::draw_uniforms, key, counter, size, n_threads);
}

py::array_t<std::int64_t> multinomials(const Words& key_words, std::uint64_t stream, std::int64_t n,
                                       const Numbers& probabilities, std::int64_t size,
                                       std::optional<int> n_threads) {
    check_size(size);
    if (probabilities.ndim() != 1 || probabilities.size() < 1) {
        throw py::value_error("probabilities must be a vector with at least one entry");
    }
    const random::Key key = to_key(key_words);
    const std::span<const double> law(probabilities.data(),
                                      static_cast<std::size_t>(probabilities.size()));
    Integers draws({size, static_cast<std::int64_t>(law.size())});
    const std::span<std::int64_t> out = places_of(draws);
    without_gil(n_threads, [&](const Execution& execution) {
        random::draw_multinomials(key, stream, n, law, execution, out);
    });
    return draws;
}

}  // namespace

void register_random(py::module_& module) {
    auto random = module.def_submodule("random", "Addressed Philox 4x64-10 and laws on it.");
    random.def("philox_words", &philox_words, py::arg("key"), py::arg("counter"), py::arg("size"),
               py::kw_only(), py::arg("n_threads") = py::none());
    random.def("uniforms", &uniforms, py::arg("key"), py::arg("counter"), py::arg("size"),
               py::kw_only(), py::arg("n_threads") = py::none());
    random.def("multinomials", &multinomials, py::arg("key"), py::arg("stream"), py::arg("n"),
               py::arg("probabilities"), py::arg("size"), py::kw_only(),
               py::arg("n_threads") = py::none());
}

}  // namespace ietest::python

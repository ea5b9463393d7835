#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "execution.hpp"
#include "ietest/random/discrete.hpp"
#include "ietest/random/philox.hpp"
#include "random_key.hpp"
#include "registers.hpp"

namespace py = pybind11;

namespace ietest::python {
namespace {

constexpr std::int64_t kWordsChunk = 1 << 16;
constexpr std::int64_t kDrawsChunk = 1 << 12;

void check_size(std::int64_t size) {
    if (size < 0) throw py::value_error("size must not be negative");
}

py::array_t<std::uint64_t> philox_words(const Words& key_words, const Words& counter_words,
                                        std::int64_t size, std::optional<int> n_threads) {
    check_size(size);
    const random::Key key = to_key(key_words);
    const auto counter = fixed_words<random::Block>(counter_words, "counter");
    py::array_t<std::uint64_t> words(size);
    std::uint64_t* const out = words.mutable_data();
    without_gil(n_threads, [&](const Execution& execution) {
        parallel_chunks(size, kWordsChunk, execution, [&](Range range) {
            random::fill_words(key, counter, static_cast<std::uint64_t>(range.begin),
                               out + range.begin,
                               static_cast<std::uint64_t>(range.end - range.begin));
        });
    });
    return words;
}

py::array_t<double> uniforms(const Words& key_words, const Words& counter_words, std::int64_t size,
                             std::optional<int> n_threads) {
    const auto words = philox_words(key_words, counter_words, size, n_threads);
    py::array_t<double> values(size);
    const std::uint64_t* const in = words.data();
    double* const out = values.mutable_data();
    for (std::int64_t i = 0; i < size; ++i) out[i] = random::unit_double(in[i]);
    return values;
}

py::array_t<std::int64_t> binomials(const Words& key_words, std::uint64_t stream, std::int64_t n,
                                    double p, std::int64_t size, std::optional<int> n_threads) {
    check_size(size);
    const random::Key key = to_key(key_words);
    const random::BinomialSampler sample(n, p);
    py::array_t<std::int64_t> draws(size);
    std::int64_t* const out = draws.mutable_data();
    without_gil(n_threads, [&](const Execution& execution) {
        parallel_chunks(size, kDrawsChunk, execution, [&](Range range) {
            for (std::int64_t r = range.begin; r < range.end; ++r) {
                random::WordStream words(key, static_cast<std::uint64_t>(r), stream);
                out[r] = sample(words);
            }
        });
    });
    return draws;
}

py::array_t<std::int64_t> multinomials(const Words& key_words, std::uint64_t stream, std::int64_t n,
                                       const Numbers& probabilities, std::int64_t size,
                                       std::optional<int> n_threads) {
    check_size(size);
    if (probabilities.ndim() != 1 || probabilities.size() < 1) {
        throw py::value_error("probabilities must be a vector with at least one entry");
    }
    const random::Key key = to_key(key_words);
    const auto n_categories = static_cast<std::size_t>(probabilities.size());
    const std::span<const double> law(probabilities.data(), n_categories);
    py::array_t<std::int64_t> draws({size, static_cast<std::int64_t>(n_categories)});
    std::int64_t* const out = draws.mutable_data();
    without_gil(n_threads, [&](const Execution& execution) {
        parallel_chunks(size, kDrawsChunk, execution, [&](Range range) {
            for (std::int64_t r = range.begin; r < range.end; ++r) {
                random::WordStream words(key, static_cast<std::uint64_t>(r), stream);
                random::draw_multinomial(
                    n, law, words,
                    {out + static_cast<std::size_t>(r) * n_categories, n_categories});
            }
        });
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
    random.def("binomials", &binomials, py::arg("key"), py::arg("stream"), py::arg("n"),
               py::arg("p"), py::arg("size"), py::kw_only(), py::arg("n_threads") = py::none());
    random.def("multinomials", &multinomials, py::arg("key"), py::arg("stream"), py::arg("n"),
               py::arg("probabilities"), py::arg("size"), py::kw_only(),
               py::arg("n_threads") = py::none());
    random.def("log_binomial_pmf", &ietest::random::log_binomial_pmf, py::arg("x"), py::arg("n"),
               py::arg("p"), py::arg("q"));
}

}  // namespace ietest::python

// Keys and counters come from Python as arrays of uint64.
#pragma once

#include <algorithm>
#include <string>

#include "arrays.hpp"
#include "ietest/random/philox.hpp"

namespace ietest::python {

template <typename Array>
Array fixed_words(const Words& words, const char* what) {
    Array fixed{};
    if (words.ndim() != 1 || static_cast<std::size_t>(words.size()) != fixed.size()) {
        throw pybind11::value_error(std::string(what) + " must be a vector of " +
                                    std::to_string(fixed.size()) + " uint64");
    }
    std::copy_n(words.data(), fixed.size(), fixed.begin());
    return fixed;
}

inline random::Key to_key(const Words& key) {
    return fixed_words<random::Key>(key, "key");
}

}  // namespace ietest::python

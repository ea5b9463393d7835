// The arrays that come from Python and go there. One that has another layout or another type is
// refused, but for `Numbers`, which are converted.
#pragma once

#include <pybind11/numpy.h>

#include <cstdint>
#include <optional>

namespace ietest::python {

template <typename Value>
using Array = pybind11::array_t<Value, pybind11::array::c_style>;

using Flags = Array<bool>;
using Bytes = Array<std::uint8_t>;
using Integers = Array<std::int64_t>;
using Words = Array<std::uint64_t>;
using Doubles = Array<double>;
using Numbers = pybind11::array_t<double, pybind11::array::c_style | pybind11::array::forcecast>;

// Room for each replicate's statistic, where the caller wants them all.
using StatisticsOut = std::optional<Doubles>;

}  // namespace ietest::python

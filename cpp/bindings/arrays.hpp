// The arrays that come from Python and go there. One that has another layout or another type is
// refused, but for `Numbers`, which are converted.
#pragma once

#include <pybind11/numpy.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

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

// All entries of an array, row after row.
template <typename Value>
std::span<const Value> entries_of(const Array<Value>& array) {
    return {array.data(), static_cast<std::size_t>(array.size())};
}

// The same, to be written.
template <typename Value>
std::span<Value> places_of(Array<Value>& array) {
    return {array.mutable_data(), static_cast<std::size_t>(array.size())};
}

// The entries of a vector; an array of another shape is refused with these words.
template <typename Value>
std::span<const Value> vector_of(const Array<Value>& array,
                                 const char* refusal = "a one-dimensional array is needed") {
    if (array.ndim() != 1) throw pybind11::value_error(refusal);
    return entries_of(array);
}

// The places of a vector that the caller need not give.
template <typename Value>
std::span<Value> places_of(std::optional<Array<Value>>& array, const char* refusal) {
    if (!array.has_value()) return {};
    (void)vector_of(*array, refusal);
    return places_of(*array);
}

// An array that takes over what holds its entries: a vector or a buffer.
template <typename Value, typename Owner>
pybind11::array_t<Value> array_on(Owner&& entries) {
    auto owner = std::make_unique<Owner>(std::move(entries));
    const auto size = static_cast<pybind11::ssize_t>(owner->size());
    auto* data = reinterpret_cast<Value*>(owner->data());
    const pybind11::capsule base(owner.release(),
                                 [](void* kept) { delete static_cast<Owner*>(kept); });
    return pybind11::array_t<Value>(size, data, base);
}

template <typename Value>
pybind11::array_t<Value> array_of(std::vector<Value>&& entries) {
    return array_on<Value>(std::move(entries));
}

}  // namespace ietest::python

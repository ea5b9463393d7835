// Arrow data across the Python boundary: the PyCapsule protocol (__arrow_c_array__), both ways.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <utility>

#include "ietest/text/arrow_interface.hpp"

namespace ietest::python {

// A string array lent by a Python object. Holds the object's capsules, and so its buffers, for as
// long as it lives; make and destroy it with the GIL held.
class BorrowedStrings {
  public:
    explicit BorrowedStrings(const pybind11::handle& source) {
        if (!pybind11::hasattr(source, "__arrow_c_array__")) {
            throw pybind11::type_error(
                "an Arrow string array (an object with __arrow_c_array__) is needed");
        }
        const pybind11::tuple capsules = source.attr("__arrow_c_array__")();
        if (capsules.size() != 2)
            throw pybind11::type_error("__arrow_c_array__ gives two capsules");
        schema_ = capsules[0];
        array_ = capsules[1];
        const auto* schema =
            static_cast<const ArrowSchema*>(PyCapsule_GetPointer(schema_.ptr(), "arrow_schema"));
        if (schema == nullptr) throw pybind11::error_already_set();
        const auto* array =
            static_cast<const ArrowArray*>(PyCapsule_GetPointer(array_.ptr(), "arrow_array"));
        if (array == nullptr) throw pybind11::error_already_set();
        column_ = text::view_of(*schema, *array);
    }
    const text::StringColumn& column() const { return column_; }

  private:
    pybind11::object schema_;
    pybind11::object array_;
    text::StringColumn column_;
};

// An array on its way out. pyarrow.array(...) and the like take its content over; what nobody
// takes is released with it.
class ExportedArray {
  public:
    ExportedArray()
        : schema_(std::make_unique<ArrowSchema>()), array_(std::make_unique<ArrowArray>()) {}
    ExportedArray(ExportedArray&&) = default;
    ExportedArray& operator=(ExportedArray&&) = default;
    ~ExportedArray() {
        if (schema_ != nullptr && schema_->release != nullptr) schema_->release(schema_.get());
        if (array_ != nullptr && array_->release != nullptr) array_->release(array_.get());
    }

    static ExportedArray of(text::OwnedStrings&& strings) {
        ExportedArray exported;
        text::export_strings(std::move(strings), exported.schema_.get(), exported.array_.get());
        return exported;
    }
    static ExportedArray of(text::EditList&& edits) {
        ExportedArray exported;
        text::export_edits(std::move(edits), exported.schema_.get(), exported.array_.get());
        return exported;
    }

    // Moves the content into two capsules; a second time there is nothing left.
    pybind11::tuple capsules() {
        if (schema_ == nullptr || schema_->release == nullptr) {
            throw pybind11::value_error("this array has been taken over already");
        }
        pybind11::capsule schema(schema_.get(), "arrow_schema", &release_schema);
        (void)schema_.release();
        pybind11::capsule array(array_.get(), "arrow_array", &release_array);
        (void)array_.release();
        return pybind11::make_tuple(std::move(schema), std::move(array));
    }

  private:
    static void release_schema(PyObject* capsule) {
        auto* schema = static_cast<ArrowSchema*>(PyCapsule_GetPointer(capsule, "arrow_schema"));
        if (schema->release != nullptr) schema->release(schema);
        delete schema;
    }
    static void release_array(PyObject* capsule) {
        auto* array = static_cast<ArrowArray*>(PyCapsule_GetPointer(capsule, "arrow_array"));
        if (array->release != nullptr) array->release(array);
        delete array;
    }

    std::unique_ptr<ArrowSchema> schema_;
    std::unique_ptr<ArrowArray> array_;
};

}  // namespace ietest::python

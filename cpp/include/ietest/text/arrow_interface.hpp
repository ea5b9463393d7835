// The Arrow C data interface: how string columns come in and go out without a copy.
//
// ArrowSchema and ArrowArray are the structures that the Arrow specification fixes (their layout
// is the interface), so that no Arrow library is needed here.
#pragma once

#include <cstdint>

#include "ietest/text/edits.hpp"
#include "ietest/text/string_column.hpp"

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

extern "C" {

struct ArrowSchema {
    const char* format;
    const char* name;
    const char* metadata;
    std::int64_t flags;
    std::int64_t n_children;
    struct ArrowSchema** children;
    struct ArrowSchema* dictionary;
    void (*release)(struct ArrowSchema*);
    void* private_data;
};

struct ArrowArray {
    std::int64_t length;
    std::int64_t null_count;
    std::int64_t offset;
    std::int64_t n_buffers;
    std::int64_t n_children;
    const void** buffers;
    struct ArrowArray** children;
    struct ArrowArray* dictionary;
    void (*release)(struct ArrowArray*);
    void* private_data;
};
}

#endif  // ARROW_C_DATA_INTERFACE

namespace ietest::text {

// The view of an imported array; the array must outlive it. Throws std::invalid_argument for
// anything that is not utf8 or large_utf8, MalformedColumn for offsets that cannot be.
StringColumn view_of(const ArrowSchema& schema, const ArrowArray& array);

// Move a column (or a table of edits) out. The caller owns what the two structures then hold and
// gives it back through their release callbacks, in any order.
void export_strings(OwnedStrings&& strings, ArrowSchema* schema, ArrowArray* array);

// A struct array: row int64, start int64, end int64, old large_utf8, new large_utf8, rule int8.
void export_edits(EditList&& edits, ArrowSchema* schema, ArrowArray* array);

}  // namespace ietest::text

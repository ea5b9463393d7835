// Columns of strings for tests.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "ietest/text/string_column.hpp"

namespace ietest::text {

// A string array whose buffers are exactly as long as they must be, so that a sanitizer sees every
// byte read beyond them.
struct Strings {
    std::vector<std::int32_t> offsets{0};
    std::vector<char> data;

    Strings(std::initializer_list<std::string> rows) : Strings(std::vector<std::string>(rows)) {}
    explicit Strings(const std::vector<std::string>& rows) {
        for (const std::string& row : rows) {
            data.insert(data.end(), row.begin(), row.end());
            offsets.push_back(static_cast<std::int32_t>(data.size()));
        }
        offsets.shrink_to_fit();
        data.shrink_to_fit();
    }
    StringColumn view() const {
        StringColumn column;
        column.length = static_cast<std::int64_t>(offsets.size()) - 1;
        column.offsets = offsets.data();
        column.data = data.data();
        return column;
    }
};

inline std::vector<std::string> rows_of(const StringColumn& column) {
    std::vector<std::string> rows;
    for (std::int64_t i = 0; i < column.length; ++i) {
        rows.push_back(column.is_valid(i) ? std::string(column[i]) : "<null>");
    }
    return rows;
}

}  // namespace ietest::text

// Columns of UTF-8 strings in Arrow's layout: a view over someone else's buffers, and a column
// that owns its own. Nothing in here copies a row.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string_view>

namespace ietest::text {

// Non-owning view over the buffers of an Arrow utf8 or large_utf8 array, slices included.
struct StringColumn {
    std::int64_t length = 0;
    std::int64_t offset = 0;                 // first row of the slice, in rows
    const std::uint8_t* validity = nullptr;  // bitmap, or null: no row is missing
    const void* offsets = nullptr;           // int32 or int64, may be null when length is 0
    const char* data = nullptr;
    bool is_large = false;

    // Where row i begins in data; i == length gives the end of the last row.
    std::int64_t begin_of(std::int64_t i) const {
        if (offsets == nullptr) return 0;
        return is_large ? static_cast<const std::int64_t*>(offsets)[offset + i]
                        : static_cast<const std::int32_t*>(offsets)[offset + i];
    }
    std::string_view operator[](std::int64_t i) const {
        const std::int64_t begin = begin_of(i);
        return {data + begin, static_cast<std::size_t>(begin_of(i + 1) - begin)};
    }
    bool is_valid(std::int64_t i) const {
        const std::int64_t bit = offset + i;
        return validity == nullptr || ((validity[bit >> 3] >> (bit & 7)) & 1) != 0;
    }
    std::int64_t n_bytes() const { return length == 0 ? 0 : begin_of(length) - begin_of(0); }
};

// A fixed number of bytes that nobody clears first: every kernel writes all of them.
class Buffer {
  public:
    Buffer() = default;
    explicit Buffer(std::int64_t n_bytes);

    char* data() { return bytes_.get(); }
    const char* data() const { return bytes_.get(); }
    template <typename T>
    T* as() {
        return reinterpret_cast<T*>(bytes_.get());
    }
    template <typename T>
    const T* as() const {
        return reinterpret_cast<const T*>(bytes_.get());
    }
    std::int64_t size() const { return size_; }
    explicit operator bool() const { return bytes_ != nullptr; }

  private:
    struct Free {
        void operator()(char* bytes) const;
    };
    std::unique_ptr<char[], Free> bytes_;
    std::int64_t size_ = 0;
};

// A column that owns its buffers. Offsets are 32-bit as long as the text fits, and only then.
class OwnedStrings {
  public:
    OwnedStrings() = default;
    // Room for `length` rows of n_bytes in all; copies validity from `like` (rows of the same
    // number). The result is large when `like` is, or when n_bytes is beyond `limit`.
    OwnedStrings(const StringColumn& like, std::int64_t n_bytes,
                 std::int64_t limit = std::numeric_limits<std::int32_t>::max());

    std::int64_t length() const { return length_; }
    std::int64_t null_count() const { return null_count_; }
    bool is_large() const { return is_large_; }
    char* data() { return data_.data(); }
    // Rows must be set for 0..length inclusive.
    void set_offset(std::int64_t i, std::int64_t value) {
        if (is_large_) {
            offsets_.as<std::int64_t>()[i] = value;
        } else {
            offsets_.as<std::int32_t>()[i] = static_cast<std::int32_t>(value);
        }
    }
    StringColumn view() const;

    // For the export to Arrow: bitmap (empty when no row is missing), offsets, data.
    const Buffer& validity_buffer() const { return validity_; }
    const Buffer& offsets_buffer() const { return offsets_; }
    const Buffer& data_buffer() const { return data_; }

  private:
    std::int64_t length_ = 0;
    std::int64_t null_count_ = 0;
    bool is_large_ = false;
    Buffer validity_;
    Buffer offsets_;
    Buffer data_;
};

// The packed bits of `column`'s validity, starting at bit 0, with the number of missing rows.
struct Validity {
    Buffer bits;  // empty when nothing is missing
    std::int64_t null_count = 0;
};
Validity copy_validity(const StringColumn& column);

// Raised when a column cannot be what Arrow says it is (decreasing offsets).
class MalformedColumn : public std::invalid_argument {
  public:
    using std::invalid_argument::invalid_argument;
};

// Throws MalformedColumn unless the offsets begin at 0 or later and never decrease.
void check_offsets(const StringColumn& column);

}  // namespace ietest::text

// Writing a column's new text from short pieces.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

namespace ietest::text {

// Copies short pieces in steps of some bytes, overrunning both ends where there is room for it.
class Writer {
  public:
    // out_end: behind the last byte that may be written; source_end: behind the last byte of the
    // column's text.
    Writer(char* out, char* out_end, const char* source_end)
        : out_(out), out_end_(out_end), source_end_(source_end) {}

    void put_source(const char* from, std::size_t size) {
        constexpr std::size_t kStep = 64;
        if (source_end_ - from >= static_cast<std::ptrdiff_t>(size + kStep)) {
            put<kStep>(from, size);
        } else {
            put_exactly(from, size);
        }
    }
    // What has `slack` readable bytes behind it.
    template <std::size_t slack>
    void put_padded(std::string_view piece) {
        put<slack>(piece.data(), piece.size());
    }

    const char* out() const { return out_; }

  private:
    template <std::size_t step>
    void put(const char* from, std::size_t size) {
        if (out_end_ - out_ < static_cast<std::ptrdiff_t>(size + step)) {
            put_exactly(from, size);
            return;
        }
        std::memcpy(out_, from, step);  // nearly always enough
        for (std::size_t at = step; at < size; at += step) {
            std::memcpy(out_ + at, from + at, step);
        }
        out_ += size;
    }
    void put_exactly(const char* from, std::size_t size) {
        if (size > 0) std::memcpy(out_, from, size);
        out_ += size;
    }

    char* out_;
    char* out_end_;
    const char* source_end_;
};

}  // namespace ietest::text

#include "ietest/text/string_column.hpp"

#include <cstdlib>
#include <new>
#include <string>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace ietest::text {

Buffer::Buffer(std::int64_t n_bytes) : size_(n_bytes) {
    const auto size = static_cast<std::size_t>(n_bytes > 0 ? n_bytes : 1);
    void* bytes = nullptr;
#if defined(__linux__)
    // Fresh memory costs a fault a page; with huge pages there are 512 times fewer.
    constexpr std::size_t kHugePage = std::size_t{1} << 21;
    if (size >= 4 * kHugePage) {
        bytes = std::aligned_alloc(kHugePage, (size + kHugePage - 1) & ~(kHugePage - 1));
        if (bytes != nullptr) (void)madvise(bytes, size, MADV_HUGEPAGE);
    }
#endif
    if (bytes == nullptr) bytes = std::malloc(size);
    if (bytes == nullptr) throw std::bad_alloc();
    bytes_.reset(static_cast<char*>(bytes));
}

void Buffer::Free::operator()(char* bytes) const {
    std::free(bytes);
}

Validity copy_validity(const StringColumn& column) {
    Validity result;
    if (column.validity == nullptr || column.length == 0) return result;
    const std::int64_t n_bytes = (column.length + 7) / 8;
    Buffer bits(n_bytes);
    auto* out = bits.as<std::uint8_t>();
    std::memset(out, 0, static_cast<std::size_t>(n_bytes));
    std::int64_t n_valid = 0;
    for (std::int64_t i = 0; i < column.length; ++i) {
        if (!column.is_valid(i)) continue;
        out[i >> 3] = static_cast<std::uint8_t>(out[i >> 3] | (1U << (i & 7)));
        ++n_valid;
    }
    result.null_count = column.length - n_valid;
    if (result.null_count > 0) result.bits = std::move(bits);
    return result;
}

OwnedStrings::OwnedStrings(const StringColumn& like, std::int64_t n_bytes, std::int64_t limit)
    : length_(like.length), is_large_(like.is_large || n_bytes > limit) {
    Validity validity = copy_validity(like);
    validity_ = std::move(validity.bits);
    null_count_ = validity.null_count;
    const std::int64_t width = is_large_ ? 8 : 4;
    offsets_ = Buffer((length_ + 1) * width);
    data_ = Buffer(n_bytes);
    set_offset(0, 0);
}

StringColumn OwnedStrings::view() const {
    StringColumn view;
    view.length = length_;
    view.validity = validity_ ? validity_.as<std::uint8_t>() : nullptr;
    view.offsets = offsets_.data();
    view.data = data_.data();
    view.is_large = is_large_;
    return view;
}

void check_offsets(const StringColumn& column) {
    if (column.length < 0 || column.offset < 0) throw MalformedColumn("negative length or offset");
    if (column.length == 0) return;
    if (column.offsets == nullptr) throw MalformedColumn("a string column without offsets");
    std::int64_t last = column.begin_of(0);
    bool ordered = last >= 0;
    for (std::int64_t i = 1; i <= column.length; ++i) {
        const std::int64_t next = column.begin_of(i);
        ordered &= next >= last;
        last = next;
    }
    if (!ordered) throw MalformedColumn("the offsets of a string column decrease");
    if (last > column.begin_of(0) && column.data == nullptr) {
        throw MalformedColumn("a string column without data");
    }
}

}  // namespace ietest::text

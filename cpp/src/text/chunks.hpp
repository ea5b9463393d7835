// How the kernels of text/ cut columns into chunks and put the results together again.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "ietest/parallel.hpp"
#include "ietest/text/edits.hpp"
#include "ietest/text/string_column.hpp"
#include "ietest/text/substitution.hpp"

namespace ietest::text {

// Rows that make a chunk of about 32 KiB of text: with its scratch it stays in the second-level
// cache.
inline std::int64_t rows_per_chunk(const StringColumn& column) {
    constexpr std::int64_t kChunkBytes = 32768;
    if (column.length == 0) return 1;
    const std::int64_t mean = std::max<std::int64_t>(1, column.n_bytes() / column.length);
    return std::clamp<std::int64_t>(kChunkBytes / mean, 1, 8192);
}

// Lends scratch objects to chunks, so that there are no more of them than threads.
template <typename T>
class Pool {
  public:
    class Loan {
      public:
        Loan(Pool& pool, std::unique_ptr<T> object) : pool_(pool), object_(std::move(object)) {}
        Loan(const Loan&) = delete;
        Loan& operator=(const Loan&) = delete;
        ~Loan() {
            const std::lock_guard lock(pool_.mutex_);
            pool_.idle_.push_back(std::move(object_));
        }
        T* operator->() const { return object_.get(); }

      private:
        Pool& pool_;
        std::unique_ptr<T> object_;
    };

    template <typename Make>
    Loan take(Make&& make) {
        {
            const std::lock_guard lock(mutex_);
            if (!idle_.empty()) {
                std::unique_ptr<T> object = std::move(idle_.back());
                idle_.pop_back();
                return Loan(*this, std::move(object));
            }
        }
        return Loan(*this, make());
    }

  private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<T>> idle_;
};

inline EditList joined(std::vector<EditList>&& parts) {
    EditList all;
    for (EditList& part : parts) all.append(std::move(part));
    return all;
}

// A chunk's new texts, one behind the other, for kernels that do not know lengths beforehand.
struct ChunkTexts {
    std::vector<char> text;
    std::vector<std::int64_t> row_ends;  // in text
    std::vector<std::uint8_t> changed;
    EditList edits;
};

// Puts the chunks of a column behind each other. chunk_rows as they were made.
Substituted assemble(const StringColumn& column, std::int64_t chunk_rows,
                     std::vector<ChunkTexts>&& chunks, const SubstitutionOptions& options,
                     const Execution& execution);

}  // namespace ietest::text

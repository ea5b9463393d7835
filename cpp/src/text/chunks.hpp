// How the kernels of text/ cut columns into chunks and put the results together again.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "ietest/parallel.hpp"
#include "ietest/text/edits.hpp"
#include "ietest/text/string_column.hpp"
#include "ietest/text/substitution.hpp"
#include "writer.hpp"

namespace ietest::text {

// The rows of some columns, cut so that a chunk is about 32 KiB of text: with its scratch it stays
// in the second-level cache.
class Chunks {
  public:
    // Columns of one length, at least one.
    explicit Chunks(std::span<const StringColumn> columns);

    std::size_t size() const { return size_; }

    // Calls body(rows, number) for each chunk.
    template <typename Body>
    void for_each(const Execution& execution, Body&& body) const {
        parallel_chunks(n_rows_, chunk_rows_, execution, [&](Range rows) {
            body(rows, static_cast<std::size_t>(rows.begin / chunk_rows_));
        });
    }

  private:
    std::int64_t n_rows_;
    std::int64_t chunk_rows_;
    std::size_t size_;
};

// The text of a chunk, and where each row begins in it, then where the last ends.
struct ChunkText {
    std::string_view text;
    std::vector<std::uint32_t> row_begins;
};
ChunkText text_of(const StringColumn& column, Range rows);

// Where the new text of a chunk goes.
struct ChunkPlace {
    Range rows;
    std::size_t number;
    std::int64_t begin;  // in the data of the result
    Writer writer;
    Substituted& result;
    EditList* edits;  // null where none are wanted
};

// A column of chunks whose new texts have these sizes. write(place) writes one of them: its text,
// where its rows end, whether they changed, its edits. It gives how many rows changed.
Substituted write_chunks(const StringColumn& column, const Chunks& chunks,
                         std::span<const std::int64_t> sizes, const SubstitutionOptions& options,
                         const Execution& execution,
                         const std::function<std::int64_t(const ChunkPlace&)>& write);

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
        T& operator*() const { return *object_; }

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

// A chunk's new texts, one behind the other, for kernels that do not know lengths beforehand.
struct ChunkTexts {
    std::vector<char> text;
    std::vector<std::int64_t> row_ends;  // in text
    std::vector<std::uint8_t> changed;
    EditList edits;
};

// Puts the chunks of a column behind each other.
Substituted assemble(const StringColumn& column, const Chunks& chunks,
                     std::vector<ChunkTexts>&& texts, const SubstitutionOptions& options,
                     const Execution& execution);

}  // namespace ietest::text

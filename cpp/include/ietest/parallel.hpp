// The only threading interface of the core; OpenMP stands behind it, in src/parallel.cpp alone.
//
// Work is cut into chunks of consecutive items. A chunk may read anything and writes only what
// belongs to its own items, so a result never depends on how many threads there were.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>

namespace ietest {

// Thrown out of parallel_chunks when the caller's interrupt check said so (Ctrl-C).
class Interrupted : public std::runtime_error {
  public:
    Interrupted() : std::runtime_error("interrupted") {}
};

// How a kernel is to be run. Nothing in here changes a result.
struct Execution {
    // Threads to use; 0 means as many as the machine (or OMP_NUM_THREADS) offers. No more are
    // started than n_threads_for() allows.
    int n_threads = 0;
    // Asked between chunks, on the calling thread only; true stops the work.
    bool (*interrupted)() = nullptr;
};

// Half-open range of items.
struct Range {
    std::int64_t begin;
    std::int64_t end;
};

// Calls body once for each chunk of [0, n_items), chunks being chunk_size long but for the last.
// The first exception stops the giving-out of further chunks and is rethrown after the join.
void parallel_chunks(std::int64_t n_items, std::int64_t chunk_size, const Execution& execution,
                     const std::function<void(Range)>& body);

// Threads that parallel_chunks would use for a request (0: the default): at most four for each
// processor, or eight if these are more. One after a fork of a process whose thread pool was
// running: libgomp would wait for threads that the child has not.
int n_threads_for(int requested);

bool has_openmp();

}  // namespace ietest

#include "ietest/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>

#if defined(_OPENMP)
#include <omp.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace ietest {
namespace {

std::atomic<bool> pool_started{false};
std::atomic<bool> is_forked_child{false};

#if defined(_OPENMP)
// libgomp ends the process when the system refuses it a thread, and more threads than processors
// save no time. A few more are harmless: what they compute is the same.
int most_threads() {
    constexpr int kLeast = 8;
    constexpr int kPerProcessor = 4;
    return std::max(kLeast, kPerProcessor * omp_get_num_procs());
}
#endif

void after_fork_in_child() {
    if (pool_started.load()) is_forked_child.store(true);
}

// Registered with the first parallel region, not at load time: importing has no side effect.
void watch_forks() {
#if defined(__unix__) || defined(__APPLE__)
    static const int registered = pthread_atfork(nullptr, nullptr, after_fork_in_child);
    (void)registered;
#endif
}

// The OpenMP runtime orders what comes before its fork and after its join, but is not instrumented,
// so the thread sanitizer does not know. These two counters tell it in C++'s own terms.
std::atomic<std::uint64_t> n_forks{0};
std::atomic<std::uint64_t> n_threads_done{0};

class FirstError {
  public:
    bool raised() const { return raised_.load(std::memory_order_relaxed); }
    void keep(std::exception_ptr error) {
        if (!raised_.exchange(true)) error_ = std::move(error);
    }
    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

  private:
    std::atomic<bool> raised_{false};
    std::exception_ptr error_;
};

}  // namespace

bool has_openmp() {
#if defined(_OPENMP)
    return true;
#else
    return false;
#endif
}

int n_threads_for(int requested) {
    if (requested < 0) throw std::invalid_argument("n_threads must be 0 or more");
    if (is_forked_child.load()) return 1;
#if defined(_OPENMP)
    return std::min(requested > 0 ? requested : std::max(1, omp_get_max_threads()), most_threads());
#else
    return 1;
#endif
}

void parallel_chunks(std::int64_t n_items, std::int64_t chunk_size, const Execution& execution,
                     const std::function<void(Range)>& body) {
    if (chunk_size <= 0) throw std::invalid_argument("chunk_size must be positive");
    if (n_items <= 0) return;
    const std::int64_t n_chunks = (n_items - 1) / chunk_size + 1;
    const int n_threads =
        static_cast<int>(std::min<std::int64_t>(n_threads_for(execution.n_threads), n_chunks));
    // The calling thread may be given no chunk at all when they are short.
    if (execution.interrupted != nullptr && execution.interrupted()) throw Interrupted();
    FirstError error;

    const auto run_chunk = [&](std::int64_t chunk, bool on_calling_thread) {
        try {
            if (on_calling_thread && execution.interrupted != nullptr && execution.interrupted()) {
                throw Interrupted();
            }
            const std::int64_t begin = chunk * chunk_size;
            body({begin, std::min(n_items, begin + chunk_size)});
        } catch (...) {
            error.keep(std::current_exception());
        }
    };

    if (n_threads <= 1) {
        for (std::int64_t chunk = 0; chunk < n_chunks && !error.raised(); ++chunk) {
            run_chunk(chunk, true);
        }
    } else {
        watch_forks();
        pool_started.store(true);
#if defined(_OPENMP)
        // Not a loop of OpenMP's own: that has to walk all its chunks, and there may be 10^12.
        std::atomic<std::int64_t> next_chunk{0};
        n_forks.fetch_add(1, std::memory_order_release);
#pragma omp parallel num_threads(n_threads)
        {
            (void)n_forks.load(std::memory_order_acquire);
            const bool on_calling_thread = omp_get_thread_num() == 0;
            while (!error.raised()) {
                const std::int64_t chunk = next_chunk.fetch_add(1, std::memory_order_relaxed);
                if (chunk >= n_chunks) break;
                run_chunk(chunk, on_calling_thread);
            }
            n_threads_done.fetch_add(1, std::memory_order_release);
        }
        (void)n_threads_done.load(std::memory_order_acquire);
#endif
    }
    error.rethrow();
}

}  // namespace ietest

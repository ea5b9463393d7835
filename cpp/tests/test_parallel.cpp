#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "ietest/build_config.hpp"
#include "ietest/cpu.hpp"
#include "ietest/parallel.hpp"

namespace {

using ietest::Execution;
using ietest::Range;

TEST_CASE("every item is given out exactly once, whatever the threads and chunks") {
    for (const int n_threads : {1, 2, 3, 7}) {
        for (const std::int64_t chunk : {1, 3, 64, 1000}) {
            std::vector<int> visits(257, 0);
            std::atomic<bool> too_long{false};
            ietest::parallel_chunks(257, chunk, {n_threads, nullptr}, [&](Range range) {
                if (range.end - range.begin > chunk) too_long = true;
                for (std::int64_t i = range.begin; i < range.end; ++i) {
                    ++visits[static_cast<std::size_t>(i)];
                }
            });
            CHECK_FALSE(too_long);
            for (const int visit : visits) CHECK(visit == 1);
        }
    }
}

TEST_CASE("nothing is called for no items, and a chunk must have a size") {
    bool called = false;
    ietest::parallel_chunks(0, 5, {}, [&](Range) { called = true; });
    CHECK_FALSE(called);
    CHECK_THROWS_AS(ietest::parallel_chunks(5, 0, {}, [](Range) {}), std::invalid_argument);
    CHECK_THROWS_AS(ietest::n_threads_for(-1), std::invalid_argument);
}

TEST_CASE("an exception stops the work and reaches the caller") {
    for (const int n_threads : {1, 3}) {
        std::atomic<int> done{0};
        CHECK_THROWS_WITH_AS(ietest::parallel_chunks(10000, 1, {n_threads, nullptr},
                                                     [&](Range range) {
                                                         if (range.begin == 7) {
                                                             throw std::runtime_error("seven");
                                                         }
                                                         ++done;
                                                     }),
                             "seven", std::runtime_error);
        // Other threads may have been given any chunk by then; "work that nobody could finish" has
        // more chunks than they can do.
        if (n_threads == 1) CHECK(done == 7);
    }
}

TEST_CASE("no more threads are started than the machine has use for") {
    CHECK(ietest::n_threads_for(1) == 1);
    const int most = ietest::n_threads_for(std::numeric_limits<int>::max());
    if (ietest::has_openmp()) {
        const int n_processors = static_cast<int>(std::thread::hardware_concurrency());
        CHECK(most >= 7);  // what the other tests compare with one thread
        CHECK(most <= std::max(8, 4 * n_processors));
    }
    CHECK(ietest::n_threads_for(0) <= most);
}

TEST_CASE("the interrupt check ends the work") {
    const Execution execution{2, [] { return true; }};
    CHECK_THROWS_AS(ietest::parallel_chunks(100, 1, execution, [](Range) {}), ietest::Interrupted);
}

TEST_CASE("work that nobody could finish can be ended") {
    // 2^62 chunks: walking over those that are left would take a century.
    constexpr std::int64_t kEndless = std::int64_t{1} << 62;
    for (const int n_threads : {1, 3}) {
        static std::atomic<int> n_asked;
        n_asked = 0;
        const Execution interrupted{n_threads, [] { return ++n_asked > 5; }};
        CHECK_THROWS_AS(ietest::parallel_chunks(kEndless, 1, interrupted, [](Range) {}),
                        ietest::Interrupted);
        const auto fail = [](Range range) {
            if (range.begin == 7) throw std::runtime_error("seven");
        };
        CHECK_THROWS_AS(ietest::parallel_chunks(kEndless, 1, {n_threads, nullptr}, fail),
                        std::runtime_error);
    }
}

TEST_CASE("the build knows itself") {
    const ietest::BuildConfig config = ietest::build_config();
    CHECK(config.version == IETEST_VERSION);
    CHECK_FALSE(config.compiler.empty());
    CHECK(config.instruction_set == ietest::name_of(ietest::chosen_instruction_set()));
}

}  // namespace

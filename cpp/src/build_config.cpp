#include "ietest/build_config.hpp"

#include "ietest/cpu.hpp"
#include "ietest/parallel.hpp"
#include "ietest/text/word_boundaries.hpp"

namespace ietest {

BuildConfig build_config() {
    BuildConfig config;
    config.version = IETEST_VERSION;
#if defined(__clang__)
    config.compiler = "clang " __clang_version__;
#elif defined(__GNUC__)
    config.compiler = "gcc " __VERSION__;
#elif defined(_MSC_VER)
    config.compiler = "msvc " + std::to_string(_MSC_VER);
#endif
#if defined(NDEBUG)
    config.build_type = "release";
#else
    config.build_type = "debug";
#endif
#if defined(__SANITIZE_ADDRESS__)
    config.sanitizer = "address";
#elif defined(__SANITIZE_THREAD__)
    config.sanitizer = "thread";
#endif
    config.openmp = has_openmp();
    config.unicode = text::unicode_version();
    config.instruction_set = name_of(chosen_instruction_set());
    return config;
}

}  // namespace ietest

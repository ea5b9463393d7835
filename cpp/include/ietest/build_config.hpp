// What this build of the core can do, for bug reports and for tests.
#pragma once

#include <string>

namespace ietest {

struct BuildConfig {
    std::string version;
    std::string compiler;
    std::string build_type;  // "release" or "debug", by NDEBUG
    std::string sanitizer;   // "", "address" or "thread"
    bool openmp;
    std::string unicode;          // version of the table of word boundaries
    std::string instruction_set;  // that kernels use
};

// Throws std::invalid_argument where IETEST_CPU asks for what is not there.
BuildConfig build_config();

}  // namespace ietest

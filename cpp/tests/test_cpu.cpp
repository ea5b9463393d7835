#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "ietest/cpu.hpp"

using namespace ietest;

TEST_CASE("the fastest available instruction set is the default") {
    const InstructionSet best = best_instruction_set();
    CHECK(is_available(best));
    CHECK(is_available(InstructionSet::portable));
    for (const InstructionSet set : kInstructionSets) {
        CHECK((set <= best || !is_available(set)));
    }
    CHECK(instruction_set_named(nullptr) == best);
    CHECK(instruction_set_named("") == best);
}

TEST_CASE("every feature that a kernel is compiled for is asked of the processor") {
#if defined(IETEST_AVX512)
    // What the compiler is told, as one string.
    const std::string avx2 = IETEST_AVX2_FEATURES(IETEST_FIRST_NAME, IETEST_NEXT_NAME);
    const std::string avx512 = IETEST_AVX512_FEATURES(IETEST_FIRST_NAME, IETEST_NEXT_NAME);
    const auto joined = [](InstructionSet set) {
        std::string names;
        for (const CpuFeature& f : features_of(set)) names += (names.empty() ? "" : ",") + f.name;
        return names;
    };
    CHECK(joined(InstructionSet::avx2) == avx2);
    CHECK(joined(InstructionSet::avx512) == avx512);
    for (const std::string name : {"bmi", "bmi2", "popcnt"}) {
        CHECK(avx2.find(name) != std::string::npos);
    }
#endif
    for (const InstructionSet set : kInstructionSets) {
        for (const CpuFeature& feature : features_of(set)) {
            if (!feature.is_present) CHECK_FALSE(is_available(set));
        }
    }
}

TEST_CASE("an instruction set is found by its name, or refused") {
    for (const InstructionSet set : kInstructionSets) {
        const std::string name(name_of(set));
        if (is_available(set)) {
            CHECK(instruction_set_named(name.c_str()) == set);
            CHECK_NOTHROW(require(set));
        } else {
            CHECK_THROWS_AS(instruction_set_named(name.c_str()), std::invalid_argument);
            CHECK_THROWS_AS(require(set), std::invalid_argument);
        }
    }
    CHECK_THROWS_AS(instruction_set_named("AVX2"), std::invalid_argument);
    CHECK_THROWS_AS(instruction_set_named("neon"), std::invalid_argument);
}

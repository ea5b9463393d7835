// Instruction sets: what kernels are compiled for, what this processor has, and which one is used.
//
// A kernel is compiled once for each set that it gains from, and all versions of it give the same
// bits. The best set that the processor has is used, unless the environment variable IETEST_CPU
// names another one; it is read once, when the first kernel (or build_config) asks.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#if defined(__x86_64__) || defined(_M_X64)
#define IETEST_X86 1
#if defined(__GNUC__) || defined(__clang__)
#define IETEST_AVX2 1
#define IETEST_AVX512 1
#endif
#endif

// The features of a set stand here and nowhere else: the compiler is told of these, and
// features_of() asks the processor for these.
#define IETEST_AVX2_FEATURES(FIRST, NEXT) FIRST("avx2") NEXT("bmi") NEXT("bmi2") NEXT("popcnt")
// What Ice Lake and Zen 4 have of AVX-512.
#define IETEST_AVX512_FEATURES(FIRST, NEXT) \
    IETEST_AVX2_FEATURES(FIRST, NEXT)       \
    NEXT("avx512f")                         \
    NEXT("avx512bw") NEXT("avx512dq") NEXT("avx512vl") NEXT("avx512vbmi") NEXT("avx512vbmi2")

#define IETEST_FIRST_NAME(feature) feature
#define IETEST_NEXT_NAME(feature) "," feature
#if defined(IETEST_AVX2)
#define IETEST_TARGET_AVX2 \
    __attribute__((target(IETEST_AVX2_FEATURES(IETEST_FIRST_NAME, IETEST_NEXT_NAME))))
#endif
#if defined(IETEST_AVX512)
#define IETEST_TARGET_AVX512 \
    __attribute__((target(IETEST_AVX512_FEATURES(IETEST_FIRST_NAME, IETEST_NEXT_NAME))))
#endif

// For bodies that are compiled into the function of each set.
#if defined(__GNUC__) || defined(__clang__)
#define IETEST_ALWAYS_INLINE inline __attribute__((always_inline))
#else
#define IETEST_ALWAYS_INLINE inline
#endif

// For parts of a long function that want all registers to themselves.
#if defined(__GNUC__) || defined(__clang__)
#define IETEST_NOINLINE __attribute__((noinline))
#else
#define IETEST_NOINLINE
#endif

namespace ietest {

// From the one that every processor has to the fastest.
enum class InstructionSet { portable, sse2, avx2, avx512 };

inline constexpr std::array kInstructionSets{InstructionSet::portable, InstructionSet::sse2,
                                             InstructionSet::avx2, InstructionSet::avx512};

std::string_view name_of(InstructionSet set);

struct CpuFeature {
    std::string name;
    bool is_present;  // in this processor
};
// All that the kernels of a set need. Empty for sets that are part of the architecture.
std::vector<CpuFeature> features_of(InstructionSet set);

// Whether this build has kernels of the set, and this processor all features that they need.
bool is_available(InstructionSet set);
// Throws std::invalid_argument, with the features that are missing, unless it is available.
void require(InstructionSet set);

InstructionSet best_instruction_set();

// The set of that name, or the best one if there is no name (null or ""). Throws
// std::invalid_argument if there is no such set, or this machine lacks it.
InstructionSet instruction_set_named(const char* name);

// What IETEST_CPU says: instruction_set_named() of its value, read at the first call. A bad value
// throws at every call.
InstructionSet chosen_instruction_set();

}  // namespace ietest

// Compiling one function for several processors, to choose at run time.
#pragma once

#if defined(__x86_64__) || defined(_M_X64)
#define IETEST_X86 1
#if defined(__GNUC__) || defined(__clang__)
#define IETEST_AVX2 1
// Every processor with AVX2 has BMI1 and 2, the bit instructions that these loops live on.
#define IETEST_TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#endif
#endif

// For bodies that are compiled into each of those functions.
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

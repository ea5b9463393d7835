// Compiling one function for several processors, to choose at run time.
#pragma once

#if defined(__x86_64__) || defined(_M_X64)
#define IETEST_X86 1
#if defined(__GNUC__) || defined(__clang__)
#define IETEST_AVX2 1
// Every processor with AVX2 has BMI1 and 2, the bit instructions that these loops live on.
#define IETEST_TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
// What Ice Lake and Zen 4 have of AVX-512.
#define IETEST_AVX512 1
#define IETEST_TARGET_AVX512                                                \
    __attribute__((                                                         \
        target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2," \
               "avx2,bmi,bmi2,lzcnt,popcnt")))
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

namespace ietest {

inline bool has_avx2() {
#if defined(IETEST_AVX2)
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0 &&
           __builtin_cpu_supports("bmi2") != 0;
#else
    return false;
#endif
}

inline bool has_avx512() {
#if defined(IETEST_AVX512)
    return has_avx2() && __builtin_cpu_supports("avx512f") != 0 &&
           __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
           __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512vbmi") != 0 &&
           __builtin_cpu_supports("avx512vbmi2") != 0;
#else
    return false;
#endif
}

}  // namespace ietest

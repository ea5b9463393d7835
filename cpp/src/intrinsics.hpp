// The processor's vector instructions; for source files only, since it silences warnings.
#pragma once

#include "ietest/cpu.hpp"

#if defined(IETEST_X86)
#if defined(__GNUC__) && !defined(__clang__)
// GCC's own AVX-512 header starts from undefined vectors on purpose (its bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#endif

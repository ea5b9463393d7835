// Integers of 128 bits, for products of 64-bit ones that must not be rounded.
#pragma once

namespace ietest {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

}  // namespace ietest

// English, as the kernels need to know it.
#pragma once

#include <string_view>

#include "ietest/text/language.hpp"

namespace ietest::text {

// A to Z have lower-case twins, and "a" becomes "an" before what sounds like a vowel.
const Language& english();

// "a" or "an", by how a word begins to sound and not by its first letter: true when the word (or
// phrase) takes "an". Case matters: capitals may be spelled out (an MRI).
bool takes_an(std::string_view phrase);

}  // namespace ietest::text

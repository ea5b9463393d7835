// "a" or "an": by how a word begins to sound, not by its first letter.
#pragma once

#include <string_view>

namespace ietest::text {

// True when the word (or phrase) takes "an". Case matters: capitals may be spelled out (an MRI).
bool takes_an(std::string_view phrase);

}  // namespace ietest::text

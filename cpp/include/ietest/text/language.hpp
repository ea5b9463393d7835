// What the kernels have to know about a language. They know nothing else of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ietest::text {

class Language {
  public:
    virtual ~Language() = default;

    // Writes the text as comparisons that ignore case see it, in as many bytes.
    virtual void fold(std::string_view text, std::string& folded) const = 0;
    std::string folded(std::string_view text) const {
        std::string result;
        fold(text, result);
        return result;
    }
    // Whether a piece begins like a name, or the first word of a sentence.
    virtual bool is_capitalised(std::string_view piece) const = 0;
    // The value, capitalised as the piece is that it replaces.
    virtual std::string with_capitals_of(std::string_view piece, std::string_view value) const = 0;
    // What has to stand in place of `word` now that `value` follows it, where `replaced` stood.
    // Nothing if the word does not depend on what follows it, or is right as it is.
    virtual std::optional<std::string_view> adapted(std::string_view word,
                                                    std::string_view replaced,
                                                    std::string_view value) const = 0;
    // Whether `value` may stand where `replaced` stood with `ending` attached to it: both in lower
    // case.
    virtual bool fits_before(std::string_view ending, std::string_view replaced,
                             std::string_view value) const = 0;
    // Whether the full stop behind a text belongs to its last word and need not end a sentence.
    virtual bool abbreviates(std::string_view text) const = 0;
};

}  // namespace ietest::text

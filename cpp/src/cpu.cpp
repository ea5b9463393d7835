#include "ietest/cpu.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace ietest {
namespace {

struct Choice {
    InstructionSet set = InstructionSet::portable;
    std::string mistake;
};

Choice read_environment() {
    Choice choice;
    try {
        choice.set = instruction_set_named(std::getenv("IETEST_CPU"));
    } catch (const std::invalid_argument& error) {
        choice.mistake = std::string("environment variable IETEST_CPU: ") + error.what();
    }
    return choice;
}

std::string listed(const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    return list;
}

bool is_compiled(InstructionSet set) {
#if defined(IETEST_AVX512)
    (void)set;
    return true;
#elif defined(IETEST_X86)
    return set == InstructionSet::portable || set == InstructionSet::sse2;
#else
    return set == InstructionSet::portable;
#endif
}

}  // namespace

std::string_view name_of(InstructionSet set) {
    switch (set) {
        case InstructionSet::portable:
            return "portable";
        case InstructionSet::sse2:
            return "sse2";
        case InstructionSet::avx2:
            return "avx2";
        case InstructionSet::avx512:
            return "avx512";
    }
    return "";
}

std::vector<CpuFeature> features_of(InstructionSet set) {
#if defined(IETEST_AVX512)
#define IETEST_FEATURE(feature) CpuFeature{feature, __builtin_cpu_supports(feature) != 0},
    if (set == InstructionSet::avx2) return {IETEST_AVX2_FEATURES(IETEST_FEATURE, IETEST_FEATURE)};
    if (set == InstructionSet::avx512) {
        return {IETEST_AVX512_FEATURES(IETEST_FEATURE, IETEST_FEATURE)};
    }
#undef IETEST_FEATURE
#endif
    (void)set;
    return {};
}

bool is_available(InstructionSet set) {
    const std::vector<CpuFeature> features = features_of(set);
    return is_compiled(set) && std::all_of(features.begin(), features.end(),
                                           [](const CpuFeature& f) { return f.is_present; });
}

void require(InstructionSet set) {
    const std::string name(name_of(set));
    if (!is_compiled(set)) throw std::invalid_argument("this build has no kernels for " + name);
    std::vector<std::string> missing;
    for (const CpuFeature& feature : features_of(set)) {
        if (!feature.is_present) missing.push_back(feature.name);
    }
    if (!missing.empty()) {
        throw std::invalid_argument("this processor cannot run " + name + ": it lacks " +
                                    listed(missing));
    }
}

InstructionSet best_instruction_set() {
    return *std::find_if(kInstructionSets.rbegin(), kInstructionSets.rend(), is_available);
}

InstructionSet instruction_set_named(const char* name) {
    const std::string_view wanted = name == nullptr ? "" : name;
    if (wanted.empty()) return best_instruction_set();
    std::vector<std::string> known;
    for (const InstructionSet set : kInstructionSets) {
        if (name_of(set) == wanted) {
            require(set);
            return set;
        }
        if (is_available(set)) known.emplace_back(name_of(set));
    }
    throw std::invalid_argument("\"" + std::string(wanted) +
                                "\" is no instruction set; this machine has " + listed(known));
}

InstructionSet chosen_instruction_set() {
    static const Choice choice = read_environment();
    if (!choice.mistake.empty()) throw std::invalid_argument(choice.mistake);
    return choice.set;
}

}  // namespace ietest

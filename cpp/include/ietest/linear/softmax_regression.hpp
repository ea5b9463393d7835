// Multinomial logistic regression over rows of present features, trained by stochastic gradient
// descent on one thread: each training of a sweep is one, and the rest of the sweep has the others.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ietest/parallel.hpp"
#include "ietest/random/philox.hpp"

namespace ietest::linear {

// Rows of present features. Row i has the columns columns[offsets[i]] to columns[offsets[i + 1]],
// each with the value 1 / sqrt(sizes[i]): of length 1 if none of its features was left out.
struct FeatureRows {
    std::span<const std::int64_t> offsets;
    std::span<const std::int32_t> columns;
    std::span<const std::int32_t> sizes;
    std::int64_t n_columns = 0;

    std::int64_t length() const { return static_cast<std::int64_t>(sizes.size()); }
};

struct TrainingOptions {
    int n_classes = 2;
    int epochs = 1;
    double learning_rate = 1.0;  // of the first step; it falls linearly to 0
    double l2 = 0.0;    // weight of half the squared norm of the weights, not the intercepts
    random::Key key{};  // of the order of the rows, drawn anew for each epoch
};

// Weights of a column stand together, a multiple of 4 of them; those beyond n_classes are 0.
struct Weights {
    int n_classes = 0;
    std::vector<float> values;
    std::vector<float> intercepts;  // n_classes
};

// Room for the classes of one column.
int padded_classes(int n_classes);

// Minimises the mean log-loss of `chosen` rows (repeats allowed) with `labels` of 0 to
// n_classes - 1, plus the penalty. A row counts as often as it is chosen.
Weights train_softmax(const FeatureRows& rows, std::span<const std::int64_t> chosen,
                      std::span<const std::int8_t> labels, const TrainingOptions& options,
                      const Execution& execution);

// Class scores of some rows, n_classes for each, into `scores`.
void score_rows(const FeatureRows& rows, std::span<const std::int64_t> chosen, int n_classes,
                std::span<const float> weights, std::span<const float> intercepts,
                const Execution& execution, std::span<float> scores);

}  // namespace ietest::linear

#include "ietest/linear/softmax_regression.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace ietest::linear {
namespace {

// Third word of the counter: engines never share a word.
constexpr std::uint64_t kOrderStream = 64;

// Rows between two questions whether to stop.
constexpr std::int64_t kRowsPerChunk = 4096;

// Below it the common factor of the weights is multiplied out.
constexpr double kSmallestScale = 1e-3;

// Rows ahead whose weights are fetched while one is worked on.
constexpr std::int64_t kRowsAhead = 4;

void check_rows(const FeatureRows& rows, std::span<const std::int64_t> chosen) {
    if (rows.offsets.size() != rows.sizes.size() + 1) {
        throw std::invalid_argument("there is not one offset more than rows");
    }
    std::int64_t before = 0;
    for (const std::int64_t offset : rows.offsets) {
        if (offset < before) throw std::invalid_argument("offsets decrease");
        before = offset;
    }
    if (before > static_cast<std::int64_t>(rows.columns.size())) {
        throw std::invalid_argument("offsets lie beyond the columns");
    }
    for (const std::int64_t row : chosen) {
        if (row < 0 || row >= rows.length()) throw std::out_of_range("there is no such row");
        const auto at = static_cast<std::size_t>(row);
        for (std::int64_t i = rows.offsets[at]; i < rows.offsets[at + 1]; ++i) {
            const std::int32_t column = rows.columns[static_cast<std::size_t>(i)];
            if (column < 0 || column >= rows.n_columns) {
                throw std::out_of_range("there is no such column");
            }
        }
    }
}

// One row: its columns, and the value of each.
struct Row {
    const std::int32_t* begin;
    const std::int32_t* end;
    double value;
};

Row row_at(const FeatureRows& rows, std::int64_t row) {
    const auto at = static_cast<std::size_t>(row);
    const std::int32_t size = std::max<std::int32_t>(rows.sizes[at], 1);
    return {rows.columns.data() + rows.offsets[at], rows.columns.data() + rows.offsets[at + 1],
            1.0 / std::sqrt(static_cast<double>(size))};
}

// Adds up the weights of a row's columns, one block of four classes at a time.
void sum_block(const Row& row, const float* weights, std::int64_t stride, float* sums) {
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (const std::int32_t* column = row.begin; column != row.end; ++column) {
        const float* own = weights + *column * stride;
        s0 += own[0];
        s1 += own[1];
        s2 += own[2];
        s3 += own[3];
    }
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
}

void add_block(const Row& row, const float* steps, std::int64_t stride, float* weights) {
    const float s0 = steps[0], s1 = steps[1], s2 = steps[2], s3 = steps[3];
    for (const std::int32_t* column = row.begin; column != row.end; ++column) {
        float* own = weights + *column * stride;
        own[0] += s0;
        own[1] += s1;
        own[2] += s2;
        own[3] += s3;
    }
}

void fetch(const Row& row, const float* weights, std::int64_t stride) {
#if defined(__GNUC__)
    for (const std::int32_t* column = row.begin; column != row.end; ++column) {
        __builtin_prefetch(weights + *column * stride, 1);
    }
#else
    (void)row, (void)weights, (void)stride;
#endif
}

// The order of an epoch: Fisher and Yates' shuffle of 0 to n - 1.
void shuffle(random::Key key, int epoch, std::vector<std::int64_t>& order) {
    std::iota(order.begin(), order.end(), 0);
    random::WordStream words(key, static_cast<std::uint64_t>(epoch), kOrderStream);
    for (std::size_t left = order.size(); left > 1; --left) {
        const auto place = static_cast<std::size_t>(random::high_word(words.next(), left));
        std::swap(order[left - 1], order[place]);
    }
}

class Trainer {
  public:
    Trainer(const FeatureRows& rows, const TrainingOptions& options)
        : rows_(rows),
          options_(options),
          n_classes_(static_cast<std::size_t>(options.n_classes)),
          stride_(padded_classes(options.n_classes)),
          sums_(static_cast<std::size_t>(stride_)),
          steps_(static_cast<std::size_t>(stride_)),
          scores_(n_classes_),
          intercepts_(n_classes_) {
        weights_.n_classes = options.n_classes;
        weights_.values.assign(static_cast<std::size_t>(rows.n_columns * stride_), 0.0F);
    }

    void prepare(std::int64_t row) const {
        fetch(row_at(rows_, row), weights_.values.data(), stride_);
    }

    // One step down the gradient of one row's loss.
    void step(std::int64_t index, std::int8_t label, double rate) {
        const Row row = row_at(rows_, index);
        float* weights = weights_.values.data();
        for (std::int64_t block = 0; block < stride_; block += 4) {
            sum_block(row, weights + block, stride_, sums_.data() + block);
        }
        double highest = -INFINITY;
        for (std::size_t k = 0; k < n_classes_; ++k) {
            scores_[k] = intercepts_[k] + scale_ * row.value * static_cast<double>(sums_[k]);
            highest = std::max(highest, scores_[k]);
        }
        double total = 0;
        for (double& score : scores_) total += score = std::exp(score - highest);
        scale_ *= 1.0 - rate * options_.l2;
        for (std::size_t k = 0; k < n_classes_; ++k) {
            const double wanted = k == static_cast<std::size_t>(label) ? 1.0 : 0.0;
            const double down = rate * (wanted - scores_[k] / total);
            intercepts_[k] += down;
            steps_[k] = static_cast<float>(down * row.value / scale_);
        }
        for (std::int64_t block = 0; block < stride_; block += 4) {
            add_block(row, steps_.data() + block, stride_, weights + block);
        }
        if (scale_ < kSmallestScale) multiply_out();
    }

    Weights finish() {
        multiply_out();
        weights_.intercepts.assign(intercepts_.begin(), intercepts_.end());
        return std::move(weights_);
    }

  private:
    void multiply_out() {
        const auto scale = static_cast<float>(scale_);
        if (scale_ != 1.0) {
            for (float& weight : weights_.values) weight *= scale;
        }
        scale_ = 1.0;
    }

    const FeatureRows& rows_;
    const TrainingOptions& options_;
    std::size_t n_classes_;
    std::int64_t stride_;
    Weights weights_;
    double scale_ = 1.0;  // of all weights
    std::vector<float> sums_, steps_;
    std::vector<double> scores_, intercepts_;
};

void check_options(const TrainingOptions& options) {
    if (options.n_classes < 2 || options.n_classes > 127) {
        throw std::invalid_argument("there are 2 to 127 classes");
    }
    if (options.epochs < 1) throw std::invalid_argument("epochs must be at least 1");
    if (!(options.learning_rate > 0) || !(options.l2 >= 0) ||
        !(options.learning_rate * options.l2 <= 0.5)) {
        throw std::invalid_argument(
            "learning_rate must be above 0, l2 at least 0, and their product at most 0.5");
    }
}

}  // namespace

int padded_classes(int n_classes) {
    return (n_classes + 3) / 4 * 4;
}

Weights train_softmax(const FeatureRows& rows, std::span<const std::int64_t> chosen,
                      std::span<const std::int8_t> labels, const TrainingOptions& options,
                      const Execution& execution) {
    check_options(options);
    check_rows(rows, chosen);
    if (labels.size() != chosen.size()) {
        throw std::invalid_argument("there is not one label for each row");
    }
    for (const std::int8_t label : labels) {
        if (label < 0 || label >= options.n_classes) {
            throw std::out_of_range("there is no such label");
        }
    }
    Trainer trainer(rows, options);
    const auto n = static_cast<std::int64_t>(chosen.size());
    const double n_steps = static_cast<double>(n) * options.epochs;
    std::vector<std::int64_t> order(chosen.size());
    for (int epoch = 0; epoch < options.epochs; ++epoch) {
        shuffle(options.key, epoch, order);
        for (std::int64_t i = 0; i < n; ++i) {
            if (i % kRowsPerChunk == 0 && execution.interrupted != nullptr &&
                execution.interrupted()) {
                throw Interrupted();
            }
            if (i + kRowsAhead < n) {
                trainer.prepare(chosen[static_cast<std::size_t>(
                    order[static_cast<std::size_t>(i + kRowsAhead)])]);
            }
            const auto place = static_cast<std::size_t>(order[static_cast<std::size_t>(i)]);
            const double done =
                static_cast<double>(epoch) * static_cast<double>(n) + static_cast<double>(i);
            trainer.step(chosen[place], labels[place],
                         options.learning_rate * (1.0 - done / n_steps));
        }
    }
    return trainer.finish();
}

void score_rows(const FeatureRows& rows, std::span<const std::int64_t> chosen, int n_classes,
                std::span<const float> weights, std::span<const float> intercepts,
                const Execution& execution, std::span<float> scores) {
    check_rows(rows, chosen);
    const std::int64_t stride = padded_classes(n_classes);
    const auto n_scores = static_cast<std::size_t>(n_classes);
    if (static_cast<std::int64_t>(weights.size()) != rows.n_columns * stride ||
        intercepts.size() != n_scores || scores.size() != chosen.size() * n_scores) {
        throw std::invalid_argument("weights or scores are not of these columns and classes");
    }
    parallel_chunks(static_cast<std::int64_t>(chosen.size()), kRowsPerChunk, execution,
                    [&](Range range) {
                        std::vector<float> sums(static_cast<std::size_t>(stride));
                        for (std::int64_t i = range.begin; i < range.end; ++i) {
                            const auto place = static_cast<std::size_t>(i);
                            const Row row = row_at(rows, chosen[place]);
                            for (std::int64_t block = 0; block < stride; block += 4) {
                                sum_block(row, weights.data() + block, stride, sums.data() + block);
                            }
                            for (std::size_t k = 0; k < n_scores; ++k) {
                                scores[place * n_scores + k] =
                                    static_cast<float>(static_cast<double>(intercepts[k]) +
                                                       row.value * static_cast<double>(sums[k]));
                            }
                        }
                    });
}

}  // namespace ietest::linear

#include "ietest/stats/churn.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>

namespace ietest::stats {
namespace {

// Third word of the counter: engines never share a word.
constexpr std::uint64_t kChurnStream = 48;

// Units that are drawn between two questions whether to stop.
constexpr std::int64_t kUnitsPerChunk = 1 << 20;

std::int64_t n_products(std::int64_t size) {
    return size * (size - 1) / 2;
}

// One type, ready to be drawn.
struct Type {
    std::int64_t size;
    std::int64_t count;
    const std::int64_t* products;
    // Where its listed values begin; unused if there are too many.
    std::size_t values;
};

// Coins from a stream of words, as many at a time as fit.
class Coins {
  public:
    Coins(random::Key key, std::uint64_t replicate) : stream_(key, replicate, kChurnStream) {}

    // The next n coins, 1 to 63, in the low bits.
    std::uint64_t toss(unsigned n) {
        if (left_ < n) {
            word_ = stream_.next();
            left_ = 64;
        }
        const std::uint64_t coins = word_ & ((std::uint64_t{1} << n) - 1);
        word_ >>= n;
        left_ -= n;
        return coins;
    }

  private:
    random::WordStream stream_;
    std::uint64_t word_ = 0;
    unsigned left_ = 0;
};

std::int64_t draw_unlisted(const Type& type, Coins& coins, std::vector<std::int8_t>& signs) {
    const auto size = static_cast<std::size_t>(type.size);
    signs.assign(size, 1);
    for (std::size_t m = 1; m < size; ++m) {
        if (coins.toss(1) != 0) signs[m] = -1;
    }
    std::int64_t sum = 0;
    const std::int64_t* product = type.products;
    for (std::size_t m = 0; m + 1 < size; ++m) {
        std::int64_t row = 0;
        for (std::size_t l = m + 1; l < size; ++l) row += signs[l] * *product++;
        sum += signs[m] * row;
    }
    return sum;
}

}  // namespace

std::vector<std::int64_t> list_churn(std::span<const std::int64_t> products, std::int64_t size) {
    if (size < 2 || size > kMaxListedClassifiers) {
        throw std::invalid_argument("values are listed for 2 to 10 classifiers");
    }
    if (static_cast<std::int64_t>(products.size()) != n_products(size)) {
        throw std::invalid_argument("there must be a product for each pair of classifiers");
    }
    const auto m_count = static_cast<std::size_t>(size);
    std::vector<std::int64_t> values(std::size_t{1} << (m_count - 1));
    for (std::size_t pattern = 0; pattern < values.size(); ++pattern) {
        // Bit m - 1 is the coin of classifier m.
        const std::size_t tails = pattern << 1;
        std::int64_t sum = 0;
        const std::int64_t* product = products.data();
        for (std::size_t m = 0; m + 1 < m_count; ++m) {
            for (std::size_t l = m + 1; l < m_count; ++l) {
                const bool differ = ((tails >> m ^ tails >> l) & 1) != 0;
                sum += differ ? -*product : *product;
                ++product;
            }
        }
        values[pattern] = sum;
    }
    return values;
}

std::uint64_t churn_at_least(const ChurnTypes& types, std::int64_t observed,
                             std::int64_t n_replicates, random::Key key, const Execution& execution,
                             std::span<std::int64_t> sums) {
    if (n_replicates < 1) throw std::invalid_argument("n_replicates must be at least 1");
    if (!sums.empty() && static_cast<std::int64_t>(sums.size()) != n_replicates) {
        throw std::invalid_argument("there must be n_replicates places for the sums");
    }
    if (types.sizes.size() != types.counts.size()) {
        throw std::invalid_argument("there must be a size and a count for each type");
    }
    std::vector<Type> ready;
    std::vector<std::int64_t> values;
    std::int64_t n_units = 0;
    std::size_t place = 0;
    for (std::size_t u = 0; u < types.sizes.size(); ++u) {
        const std::int64_t size = types.sizes[u];
        if (size < 2 || types.counts[u] < 0) throw std::invalid_argument("a type is impossible");
        const auto length = static_cast<std::size_t>(n_products(size));
        if (length > types.products.size() - place) {
            throw std::invalid_argument("there are too few products");
        }
        const auto own = types.products.subspan(place, length);
        ready.push_back({size, types.counts[u], own.data(), values.size()});
        if (size <= kMaxListedClassifiers) {
            const std::vector<std::int64_t> listed = list_churn(own, size);
            values.insert(values.end(), listed.begin(), listed.end());
        }
        place += length;
        n_units += types.counts[u];
    }
    if (place != types.products.size()) throw std::invalid_argument("there are too many products");

    const std::int64_t chunk =
        std::max<std::int64_t>(1, kUnitsPerChunk / std::max<std::int64_t>(1, n_units));
    std::uint64_t total = 0;
    std::mutex mutex;
    parallel_chunks(n_replicates, chunk, execution, [&](Range range) {
        std::vector<std::int8_t> signs;
        std::uint64_t reached = 0;
        for (std::int64_t r = range.begin; r < range.end; ++r) {
            Coins coins(key, static_cast<std::uint64_t>(r));
            std::int64_t sum = 0;
            for (const Type& type : ready) {
                if (type.size > kMaxListedClassifiers) {
                    for (std::int64_t i = 0; i < type.count; ++i) {
                        sum += draw_unlisted(type, coins, signs);
                    }
                    continue;
                }
                const std::int64_t* listed = values.data() + type.values;
                const auto n_coins = static_cast<unsigned>(type.size - 1);
                for (std::int64_t i = 0; i < type.count; ++i) sum += listed[coins.toss(n_coins)];
            }
            reached += sum >= observed;
            if (!sums.empty()) sums[static_cast<std::size_t>(r)] = sum;
        }
        const std::lock_guard lock(mutex);
        total += reached;
    });
    return total;
}

}  // namespace ietest::stats

// How a multinomial draw by Poisson numbers is tuned.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>

namespace ietest::stats {

// How many standard deviations the expected total of the Poisson numbers should lie below the
// number of draws: near 0 half of the totals exceed it and cost another attempt, far below many
// draws are left to be made singly. Costs are those of an attempt and of `deviation` single draws.
inline double best_margin(double attempt_cost, double deviation_cost) {
    double best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (double margin = 0; margin <= 3; margin += 0.25) {
        const double accepted = 0.5 * std::erfc(-margin / std::numbers::sqrt2);
        const double density = std::exp(-0.5 * margin * margin) / std::sqrt(2 * std::numbers::pi);
        const double cost =
            attempt_cost / accepted + deviation_cost * (margin + density / accepted);
        if (cost < least) {
            least = cost;
            best = margin;
        }
    }
    return best;
}

}  // namespace ietest::stats

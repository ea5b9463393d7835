#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "arrow_capsule.hpp"
#include "execution.hpp"
#include "ietest/templates/filling.hpp"
#include "random_key.hpp"
#include "registers.hpp"

namespace py = pybind11;

namespace ietest::python {
namespace {

using Numbers32 = Array<std::int32_t>;

template <typename T>
std::vector<T> numbers_of(const Array<T>& array) {
    const std::span<const T> numbers = vector_of(array);
    return {numbers.begin(), numbers.end()};
}

std::vector<templates::Piece> pieces_of(const Numbers32& pieces) {
    if (pieces.ndim() != 2 || pieces.shape(1) != 3) {
        throw py::value_error("pieces must have three columns");
    }
    std::vector<templates::Piece> read;
    read.reserve(static_cast<std::size_t>(pieces.shape(0)));
    for (py::ssize_t i = 0; i < pieces.shape(0); ++i) {
        const std::int32_t* row = pieces.data(i, 0);
        if (row[0] < 0 || row[0] > 2) throw py::value_error("a piece has an unknown kind");
        read.push_back({static_cast<templates::PieceKind>(row[0]), row[1], row[2]});
    }
    return read;
}

// What a filler looks at, and the filler. Numbers are copied, as their bounds are checked once only
// and Python could change an array behind that.
class Filler {
  public:
    Filler(const Numbers32& pieces, const Integers& text_ends, const py::object& literals,
           const Numbers32& group_ends, const Numbers32& group_people, const Numbers32& n_people,
           const Numbers32& n_places, std::int32_t n_wordings, const py::object& people,
           const Bytes& is_woman, const py::object& places, const Doubles& weights,
           const Numbers32& labels, std::int32_t n_labels)
        : pieces_(pieces_of(pieces)),
          text_ends_(numbers_of(text_ends)),
          group_ends_(numbers_of(group_ends)),
          group_people_(numbers_of(group_people)),
          n_people_(numbers_of(n_people)),
          n_places_(numbers_of(n_places)),
          is_woman_(numbers_of(is_woman)),
          literals_(literals),
          people_(people),
          places_(places),
          filler_({pieces_, text_ends_, literals_.column(), group_ends_, group_people_, n_people_,
                   n_places_, n_wordings},
                  templates::ShapeLaw(numbers_of(weights), numbers_of(labels), n_labels),
                  {people_.column(), is_woman_, places_.column()}) {}

    // (premises, hypotheses, shapes)
    py::tuple fill(const Words& key, std::int64_t first, std::int64_t n_rows,
                   std::optional<int> n_threads) const {
        if (first < 0 || n_rows < 0 || first > std::numeric_limits<std::int64_t>::max() - n_rows) {
            throw py::value_error("rows have numbers from 0 to 2^63 - 1");
        }
        const random::Key own = to_key(key);
        templates::FilledPairs pairs = without_gil(n_threads, [&](const Execution& execution) {
            return filler_.fill(own, first, n_rows, execution);
        });
        return py::make_tuple(ExportedArray::of(std::move(pairs.premises)),
                              ExportedArray::of(std::move(pairs.hypotheses)),
                              array_of(std::move(pairs.shapes)));
    }

  private:
    std::vector<templates::Piece> pieces_;
    std::vector<std::int64_t> text_ends_;
    std::vector<std::int32_t> group_ends_, group_people_, n_people_, n_places_;
    std::vector<std::uint8_t> is_woman_;
    BorrowedStrings literals_, people_, places_;
    templates::PairFiller filler_;
};

}  // namespace

void register_templates(py::module_& module) {
    auto templates_module = module.def_submodule("templates");
    py::class_<Filler>(templates_module, "PairFiller")
        .def(py::init<const Numbers32&, const Integers&, const py::object&, const Numbers32&,
                      const Numbers32&, const Numbers32&, const Numbers32&, std::int32_t,
                      const py::object&, const Bytes&, const py::object&, const Doubles&,
                      const Numbers32&, std::int32_t>(),
             py::kw_only(), py::arg("pieces"), py::arg("text_ends"), py::arg("literals"),
             py::arg("group_ends"), py::arg("group_people"), py::arg("n_people"),
             py::arg("n_places"), py::arg("n_wordings"), py::arg("people"), py::arg("is_woman"),
             py::arg("places"), py::arg("weights"), py::arg("labels"), py::arg("n_labels"))
        .def("fill", &Filler::fill, py::arg("key"), py::kw_only(), py::arg("first"),
             py::arg("n_rows"), py::arg("n_threads") = py::none());
}

}  // namespace ietest::python

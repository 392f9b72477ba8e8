#include "engine/array.h"

#include <ostream>

namespace fledge {

namespace {

// Bytes of the header of a block: whole cache lines.
constexpr std::size_t header = 128;

std::size_t bytes_of(const Shape& shape) {
  return header + static_cast<std::size_t>(std::max<Dim>(shape.size(), 1)) * sizeof(Real);
}

}  // namespace

Array::Block* Array::new_block(const Shape& shape) {
  static_assert(sizeof(Block) <= header);
  constexpr auto most = static_cast<Dim>(std::numeric_limits<Dim>::max() / sizeof(Real) / 2);
  require<ValueError>(shape.size() <= most, "Array",
                      "too many elements to hold in memory: ", shape.size());
  auto* const memory = static_cast<char*>(allocate_memory(bytes_of(shape)));
  auto* const block = new (memory) Block;
  block->shape = shape;
  block->numbers = reinterpret_cast<Real*>(memory + header);
  return block;
}

void Array::Block::destroy(Block* block) noexcept {
  const std::size_t bytes = block->owner != nullptr ? sizeof(Block) : bytes_of(block->shape);
  block->~Block();
  deallocate_memory(block, bytes);
}

Array::Array(const Shape& shape) : block_(new_block(shape)) {}

Array::Array(const Shape& shape, const std::vector<double>& values) {
  require(shape.size() == static_cast<Dim>(values.size()), "Array", "shape ", shape, " holds ",
          shape.size(), " numbers: got ", values.size());
  *this = Array(shape);
  std::transform(values.begin(), values.end(), write(), [](double v) { return Real(v); });
}

Array Array::full(const Shape& shape, Real value) {
  Array result(shape);
  std::fill_n(result.write(), result.size(), value);
  return result;
}

Real Array::at(std::initializer_list<Dim> indices) const {
  require(static_cast<int>(indices.size()) == rank(), "at", rank(), " indices for shape ", shape(),
          ": got ", indices.size());
  const Real* numbers = data();
  Dim position = 0;
  int axis = 0;
  for (const Dim index : indices) {
    require<ValueError>(index >= 0 && index < shape()[axis], "at", "index ", index, " of axis ",
                        axis, " is outside shape ", shape());
    position = position * shape()[axis++] + index;
  }
  return numbers[position];
}

Real Array::item() const {
  if (!exists()) refuse_nothing("item");
  require(size() == 1, "item", "needs exactly one number: got shape ", shape());
  return data()[0];
}

void Array::refuse_nothing(const char* use) {
  throw ValueError(std::string(use) + ": this array was never given values");
}

void Array::refuse_index(Dim i) const {
  require<ValueError>(false, "[]", "index ", i, " is outside shape ", shape());
  throw ValueError("[]: no such element");  // not reached
}

void Array::refuse_shared() const {
  if (!exists()) refuse_nothing("write");
  throw GraphError(
      "write: these values are shared, with a graph that still needs them or with another "
      "Array: run backward() or drop the result first, and keep copies with clone()");
}

Array Array::with_shape(const Shape& shape) const {
  if (!exists()) refuse_nothing("with_shape");
  require(shape.size() == size(), "with_shape", "sizes differ: ", this->shape(), " to ", shape);
  const Handle<Block>& owner = block_->owner != nullptr ? block_->owner : block_;
  Array same;
  same.block_ =
      Handle(new (allocate_memory(sizeof(Block))) Block{{}, shape, block_->numbers, owner});
  return same;
}

Array Array::clone() const {
  Array copy(shape());
  std::copy_n(data(), size(), copy.write());
  return copy;
}

Array random_uniform(const Shape& shape, double low, double high, Rng& rng) {
  const double half = high / 2 - low / 2;  // high − low may be too large
  Array draws(shape);
  Real* x = draws.write();
  for (Dim i = 0; i < draws.size(); ++i) x[i] = Real(2 * (low / 2 + half * rng.uniform()));
  return draws;
}

Array random_normal(const Shape& shape, double mean, double deviation, Rng& rng) {
  Array draws(shape);
  Real* x = draws.write();
  for (Dim i = 0; i < draws.size(); ++i) x[i] = Real(mean + deviation * rng.normal());
  return draws;
}

namespace {

// Appends the elements of an axis, which begin at `first`. Of an axis longer than `most` it appends
// the first three and the last three. If `most` is given, a row stands on a line.
void append_axis(std::string& text, const Array& array, int axis, Dim first,
                 std::optional<Dim> most) {
  const Shape& shape = array.shape();
  if (axis == shape.rank()) return message::append(text, value_of(array[first]));
  const bool of_rows = axis + 1 < shape.rank();
  Dim step = 1;
  for (int later = axis + 1; later < shape.rank(); ++later) step *= shape[later];
  text += '[';
  for (Dim i = 0; i < shape[axis]; ++i) {
    if (i > 0) text += ',';
    if (i > 0)
      text += of_rows && most ? '\n' + std::string(static_cast<std::size_t>(axis) + 1, ' ') : " ";
    if (i == 3 && most && shape[axis] > *most) {
      text += "...";
      i = shape[axis] - 4;
    } else {
      append_axis(text, array, axis + 1, first + i * step, most);
    }
  }
  text += ']';
}

std::string text_of(const Array& array, std::optional<Dim> most) {
  if (!array.exists()) return "no array";
  if (array.size() == 0) return "[] " + to_string(array.shape());
  std::string text;
  append_axis(text, array, 0, 0, most);
  return text;
}

}  // namespace

std::string to_string(const Array& array) { return text_of(array, {}); }

std::ostream& operator<<(std::ostream& out, const Array& array) { return out << text_of(array, 8); }

std::vector<double> to_vector(const Array& array) {
  std::vector<double> values(static_cast<std::size_t>(array.size()));
  std::transform(array.data(), array.data() + array.size(), values.begin(), value_of);
  return values;
}

}  // namespace fledge

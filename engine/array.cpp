#include "engine/array.h"

#include <algorithm>

#include "engine/base/errors.h"
#include "engine/base/memory.h"

namespace fledge {

namespace {

// Allocates one block for an object and the numbers behind it, which begin at the next line of the
// cache. With std::shared_ptr<Real[]> the counter of handles would need a second block.
constexpr std::size_t line = 64;

template <class T>
struct HeaderAllocator {
  using value_type = T;
  std::size_t bytes;  // of the numbers

  explicit HeaderAllocator(std::size_t size) : bytes(size) {}
  template <class U>
  HeaderAllocator(const HeaderAllocator<U>& other) : bytes(other.bytes) {}

  T* allocate(std::size_t) {
    static_assert(sizeof(T) <= line);
    return static_cast<T*>(allocate_memory(line + bytes));
  }
  void deallocate(T* block, std::size_t) { deallocate_memory(block, line + bytes); }
  friend bool operator==(HeaderAllocator a, HeaderAllocator b) { return a.bytes == b.bytes; }
};

struct BlockHeader {
  Real* numbers() {  // allocate_shared puts this header into the line before the numbers
    const std::size_t within = reinterpret_cast<std::uintptr_t>(this) % line;
    return reinterpret_cast<Real*>(reinterpret_cast<char*>(this) + (line - within));
  }
};

std::shared_ptr<Real[]> new_block(Dim size) {
  const auto count = static_cast<std::size_t>(std::max<Dim>(size, 1));
  require<ValueError>(count <= std::numeric_limits<std::size_t>::max() / sizeof(Real) / 2, "Array",
                      "too many elements to hold in memory: ", size);
  const std::size_t bytes = count * sizeof(Real);
  auto header = std::allocate_shared<BlockHeader>(HeaderAllocator<BlockHeader>(bytes));
  Real* const numbers = header->numbers();
  return {std::move(header), numbers};
}

}  // namespace

Array::Array(const Shape& shape) : shape_(shape), block_(new_block(shape.size())) {}

Array::Array(const Shape& shape, const std::vector<double>& values) {
  require(shape.size() == static_cast<Dim>(values.size()), "Array", "shape ", shape, " holds ",
          shape.size(), " numbers: got ", values.size());
  *this = Array(shape);
  std::transform(values.begin(), values.end(), block_.get(), [](double v) { return Real(v); });
}

Array::Array(const Shape& shape, std::initializer_list<double> values)
    : Array(shape, std::vector<double>(values)) {}

Array Array::full(const Shape& shape, Real value) {
  Array result(shape);
  std::fill_n(result.write(), result.size(), value);
  return result;
}

Real Array::at(std::initializer_list<Dim> indices) const {
  require(static_cast<int>(indices.size()) == rank(), "at", rank(), " indices for shape ", shape_,
          ": got ", indices.size());
  const Real* numbers = data();
  Dim position = 0;
  int axis = 0;
  for (const Dim index : indices) {
    require<ValueError>(index >= 0 && index < shape_[axis], "at", "index ", index, " of axis ",
                        axis, " is outside shape ", shape_);
    position = position * shape_[axis++] + index;
  }
  return numbers[position];
}

Real Array::item() const {
  require(exists() && size() == 1, "item", "needs exactly one number: got shape ", shape_);
  return block_[0];
}

void Array::refuse_nothing() { throw ValueError("Array: this array was never given numbers"); }

Real* Array::write() {
  require<GraphError>(
      is_unique(), "write",
      "these values are shared, with a graph that still needs them or with another "
      "Array: run backward() or drop the result first, and keep copies with clone()");
  return block_.get();
}

Array Array::with_shape(const Shape& shape) const {
  Array same = *this;
  same.shape_ = shape;
  return same;
}

Array Array::clone() const {
  Array copy(shape_);
  std::copy_n(data(), size(), copy.write());
  return copy;
}

Array random_uniform(const Shape& shape, double low, double high, Rng& rng) {
  Array draws(shape);
  Real* x = draws.write();
  for (Dim i = 0; i < draws.size(); ++i) x[i] = Real(low + (high - low) * rng.uniform());
  return draws;
}

Array random_normal(const Shape& shape, double mean, double deviation, Rng& rng) {
  Array draws(shape);
  Real* x = draws.write();
  for (Dim i = 0; i < draws.size(); ++i) x[i] = Real(mean + deviation * rng.normal());
  return draws;
}

std::string to_string(const Array& array) {
  if (!array.exists()) return "no array";
  const Shape& shape = array.shape();
  std::string text;
  for (Dim i = 0; i < array.size(); ++i) {
    Dim block = 1;  // a bracket opens where the index of all later axes is zero
    std::string open, close;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      block *= shape[axis];
      if (i % block == 0) open += '[';
      if ((i + 1) % block == 0) close += ']';
    }
    if (i > 0) text += ", ";
    text += open;
    message::append(text, value_of(array[i]));
    text += close;
  }
  return array.size() == 0 ? "[] " + to_string(shape) : text;
}

std::vector<double> to_vector(const Array& array) {
  std::vector<double> values(static_cast<std::size_t>(array.size()));
  std::transform(array.data(), array.data() + array.size(), values.begin(), value_of);
  return values;
}

}  // namespace fledge

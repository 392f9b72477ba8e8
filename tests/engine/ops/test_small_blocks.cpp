// Ops in small blocks, on two threads, over memory full of NaN: the same bits as in one block.
#include "engine/masks.h"
#include "tests/engine/ops/passes.h"
#include "tests/support/blocking.h"

using namespace tests;

namespace {

struct Op {
  const char* name;
  Function f;
  std::vector<Array> inputs;
};

Blocking blocks_of_op(Dim numbers, Dim rows) {
  Blocking sizes = kernels::blocking;
  sizes.serial_work = sizes.unpacked_n = 0;
  sizes.packed_panels = 1;
  sizes.tasks = 100;
  sizes.task_numbers = numbers;
  sizes.task_rows = rows;
  sizes.block_k = sizes.packed_numbers = numbers;
  sizes.cached_numbers = 0;
  sizes.block_queries = sizes.small_head_queries = rows;
  return sizes;
}

std::vector<Op> ops_of(Dim rows, Dim n) {
  const Array x = uniform({rows, n}, 1), y = uniform({rows, n}, 2), row = uniform({n}, 3);
  std::vector<Dim> targets;
  for (Dim r = 0; r < rows; ++r) targets.push_back(r % n);
  return {
      {"gelu", [](const Tensors& t) { return gelu(t[0]); }, {x}},
      {"gelu_tanh", [](const Tensors& t) { return gelu_tanh(t[0]); }, {x}},
      {"exp", [](const Tensors& t) { return exp(t[0]); }, {x}},
      {"product", [](const Tensors& t) { return t[0] * t[1]; }, {x, y}},
      {"bias", [](const Tensors& t) { return t[0] + t[1]; }, {x, row}},
      {"softmax", [](const Tensors& t) { return softmax(t[0]); }, {x}},
      {"layer_norm", [](const Tensors& t) { return layer_norm(t[0], t[1], t[2]); }, {x, row, row}},
      {"matmul", [](const Tensors& t) { return matmul(t[0], transpose(t[1])); }, {x, y}},
      {"linear",
       [](const Tensors& t) { return linear(t[0], t[1], t[2]); },
       {x, uniform({n, rows}, 4), uniform({rows}, 5)}},
      {"cross_entropy",
       [=](const Tensors& t) {
         return cross_entropy(t[0], Indices({rows}, targets),
                              rows > 1 ? std::optional(Dim{1}) : std::nullopt);
       },
       {x}},
      {"attention",
       [](const Tensors& t) { return attention(t[0], 2, causal()); },
       {uniform({2, rows, 6 * n}, 6)}},
  };
}

}  // namespace

TEST_CASE("ops in small blocks give the same bits, over memory full of NaN") {
  for (const Dim block : {2, 5})
    for (const Dim rows : around(block))
      for (const Dim n : around(block + 1))
        for (const Op& op : ops_of(rows, n)) {
          const Array dy = uniform(value(op.f, op.inputs).shape(), 7);
          const Pass whole = pass(op.f, op.inputs, dy);
          const Blocked blocked(blocks_of_op(block + 1, block), 2);
          const Pass found = pass(op.f, op.inputs, dy);
          INFO(op.name << " of " << rows << " x " << n << " in blocks of " << block);
          REQUIRE(same_bits(found.y, whole.y));
          for (std::size_t i = 0; i < found.dx.size(); ++i)
            REQUIRE(same_bits(found.dx[i], whole.dx[i]));
        }
}

// Programs that must not compile, a macro each, and the compiler must say why in one sentence.
#include "fledge.h"
using namespace fledge;

struct Net {
  Linear layer;
#ifndef FORGOTTEN_VISIT
  void visit(auto&& f) const { f("layer", layer); }
#endif
};

int main() {
  Rng rng(1);
  const Net net{Linear(2, 3, rng)};
  parameters(net);
  const Tensor x = parameter(Array::ones({3}));
#ifdef TENSOR_RULE
  record("mine", x.value(), wrt(x, [](const Tensor& dy) { return dy * 2.0; }));
#endif
#ifdef INDICES_AS_TENSOR
  net.layer(Indices{1, 2});
#endif
}

// A user's first program: L = Σ x², so dx = 2·x.
#include "engine/autograd.h"
#include "engine/ops.h"

int main() {
  const fledge::Tensor x = fledge::parameter(fledge::Array({3}, {1, -2, 3}));
  fledge::backward(sum(x * x));
  for (fledge::Dim i = 0; i < x.size(); ++i)
    if (x.grad()[i] != 2 * x.value()[i]) return 1;
}

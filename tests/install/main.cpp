// A user's first program: L = Σ x², so dx = 2·x. And a language model of the one header.
#include "fledge.h"

int main() {
  fledge::Rng rng(1);
  const fledge::LanguageModel model({.vocabulary = 3, .context = 2}, rng);
  if (model(fledge::Indices({1, 2}, {0, 2})).shape() != fledge::Shape{1, 2, 3}) return 1;
  const fledge::Tensor x = fledge::parameter(fledge::Array({3}, {1, -2, 3}));
  fledge::backward(sum(x * x));
  for (fledge::Dim i = 0; i < x.size(); ++i)
    if (x.grad()[i] != 2 * x.value()[i]) return 1;
}

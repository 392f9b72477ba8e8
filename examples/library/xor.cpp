#include <iostream>
#include "fledge.h"
using namespace fledge;

struct Net {  // a module: named parts, and one line that lists them
  Linear in, out;
  Tensor operator()(const Tensor& x) const { return out(tanh(in(x))); }
  void visit(auto&& f) const { f("in", in), f("out", out); }
};

int main() {
  Rng rng(1);
  const Net net{Linear(2, 8, rng), Linear(8, 1, rng)};
  const Array x({4, 2}, {0, 0, 0, 1, 1, 0, 1, 1}), wanted({4, 1}, {0, 1, 1, 0});
  AdamW adamw(parameters(net), {.rate = 0.05, .decay = 0});
  for (int step = 1; step <= 200; ++step) {
    const Tensor error = net(x) - wanted, loss = mean(error * error);
    adamw.zero_grad();
    backward(loss);
    adamw.step();
    if (step % 50 == 0) std::cout << "step " << step << "  loss " << loss << '\n';
  }
  save(net, "xor.safetensors");  // load(net, "xor.safetensors") reads it into a net of this shape
  std::cout << "xor: " << net(x) << '\n';
  return max(abs(net(x) - wanted)).item() < 0.01 ? 0 : 1;
}

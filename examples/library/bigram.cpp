// A bigram model: a table of which character follows which, learned by gradients. Its loss can only
// come near that of counting, the entropy of the pairs: the program prints both.
#include <cmath>
#include <iostream>
#include <string>
#include "fledge.h"
using namespace fledge;

int main() {
  const std::string text =
      "birds sometimes walk slowly. cats sometimes walk quietly. birds are good at flying. "
      "cats are good at climbing. ";
  const Dim V = 128, pairs = static_cast<Dim>(text.size()) - 1;  // characters of ASCII
  std::vector<Dim> now, next;
  Array counts = Array::zeros({V, V});
  for (Dim i = 0; i < pairs; ++i) {
    now.push_back(text[static_cast<std::size_t>(i)]);
    next.push_back(text[static_cast<std::size_t>(i) + 1]);
    counts.write()[now.back() * V + next.back()] += 1;
  }
  const Indices inputs({pairs}, now), targets({pairs}, next);

  Rng rng(1);
  const Embedding table(V, V, rng);  // row i: the logits of what follows character i
  AdamW adamw(parameters(table), {.rate = 0.1, .decay = 0});
  double loss = 0;
  for (int step = 1; step <= 300; ++step) {
    const Tensor y = cross_entropy(table(inputs), targets);
    adamw.zero_grad();
    backward(y);
    adamw.step();
    loss = y.item();
    if (step % 100 == 0) std::cout << "step " << step << "  loss " << loss << '\n';
  }

  // −Σ count·log(count / row sum) / pairs, over what occurs
  const Tensor share = counts / maximum(sum(counts, {1}, true), 1.0);
  const Tensor terms = where(counts > 0.0, counts * log(maximum(share, 1e-9)), 0.0);
  const double entropy = -sum(terms).item() / static_cast<double>(pairs);
  std::cout << "loss of counting " << entropy << "\nafter 'b' comes '"
            << static_cast<char>(argmax(table(Indices{'b'}))[0]) << "'\n";
  return std::abs(loss - entropy) < 0.02 ? 0 : 1;
}

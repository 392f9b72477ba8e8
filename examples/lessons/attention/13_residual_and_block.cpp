// The residual connection, layer norm, and the block: dirty quantum plumbing.
//
// Works out note 003, "Attention Blocks": items 003.2 to 003.10 of examples/NOTES.md. Key idea:
// attention gives a change dE, and E' = E + dE keeps the word. Sums of many changes grow, so layer
// norm brings each vector back to one size before it is read. The note writes words in columns.
// Next: 14_many_heads.cpp; nn/layers/block.h, the same in the library.
#include <array>
#include <cmath>

#include "engine/autograd.h"
#include "examples/lessons/lesson_page.h"
#include "examples/lessons/tensors.h"
#include "examples/support/table.h"
#include "nn/layers/block.h"
#include "nn/optim/sgd.h"

namespace fledge {

namespace {

using support::formatted, support::Lesson, support::Table;

constexpr std::array words{"dirty", "quantum", "plumbing"};

/// The words, one a row: is it an adjective; how much dirt, physics, pipes.
Tensor embeddings() { return Array({3, 4}, {1, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1}); }
/// W_V, in the note M_V: it passes on all but the first number.
Tensor value_matrix() { return Array({4, 4}, {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}); }
/// The note's pattern: its columns are these rows.
Tensor wanted() { return Array({3, 3}, {1, 0, 0, 0.9, 0.1, 0, 0.55, 0.4, 0.05}); }

struct Projections {
  Tensor query, key;  // W_Q, W_K (4, 4)
};

/// W_K is the identity matrix. The query of 'quantum' is the third row of W_Q, and that of
/// 'plumbing' the fourth. The 2 undoes the scale 1/√4.
Projections by_hand() {
  const double nine = 2 * std::log(9), eleven = 2 * std::log(11), eight = 2 * std::log(8);
  return {Array({4, 4}, {0, 0, 0, 0, 0, 0, 0, 0, 0, nine, 0, 0, 0, eleven, eight, 0}),
          Array({4, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1})};
}

/// softmax(Q·Kᵀ/√4, causal), and the same times V: dE.                                E (3, 4)
AttentionOutput attend_to(const Tensor& E, const Projections& W) {
  return attend(matmul(E, W.query), matmul(E, W.key), matmul(E, value_matrix()), 1, causal());
}
Tensor pattern(const Projections& W) { return reshape(attend_to(embeddings(), W).weights, {3, 3}); }

/// SGD on L = −Σ a*_ij·ln a_ij over the visible words, which is least where a is a*. Returns the
/// largest error of the pattern.
double error_after_training(std::uint64_t seed) {
  Rng rng(seed);
  const auto draw = [&] { return parameter(random_normal({4, 4}, 0, 0.5, rng)); };
  const Tensor query = draw();
  const Projections W{query, draw()};
  Sgd optimizer({W.query, W.key}, {.rate = 0.5, .momentum = 0.9});
  for (int step = 0; step < 300; ++step) {
    optimizer.zero_grad();
    backward(-sum(wanted() * log(where(wanted().value(), pattern(W), 1.0))));
    optimizer.step();
  }
  return farthest(pattern(W), wanted());
}

/// The weights of 'plumbing' with a query that is `length` times as long.
Tensor with_longer_query(double length) {
  return row(pattern({by_hand().query * length, by_hand().key}), 2);
}

void pattern_by_hand(Lesson& to) {
  to.part("A pattern, and matrices that make it");
  to.say(
      "The vector E of a word has four numbers. The first is 1 for an adjective. The others say "
      "how much the word has to do with dirt, physics and pipes: 'dirty' (1, 1, 0, 0), 'quantum' "
      "(1, 0, 1, 0), 'plumbing' (0, 0, 0, 1).\nThe phrase comes from note 003, one of the source "
      "notes. There 'dirty' sees only itself. 'quantum' gives 'dirty' the weight 0.9 and itself "
      "0.1. 'plumbing' gives 'dirty' 0.55, 'quantum' 0.4 and itself 0.05. The note writes the "
      "weights of a word in a column; we write them in a row.\nA weight is exp(score) divided by "
      "the sum of its row, so only differences of scores matter. For 'plumbing' the scores of "
      "'dirty' and 'quantum' must be larger than its own by ln(0.55/0.05) = ln 11 and ln(0.4/0.05) "
      "= ln 8. For 'quantum' it is ln(0.9/0.1) = ln 9. W_K is the identity matrix, so a key is E. "
      "W_Q gives 'quantum' the query (0, 2 ln 9, 0, 0) and 'plumbing' (0, 2 ln 11, 2 ln 8, 0). "
      "There is a 2 because the scale divides by sqrt(4) = 2.\n");
  const Tensor S = matmul(matmul(embeddings(), by_hand().query), transpose(embeddings())) / 2;
  Table table = Table::of_numbers({"   word", "scores", "exp of the scores", "sum", "weights"});
  for (Dim i = 1; i < 3; ++i) {
    const Tensor s = slice(row(S, i), 1, 0, i + 1);  // the visible words
    table.row({formatted("   %s", words[static_cast<std::size_t>(i)]), text_of(s), text_of(exp(s)),
               text_of(sum(exp(s)), "%5.2f"), text_of(softmax(s))});
  }
  to.show(table.text());
  to.say(
      "'quantum' is an adjective itself and needs no other adjective. But its weights must add up "
      "to 1, and it sees only 'dirty' and itself. Training finds such matrices too, from a random "
      "start. Its loss compares the weights with those of the note.\n");
  to.define("SGD",
            "Stochastic gradient descent: an optimizer that subtracts the gradient, times the "
            "learning rate, from the parameters.");
  to.define("momentum",
            "A running sum of all gradients so far, in which older ones count less; a step uses it "
            "in place of the newest gradient alone.");
  int reached = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed)
    reached += error_after_training(seed) < 1e-4 ? 1 : 0;
  to.claim(farthest(pattern(by_hand()), wanted()) < 1e-12, "the matrices by hand make the pattern");
  to.claim_rate(reached, 100, 100, "SGD with momentum makes it too, in 300 steps");
  to.say(
      "\nThe note says that a key matches a query if both have the same direction. Length counts "
      "as well. A query that is three times as long has scores that are three times as large, and "
      "exp(3 s) = exp(s)^3. So 'plumbing' then gives 'dirty' 11^3/(11^3 + 8^3 + 1) = 0.72.\n");
  to.claim_near(to_vector(with_longer_query(3).value())[0], 1331.0 / 1844, 1e-12,
                "'plumbing' gives 'dirty', with such a query");
}

void residual(Lesson& to) {
  to.part("The residual connection: E' = E + dE");
  to.define("residual connection", "Adding the input of a calculation to its result: E' = E + dE.");
  const Tensor E = parameter(embeddings().value()), V = matmul(embeddings(), value_matrix());
  const Tensor dE = matmul(wanted(), V), after = embeddings() + dE;
  to.say(
      "\ndE is what attention adds to E. W_V passes on all but the first number of E. So the "
      "values are V_0 = (0, 1, 0, 0), V_1 = (0, 0, 1, 0) and V_2 = (0, 0, 0, 1). Attention gives "
      "each word a mixture of values: dE_0 = V_0, dE_1 = 0.9 V_0 + 0.1 V_1, and dE_2 = 0.55 V_0 + "
      "0.4 V_1 + 0.05 V_2.\n");
  Table table = Table::of_numbers({"   word", "E", "dE", "E' = E + dE"});
  for (Dim i = 0; i < 3; ++i)
    table.row({formatted("   %s", words[static_cast<std::size_t>(i)]), text_of(row(E, i), "%3.0f"),
               text_of(row(dE, i)), text_of(row(after, i))});
  to.show(table.text());
  backward(row(E + matmul(wanted(), matmul(E, value_matrix())), 2), Array({1, 4}, {0, 0, 0, 1}));
  const double slope = to_vector(row(E.grad(), 2).value())[3];
  to.say(
      "The last number says how much the word has to do with pipes. In dE of 'plumbing' only 0.05 "
      "of 1 is left; in E' it is 1.05. If you predicted 5 %, you were right for dE. Models "
      "therefore add E.\nAdding E helps the gradient as well. Let the last number of E grow by a "
      "small number h, and keep the weights of attention as they are. Then the last number of dE "
      "grows by 0.05 h, and the last number of E' by h + 0.05 h. So the derivative is 1.05, and "
      "without E it is 0.05. If twelve such calculations with the same weights follow each other, "
      "the derivative is the product of twelve: " +
      formatted("1.05^12 = %.2f with E, and 0.05^12 = %.0e without. ", std::pow(1.05, 12),
                std::pow(0.05, 12)) +
      "The second number is so small that training hardly changes the first calculation.\n");
  to.claim(farthest(attend_to(embeddings(), by_hand()).output, dE) < 1e-12,
           "attention with the matrices by hand gives all three dE");
  to.claim_near(slope, 1.05, 1e-12, "the same derivative by the backward pass, weights fixed");
  bool refused = false;
  try {
    embeddings() + matmul(wanted(), Array::ones({3, 6}));
  } catch (const ShapeError&) {
    refused = true;
  }
  to.claim(refused, "a dE with 6 numbers for each word cannot be added to an E with 4");
  to.slip("003", "translates them [the vectors E] to a higher dimensional context space",
          "E has 4 numbers for each word; a dE with 6 numbers cannot be added to it",
          "dE must have as many numbers as E; in a head a value may have fewer, in GPT-2 small 64; "
          "one more matrix, the output matrix, makes 768 numbers from the results of all heads");
}

/// (x − mean)/√variance of each row.
Tensor norm(const Tensor& x) {
  const Tensor centred = x - mean(x, {-1}, true);
  return centred / sqrt(mean(pow(centred, 2.0), {-1}, true));
}

/// The root of the mean square of all numbers.
double size_of(const Tensor& x) { return std::sqrt(mean(pow(x, 2.0)).item()); }

enum class Norm { without, with };

/// x ← x + attention(norm(x)) or x + attention(x), 12 times, with random matrices.     x (8, 16)
/// Returns the size of x before the first layer and after each layer.
std::vector<double> twelve_layers(Norm kind, std::uint64_t seed) {
  Rng rng(seed);
  const auto draw = [&](Dim rows, double sd) { return random_normal({rows, 16}, 0, sd, rng); };
  Tensor x = draw(8, 1);
  std::vector<double> sizes{size_of(x)};
  for (int layer = 0; layer < 12; ++layer) {
    const Tensor read = kind == Norm::with ? norm(x) : x;
    const Tensor W_Q = draw(16, 0.4), W_K = draw(16, 0.4), W_V = draw(16, 0.4);
    x = x + attend(matmul(read, W_Q), matmul(read, W_K), matmul(read, W_V), 1, Mask()).output;
    sizes.push_back(size_of(x));
  }
  return sizes;
}

void norm_and_block(Lesson& to) {
  to.part("Layer norm and the block");
  to.define("layer", "One stage of a model; the next layer reads its result.");
  to.define("layer norm (LayerNorm)",
            "A calculation that shifts and scales the numbers of a vector to mean 0 and variance "
            "1, then multiplies each number by a parameter and adds another parameter.");
  const Tensor x = Array({1, 4}, {0, 0.55, 0.4, 1.05});
  const Tensor centred = x - mean(x), squares = pow(centred, 2.0);
  to.say(
      "\nAt first all factors are 1 and 0 is added, so we leave the parameters out. Take E' of "
      "'plumbing':\n");
  to.show("   the vector             " + text_of(x, "%8.4f"));
  to.show(formatted("   minus its mean %.2f    ", mean(x).item()) + text_of(centred, "%8.4f"));
  to.show(formatted("   variance: mean of squares %.5f; its root is %.4f", mean(squares).item(),
                    std::sqrt(mean(squares).item())));
  to.show("   divided by the root    " + text_of(norm(x), "%8.4f") + "\n");
  to.say(
      "Each residual connection adds something, so vectors usually grow from layer to layer. "
      "Longer vectors give larger scores, and then one word gets nearly all the weight, as in "
      "lesson 04. The vectors x of eight words are random. They pass 12 layers with random "
      "matrices. Here a layer is attention alone: x becomes x + attention(x), or x + "
      "attention(norm(x)); norm is layer norm. The table shows the root of the mean square of "
      "x.\n");
  Table table = Table::of_numbers({"   after layer", "0", "3", "6", "9", "12"});
  for (const Norm kind : {Norm::without, Norm::with}) {
    const std::vector<double> sizes = twelve_layers(kind, 1);
    table.row({kind == Norm::with ? "   x + attention(norm(x))" : "   x + attention(x)",
               formatted("%.1f", sizes[0]), formatted("%.1f", sizes[3]),
               formatted("%.1f", sizes[6]), formatted("%.1f", sizes[9]),
               formatted("%.1f", sizes[12])});
  }
  to.show(table.text());
  to.say("With layer norm each layer reads numbers of size 1, and x grows little.\n");
  int holds = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const double free = twelve_layers(Norm::without, seed)[12];
    holds += free > 20 * twelve_layers(Norm::with, seed)[12] ? 1 : 0;
  }
  to.claim(std::abs(size_of(norm(x)) - 1) < 1e-12 && std::abs(sum(norm(x)).item()) < 1e-12,
           "after layer norm the mean is 0 and the variance 1");
  to.claim_rate(holds, 20, 20, "without layer norm x is over 20 times as large as with it");
  to.define("block",
            "The usual layer of a model: attention, then a second part that works on each word by "
            "itself, each with a residual connection.");
  to.say(
      "\n   x becomes x + attention(norm(x)), then x becomes x + second part(norm(x)).\n \nLesson "
      "17 shows what the second part computes.\nNote 003 calls heads 'layered'. But the heads of "
      "one layer stand side by side; layers stand one behind the other.\n");
  Rng rng(1);
  const Block block(16, 2, 32, rng);
  const Tensor input = random_normal({8, 16}, 0, 1, rng);
  const Tensor seen = input + block.attn(block.ln_1(input));
  to.claim(farthest(block(input), seen + block.mlp(block.ln_2(seen))) == 0,
           "the block of the library computes these two steps");
  const std::int64_t n = 768, layers = 12, table_rows = 50257 + 1024;  // GPT-2 small
  const std::int64_t qkv = layers * 3 * n * n, matrices = layers * 4 * n * n;
  const std::int64_t attention = matrices + layers * 4 * n;
  const std::int64_t second = layers * (8 * n * n + 5 * n), norms = (2 * layers + 1) * 2 * n;
  const std::int64_t all = attention + second + norms + table_rows * n;
  to.claim(all == 124439808 && matrices == 28311552,
           "the numbers of GPT-2 small, a published model, in the slip below");
  const auto share = [&](std::int64_t part) {
    return support::percent(static_cast<double>(part) / static_cast<double>(all));
  };
  to.slip("003", "These three matrices make up the parameters of the model",
          "in GPT-2 small they have " + support::thousands(qkv) + " of " + support::thousands(all) +
              " numbers: " + share(qkv) + "; with the output matrices " +
              support::thousands(matrices) + ": " + share(matrices),
          "most are in the second part of the blocks (" + share(second) +
              ") and in the tables of embeddings (" + share(table_rows * n) + ")");
}

void length(Lesson& to, double times) {
  const std::vector<double> a = to_vector(with_longer_query(times).value());
  to.say(
      formatted("The query of 'plumbing' is %g times as long, in the same direction. ", times) +
      formatted("Its weights: 'dirty' %.2f, 'quantum' %.2f, 'plumbing' %.2f. ", a[0], a[1], a[2]) +
      "The longer the query, the more 'dirty' gets, because its score is the largest.\n");
  const double sum = std::pow(11, times) + std::pow(8, times) + 1;
  to.claim_near(a[0], std::pow(11, times) / sum, 1e-9, "'dirty': 11^X/(11^X + 8^X + 1)");
}

void lesson(Lesson& to) {
  pattern_by_hand(to);
  residual(to);
  norm_and_block(to);
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(
      argc, argv,
      {.name = "attention/13_residual_and_block",
       .title = "Dirty quantum plumbing: how a word stays itself, and numbers keep their size",
       .question =
           "Attention gives a word a mixture of values. How does the word keep its own meaning? "
           "What keeps the numbers at one size?",
       .prediction =
           "'plumbing' gives 'dirty' the weight 0.55, 'quantum' 0.40 and itself 0.05. How much of "
           "its own vector is in the mixture: all of it, half, or 5 %?",
       .body = fledge::lesson,
       .reading = {{"nn/layers/block.h", "Block", "the two lines of a block"},
                   {"nn/layers/layer_norm.h", "LayerNorm", "with its parameters"}},
       .plays = {{.option = "--length",
                  .value = "3",
                  .help = "the weights of 'plumbing' with a query that is 3 times as long",
                  .limits = {0, 20},
                  .with_number = fledge::length}}});
}

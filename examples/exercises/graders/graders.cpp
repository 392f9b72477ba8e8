// The graders of the exercises, in their order. The dual build computes as double does.
#include "engine/gradcheck/gradcheck.h"
#include "examples/exercises/graders/grading.h"
#include "examples/exercises/training/entry.h"

namespace exercises {

using fledge::Array, fledge::Dim, fledge::normal, fledge::number, fledge::row, fledge::Tensor;

namespace {

Tensor column(const Tensor& x, Dim j) { return slice(x, 1, j, j + 1); }

/// Which element, row by row, is the first that differs by more than 1e-9; their count if none does.
Dim first_difference(const Tensor& a, const Tensor& b) {
  const Row x = numbers(a), y = numbers(b);
  const auto is_same = [](double p, double q) { return std::abs(p - q) <= 1e-9; };
  return std::mismatch(x.begin(), x.end(), y.begin(), is_same).first - x.begin();
}

/// 1 where the row is larger than the column, else 0. (4, 4)
Tensor below_diagonal() { return tensor({{0, 0, 0, 0}, {1, 0, 0, 0}, {1, 1, 0, 0}, {1, 1, 1, 0}}); }

/// v_j·v_k; those with 'birds' are {{p1}}, -{{p2}} and -{{p3}}.
Tensor word_products(Grading& to) {
  const Tensor v = fledge::vectors_of_note_000();
  Tensor products = matmul(v, transpose(v));
  to.let("p1", at(products, 0, 0), "p2", -at(products, 1, 0), "p3", -at(products, 2, 0));
  return products;
}

/// Orthonormal: each has the length 1, and two different ones have the product 0.
Tensor four_keys() {
  return tensor({{0.5, 0.5, 0.5, 0.5},
                 {0.5, -0.5, 0.5, -0.5},
                 {0.5, 0.5, -0.5, -0.5},
                 {0.5, -0.5, -0.5, 0.5}});
}

struct Look {
  Row scores, weights;
  Tensor result;
};

/// The scores k_j·q, their softmax, and c = Σ_j a_j·v_j; shown as a table.
Look show_look(Grading& to, const Tensor& query) {
  const Tensor scores = matmul(query, transpose(four_keys())), weights = softmax(scores),
               c = matmul(weights, tensor({{1, 0}, {0, 1}, {-1, 0}, {0, -1}}));
  to.table({{"key", {"k_1", "k_2", "k_3", "k_4"}},
            {"score k_j.q", rounded(scores, "%.4f")},
            {"weight a_j", rounded(weights, "%.6f")},
            {"value v_j", {"(1, 0)", "(0, 1)", "(-1, 0)", "(0, -1)"}}});
  to.let("c1", at(c, 0, 0), "c2", at(c, 0, 1));
  to.say("look");
  return {numbers(scores), numbers(weights), c};
}

/// The new vector of the first 'bites', with random vectors of the words and random matrices.
Tensor vector_of_bites(const std::string& sentence) {
  fledge::Rng rng(1);
  const auto random = [&](Dim rows) { return Tensor(normal({rows, 4}, rng)); };
  const Tensor words = random(3), W_Q = random(4), W_K = random(4), W_V = random(4);
  std::vector<Dim> ids;
  for (const std::string& word : fledge::words_of(sentence))
    ids.push_back(word == "dog" ? 0 : word == "man" ? 1 : 2);
  const Tensor X = embedding(words, fledge::Indices({static_cast<Dim>(ids.size())}, ids));
  const Tensor y = attention(matmul(X, W_Q), matmul(X, W_K), matmul(X, W_V), 1, fledge::Mask());
  return row(y, std::find(ids.begin(), ids.end(), 2) - ids.begin());
}

/// How many players look at `theirs`, a 1 in each row, more than at each other player.
int count_who_look_at(const Tensor& theirs, const Tensor& weights) {
  const Row ahead = numbers(sum(weights * theirs, {1}) - max(weights * (1 - theirs), {1}));
  return fledge::count_of(ahead, [](double x) { return x > 0; });
}

// -- 1 to 4: the association of 'walk' with 'birds', and what moves it ----------------------------
void forget_birds(Grading& to) {
  const Tensor a = to.ask("row", forgetting_row(), 3);
  if (!to.accepted()) return;
  const Tensor p = column(word_products(to), 0), others = slice(p, 0, 1, 3);
  const double exact = matmul(a, p).item(), product = std::abs(exact) < 1e-15 ? 0 : exact;
  const double least = -max(others / (at(p, 0, 0) - others)).item();  // with one other word alone
  to.let("mixture", text_of(numbers(matmul(a, fledge::vectors_of_note_000()))), "product", product,
         "weight", at(a, 0, 0), "least", least);
  to.say("worked");
  to.claim_legal(a);
  to.claim("zero", is_near(product, 0, 1e-9),
           {{"rounded", std::abs(product) < 5e-4}, {"negative", product < 0}});
}

void largest_association(Grading& to) {
  const double number = largest_product();
  const Tensor a = to.ask("row", nearest_row(), 3), p = column(word_products(to), 0);
  to.ask("number", number);
  if (!to.accepted()) return;
  const double product = matmul(a, p).item(), ceiling = max(p).item();
  to.let("product", product, "number", number);
  to.say("worked");
  to.claim_legal(a);
  to.claim("most", is_near(product, ceiling, 1e-9), {{"less", product < ceiling}});
  to.claim("agrees", is_near(number, product, 1e-9));
}

void control(Grading& to) {
  const double number = product_with_sometimes();
  to.ask("number", number);
  const Tensor a = to.ask("row", control_row(), 3), p = word_products(to);
  if (!to.accepted()) return;
  const Tensor note = matmul(tensor({{0.6, 0.1, 0.4}}), p);
  const double product = at(note, 0, 1), yours = at(matmul(a, p), 0, 1);
  const double before = at(p, 2, 1), largest = at(p, 1, 1);
  to.let("v1.v2", at(p, 0, 1), "v2.v2", largest, "v3.v2", before, "yours", yours, "number", number,
         "before", before, "after", product, "rise", product - before, "rise of birds",
         at(note, 0, 0) - at(p, 2, 0));
  to.say("worked");
  to.claim(
      "product", is_near(number, product, 1e-9),
      {{"before", is_near(number, before, 1e-9)}, {"legal", is_near(number, product / 1.1, 1e-6)}});
  to.claim_legal(a);
  to.claim("most", is_near(yours, largest, 1e-9), {{"less", yours < largest}});
}

void turn_a_head(Grading& to) {
  const Tensor v = fledge::vectors_of_note_000(), p = row(word_products(to), 0);
  // The scores at the start, with W_Q = W_K = 1.
  const Tensor s = fledge::parameter((matmul(row(v, 2), transpose(v)) / std::sqrt(3.0)).value());
  const Tensor weights = softmax(s), association = sum(weights * p);
  backward(association);
  const Tensor a = weights.detach(), right = s.grad();
  const double L = association.item();
  Row answer;
  for (Dim j = 0; j < 3; ++j) answer.push_back(gradient_of_score({at(a, 0, j), at(p, 0, j), L}));
  const Tensor yours = to.ask("gradients", answer, 3);
  if (!to.accepted()) return;
  to.table({{"word", {"birds", "sometimes", "walk"}},
            {"a_j", rounded(a, "%.4f")},
            {"v_j.v1", rounded(p, "%.2f")},
            {"v3'.v1", rounded(tensor({Row(3, L)}), "%.4f")},
            {"yours", rounded(yours, "%.4f")},
            {"backward()", rounded(right, "%.4f")}});
  const auto is = [&](const Tensor& formula) { return is_near(yours, formula, 1e-12); };
  to.let("sum", sum(yours).item(), "apart", farthest(yours, right));
  to.claim("zero", is_near(sum(yours), 0, 1e-12));
  to.claim("agrees", is(right),
           {{"reversed", is(-right)},
            {"alone", is(a * (1 - a) * p)},
            {"part", is(a * p)},
            {"unweighted", is(right / a)}});
}

// -- 5 to 8: a query that copies or averages values, and noise in its keys -------------------------
void copy_a_value(Grading& to) {
  const Tensor query = to.ask("query", copying_query(), 4);
  if (!to.accepted()) return;
  const auto [s, weights, c] = show_look(to, query);
  const double gap = s[1] - std::max({s[0], s[2], s[3]});
  to.let("gap", gap, "share", std::exp(-gap), "weight", weights[1]);
  to.let("others", to.sentence(gap < 700 ? "small" : "zero"));
  to.claim("largest", gap > 0);
  to.claim("copied", is_near(c, tensor({{0, 1}}), 1e-3), {{"near", gap > 0}});
}

void average_values(Grading& to) {
  const Tensor query = to.ask("query", averaging_query(), 4);
  if (!to.accepted()) return;
  const auto [s, weights, c] = show_look(to, query);
  const double rest = weights[1] + weights[2];
  const bool are_zero = is_near(s[1], 0, 1e-9) && is_near(s[2], 0, 1e-9);
  const Tensor upset = softmax(tensor({{1, 0}}));
  to.let("apart", s[0] - s[3], "rest", rest, "weight 1", weights[0], "weight 4", weights[3],
         "upset 1", at(upset, 0, 0), "upset 2", at(upset, 0, 1));
  to.claim("equal", is_near(weights[0], weights[3], 1e-3));
  to.claim("mean", is_near(c, tensor({{0.5, -0.5}}), 1e-3),
           {{"zero", rest > 1e-3 && are_zero}, {"near", rest > 1e-3}});
}

void three_to_one(Grading& to) {
  const Tensor query = to.ask("query", three_to_one_query(), 4);
  if (!to.accepted()) return;
  const auto [s, weights, c] = show_look(to, query);
  const double gap = s[0] - s[1], rest = weights[2] + weights[3];
  to.let("gap", gap, "ratio", std::exp(gap), "rest", rest, "gap to 4", gap, "ln 3", std::log(3.0));
  to.claim("ratio", is_near(std::exp(gap), 3, 0.01), {{"finite", std::abs(gap) < 700}});
  to.claim("weights", is_near(weights[0], 0.75, 1e-3) && is_near(weights[1], 0.25, 1e-3),
           {{"rest", rest > 1e-3}});
}

void noisy_key(Grading& to) {
  const Row alphas{0.0001, 0.01, 4};
  Row answer;
  for (const double alpha : alphas) answer.push_back(deviation_of_key(alpha));
  const Tensor d = to.ask("d", answer, 3), alpha = tensor({alphas});
  if (!to.accepted()) return;
  fledge::Rng rng(1);  // 4000 keys of six numbers
  const Tensor noise = Tensor(normal({4000 * 6, 1}, rng)) * d,
               variance = mean(noise * noise, {0}, true);
  to.table({{"alpha", rounded(alpha, "%g")},
            {"your d", rounded(d)},
            {"measured variance", rounded(variance, "%.4g")},
            {"variance / alpha", rounded(variance / alpha, "%.4g")}});
  const double beta = 10;
  to.let("variance", at(variance, 0, 1), "d d", at(d * d, 0, 1), "deviation",
         2 * beta * at(d, 0, 0), "deviation of the note", 2 * beta * alphas[0]);
  to.claim("positive", max(-d).item() <= 0);
  to.claim("measured", is_near(variance / alpha, 1, 0.05), {{"alpha", is_near(d, alpha, 1e-12)}});
  to.claim("exact", is_near(d * d / alpha, 1, 1e-9));
}

// -- 9 to 11: a head by hand, its mask, and the order of words -------------------------------------
void blue_bird(Grading& to) {
  const Tensor W_Q = to.ask("W_Q", bird_query_matrix(), 4, 1),
               W_K = to.ask("W_K", bird_key_matrix(), 4, 1);
  if (!to.accepted()) return;
  const Tensor X = tensor({{0, 0, 0, 0}, {0, 1, 1, 0}, {0, 1, 0, 1}, {1, 0, 0, 0}});
  const Tensor query = matmul(row(X, 3), W_Q), keys = transpose(matmul(X, W_K));
  const Row s = numbers(query * keys), weights = numbers(softmax(query * keys));
  const std::vector<std::string> words{"the", "fluffy", "blue", "bird"};
  to.table({{"'bird' looks at", words},
            {"query", rounded(tensor({Row(4, query.item())}))},
            {"key", rounded(keys)},
            {"score", rounded(query * keys)},
            {"weight", rounded(tensor({weights}), "%.4f")}});
  std::size_t best = 2;  // 'blue'
  for (const std::size_t j : {0u, 1u, 3u})
    if (s[j] >= s[best]) best = j;
  to.let("best", "'" + words[best] + (best == 3 ? "' itself" : "'"), "blue", weights[2], "fluffy",
         weights[1]);
  to.claim("blue", weights[2] > 0.9,
           {{"no query", query.item() == 0},
            {"same key", at(keys, 0, 1) == at(keys, 0, 2)},
            {"larger", s[best] > s[2]},
            {"same score", best != 2}});
  to.claim("fluffy", weights[1] < 0.05);
}

void mask_in_columns(Grading& to) {
  Matrix answers(4, Row(4));
  std::vector<Column> shown{{"", {"key 0", "key 1", "key 2", "key 3"}}};
  for (const int column : {0, 1, 2, 3}) shown.push_back({"query " + std::to_string(column), {}});
  for (std::size_t i = 0; i < 16; ++i) {
    const std::size_t row = i / 4, column = i % 4;
    const double answer = is_hidden(static_cast<int>(row), static_cast<int>(column));
    to.let("row", row, "column", column, "answer", answer);
    if (std::isnan(answer)) return void(to.ask("cell", answer));
    if (answer != 0 && answer != 1) return to.refuse("cell.else");
    answers[row][column] = answer;
    shown[column + 1].cells.emplace_back(answer == 1 ? "hidden" : "seen");
  }
  to.say("table");
  to.table(shown);
  const Tensor hidden = tensor(answers), later = below_diagonal();
  const Dim wrong = first_difference(hidden, later), row = wrong / 4 % 4, column = wrong % 4;
  to.let("row", row, "column", column);
  to.claim("causal", wrong == 16, {{"seen", row > column}});
  // Weights in the note's form: queries in columns, a softmax along each column.
  fledge::Rng rng(1);
  const Tensor scores = normal({4, 4}, rng);
  const Tensor shares = exp(transpose(scores)) * (1 - hidden),
               weights = shares / sum(shares, {0}, true);
  to.claim("same", is_near(transpose(weights), softmax(scores, fledge::causal()), 1e-12));
}

void word_order(Grading& to) {
  const Row answers = same_vector_of_bites();
  const Tensor given = to.ask("answers", answers, 5), wanted = vector_of_bites("dog bites man");
  if (!to.accepted()) return;
  Column sentences{"sentence", {}}, differences{"largest difference", {}};
  Row apart;
  for (std::size_t i = 0; i < 5; ++i) {
    to.let("answer", answers[i]);
    if (answers[i] != 0 && answers[i] != 1) return to.refuse("answers.else");
    const std::string text = to.sentence("sentence " + std::to_string(i + 1));
    apart.push_back(farthest(vector_of_bites(text), wanted));
    sentences.cells.push_back("'" + text + "'");
    differences.cells.push_back(apart[i] < 1e-12 ? "0, to rounding" : rounded(apart[i], "%.4f"));
  }
  to.say("table");
  to.table({sentences, {"answer", rounded(given)}, differences});
  for (std::size_t i = 0; i < 5; ++i) {
    const bool is_same = apart[i] < 1e-12;
    to.let("sentence", to.sentence("sentence " + std::to_string(i + 1)), "reason",
           to.sentence("reason " + std::to_string(i + 1)));
    to.claim("answer", (answers[i] == 1) == is_same, {{"same", is_same}});
  }
}

// -- 12 to 15: a row and a residual by hand, and what two matrices can do --------------------------
void row_by_hand(Grading& to) {
  const Tensor W_Q = to.ask("W_Q", plumbing_query_matrix(), 3, 4),
               W_K = to.ask("W_K", plumbing_key_matrix(), 3, 4);
  if (!to.accepted()) return;
  // Embeddings with one 1 take the rows out of the matrices.
  const Tensor products = matmul(row(W_Q, 2), transpose(W_K)), weights = softmax(products / 2);
  const Tensor wanted = tensor({{0.55, 0.4, 0.05}}), last = column(weights, 2);
  to.table({{"word", {"dirty", "quantum", "plumbing"}},
            {"q.k_j", rounded(products)},
            {"q.k_j / 2", rounded(products / 2)},
            {"weight", rounded(weights, "%.4f")},
            {"wanted", rounded(wanted, "%.2f")}});
  const Tensor ratios = weights / last, ahead = (products - column(products, 2)) / 2;
  to.let("ratio 0", at(ratios, 0, 0), "ratio 1", at(ratios, 0, 1), "ahead 0", at(ahead, 0, 0),
         "ahead 1", at(ahead, 0, 1), "ln 11", std::log(11.0), "ln 8", std::log(8.0));
  to.claim("row", is_near(weights, wanted, 1e-3),
           {{"undivided", is_near(softmax(products), wanted, 1e-3)},
            {"doubled", is_near(softmax(products / 4), wanted, 1e-3)},
            {"tiny", last.item() < 1e-9}});
}

void residual(Grading& to) {
  const Tensor M_V = to.ask("M_V", plumbing_value_matrix(), 3, 3);
  if (!to.accepted()) return;
  const Tensor before = tensor({{0, 0, 1}}), wanted = tensor({{1.1, 0.4, 1}}),
               change = matmul(tensor({{0.55, 0.4, 0.05}}), M_V), sum = before + change;
  to.let("before", text_of(numbers(before)), "change", text_of(numbers(change)), "sum",
         text_of(numbers(sum)), "wanted", text_of(numbers(wanted)));
  to.say("worked");
  const Dim wrong = first_difference(sum, wanted), i = wrong % 3;
  to.let("i", i + 1, "is", at(sum, 0, i), "must", at(wanted, 0, i), "must change",
         at(wanted - before, 0, i));
  to.claim("sum", wrong == 3, {{"alone", is_near(change, wanted, 1e-9)}});
}

void rock_paper_scissors(Grading& to) {
  const Tensor W_Q = to.ask("W_Q", game_query_matrix(), 3, 3),
               W_K = to.ask("W_K", game_key_matrix(), 3, 3);
  if (!to.accepted()) return;
  const Tensor S = matmul(W_Q, transpose(W_K)), weights = softmax(S);
  const Tensor beaten = tensor({{0, 0, 1}, {1, 0, 0}, {0, 1, 0}});
  const double largest = farthest(S, 0), least = -max(-sum(weights * beaten, {1})).item();
  const char* const format = largest < 1e4 ? "%.4g" : "%.1g";
  to.table({{"player", {"rock -> scissors", "paper -> rock", "scissors -> paper"}},
            {"S rock", rounded(column(S, 0), format)},
            {"S paper", rounded(column(S, 1), format)},
            {"S scissors", rounded(column(S, 2), format)},
            {"a rock", rounded(column(weights, 0), "%.4f")},
            {"a paper", rounded(column(weights, 1), "%.4f")},
            {"a scissors", rounded(column(weights, 2), "%.4f")}});
  const int right = count_who_look_at(beaten, weights);
  to.let("least", least, "right", right, "mirrored",
         count_who_look_at(beaten, softmax((S + transpose(S)) / 2)));
  to.claim("symmetric", farthest(S, transpose(S)) > 1e-9);
  to.claim("beaten", least > 0.9,
           {{"zero", largest == 0},
            {"reversed", count_who_look_at(transpose(beaten), weights) == 3},
            {"small", right == 3}});
}

void rank_of_scores(Grading& to) {
  const double size = smallest_head_size();
  if (!to.ask("D", size)) return;
  if (size < 1 || size > 4 || size != std::floor(size)) return void(to.claim("size", false));
  const auto D = static_cast<std::size_t>(size);
  const Tensor queries = to.ask("queries", table_queries(), 4, D),
               keys = to.ask("keys", table_keys(), 4, D);
  if (!to.accepted()) return;
  const Tensor scores = matmul(queries, transpose(keys)),
               wanted = tensor({{1, 0, 3, 1}, {2, 1, 0, 1}, {3, 1, 3, 2}, {0, -1, 6, 1}});
  // Rows 3 and 4 are made of rows 1 and 2, of which none is a multiple of the other.
  const Tensor first = row(wanted, 0), second = row(wanted, 1);
  const bool two_suffice =
      is_near(row(wanted, 2), first + second, 0) && is_near(row(wanted, 3), 2 * first - second, 0);
  const bool one_suffices = is_near(first * at(second, 0, 0), second * at(first, 0, 0), 0);
  const std::size_t rank = one_suffices ? 1 : two_suffice ? 2 : 4;
  std::string table;
  for (Dim i = 0; i < 4; ++i)
    table += (i == 0 ? "   " : "\n   ") + text_of(numbers(row(scores, i)));
  const Dim wrong = first_difference(scores, wanted), i = wrong / 4 % 4, j = wrong % 4;
  to.let("table", table, "apart", farthest(scores, wanted), "query", i + 1, "key", j + 1, "score",
         at(scores, i, j), "must", at(wanted, i, j), "rank", rank);
  to.say("table");
  to.claim("same", wrong == 16, {{"small", D < rank}});
  to.claim("smallest", D <= rank);
}

// -- 16 and 17: a wrong rule, and the slips of all notes -------------------------------------------
void mend_a_rule(Grading& to) {
  const double beta = 2, line = wrong_line();
  fledge::Rng rng(1);
  const Array scores = normal({2, 3}, rng);
  fledge::GradcheckReport report;
  double apart = 0;
  std::string shown;
  try {
    apart = farthest(sharpened_weights(scores, beta), softmax(Tensor(scores) * beta));
    report = fledge::gradcheck(
        [beta](const std::vector<Tensor>& in) { return sharpened_weights(in[0], beta); }, {scores});
    shown = to_string(report);
  } catch (const std::exception& error) {
    shown = report.problem = error.what();
  }
  to.let("report", shown);
  to.say("report");
  if (!to.ask("line", line)) return;
  if (line != 1 && line != 2 && line != 3 && line != 4) return to.refuse("line.else");
  to.let("line", line, "index", report.index, "problem", report.problem, "analytic",
         report.analytic, "expected", report.expected);
  to.claim("found", line == 2);
  to.claim("value", apart <= 1e-15);
  to.claim("rule", report.ok, {{"wrong", report.wrong_by_dual}});
}

void find_the_slip(Grading& to) {
  const Row answers = card_answers(), numbers = card_numbers();
  if (answers.size() != 6 || numbers.size() != 2) {
    to.ask("answers", answers, 6);
    to.ask("numbers", numbers, 2);
    return;
  }
  const Tensor v_hat = tensor({{0.18, 0.11, 0.01}}), v1 = tensor({{0.1, 0.2, 0.3}}),
               v3 = tensor({{0.5, -0.1, -0.4}});
  const double with_v1 = sum(v_hat * v1).item(), with_v3 = sum(v_hat * v3).item();
  // Card 2: v_b is at right angles to both columns of A.
  const Tensor A = tensor({{0.6, 0}, {0.8, 0}, {0, 1}}), v_a = matmul(A, tensor({{2}, {-3}})),
               v_b = tensor({{0.8}, {-0.6}, {0}}), M = matmul(A, transpose(A));
  const double first = 1 / (1 + std::exp(-4.0)), second = 1 / (1 + std::exp(2.0));
  // Card 4: a causal mask in fledge's form, transposed.
  const Tensor weights = transpose(softmax(tensor(Matrix(4, Row(4))), fledge::causal()));
  fledge::Rng rng(1);  // card 6: five words, and one matrix for queries and keys
  const Tensor x = normal({5, 4}, rng), W = normal({4, 2}, rng), q = matmul(x, W),
               S = matmul(q, transpose(q));
  const bool is_right[] = {is_near(with_v1, with_v3, 1e-9),
                           is_near(matmul(M, v_a + v_b), v_a, 1e-12),
                           is_near(first, second, 1e-9),
                           is_near(where(weights.value(), 0, 1), below_diagonal(), 0),
                           fledge::common_shape({3, 4}, {3, 6}).has_value(),
                           is_near(S, transpose(S), 0)};
  to.let("v3'.v1", with_v1, "repeated", 10);  // 5·4/2
  to.let("right", static_cast<double>(std::count(is_right, is_right + 6, true)));
  for (std::size_t i = 0; i < 6; ++i) {
    const std::string card = std::to_string(i + 1);
    const bool is_choice = answers[i] == RIGHT || answers[i] == SLIP;
    to.let("card", card, "why", to.sentence("why " + card), "choice",
           answers[i] == RIGHT ? "RIGHT" : "SLIP");
    if (is_choice) to.say("chosen");
    if (!is_choice && to.ask("card", answers[i])) to.refuse("choice");
    if (is_choice &&
        to.claim("answer", (answers[i] == RIGHT) == is_right[i], {{"right", is_right[i]}}))
      to.say(is_right[i] ? "right" : "slip");
    if (i == 0 && to.ask("number 1", numbers[0]))
      to.claim("product", is_near(numbers[0], with_v3, 1e-9));
    if (i == 2 && to.ask("number 3", numbers[1]))
      to.claim("fraction", is_near(numbers[1], first, 1e-3),
               {{"second", is_near(numbers[1], second, 1e-3)}});
  }
}

// -- 18: a board -----------------------------------------------------------------------------------
void smallest(Grading& to) {
  const Row entry = smallest_model();
  to.ask("entry", entry, 4);
  if (!to.accepted()) return;
  const auto is_whole = [](double x, double most) {
    return x >= 1 && x <= most && x == std::floor(x);
  };
  if (!is_whole(entry[0], 16) || !is_whole(entry[1], 64)) return to.refuse("sizes");
  if (entry[2] != 0 && entry[2] != 1) return to.refuse("biases");
  if (entry[3] < 0.001 || entry[3] > 1) return to.refuse("rate");
  constexpr double first_on_the_board = 917;
  const GradedEntry found = train_entry(entry);
  to.let("parameters", found.parameters, "learned", found.learned, "first", first_on_the_board);
  to.let("place", to.sentence(found.parameters < first_on_the_board    ? "first place"
                              : found.parameters == first_on_the_board ? "same place"
                                                                       : "behind"));
  to.claim("smaller", found.parameters < 1000);
  to.claim("learned", found.learned >= found.enough, {{"never", found.learned == 0}});
}

// -- 19 to 24 build the engine. An answer is code: it is tried, and what it gives is compared with
// the right result and with that of each known mistake.
/// What f returns. If the engine throws, prints its message: the answer cannot be checked.
template <class F>
auto attempt(Grading& to, F f) -> decltype(f()) {
  try {
    return f();
  } catch (const std::exception& error) {
    to.let("problem", error.what());
    to.refuse("thrown");
    return {};
  }
}

/// ask() for what an answer's code returns; zeros if it is not a matrix of this size.
Tensor ask(Grading& to, const std::string& key, const Tensor& answer, Dim rows, Dim columns) {
  Matrix matrix;
  if (answer.exists() && answer.rank() == 2)
    for (Dim i = 0; i < answer.dim(0); ++i) matrix.push_back(numbers(row(answer, i)));
  else
    matrix.push_back(answer.exists() ? numbers(answer) : Row{});
  return to.ask(key, matrix, static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
}

/// gradcheck() of an op with the rules of an answer.
void claim_check(Grading& to, const std::function<Tensor(const std::vector<Tensor>&)>& op,
                 const std::vector<Array>& inputs) {
  std::string problem;
  try {
    problem = fledge::gradcheck(op, inputs).problem;
  } catch (const std::exception& error) {
    problem = error.what();
  }
  to.let("problem", problem);
  to.claim("check", problem.empty());
}

// -- 19: a tape ------------------------------------------------------------------------------------
using Added = double (*)(double sum, double gradient, double slope);
double right_sum(double sum, double gradient, double slope) { return sum + gradient * slope; }

Row pulled(Tape tape, bool newest_first, Added added) {
  tape.back().gradient = 1;
  for (std::size_t n = 0; n < tape.size(); ++n) {
    const Node node = tape[newest_first ? tape.size() - 1 - n : n];
    for (const Edge& edge : node.edges)
      tape[edge.input].gradient = added(tape[edge.input].gradient, node.gradient, edge.slope);
  }
  Row gradients;
  for (const Node& node : tape) gradients.push_back(node.gradient);
  return gradients;
}

void tape(Grading& to) {
  const Node node = product({{3}, {5}}, 0, 1);
  Tape square{{4}, {16, {{0, 4}, {0, 4}}}, {20, {{1, 1}, {0, 1}}}};  // a, a·a, a·a + a
  Tape twice{{3}, {9, {{0, 3}, {0, 3}}}, {18, {{1, 1}, {1, 1}}}};    // x, s = x·x, s + s
  const auto is = [](const Row& yours, const Tape& of, bool newest_first, Added added) {
    return yours == pulled(of, newest_first, added);
  };
  const Tape blank = square, blank_twice = twice;
  pull_back(square);
  pull_back(twice);
  Row slopes, yours, yours_twice;
  for (const Edge& edge : node.edges) slopes.push_back(edge.slope);
  for (const Node& each : square) yours.push_back(each.gradient);
  for (const Node& each : twice) yours_twice.push_back(each.gradient);
  to.ask("slopes", slopes, 2);
  to.ask("gradients", yours, 3);
  to.ask("gradients twice", yours_twice, 3);
  if (!to.accepted()) return;
  to.claim("slopes right", slopes == Row{5, 3}, {{"own", slopes == Row{3, 5}}});
  to.let("seed", yours[2], "twice", yours_twice[0]);
  to.claim("seed right", yours[2] == 1);
  to.claim(
      "square", is(yours, blank, true, right_sum),
      {{"nothing", yours[0] == 0 && yours[1] == 0},
       {"oldest", is(yours, blank, false, right_sum)},
       {"overwritten", is(yours, blank, true, [](double, double g, double s) { return g * s; })},
       {"unsloped", is(yours, blank, true, [](double y, double g, double) { return y + g; })}});
  to.claim("both", is(yours_twice, blank_twice, true, right_sum),
           {{"slope alone",
             is(yours_twice, blank_twice, true, [](double y, double, double s) { return y + s; })},
            {"passed on", yours_twice[0] == 18}});
}

// -- 20 and 21: rules ------------------------------------------------------------------------------
void rule_of_matmul(Grading& to) {
  const Tensor A = tensor({{1, 2}, {3, 4}}), B = tensor({{5, 6}, {7, 9}}),
               dC = tensor({{1, 0}, {2, -1}});
  const Tensor dA = attempt(to, [&] { return gradient_of_a(A, B, dC); }),
               dB = attempt(to, [&] { return gradient_of_b(A, B, dC); });
  if (!to.accepted()) return;
  const Tensor yours[] = {ask(to, "dA", dA, 2, 2), ask(to, "dB", dB, 2, 2)};
  if (!to.accepted()) return;
  const Tensor right[] = {matmul(dC, transpose(B)), matmul(transpose(A), dC)};
  const Tensor untransposed[] = {matmul(dC, B), matmul(A, dC)};
  const Tensor reversed[] = {matmul(transpose(B), dC), matmul(dC, transpose(A))};
  const char* const names[] = {"dA", "dB"};
  for (int i = 0; i < 2; ++i) {
    to.let("which", names[i]);
    to.claim("right", is_near(yours[i], right[i], 1e-9),
             {{"untransposed", is_near(yours[i], untransposed[i], 1e-9)},
              {"reversed", is_near(yours[i], reversed[i], 1e-9)},
              {"mirrored", is_near(yours[i], transpose(right[i]), 1e-9)}});
  }
  const auto op = [](const std::vector<Tensor>& in) {
    const Array a = in[0].value(), b = in[1].value();
    const auto rule_a = [=](const Array& dy) { return gradient_of_a(a, b, dy).value(); };
    const auto rule_b = [=](const Array& dy) { return gradient_of_b(a, b, dy).value(); };
    return record("matmul", matmul(a, b).value(), wrt(in[0], rule_a), wrt(in[1], rule_b));
  };
  fledge::Rng rng(1);
  claim_check(to, op, {normal({2, 3}, rng), normal({3, 4}, rng)});
}

void rule_of_softmax(Grading& to) {
  const Tensor y = tensor({{0.5, 0.25, 0.25}, {0.1, 0.2, 0.7}}),
               dy = tensor({{1, 2, 0}, {0, 1, 3}});
  const Tensor answer = attempt(to, [&] { return softmax_rule(y, dy); });
  if (!to.accepted()) return;
  const Tensor yours = ask(to, "dx", answer, 2, 3);
  if (!to.accepted()) return;
  const auto is = [&](const Tensor& formula) { return is_near(yours, formula, 1e-9); };
  const Tensor part = dy * y, of_row = sum(part, {1}, true), right = y * (dy - of_row);
  const Row sums = numbers(sum(yours, {1}));
  to.let("sum", std::abs(sums[0]) > 1e-9 ? sums[0] : sums[1]);
  to.claim("zero", is_near(tensor({sums}), 0, 1e-9));
  to.claim("right", is(right),
           {{"no sum", is(part)},
            {"own", is(part * (1 - y))},
            {"all rows", is(y * (dy - sum(part)))},
            {"columns", is(y * (dy - sum(part, {0}, true)))},
            {"unweighted", is(y * (dy - sum(dy, {1}, true)))},
            {"bare", is(dy - of_row)},
            {"sign", is(-right)}});
  fledge::Rng rng(1);
  claim_check(to,
              [](const std::vector<Tensor>& in) {
                const Array weights = softmax(in[0].value()).value();
                const auto rule = [=](const Array& d) { return softmax_rule(weights, d).value(); };
                return record("softmax", weights, wrt(in[0], rule));
              },
              {normal({2, 3}, rng)});
}

// -- 22 and 23: attention, and its mask ------------------------------------------------------------
void attention_by_hand(Grading& to) {
  const Tensor q = tensor({{2, 0, 0, 0}, {0, 2, 0, 2}, {1, 1, 0, 0}}),
               k = tensor({{1, 0, 1, 0}, {0, 2, 0, 0}, {3, 1, 0, 0}}),
               v = tensor({{1, 0, 0, 2}, {0, 1, 0, 3}, {0, 0, 1, 4}});
  const Attention yours = attempt(to, [&] { return attend(q, k, v); });
  if (!to.accepted()) return;
  const Tensor s = ask(to, "scores", yours.scores, 3, 3),
               a = ask(to, "weights", yours.weights, 3, 3),
               y = ask(to, "output", yours.output, 3, 4);
  if (!to.accepted()) return;
  const Tensor products = matmul(q, transpose(k));
  const auto is = [](const Tensor& x, const Tensor& wanted) { return is_near(x, wanted, 1e-9); };
  to.claim("scores right", is(s, products / 2.0),
           {{"unscaled", is(s, products)},
            {"by d", is(s, products / 4.0)},
            {"mirrored", is(s, transpose(products) / 2.0)}});
  to.claim("weights right", is(a, softmax(s)),
           {{"scores", is(a, s)},
            {"columns", is(a, transpose(softmax(transpose(s))))},
            {"undivided", is(a, exp(s))}});
  to.claim("output right", is(y, matmul(a, v)),
           {{"mirrored", is(y, matmul(transpose(a), v))}, {"keys", is(y, matmul(a, k))}});
  to.claim("engine", is(y, attention(q, k, v, 1, fledge::Mask())));
}

void mask_by_hand(Grading& to) {
  const std::vector<int> sentence{1, 1, 2, 2};
  Matrix given(4, Row(4)), right(4, Row(4));
  bool is_choice = true, later = false, other = false, self = false;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      const double answer = given[i][j] = is_seen(sentence, i, j),
                   must = right[i][j] = j <= i && sentence[i] == sentence[j] ? 1 : 0;
      is_choice = is_choice && (answer == 0 || answer == 1);
      later = later || (answer > must && j > i);
      other = other || (answer > must && j < i);
      self = self || (answer < must && j == i);
    }
  const Tensor seen = tensor(right), hidden = 1 - seen,
               scores = log(tensor({{1, 2, 3, 4}, {3, 1, 2, 2}, {2, 4, 1, 1}, {1, 2, 4, 1}}));
  const Tensor answer = attempt(to, [&] { return masked_weights(scores, seen); }),
               with_1000 =
                   attempt(to, [&] { return masked_weights(scores * seen + 1000 * hidden, seen); });
  to.ask("seen", given, 4, 4);
  if (!to.accepted()) return;
  if (!is_choice) return to.refuse("choice");
  const Tensor yours = ask(to, "weights", answer, 4, 4);
  if (!to.accepted()) return;
  to.claim("seen right", given == right, {{"later", later}, {"other", other}, {"self", self}});
  const Tensor all = softmax(scores);
  const double largest = max(yours * hidden).item();
  to.let("hidden", largest);
  to.claim("row sum", is_near(sum(yours, {1}), 1, 1e-9),
           {{"after", is_near(yours, all * seen, 1e-9)}});
  to.claim("zero", largest == 0,
           {{"score", is_near(yours, softmax(scores * seen), 1e-9)}, {"small", largest < 0.01}});
  to.claim("unread", is_near(with_1000, yours, 1e-9));
  to.claim("same", is_near(yours, softmax(where(seen.value(), scores, -INFINITY)), 1e-9));
}

// -- 24: a training step ---------------------------------------------------------------------------
void training(Grading& to) {
  const Tensor x = tensor({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}),
               start = tensor({{0, 1, 0}, {1, 0, 0}, {0, 0, 1}});
  const fledge::Indices next{1, 2, 0};
  const double rate = 0.4;
  const auto loss_of = [&](const Tensor& W) { return cross_entropy(matmul(x, W), next); };
  const auto gradient = [&](const Tensor& numbers) {
    const Tensor W = fledge::parameter(numbers.value().clone());
    backward(loss_of(W));
    return Tensor(W.grad());
  };
  const Tensor W = fledge::parameter(start.value().clone());
  Row losses;
  std::vector<Tensor> after;
  for (int step = 0; step < 20 && to.accepted(); ++step) {
    losses.push_back(attempt(to, [&] { return training_step(W, x, next, rate); }));
    after.emplace_back(W.value().clone());
  }
  if (!to.accepted()) return;
  const Row shown{losses[0], losses[1], losses[2], losses[19]};
  to.ask("losses", shown, 4);
  if (!to.accepted()) return;
  const Tensor first = gradient(start), second = gradient(after[0]);
  const auto is = [](const Tensor& a, const Tensor& b) { return is_near(a, b, 1e-9); };
  const double loss = loss_of(start).item();
  to.let("loss", loss, "last", losses[19]);
  to.claim("loss right", is(losses[0], loss),
           {{"sum", is(losses[0], 3 * loss)}, {"sign", is(losses[0], -loss)}});
  to.claim("first", is(after[0], start - rate * first),
           {{"still", is(after[0], start)},
            {"sign", is(after[0], start + rate * first)},
            {"rate", is(after[0], start - first)},
            {"double", is(after[0], start - 2 * rate * first)}});
  to.claim("second", is(after[1], after[0] - rate * second),
           {{"kept", is(after[1], after[0] - rate * (first + second))}});
  to.claim("falls", std::is_sorted(losses.rbegin(), losses.rend()) && losses[19] < losses[0]);
}

}  // namespace

Row along_keys(const Row& c) {
  const bool is_finite = std::all_of(c.begin(), c.end(), [](double x) { return std::isfinite(x); });
  if (c.size() != 4 || !is_finite) return c;  // the grader refuses it
  return numbers(matmul(tensor({c}), four_keys()));
}

std::vector<Grader*> all_graders() {
  std::vector<Grader*> all{
      forget_birds,   largest_association, control,   turn_a_head,         copy_a_value,
      average_values, three_to_one,        noisy_key, blue_bird,           mask_in_columns,
      word_order,     row_by_hand,         residual,  rock_paper_scissors, rank_of_scores,
      mend_a_rule,    find_the_slip,       smallest};
  for (Grader* of_the_engine :
       {tape, rule_of_matmul, rule_of_softmax, attention_by_hand, mask_by_hand, training})
    all.push_back(of_the_engine);
  return all;
}

}  // namespace exercises

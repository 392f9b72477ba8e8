#include "examples/birds/story.h"

#include <sstream>

#include "examples/support/attention_map.h"
#include "examples/support/plots.h"
#include "examples/support/text.h"

namespace fledge::birds {

using support::formatted, support::Paint;

namespace {

constexpr int story_columns = 80;

/// Sentences three columns to the right, wrapped.
std::string paragraph(const std::string& sentences) {
  return support::wrapped("   " + sentences, story_columns, 3) + "\n";
}

/// The same with a dash in front.
std::string list_item(const std::string& sentences) {
  return support::wrapped("   - " + sentences, story_columns, 5) + "\n";
}

}  // namespace

std::string introduction() {
  return support::wrapped(
             "Attention is the part of a language model that computes, for each word of a text, how "
             "much each earlier word matters for predicting the next word. This program shows how a "
             "model learns that after 'birds sometimes walk' the word 'birds' decides which word "
             "comes next.",
             story_columns) +
         "\n";
}

std::string words(const ByHand& part, Paint paint) {
  std::string text = paint.bold("1. By hand: 'birds sometimes walk'") + "\n\n";
  text += paragraph(
      "Each of three words has a vector, its row of V. Row 3 of A has the attention weights of "
      "'walk': how much it looks at each word. They are set by hand. Attention gives 'walk' a new "
      "vector v3': the sum of all vectors times these weights. The product v . w multiplies two "
      "vectors number by number and adds. Here it measures how close two words are; part 2 shows when "
      "it does not.");
  text += "\n";
  text += "        V                            A\n";
  text += "        birds       0.1  0.2  0.3    1.0  0.0  0.0\n";
  text += "        sometimes  -0.8  0.3 -0.1    0.1  0.9  0.0\n";
  text += "        walk        0.5 -0.1 -0.4    0.6  0.1  0.4\n\n";
  text += formatted("   'walk' and 'birds' at first          v3 . v1     = %6.2f\n", part.before);
  text += formatted("   'walk' after attention, row 3 of AV  v3'         =  (%.2f, %.2f, %.2f)\n",
                    part.v_hat[0], part.v_hat[1], part.v_hat[2]);
  text += "   'walk' and 'birds' after attention   v3' . v1    = " +
          paint.accent(formatted("%6.3f", part.association)) + "  closer than before\n\n";
  text += paragraph(
      "The numbers come from note 000 (see examples/NOTES.md). Two of its slips matter here:");
  text += list_item(
      formatted("Row 3 of A sums to %.1f, but attention weights sum to 1. ", part.row_sum) +
      formatted("Divided by its sum, the product is %.4f.", part.normalised));
  text += list_item("The note calls the last product v3'.v3. Its numbers are those of v3'.v1; " +
                    formatted("v3'.v3 is %.3f.", part.as_labelled));
  return text;
}

namespace {

std::string share_of_ceiling(const Learned& experiment) {
  if (experiment.objective == Objective::product && !experiment.ceiling) return "no ceiling";
  const double ceiling = experiment.ceiling.value_or(1);  // a cosine is 1 at most
  return formatted("%.1f %%", 100 * experiment.after.association / ceiling);
}

}  // namespace

std::string words(const std::vector<Learned>& part, Paint paint) {
  std::string text = paint.bold("2. Learning on those three vectors") + "\n\n";
  const std::array<double, 3>& row = part[0].before.attention;
  text += paragraph(
      "Now the weights are computed. Each word has a query, a key and a value: its vector times the "
      "matrices W_Q, W_K and W_V. The score of two words is the query of the first times the key of "
      "the second, divided by sqrt(3). Softmax turns the scores of a word into weights that sum to "
      "1. No word sees a later word.");
  text += paragraph(
      "At first the matrices are the identity. The matrices in the first column learn by gradient "
      "ascent: many small steps. They raise the product v3' . v1, or the cosine: this product "
      "divided by the lengths of both vectors. The learning rate is 10 if W_V stays, and 1 if it "
      "learns. Each line has 400 steps; the last line has 100.");
  text += paragraph(
      formatted("At first 'walk' looks at 'birds' %.2f, 'sometimes' %.2f and 'walk' %.2f.", row[0],
                row[1], row[2]));
  text +=
      "\n                                                       then 'walk' looks at\n"
      "   learns      raises    before    after  of ceiling   birds  sometimes  walk\n";
  for (const Learned& e : part) {
    const bool has_limit = e.objective == Objective::cosine || e.ceiling.has_value();
    const std::string after = formatted("%7.4f", e.after.association);
    text +=
        formatted("   %-10s  %-7s  %7.4f  ", e.learns.c_str(),
                  e.objective == Objective::product ? "product" : "cosine", e.before.association);
    text += has_limit ? paint.good(after) : paint.bad(after);
    text += formatted("  %10s   %5.2f  %9.2f  %4.2f\n", share_of_ceiling(e).c_str(),
                      e.after.attention[0], e.after.attention[1], e.after.attention[2]);
  }
  text += "\n" + paragraph(
                     "If W_V is fixed, v3' is a weighted mean of the three vectors. Their products "
                     "with v1 are 0.14, -0.05 and -0.09. So 0.14 is the ceiling: 'walk' reaches it "
                     "if it looks at 'birds' alone.");
  text += paragraph(
      "If W_V learns, the product has no ceiling. In the last line 'walk' looks at itself. " +
      paint.bad("Here the product rose although 'walk' ignores 'birds': a large product does not "
                "prove attention."));
  return text;
}

namespace {

/// The maps of the first watched sentence before and after training, side by side, and where each
/// word looks after it.
std::string maps(const TextStory& part, Paint paint) {
  const std::vector<std::string> words = {"start", "birds", "sometimes", "walk"};
  support::MapStyle style;
  style.paint = paint;
  style.columns = 60;  // too narrow for sentences beside the grid
  std::istringstream before(support::attention_map(words, part.pattern_before, style));
  std::istringstream after(support::attention_map(words, part.pattern_after, style));
  constexpr int second_map = 40;
  std::string text = support::pad_right("   before training", second_map) + "   after training\n";
  std::string left, right;
  for (std::size_t line = 0; line <= words.size(); ++line) {
    std::getline(before, left);
    std::getline(after, right);
    text += support::pad_right(left, second_map) + right + "\n";
  }
  while (std::getline(after, right)) text += right + "\n";
  return text;
}

}  // namespace

std::string words(const TextStory& part, Paint paint) {
  const auto count = [](auto n) { return std::to_string(n); };
  std::string text =
      paint.bold("3. On a text: to predict the next word, the model must look at 'birds'") + "\n\n";
  text += paragraph(
      "The text has " + count(part.sentence_count) + " sentences of " + count(part.vocabulary - 1) +
      " different words. The model has " + count(part.parameters) +
      " numbers, its parameters: a vector for each word and each place, one attention layer, and an "
      "MLP, which changes the vector of each word alone. It learns to predict the next word or line "
      "end.");
  text += paragraph(
      "The loss is the mean of -ln p over the text: p is the probability that the model gives to the "
      "right next word. " +
      formatted("Training lowers it from %.2f to %.2f nats, the unit of ln. ", part.loss_before,
                part.loss_after) +
      "A guess, with every word and the line end equally likely, has ln " + count(part.vocabulary) +
      formatted(" = %.2f. ", part.loss_of_guessing) +
      formatted("No model can have less than %.2f on average, ", part.least_loss) +
      "because the same beginning goes on in different ways: after 'but' comes 'birds', 'cats' or "
      "another animal.");
  text += paragraph(
      "The seed selects the random numbers for the first model and for the order of the sentences. "
      "This run has seed " +
      count(part.seed) + ". With " + count(seed_count.fulfil) + " of the seeds 1 to " +
      count(seed_count.tested) +
      ", 'walk' looks at 'birds' more than at any other word, and the model fills the three blanks "
      "below with the right words.");
  std::vector<double> curve;
  for (std::size_t i = 0; i < part.losses.size(); i += 8) curve.push_back(part.losses[i]);
  text += "   loss  " + support::sparkline(curve) + "\n\n";

  text += "   where it looks                            attention      next word  if hidden\n";
  for (const TextStory::Seen& seen : part.watched) {
    text += formatted("   %-23s%-5s-> %-10s %.2f -> ", (seen.pair.sentence + ",").c_str(),
                      seen.pair.word.c_str(), seen.pair.looks_at.c_str(), seen.before.attention);
    text += paint.accent(formatted("%.2f", seen.after.attention));
    text += formatted("   %s %.2f     ", seen.effect.next.c_str(), seen.effect.visible);
    text += paint.accent(formatted("%.2f", seen.effect.hidden)) + "\n";
  }
  text += paragraph(
      "Attention: the weight before and after training. Next word: the right word and its "
      "probability. If hidden: this probability if the later words cannot see the word behind the "
      "arrow. Without 'birds' the model can only guess the animal, and a guess can be right. "
      "'sometimes' and 'good' are controls: the model could look at them as well.");
  text += "\n";

  for (const TextStory::Completed& c : part.completed) {
    text += formatted("   %-25sbefore: %-10s %4.2f    after: ", (c.prompt + " __").c_str(),
                      support::printable(c.before.next).c_str(), c.before.probability);
    text += paint.good(formatted("%-8s", support::printable(c.after.next).c_str())) +
            formatted(" %4.2f\n", c.after.probability);
  }
  text += "\n" + paragraph(
                     "In the maps, rows look at columns. 'start' is the line end that the model "
                     "reads before each sentence.");
  return text + maps(part, paint);
}

std::string words(const report::ModelProof& part, Paint paint) {
  std::string text = paint.bold("4. The gradient check of exactly this model") + "\n\n";
  text += paragraph(
      "A step of training needs the gradient: how the loss changes with each of the model's numbers. "
      "Two other methods compute it again, for two sentences.");
  const auto verdict = [&](const char* oracle, const report::ModelCheck& check) {
    const std::string found = formatted("%-20s every parameter: ", oracle) +
                              std::to_string(check.elements) +
                              formatted(", largest error %.1e  ", check.max_error);
    text += paragraph(found + (check.ok ? paint.good("ok") : paint.bad("FAIL: " + check.text)));
  };
  verdict("finite differences", part.differences);
  verdict("dual numbers", part.dual);
  return text;
}

}  // namespace fledge::birds

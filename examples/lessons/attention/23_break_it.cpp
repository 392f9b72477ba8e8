// Break it to understand it: the model of make run without one of its parts.
//
// Works out note 004 on a text (tied W_Q and W_K), and what a model loses without each part.
// Key idea: only an experiment shows what a part does, and a low loss can be a sign of cheating.
// The switches are those of the command: fledge train --without mask, --tie-qk, --freeze q,k.
// Next: nn/variant.h, nn/gpt/held_parameters.h.
#include <algorithm>
#include <cmath>

#include "examples/lessons/attention/variants.h"
#include "examples/lessons/lesson_page.h"
#include "examples/support/table.h"
#include "nn/inspect/least_loss.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::Table;
using variants::all_variants, variants::Broken, variants::mean_outcome, variants::outcome,
    variants::Outcome, variants::seeds, variants::without;

std::vector<std::string> cells(const std::string& name, const Outcome& found) {
  const bool has_attention = name != "without attention";
  return {"   " + name, formatted("%.3f", found.loss),
          has_attention ? formatted("%.2f", found.attention) : "-", formatted("%.0f", found.slowly),
          formatted("%.0f", found.flying)};
}

Table table_of_outcomes() {
  constexpr auto right = Table::Align::right;
  return Table(
      {{"   the model"}, {"loss", right}, {"weight", right}, {"slowly", right}, {"flying", right}});
}

void lesson(Lesson& to) {
  const Corpus text = birds::read_text();
  const double floor = least_loss(text.train);

  to.part("Twelve models");
  to.say(
      "Two prompts need the animal: 'birds sometimes walk __' goes on with 'slowly', and 'but "
      "birds are good at __' with 'flying'. The first model below is the one that the command "
      "`make run` trains. Each of the others has one change: a part is missing, or W_Q and W_K are "
      "one matrix, or some matrices do not learn. With the change:\n   without mask       each "
      "word also sees later words\n   without positions  there are no position vectors\n   without "
      "scale      scores are not divided by sqrt(16)\n   without mlp        there is no MLP\n   "
      "without value      no W_V: values are the vectors after layer norm\n   without residual   "
      "inputs of attention and MLP are not added to results\n   without norm       there is no "
      "layer norm\n   without attention  there is no attention\n   W_Q = W_K          queries and "
      "keys share one matrix\n   frozen             the named matrices keep their first random "
      "numbers\n" +
      formatted(
          "Losses and weights are means of %d seeds. The last two columns count the runs, of %d, "
          "that fill the blank with the right word. The loss is that of the whole text, and its "
          "floor is %.3f nats. The weight is that of 'walk' on 'birds'. With the line end, 'walk' "
          "sees four words, so an even split is 0.25. A smaller weight means that 'walk' prefers "
          "other words.\n",
          seeds, seeds, floor));
  Table table = table_of_outcomes();
  std::vector<Outcome> rows;
  for (const Broken& broken : all_variants()) {
    rows.push_back(mean_outcome(text, broken.variant));
    table.row(cells(broken.name, rows.back()));
  }
  to.show(table.text());
  const auto row = [&](std::size_t i) { return rows.at(i); };
  const Outcome whole = row(0), no_mask = row(1), no_attention = row(8), frozen = row(10);

  to.part("Cheating: the model without a mask");
  to.say(
      formatted(
          "Without a mask the loss is %.4f, far below the floor of %.3f. A model that sees only "
          "earlier words cannot do that: after the same words, the text goes on in different "
          "ways. ",
          no_mask.loss, floor) +
      "This model cheats. Each word sees the words after it, and the next word is the answer. So "
      "the model learns to copy it. After a prompt there is no next word to copy, and most blanks "
      "get a wrong word.\nIf you predicted \"without the mask\", you were right. But the model "
      "with the lowest loss is not the best model. A loss below the floor shows that the model has "
      "seen the answer, or that the measurement is wrong.\n");
  to.claim(no_mask.loss < floor / 10, "without a mask the loss is below a tenth of the floor");
  to.claim(no_mask.slowly + no_mask.flying < 20,
           formatted("but of 40 blanks it fills only %.0f", no_mask.slowly + no_mask.flying));
  double least = whole.loss;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (i != 1) least = std::min(least, rows[i].loss);
  to.claim(least >= floor,
           formatted("no other model is below the floor; the lowest is %.3f", least));

  to.part("What the others show");
  to.say(
      "attention: without it no run fills a blank. The last word of a prompt then knows nothing of "
      "the animal.\npositions, scale, MLP, value: this text is so small that a model learns it "
      "without any one of them. So this text does not show what they are for. Positions are not "
      "needed here, because 'walk' can find the animal by its word vector, wherever it stands. " +
      formatted(
          "Without positions or value the loss is even a little lower: %.3f and %.3f, against "
          "%.3f.\n",
          row(2).loss, row(5).loss, whole.loss) +
      formatted(
          "residual, norm: without one of them training is not reliable. Of %d runs, %.0f and %.0f "
          "get 'slowly' right.\n",
          seeds, row(6).slowly, row(7).slowly) +
      "W_Q = W_K: scores become symmetric. The score of 'walk' for 'birds' equals the score of "
      "'birds' for 'walk'. 'walk' gives 'birds' less weight, but the text can still be learned.\n" +
      formatted(
          "W_Q and W_K frozen: their random numbers are small, so all scores are near 0. Softmax "
          "of equal scores gives equal weights, so attention stays an even split: %.2f. The blanks "
          "are filled all the same: a quarter of the value of 'birds' is enough to find the "
          "animal. The loss is almost as low as with all parts. So a low loss does not prove that "
          "a model has learned where to look.\n",
          frozen.attention) +
      formatted(
          "W_V frozen: W_V keeps its random numbers. The values still change, because the word "
          "vectors learn. The loss stays higher; %.0f and %.0f of the runs fill the two blanks.\n",
          row(11).slowly, row(11).flying));
  to.claim(no_attention.slowly + no_attention.flying == 0, "without attention no blank is filled");
  to.claim(std::abs(frozen.attention - 0.25) < 0.02 && frozen.slowly >= 18 && frozen.flying >= 18,
           "frozen W_Q and W_K: an even split, and both blanks in at least 18 of 20 runs");
  to.claim(whole.attention > 0.8 && whole.slowly >= 18 && whole.flying >= 18,
           formatted("nothing left out: 'walk' gives 'birds' %.2f", whole.attention));
  to.claim(row(6).loss > whole.loss + 0.05 && row(7).loss > whole.loss + 0.05,
           "without residual or norm the mean loss is higher by more than 0.05");
}

void without_part(Lesson& to, const std::string& part) {
  const Corpus text = birds::read_text();
  Table table = table_of_outcomes();
  table.row(cells("nothing left out", outcome(text, {}, 1)));
  table.row(cells("without " + part, outcome(text, without(part), 1)));
  to.say("One run each, with seed 1:\n");
  to.show(table.text());
  to.say("Below 'slowly' and 'flying', 1 means that the blank is filled with this word.");
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(
      argc, argv,
      {.name = "attention/23_break_it",
       .title = "Break it to understand it",
       .question =
           "A model has a mask, positions, a scale, an MLP, a residual connection, layer norm. "
           "What does it lose without each of them?",
       .prediction =
           "We take one part out and train again. Which model gets the lowest loss: without the "
           "mask, without positions, or without the MLP?",
       .body = fledge::lesson,
       .reading = {{"nn/variant.h", "Without", "the parts that can be left out"},
                   {"nn/gpt/held_parameters.h", "HeldParameters", "numbers that do not learn"},
                   {"nn/inspect/least_loss.h", "least_loss", "the floor of a text"}},
       .plays = {{.option = "--without",
                  .value = "mask",
                  .help = "one run without this part, beside one with all parts",
                  .with_text = fledge::without_part}}});
}

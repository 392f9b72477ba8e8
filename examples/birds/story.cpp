#include "examples/birds/story.h"

#include "examples/support/attention_map.h"
#include "examples/support/plots.h"
#include "examples/support/text.h"

namespace fledge::birds {

using support::formatted, support::Paint;

std::string words(const ByHand& part, Paint paint) {
  std::string text = paint.bold("1. By hand: Birds sometimes walk") + "\n\n";
  text += "   Three words, three vectors; row 3 of A says how much walk looks at each word.\n\n";
  text += "        V                            A\n";
  text += "        birds       0.1  0.2  0.3    1.0  0.0  0.0\n";
  text += "        sometimes  -0.8  0.3 -0.1    0.1  0.9  0.0\n";
  text += "        walk        0.5 -0.1 -0.4    0.6  0.1  0.4\n\n";
  text += formatted("   walk and birds as they are           v3 . v1     = %6.2f\n", part.before);
  text += formatted("   walk after attention, row 3 of A V   v3'         = (%.2f, %.2f, %.2f)\n",
                    part.v_hat[0], part.v_hat[1], part.v_hat[2]);
  text += "   walk and birds after attention       v3' . v1    = " +
          paint.accent(formatted("%6.3f", part.association)) + "   closer than before\n\n";
  text += "   What is off in these numbers:\n";
  text +=
      formatted("   - row 3 of A sums to %.1f, which no softmax gives; divided by its sum: %.4f\n",
                part.row_sum, part.normalised);
  text += formatted(
      "   - the last product is labelled v3' . v3, but is v3' . v1; v3' . v3 would be %.3f\n",
      part.as_labelled);
  return text;
}

namespace {

std::string how_close(const Learned& experiment) {
  if (!experiment.ceiling)
    return experiment.objective == Objective::cosine ? "at most 1" : "no ceiling";
  return formatted("%.1f %% of its ceiling",
                   100 * experiment.after.association / *experiment.ceiling);
}

}  // namespace

std::string words(const std::vector<Learned>& part, Paint paint) {
  std::string text = paint.bold("2. Learning on those three vectors") + "\n\n";
  text += "   W_Q = W_K = W_V = 1 at first, causal mask, scores / sqrt(3), gradient ascent.\n";
  const std::array<double, 3>& row = part[0].before.attention;
  text += formatted("   At first walk looks at birds %.2f, sometimes %.2f, walk %.2f.\n\n", row[0],
                    row[1], row[2]);
  text +=
      "                                                                  then walk looks at\n"
      "   learns      objective   before    after                        birds  sometimes  walk\n";
  for (const Learned& e : part) {
    const bool runs_away = e.objective == Objective::product && !e.ceiling;
    const std::string after = formatted("%8.4f", e.after.association);
    text +=
        formatted("   %-10s  %-9s  %7.4f ", e.learns.c_str(),
                  e.objective == Objective::product ? "product" : "cosine", e.before.association);
    text += runs_away ? paint.bad(after) : paint.good(after);
    text += formatted("  %-24s  %5.2f  %9.2f %5.2f\n", how_close(e).c_str(), e.after.attention[0],
                      e.after.attention[1], e.after.attention[2]);
  }
  text +=
      "\n   With W_V fixed, walk becomes a mean of the three vectors, whose products with birds are\n"
      "   0.14, -0.05 and -0.09: 0.14 is the ceiling, reached as walk looks at birds alone.\n";
  text +=
      "   With W_V free the product has none. In the last line it runs away while walk looks\n"
      "   at itself: " +
      paint.bad("raising the association is not the same as attending.") +
      " The objective matters.\n";
  return text;
}

namespace {

std::string maps(const TextStory& part, Paint paint) {
  const std::vector<std::string> words = {"start", "birds", "sometimes", "walk"};
  support::MapStyle style;
  style.paint = paint;
  style.columns = 96;
  std::string text = "   (start is the line end that the model reads in front of each sentence)\n";
  text += "   before\n" + support::attention_map(words, part.pattern_before, style);
  return text + "   after\n" + support::attention_map(words, part.pattern_after, style);
}

}  // namespace

std::string words(const TextStory& part, Paint paint) {
  const auto count = [](Dim n) { return std::to_string(n); };
  std::string text = paint.bold("3. On a text: where attending is what pays") + "\n\n";
  text += "   " + count(part.sentence_count) + " sentences, " + count(part.vocabulary - 1) +
          " words and the line end, a model of " + count(part.parameters) +
          " numbers: one block of attention and MLP.\n";
  text += formatted("   It learns to predict the next word. Loss %.2f", part.losses.front()) +
          " (guessing: log " + count(part.vocabulary) +
          formatted(" = %.2f) -> %.2f  ", part.loss_of_guessing, part.losses.back());
  std::vector<double> curve;
  for (std::size_t i = 0; i < part.losses.size(); i += 32) curve.push_back(part.losses[i]);
  text += support::sparkline(curve) + "\n\n";

  text +=
      "   where it looks                               attention         association (cosine)\n";
  for (const TextStory::Seen& seen : part.watched) {
    text += formatted("   %-23s%-5s-> %-12s  %.2f -> ", (seen.pair.sentence + ",").c_str(),
                      seen.pair.word.c_str(), seen.pair.looks_at.c_str(), seen.before.attention);
    text += paint.accent(formatted("%.2f", seen.after.attention));
    text += formatted("      %5.2f -> ", seen.before.association);
    text += paint.accent(formatted("%5.2f", seen.after.association)) + "\n";
  }
  text += "   (sometimes and good are the controls: words it could look at just as well)\n\n";

  for (const TextStory::Completed& c : part.completed) {
    text += formatted("   %-23sbefore: %-10s %4.2f    after: ", c.prompt.c_str(),
                      support::printable(c.before.next).c_str(), c.before.probability);
    text += paint.good(formatted("%-8s", support::printable(c.after.next).c_str())) +
            formatted(" %4.2f\n", c.after.probability);
  }
  return text + "\n" + maps(part, paint);
}

std::string words(const report::ModelProof& part, Paint paint) {
  std::string text = paint.bold("4. The gradient check of exactly this model") + "\n\n";
  const auto verdict = [&](const char* oracle, const report::ModelCheck& check) {
    text += formatted("   %-20s every parameter: ", oracle) + std::to_string(check.elements) +
            formatted(", largest error %.1e  ", check.max_error);
    text += check.ok ? paint.good("ok") : paint.bad("FAIL: " + check.text);
    text += "\n";
  };
  verdict("finite differences", part.differences);
  verdict("dual numbers", part.dual);
  return text;
}

}  // namespace fledge::birds

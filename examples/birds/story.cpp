#include "examples/birds/story.h"

#include <cstdarg>
#include <cstdio>

#include "examples/support/plots.h"

namespace fledge::birds {

namespace {

using support::Paint;

// printf into a string; every format is a literal of this file.
[[gnu::format(printf, 1, 2)]] std::string line(const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

}  // namespace

std::string words(const ByHand& part, Paint paint) {
  std::string text = paint.bold("1. By hand: Birds sometimes walk") + "\n\n";
  text += "   Three words, three vectors; row 3 of A says how much walk looks at each word.\n\n";
  text += "        V                            A\n";
  text += "        birds       0.1  0.2  0.3    1.0  0.0  0.0\n";
  text += "        sometimes  -0.8  0.3 -0.1    0.1  0.9  0.0\n";
  text += "        walk        0.5 -0.1 -0.4    0.6  0.1  0.4\n\n";
  text += line("   walk and birds as they are           v3 . v1     = %6.2f\n", part.before);
  text += line("   walk after attention, row 3 of A V   v3'         = (%.2f, %.2f, %.2f)\n",
               part.v_hat[0], part.v_hat[1], part.v_hat[2]);
  text += "   walk and birds after attention       v3' . v1    = " +
          paint.accent(line("%6.3f", part.association)) + "   closer than before\n\n";
  text += "   What is off in these numbers:\n";
  text += line("   - row 3 of A sums to %.1f, which no softmax gives; divided by its sum: %.4f\n",
               part.row_sum, part.normalised);
  text +=
      line("   - the last product is labelled v3' . v3, but is v3' . v1; v3' . v3 would be %.3f\n",
           part.as_labelled);
  return text;
}

namespace {

std::string how_close(const Learned& experiment) {
  if (!experiment.ceiling)
    return experiment.objective == Objective::cosine ? "at most 1" : "no ceiling";
  return line("%.1f %% of its ceiling", 100 * experiment.after.association / *experiment.ceiling);
}

}  // namespace

std::string words(const std::vector<Learned>& part, Paint paint) {
  std::string text = paint.bold("2. Learning on those three vectors") + "\n\n";
  text += "   W_Q = W_K = W_V = 1 at first, causal mask, scores / sqrt(3), gradient ascent.\n";
  const std::array<double, 3>& row = part[0].before.attention;
  text += line("   At first walk looks at birds %.2f, sometimes %.2f, walk %.2f.\n\n", row[0],
               row[1], row[2]);
  text +=
      "                                                                  then walk looks at\n"
      "   learns      objective   before    after                        birds  sometimes  walk\n";
  for (const Learned& e : part) {
    const bool runs_away = e.objective == Objective::product && !e.ceiling;
    const std::string after = line("%8.4f", e.after.association);
    text += line("   %-10s  %-9s  %7.4f ", e.learns.c_str(),
                 e.objective == Objective::product ? "product" : "cosine", e.before.association);
    text += runs_away ? paint.bad(after) : paint.good(after);
    text += line("  %-24s  %5.2f  %9.2f %5.2f\n", how_close(e).c_str(), e.after.attention[0],
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
  const std::vector<std::string> words_of = split_words(part.watched[0].pair.sentence);
  support::MapStyle style;
  style.paint = paint;
  style.columns = 96;
  std::string text = "   before\n" + support::attention_map(words_of, part.pattern_before, style);
  text += "   after\n" + support::attention_map(words_of, part.pattern_after, style);
  return text;
}

}  // namespace

std::string words(const TextStory& part, Paint paint) {
  std::string text = paint.bold("3. On a text: where attending is what pays") + "\n\n";
  text += line(
      "   %lld sentences, %lld words, a model of %lld numbers: one block of attention and MLP.\n",
      static_cast<long long>(part.sentence_count), static_cast<long long>(part.vocabulary),
      static_cast<long long>(part.parameters));
  text +=
      line("   It learns to guess the next word. Loss %.2f (guessing: log %lld = %.2f) -> %.2f  ",
           part.training.losses.front(), static_cast<long long>(part.vocabulary),
           part.training.loss_of_guessing, part.training.losses.back());
  std::vector<double> curve;
  for (std::size_t i = 0; i < part.training.losses.size(); i += 32)
    curve.push_back(part.training.losses[i]);
  text += support::sparkline(curve) + "\n\n";

  text +=
      "   where it looks                               attention         association (cosine)\n";
  for (const TextStory::Seen& seen : part.watched) {
    text += line("   %-23s%-5s-> %-12s  %.2f -> ", (seen.pair.sentence + ",").c_str(),
                 seen.pair.word.c_str(), seen.pair.looks_at.c_str(), seen.before.attention);
    text += paint.accent(line("%.2f", seen.after.attention));
    text += line("      %5.2f -> ", seen.before.association);
    text += paint.accent(line("%5.2f", seen.after.association)) + "\n";
  }
  text += "   (sometimes and good are the controls: words it could look at just as well)\n\n";

  for (const TextStory::Completed& c : part.completed) {
    text += line("   %-23s", c.prompt.c_str());
    text += line("before: %-10s %4.2f    after: ", c.before.next.c_str(), c.before.probability);
    text += paint.good(line("%-8s", c.after.next.c_str())) + line(" %4.2f\n", c.after.probability);
  }
  return text + "\n" + maps(part, paint);
}

std::string words(const Proof& part, Paint paint) {
  std::string text = paint.bold("4. The gradient check of exactly this model") + "\n\n";
  const auto verdict = [&](const char* oracle, const report::ModelCheck& check) {
    text += line("   %-20s every parameter: %lld, largest error %.1e  ", oracle,
                 static_cast<long long>(check.elements), check.max_error);
    text += check.ok ? paint.good("ok") : paint.bad("FAIL: " + check.text);
    text += "\n";
  };
  verdict("finite differences", part.differences);
  verdict("dual numbers", part.dual);
  return text;
}

}  // namespace fledge::birds

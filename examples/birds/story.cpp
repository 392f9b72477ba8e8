#include "examples/birds/story.h"

#include <sstream>

#include "examples/lessons/text_values.h"
#include "examples/support/drawn.h"

namespace fledge::birds {

using support::formatted, support::Paint, support::TextValues, support::values_of;

namespace {

constexpr const char* parts_of_story[] = {
#include "examples/birds/story.inc"
};

/// A paragraph, wrapped: its lines begin below its first word, or below that of its item.
std::string wrapped_paragraph(const std::string& text) {
  const std::size_t blanks = text.find_first_not_of(' ');
  const bool is_item = text.compare(std::min(blanks, text.size()), 2, "- ") == 0;
  return support::wrapped(text, 80, static_cast<int>(blanks) + (is_item ? 2 : 0)) + "\n";
}

/// A part of the story with these values. A line is a title ("# "), or begins a paragraph with a
/// blank or behind an empty line, or continues a paragraph.
std::string told(std::size_t part, const TextValues& values, Paint paint) {
  std::string text, paragraph;
  std::istringstream lines(parts_of_story[part]);
  const auto finish = [&] {
    if (!paragraph.empty()) text += wrapped_paragraph(support::filled(paragraph, values));
    paragraph.clear();
  };
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# ")) {
      text = paint.bold(line.substr(2)) + "\n";
    } else if (line.empty() || line[0] == ' ') {
      finish();
      if (line.empty()) text += "\n";
      paragraph = line;
    } else {
      paragraph += (paragraph.empty() ? "" : " ") + line;
    }
  }
  finish();
  return text;
}

/// Below the first line, the lines of a table begin three columns to the right.
std::string table_of(std::string lines) {
  for (std::size_t end = 0; (end = lines.find('\n', end)) != std::string::npos; end += 4)
    lines.insert(end + 1, "   ");
  return lines;
}

std::string line_of(const Learned& e, Paint paint) {
  const bool is_product = e.objective == Objective::product;
  const bool has_limit = !is_product || e.ceiling.has_value();
  const std::string after = formatted("%7.4f", e.after.association);
  const std::string share = formatted("%.1f %%", 100 * e.after.association / e.ceiling.value_or(1));
  return formatted("%-10s  %-7s  %7.4f  ", e.learns.c_str(), is_product ? "product" : "cosine",
                   e.before.association) +
         (has_limit ? paint.good(after) : paint.bad(after)) +
         formatted("  %10s   %5.2f  %9.2f  %4.2f", has_limit ? share.c_str() : "no ceiling",
                   e.after.attention[0], e.after.attention[1], e.after.attention[2]);
}

/// The maps of the first watched sentence before and after training, side by side, and where each
/// word looks after it.
std::string maps(const TextStory& part, Paint paint) {
  const std::vector<std::string> words = {"start", "birds", "sometimes", "walk"};
  // Too narrow for sentences beside the grid.
  const support::MapStyle style{.columns = 60, .paint = paint};
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

std::string introduction() { return told(0, {}, {}); }

std::string words(const ByHand& part, Paint paint) {
  return told(
      1,
      {{"before", part.before},
       {"v3'", formatted("(%.2f, %.2f, %.2f)", part.v_hat[0], part.v_hat[1], part.v_hat[2])},
       {"association", paint.accent(formatted("%6.3f", part.association))},
       {"row sum", part.row_sum},
       {"normalised", part.normalised},
       {"as labelled", part.as_labelled}},
      paint);
}

std::string words(const std::vector<Learned>& part, Paint paint) {
  const std::array<double, 3>& row = part[0].before.attention;
  std::string lines;
  for (const Learned& e : part) lines += (lines.empty() ? "" : "\n") + line_of(e, paint);
  return told(2,
              values_of("birds", row[0], "sometimes", row[1], "walk", row[2], "experiments",
                        table_of(lines), "warning",
                        paint.bad("Here the product rose although 'walk' ignores 'birds': a "
                                  "large product does not prove attention.")),
              paint);
}

std::string words(const TextStory& part, Paint paint) {
  std::vector<double> curve;
  for (std::size_t i = 0; i < part.losses.size(); i += 8) curve.push_back(part.losses[i]);
  std::string watched, completed;
  for (const TextStory::Seen& seen : part.watched)
    watched += formatted("%s%-23s%-5s-> %-10s %.2f -> ", watched.empty() ? "" : "\n",
                         (seen.pair.sentence + ",").c_str(), seen.pair.word.c_str(),
                         seen.pair.looks_at.c_str(), seen.before.attention) +
               paint.accent(formatted("%.2f", seen.after.attention)) +
               formatted("   %s %.2f     ", seen.effect.next.c_str(), seen.effect.visible) +
               paint.accent(formatted("%.2f", seen.effect.hidden));
  for (const TextStory::Completed& c : part.completed)
    completed += formatted("%s%-25sbefore: %-10s %4.2f    after: ", completed.empty() ? "" : "\n",
                           (c.prompt + " __").c_str(), support::printable(c.before.next).c_str(),
                           c.before.probability) +
                 paint.good(formatted("%-8s", support::printable(c.after.next).c_str())) +
                 formatted(" %4.2f", c.after.probability);
  return told(3,
              values_of("sentences", part.sentence_count, "words", part.vocabulary - 1,
                        "parameters", part.parameters, "loss before", part.loss_before,
                        "loss after", part.loss_after, "vocabulary", part.vocabulary, "guessing",
                        part.loss_of_guessing, "least loss", part.least_loss, "seed",
                        std::to_string(part.seed), "fulfil", seed_count.fulfil, "tested",
                        seed_count.tested, "curve", support::sparkline(curve), "watched",
                        table_of(watched), "completed", table_of(completed)),
              paint) +
         maps(part, paint);
}

std::string words(const report::ModelProof& part, Paint paint) {
  const auto verdict = [&](const report::ModelCheck& check) {
    return check.ok ? paint.good("ok") : paint.bad("FAIL: " + check.text);
  };
  return told(4,
              values_of("elements", part.dual.elements, "differences", part.differences.max_error,
                        "by differences", verdict(part.differences), "dual", part.dual.max_error,
                        "by dual", verdict(part.dual)),
              paint);
}

}  // namespace fledge::birds

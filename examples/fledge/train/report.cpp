#include "examples/fledge/train/report.h"

#include <cmath>

#include "examples/support/terminal.h"
#include "examples/support/text.h"
#include "nn/inspect/ngram_losses.h"

namespace fledge::train {

using support::counted;
using support::formatted;
using support::thousands;

namespace {

// About `most` tokens of a text that has more: the first or the last ones of a stream, or every n-th
// document.
TokenText part_of(const TokenText& text, Dim most, bool is_end) {
  if (text.size() <= most) return text;
  const auto at = [&](std::size_t i) {
    return text.tokens.begin() + static_cast<std::ptrdiff_t>(i);
  };
  if (text.starts.empty())
    return is_end ? TokenText{{text.tokens.end() - most, text.tokens.end()}, {}}
                  : TokenText{{text.tokens.begin(), text.tokens.begin() + most}, {}};
  TokenText part;
  const auto n = static_cast<std::size_t>((text.size() + most - 1) / most);
  for (std::size_t d = 0; d + 1 < text.starts.size(); d += n) {
    part.starts.push_back(part.tokens.size());
    part.tokens.insert(part.tokens.end(), at(text.starts[d]), at(text.starts[d + 1]));
  }
  part.starts.push_back(part.tokens.size());
  part.tokens.push_back(text.tokens.back());
  return part;
}

}  // namespace

std::string token_word(Tokens kind) {
  return kind == Tokens::character ? "character"
         : kind == Tokens::word    ? "word"
         : kind == Tokens::byte    ? "byte"
                                   : "token";
}

Baselines baselines_of(const Corpus& corpus, const std::function<void(double)>& progress,
                       Dim most_counted, Dim most_measured) {
  Baselines result;
  const Dim V = corpus.tokenizer.size();
  result.uniform = std::log(static_cast<double>(V));
  const bool holds_out = corpus.valid.size() >= 2;
  const TokenText train = part_of(corpus.train, most_counted, true);
  const TokenText test =
      holds_out ? part_of(corpus.valid, most_measured, false) : part_of(train, most_measured, true);
  if (train.size() < corpus.train.size() || (holds_out && test.size() < corpus.valid.size())) {
    result.counted = train.size();
    result.measured = test.size();
  }
  result.counting = ngram_losses(train, test, V, 3, progress);
  return result;
}

double bits_per_byte(double loss, const TokenText& text, const Tokenizer& tokenizer) {
  const double bytes = static_cast<double>(tokenizer.decode(text.tokens).size());
  return loss / std::log(2.0) * static_cast<double>(text.tokens.size()) / bytes;
}

std::string text_report(const std::string& beginning, const Corpus& corpus) {
  const std::string token = token_word(corpus.tokenizer.kind());
  const auto size = [](const TokenText& text) { return static_cast<Dim>(text.tokens.size()); };
  std::string text = beginning + " " + counted(corpus.facts.bytes, "byte");
  if (!corpus.train.starts.empty()) text += ", " + counted(corpus.facts.documents, "line");
  text += ": " + counted(size(corpus.train) + size(corpus.valid), token) + ", " +
          thousands(corpus.tokenizer.size()) + " different.";
  if (corpus.valid.size() > 0)
    text += " " + thousands(size(corpus.valid)) +
            " are held out: they measure the model and do not train it.";
  return text;
}

std::string split_report(const CorpusFacts& facts, const std::string& token,
                         const std::string& folder) {
  std::string text;
  if (facts.repeated > 0) {
    constexpr double most_share = 0.1;
    const double percent = 100 * facts.repeated_share;
    text = counted(facts.repeated, "held-out line") + " also " +
           (facts.repeated == 1 ? "occurs" : "occur") + " in the training text: " +
           (percent < 0.5 ? "less than 1" : formatted("%.0f", percent)) +
           " % of the held-out characters.";
    if (facts.repeated_share > most_share) {
      text += " So the held-out loss is too optimistic. Remove repeated lines";
      if (!folder.empty())
        text += ", or judge the model by another text: fledge eval " + folder + " FILE";
      text += ".";
    }
  }
  if (facts.unseen > 0)
    text += (text.empty() ? "" : "\n") + counted(facts.unseen, "held-out " + token) + " never " +
            (facts.unseen == 1 ? "occurs" : "occur") + " in the training text.";
  return text;
}

std::string model_report(const LanguageModel& model) {
  const LanguageModelSizes& s = model.sizes;
  return "The model: " + counted(s.layers, "layer") + ", " + counted(s.heads, "head") + ", width " +
         thousands(s.width) + ", context " + thousands(s.context) + "; " +
         counted(count_parameters(model), "parameter") + ".";
}

std::string variant_report(const Recipe& recipe) {
  const auto listed = [](const std::string& title, const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? title + ": " : ", ") + word;
    return text.empty() ? text : text + ". ";
  };
  std::string text = listed("Left out", words_of_none(recipe)) +
                     listed("Frozen", words_of_none(recipe.learned)) +
                     (recipe.tie_qk ? "W_Q and W_K are the same matrix. " : "");
  if (!text.empty()) text.pop_back();
  return text;
}

std::string cheating_report(const std::string& token) {
  return "Without the mask each position but the last sees the " + token +
         " that it must predict. This model can cheat: its loss is not a prediction.";
}

std::string baseline_report(const Baselines& baselines, const std::string& token) {
  std::string text = "Losses to beat, in nats per " + token + ": guessing blindly " +
                     formatted("%.3f", baselines.uniform) + "; counting tables with ";
  std::string histories, losses;
  for (std::size_t n = 0; n < baselines.counting.size(); ++n) {
    histories += (n > 0 ? ", " : "") + std::to_string(n);
    losses += (n > 0 ? ", " : "") + formatted("%.3f", baselines.counting[n]);
  }
  text += histories + " " + token + "s of history " + losses + ".";
  if (baselines.counted > 0)
    text += " The text is long: these tables are counted on " + thousands(baselines.counted) +
            " of its " + token + "s and measured on " + thousands(baselines.measured) + ".";
  return text;
}

std::string loss_sentence(const std::string& name, double loss, double bits, double uniform,
                          const std::string& token) {
  return name + formatted(" %.4f nats per ", loss) + token +
         formatted(" (%.3f bits per byte): ", bits) +
         (loss < uniform ? formatted("like choosing among %.1f ", std::exp(loss)) + token + "s."
                         : "worse than guessing blindly.");
}

std::string loss_report(const std::string& name, double loss, double bits,
                        const Baselines& baselines, const std::string& token,
                        support::Paint paint) {
  const int columns = support::text_width(stderr);
  std::string text =
      support::wrapped(loss_sentence(name, loss, bits, baselines.uniform, token), columns);
  const auto row = [&](const std::string& rival, double its_loss, const std::string& verdict) {
    const std::string cell = support::pad_right(rival, columns < 62 ? 0 : 40);
    text +=
        "\n" + support::wrapped("  " + cell + formatted("  %.4f", its_loss) + verdict, columns, 4);
  };
  row("guessing blindly", baselines.uniform, "");
  for (std::size_t n = 0; n < baselines.counting.size(); ++n) {
    const std::string history =
        n == 0 ? "no history" : counted(static_cast<std::int64_t>(n), token) + " of history";
    const bool beaten = loss < baselines.counting[n];
    row("counting table, " + history, baselines.counting[n],
        "  " + (beaten ? paint.good("beaten") : paint.bad("not beaten")));
  }
  return text;
}

}  // namespace fledge::train

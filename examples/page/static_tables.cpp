#include "examples/page/static_tables.h"

#include <algorithm>
#include <vector>

#include "examples/page/base64.h"
#include "examples/support/text.h"
#include "nn/io/json.h"

namespace fledge::page {

namespace {

using support::formatted, support::markup_escaped;

std::string element(const std::string& name, const std::string& inner) {
  return "<" + name + ">" + inner + "</" + name.substr(0, name.find(' ')) + ">";
}

struct Sizes {
  std::size_t layers, heads;
  bool is_causal;
};

/// One head: a row for each query, a column for each key.
std::string head_table(const std::string& caption, const std::vector<std::string>& words,
                       const std::vector<double>& weights, std::size_t& at, bool is_causal) {
  std::string rows = element("caption", caption), head = "<th></th>";
  for (const std::string& word : words) head += element("th scope=\"col\"", word);
  rows += element("tr", head);
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string row = element("th scope=\"row\"", words[i]);
    for (std::size_t j = 0; j < words.size(); ++j)
      row += element("td", is_causal && j > i ? "" : formatted("%.2f", weights.at(at++)));
    rows += element("tr", row);
  }
  return element("table", rows) + "\n";
}

/// "1 layer, 1 head, 16 numbers per token, context 10, 79 different tokens; seed 1."
std::string sizes_in_words(const JsonValue& run) {
  const JsonValue model = run["model"];
  std::string without;
  model["without"].each_item([&](const JsonValue& part) {
    without += (without.empty() ? " The model is without " : ", ") + markup_escaped(part.string());
  });
  if (!without.empty()) without += ".";
  const auto size = [&](const char* name) { return model[name].integer(0, std::int64_t{1} << 53); };
  return support::counted(size("layers"), "layer") + ", " +
         support::counted(size("heads"), "head") + ", " +
         support::counted(size("width"), "number") + " per token, context " +
         support::thousands(size("context")) + ", " + support::thousands(size("vocabulary")) +
         " different tokens; seed " + run["seed"].shown() + "." + without;
}

/// The training loss at ten steps, evenly spaced.
std::string loss_table(const JsonValue& points) {
  std::vector<std::string> rows;
  points.each_item([&](const JsonValue& point) {
    std::vector<double> numbers;
    point.each_item([&](const JsonValue& number) { numbers.push_back(number.number()); });
    rows.push_back(
        element("tr", element("th scope=\"row\"", formatted("step %.0f", numbers.at(0))) +
                          element("td", formatted("%.3f", numbers.at(1)))));
  });
  std::string table = element("caption", "Training loss, in nats per token");
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (i % std::max<std::size_t>(1, rows.size() / 10) == 0 || i + 1 == rows.size())
      table += rows[i];
  return rows.empty() ? "" : element("table", table) + "\n";
}

std::string attention_tables(const JsonValue& run, const JsonValue& snapshot) {
  const JsonValue model = run["model"];
  constexpr std::int64_t most = 1 << 20;
  const Sizes sizes{static_cast<std::size_t>(model["layers"].integer(1, most)),
                    static_cast<std::size_t>(model["heads"].integer(1, most)),
                    model["causal"].boolean()};
  std::vector<std::string> labels;
  run["words"].each_item(
      [&](const JsonValue& word) { labels.push_back(markup_escaped(word.string())); });
  std::vector<std::vector<std::string>> sentences;
  run["sentences"].each_item([&](const JsonValue& sentence) {
    sentences.emplace_back();
    sentence["ids"].each_item([&](const JsonValue& id) {
      sentences.back().push_back(labels.at(static_cast<std::size_t>(id.integer(0, most))));
    });
  });
  std::string html;
  std::size_t number = 0;
  snapshot["sentences"].each_item([&](const JsonValue& sentence) {
    const std::string bytes = base64_decoded(sentence["attention"].string());
    std::vector<double> weights;
    for (std::size_t at = 0; at + 2 <= bytes.size(); at += 2)
      weights.push_back((static_cast<unsigned char>(bytes[at]) +
                         256 * static_cast<unsigned char>(bytes[at + 1])) /
                        65535.0);
    const std::vector<std::string>& words = sentences.at(number++);
    std::size_t at = 0;
    for (std::size_t layer = 0; layer < sizes.layers; ++layer)
      for (std::size_t head = 0; head < sizes.heads; ++head)
        html += head_table(formatted("Sentence %zu, layer %zu, head %zu: each row is the word that "
                                     "looks, each column a word that it looks at",
                                     number, layer, head),
                           words, weights, at, sizes.is_causal);
  });
  return html;
}

}  // namespace

std::string static_tables(const std::string& title, const Json& data) {
  const JsonValue run = read_json(data.text())["run"];
  JsonValue last;
  run["snapshots"].each_item([&](const JsonValue& snapshot) { last = snapshot; });
  std::string html = "<header>\n" + element("h1", title) + "\n";
  html += element("p", markup_escaped(run["in_words"].string())) + "\n";
  html += element("p class=\"note\"", sizes_in_words(run)) + "\n";
  run["notices"].each_item([&](const JsonValue& notice) {
    html += element("p class=\"note\"", markup_escaped(notice.string())) + "\n";
  });
  html += "</header>\n<main id=\"page\">\n<section id=\"static\">\n<h2>The last step</h2>\n";
  html += element("p",
                  "This page can move: it needs JavaScript for it. Without it, these are the "
                  "numbers of step " +
                      std::to_string(last["step"].integer(0, std::int64_t{1} << 53)) + ".") +
          "\n";
  std::string rows = element("caption", "What the model writes after a beginning");
  std::vector<std::string> prompts;
  run["prompts"].each_item(
      [&](const JsonValue& prompt) { prompts.push_back(markup_escaped(prompt.string())); });
  std::size_t at = 0;
  last["continuations"].each_item([&](const JsonValue& text) {
    if (at >= prompts.size()) return;
    rows += element("tr", element("th scope=\"row\"", prompts[at++]) +
                              element("td", markup_escaped(text.string())));
  });
  html += element("table", rows) + "\n" + attention_tables(run, last) +
          loss_table(run["losses"]["train"]);
  return html + "</section>\n</main>\n";
}

}  // namespace fledge::page

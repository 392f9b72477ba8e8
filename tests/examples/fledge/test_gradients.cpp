// The table of gradients is complete: an op, layer or model without a row of its own fails here.
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "tests/examples/fledge/command.h"
#include "tests/support/catch.h"
#include "tests/support/declared_ops.h"

using namespace testing;

namespace {

const std::filesystem::path source_folder = FLEDGE_SOURCE_DIR;

/// The modules: structs at the left margin that have a member visit.
std::set<std::string> declared_modules(const std::string& header) {
  std::set<std::string> modules;
  std::string name = "a visit before any struct";
  for (const std::string& line : lines_of(header)) {
    for (const std::string kind : {"struct ", "class "})
      if (line.starts_with(kind))
        name = line.substr(kind.size(), line.find_first_of(" :{;", kind.size()) - kind.size());
    if (line.find("void visit(") != line.npos) modules.insert(name);
  }
  return modules;
}

std::set<std::string> names_in_table() {
  std::set<std::string> names;
  for (const GradientRow& row : all_rows()) names.insert(row.name);
  return names;
}

/// "(2, 3) (4)" has 10 elements.
double elements_of(const std::string& shapes) {
  double sum = 0;
  for (std::size_t at = 0; (at = shapes.find('(', at)) != shapes.npos;) {
    double product = 1;
    for (++at; shapes[at] != ')'; at = shapes.find_first_of(",)", at))
      product *= std::atof(&shapes[shapes[at] == ',' ? ++at : at]);
    sum += product;
  }
  return sum;
}

}  // namespace

TEST_CASE("table of gradients: every op in engine/ops.h has a row, every overload one more") {
  std::vector<std::string> unread;
  const auto ops = declared_ops(source_text(source_folder / "engine/ops.h"), &unread);
  CHECK(unread == std::vector<std::string>{});
  CHECK(ops.size() >= 30);
  for (const char* known : {"add", "sub", "neg", "mul", "div", "softmax", "split", "dropout"})
    CHECK(ops.contains(known));
  CHECK(without_rows(ops, names_in_table()) == std::vector<std::string>{});
}

TEST_CASE("table of gradients: the search for ops finds the one that has no row") {
  std::vector<std::string> unread;
  const auto ops = declared_ops(
      "#pragma once\n// A comment\nnamespace fledge {\n\n/// Sums.\n"
      "Tensor cumsum(const Tensor& x,\n              int axis);\n"
      "Tensor operator-(const Tensor& a, const Tensor& b);\nTensor operator-(const Tensor& x);\n"
      "Tensor operator%(const Tensor& a, const Tensor& b);\nTensor exp(const Tensor& x);\n"
      "std::vector<Tensor> unbind(const Tensor& x);\nTensor max(const Tensor& x);\n"
      "Tensor max(const Tensor& x, const Tensor& y);\n"
      "std::pair<Tensor, Tensor> topk(const Tensor& x);\n}  // namespace fledge\n",
      &unread);
  CHECK(ops == std::map<std::string, std::size_t>{{"cumsum", 1},
                                                  {"sub", 1},
                                                  {"neg", 1},
                                                  {"operator%", 1},
                                                  {"exp", 1},
                                                  {"unbind", 1},
                                                  {"max", 2}});
  CHECK(unread == std::vector<std::string>{"std::pair<Tensor, Tensor> topk(const Tensor& x);"});
  CHECK(without_rows(ops, {"sub", "neg", "exp broadcast", "max", "maximum", "cumsums"}) ==
        std::vector<std::string>{"cumsum", "max", "operator%", "unbind"});
}

TEST_CASE("table of gradients: every layer and model with a visit has a row") {
  CHECK(
      declared_modules("struct Sizes { int n; };\nstruct A : B {\n  struct Inner {};\n"
                       "  void visit(auto&& f) const {}\n};\nclass C {\n  void visit(auto&&);\n") ==
      std::set<std::string>{"A", "C"});

  std::set<std::string> modules, first_words;
  for (const char* folder : {"nn/layers", "nn/gpt"})
    for (const auto& file : std::filesystem::recursive_directory_iterator(source_folder / folder))
      if (file.path().extension() == ".h")
        modules.merge(declared_modules(source_text(file.path())));
  CHECK(modules.size() >= 9);
  for (const char* known : {"Linear", "Dropout", "CrossAttention", "LanguageModel"})
    CHECK(modules.contains(known));
  for (const std::string& name : names_in_table()) first_words.insert(first_word(name));
  for (const std::string& module : modules) {
    CAPTURE(module);
    CHECK(first_words.contains(module));
  }
}

TEST_CASE("table of gradients: every element of every input of an op is compared") {
  CHECK(elements_of("(2, 3) () (4)") == 11);
  std::size_t ops = 0;
  for (const GradientRow& row : all_rows()) {
    if (row.name[0] < 'a' || row.name[0] > 'z') continue;
    CAPTURE(row.name, row.oracle, row.shapes);
    CHECK(row.elements == elements_of(row.shapes));
    ++ops;
  }
  CHECK(ops >= 100);
}

TEST_CASE("table of gradients: every parameter of a module is compared, and its input") {
  // A Linear has in·out + out, a LayerNorm 2·width.
  const auto linear = [](int in, int out) { return in * out + out; };
  const auto block = [&](int width, int hidden) {
    return 4 * width + linear(width, 3 * width) + linear(width, width) + linear(width, hidden) +
           linear(hidden, width);
  };
  const int model = 11 * 8 + 6 * 8 + 2 * block(8, 12) + 2 * 8;
  const std::map<std::string, int> expected{
      {"Linear", linear(4, 3) + 2 * 3 * 4},
      {"Linear without bias", 4 * 3 + 3 * 4},
      {"Embedding", 11 * 3},
      {"LayerNorm", 2 * 5 + 2 * 3 * 5},
      {"MLP", linear(3, 7) + linear(7, 3) + 2 * 2 * 3},
      {"Attention causal", linear(6, 3 * 6) + linear(6, 6) + 2 * 5 * 6},
      {"CrossAttention", linear(6, 6) + linear(3, 2 * 6) + linear(6, 6) + 2 * 4 * 6 + 2 * 5 * 3},
      {"Block", block(4, 6) + 2 * 3 * 4},
      {"LanguageModel logits", model},
      {"LanguageModel loss", model}};
  std::size_t found = 0;
  for (const GradientRow& row : all_rows()) {
    const auto count = expected.find(row.name);
    if (count == expected.end()) continue;
    CAPTURE(row.name, row.oracle);
    CHECK(row.elements == count->second);
    ++found;
  }
  CHECK(found == 2 * expected.size());
}

// fledge gradcheck and --explain: every op, layer and model has a row, every row is within its
// figures, and every path of a derivative adds up. tests/command has what they say.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "examples/support/text.h"
#include "tests/examples/fledge/command.h"
#include "tests/support/catch.h"
#include "tests/support/declared_ops.h"
#include "tests/support/sanitized.h"

using namespace testing;

namespace {

/// One object of --json.
struct GradientRow {
  std::string name, shapes, oracle;
  double elements, max_error;
  bool ok;
};

std::vector<GradientRow> rows_with(const Words& arguments) {
  CAPTURE(arguments);
  const Result result = fledge_says(Words{"gradcheck", "--json"} + arguments);
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  const StrictJson whole = strict_json(result.out);
  std::vector<GradientRow> rows;
  for (const StrictJson& row : whole.array())
    rows.push_back({row["name"].string(), row["shapes"].string(), row["oracle"].string(),
                    row["elements"].number(), row["max_error"].number(), row["ok"].boolean()});
  return rows;
}

/// All rows with the seed 1, computed once: of each name one by dual numbers, one by differences.
const std::vector<GradientRow>& all_rows() {
  static const std::vector<GradientRow> rows = rows_with({});
  return rows;
}

std::string short_error(double error) { return support::formatted("%.1e", error); }

/// "(2, 3) (4)" gives 10, the number of its elements, and "[0,0]", the first index of the first.
std::pair<double, std::string> elements_of(const std::string& shapes) {
  double sum = 0;
  for (std::size_t at = 0; (at = shapes.find('(', at)) != shapes.npos;) {
    double product = 1;
    for (++at; shapes[at] != ')'; at = shapes.find_first_of(",)", at))
      product *= std::atof(&shapes[shapes[at] == ',' ? ++at : at]);
    sum += product;
  }
  std::string index = "[";
  for (const char c : shapes.substr(0, shapes.find(')')))
    if (c == ',') index += "0,";
  return {sum, shapes.starts_with("()") ? "[]" : index + "0]"};
}

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

}  // namespace

TEST_CASE("fledge gradcheck: every op, overload, layer and model has a row") {
  const std::filesystem::path sources = FLEDGE_SOURCE_DIR;
  Words unread;
  const auto ops = declared_ops(source_text(sources / "engine/ops.h"), &unread);
  std::set<std::string> modules, names, first_words;
  for (const char* folder : {"nn/layers", "nn/gpt"})
    for (const auto& file : std::filesystem::recursive_directory_iterator(sources / folder))
      if (file.path().extension() == ".h")
        modules.merge(declared_modules(source_text(file.path())));
  for (const GradientRow& row : all_rows())
    names.insert(row.name), first_words.insert(first_word(row.name));
  CHECK(unread == Words{});
  CHECK(ops.size() >= 30);
  CHECK(without_rows(ops, names) == Words{});
  CHECK(modules.size() >= 9);
  for (const std::string& module : modules) CHECK(first_words.contains(module));
  // The search finds what has no row.
  const auto few = declared_ops(
      "#pragma once\n// A comment\nnamespace fledge {\n\n/// Sums.\n"
      "Tensor cumsum(const Tensor& x,\n              int axis);\n"
      "Tensor operator-(const Tensor& a, const Tensor& b);\nTensor operator-(const Tensor& x);\n"
      "Tensor operator%(const Tensor& a, const Tensor& b);\nTensor exp(const Tensor& x);\n"
      "std::vector<Tensor> unbind(const Tensor& x);\nTensor max(const Tensor& x);\n"
      "Tensor max(const Tensor& x, const Tensor& y);\n"
      "std::pair<Tensor, Tensor> topk(const Tensor& x);\n}  // namespace fledge\n",
      &unread);
  CHECK(unread == Words{"std::pair<Tensor, Tensor> topk(const Tensor& x);"});
  CHECK(without_rows(few, {"sub", "neg", "exp broadcast", "max", "maximum", "cumsums"}) ==
        Words{"cumsum", "max", "operator%", "unbind"});
}

TEST_CASE("fledge gradcheck: every element of every input and parameter is compared") {
  // A Linear has in·out + out, a LayerNorm 2·width.
  const auto linear = [](int in, int out) { return in * out + out; };
  const auto block = [&](int width, int hidden) {
    return 4 * width + linear(width, 3 * width) + linear(width, width) + linear(width, hidden) +
           linear(hidden, width);
  };
  const int model = 11 * 8 + 6 * 8 + 2 * block(8, 12) + 2 * 8;
  std::map<std::string, int> modules{
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
  std::size_t ops = 0;
  for (const GradientRow& row : all_rows()) {
    CAPTURE(row.name, row.oracle, row.shapes);
    const bool is_op = row.name[0] >= 'a' && row.name[0] <= 'z';
    ops += is_op;
    if (is_op) CHECK(row.elements == elements_of(row.shapes).first);
    if (modules.contains(row.name)) CHECK(row.elements == modules.at(row.name));
    if (row.oracle != "dual") modules.erase(row.name);
  }
  CHECK(ops >= 100);
  CHECK(modules.empty());
}

TEST_CASE("fledge gradcheck: both oracles of every name within their figures, seeds 1 to 5") {
  for (int seed = 1; seed <= (sanitized ? 1 : 5); ++seed) {
    std::set<std::string> names;
    const auto rows = seed == 1 ? all_rows() : rows_with({"--seed", std::to_string(seed)});
    REQUIRE(rows.size() == all_rows().size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const GradientRow &row = rows[i], &other = rows[i ^ 1];
      CAPTURE(seed, row.name, row.oracle);
      CHECK(row.ok);
      CHECK((row.elements > 0 && row.elements == other.elements && row.shapes == other.shapes));
      CHECK(row.max_error >= 0);
      CHECK(row.max_error <= (i % 2 == 0 ? 1e-12 : 1e-8));
      CHECK(row.oracle == (i % 2 == 0 ? "dual" : "differences"));
      CHECK((row.name == other.name && names.insert(row.name).second == (i % 2 == 0)));
    }
  }
}

TEST_CASE("fledge gradcheck: the table has a line a name, with what --json says, within 30 s") {
  // Under a sanitizer the table has one op: --json runs all rows, by the same code.
  const Words asked = sanitized ? Words{"softmax"} : Words{};
  const std::vector<GradientRow> rows = sanitized ? rows_with(asked) : all_rows();
  const Result table = fledge_says(Words{"gradcheck"} + asked);
  CHECK(table.status == 0);
  CHECK(table.err.empty());
  const Words lines = lines_of(table.out);
  REQUIRE(lines.size() == 2 + rows.size() / 2 + 2);
  double elements = 0, worst[2] = {0, 0};
  for (std::size_t i = 0; i < rows.size(); i += 2) {
    const std::string &line = lines[2 + i / 2], dual = short_error(rows[i].max_error),
                      end = short_error(rows[i + 1].max_error) + "  ok";
    CHECK(line.size() <= 80);
    CHECK(line.starts_with(rows[i].name + " "));
    CHECK(line.ends_with(end));
    CHECK(line.find(" " + dual + " ") < line.size() - end.size());
    elements += rows[i].elements;
    for (const std::size_t oracle : {std::size_t{0}, std::size_t{1}})
      worst[oracle] = std::max(worst[oracle], rows[i + oracle].max_error);
  }
  const std::string& summary = lines[lines.size() - 2];
  CHECK(summary.starts_with(std::to_string(rows.size() / 2) + " passed, 0 failed; " +
                            support::counted(static_cast<std::int64_t>(elements), "element")));
  CHECK(lines.back() == "largest error " + short_error(worst[0]) + " (dual numbers), " +
                            short_error(worst[1]) + " (differences)");
  double seconds = 0;
  CHECK(std::sscanf(summary.c_str() + summary.find(" in "), " in %lf", &seconds) == 1);
  // Where the code is neither optimised nor free of sanitizers, they say no more.
  if (FLEDGE_OPTIMISED != 0 && !sanitized) CHECK((seconds > 0 && seconds < 30));
}

TEST_CASE("explain: the paths add up to backward(), for the first element of every row") {
  for (const GradientRow& row : sanitized ? rows_with({"matmul", "max"}) : all_rows()) {
    if (row.oracle != "dual" || row.shapes[0] != '(' || row.shapes.ends_with("ids")) continue;
    const std::string element = row.name + elements_of(row.shapes).second;
    CAPTURE(element);
    const Result result = fledge_says({"gradcheck", "--explain", element, "--json"});
    REQUIRE(result.status == 0);
    const StrictJson found = strict_json(result.out);
    CHECK(found["paths_agree"].boolean());
    CHECK(found["differences_agree"].boolean());
    double sum = 0, given = 0;
    for (const StrictJson& path : found["paths"].array()) {
      const double product = path["derivative"].number() * path["cotangent"].number();
      CHECK_THAT(path["product"].number(), WithinRel(product, 1e-15));
      sum += product;
    }
    for (const StrictJson& op : found["ops"].array()) given += op["gives"].number();
    const double size = std::max(1.0, std::abs(sum));
    CHECK(std::abs(found["sum_of_paths"].number() - sum) <= 1e-14 * size);
    CHECK(std::abs(found["backward"].number() - sum) <= 1e-11 * size);
    CHECK(std::abs(found["differences"].number() - sum) <= 1e-7 * size);
    CHECK(std::abs(found["backward"].number() - given) <= 1e-14 * size);
  }
}

// fledge gradcheck and --explain: every op, layer and model has a row, every row is within its
// figures, and every path of a derivative adds up. tests/command has what they say, and
// engine/ops/test_op_table.cpp and nn/test_module_gradients.cpp count what is compared.
#include <array>
#include <cmath>
#include <filesystem>
#include <regex>
#include <set>

#include "examples/fledge/against.h"
#include "examples/support/run_main.h"
#include "tests/examples/fledge/training.h"

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

/// "(2, 3) (4)" gives "[0,0]", the first index of the first.
std::string first_index_of(const std::string& shapes) {
  std::string index = "[";
  for (const char c : shapes.substr(0, shapes.find(')')))
    if (c == ',') index += "0,";
  return shapes.starts_with("()") ? "[]" : index + "0]";
}

/// How many declarations each op has in the catalogue; operators have words in the table of rows.
std::map<std::string, std::size_t> declared_ops(const std::string& catalogue) {
  const std::map<std::string, std::string> words{
      {"operator+", "add"}, {"operator*", "mul"}, {"operator/", "div"}};
  std::map<std::string, std::size_t> ops;
  for (const std::string& line : lines_of(catalogue)) {
    std::smatch found;
    if (!std::regex_search(line, std::regex("^[a-zA-Z]")) || line.starts_with("namespace") ||
        line.starts_with("using") || line.starts_with("struct") || line.starts_with("enum") ||
        line.starts_with("Array operator") || line.starts_with("Indices argmax"))  // no gradient
      continue;
    INFO(line);  // no op escapes by its form
    REQUIRE(std::regex_search(line, found,
                              std::regex("^(Tensor|std::vector<Tensor>) ([^(]+)\\([^,]*(,?)")));
    const std::string name = found[2], minus = found[3] == "," ? "sub" : "neg";
    ++ops[name == "operator-" ? minus : words.contains(name) ? words.at(name) : name];
  }
  return ops;
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
  const auto ops = declared_ops(text_of(sources / "engine/ops.h"));
  std::set<std::string> modules, names, first_words;
  for (const char* folder : {"nn/layers", "nn/gpt"})
    for (const auto& file : std::filesystem::recursive_directory_iterator(sources / folder))
      if (file.path().extension() == ".h") modules.merge(declared_modules(text_of(file.path())));
  for (const GradientRow& row : all_rows())
    names.insert(row.name), first_words.insert(first_word(row.name));
  CHECK(ops.size() >= 30);
  for (const auto& [op, declarations] : ops) {
    INFO(op);
    CHECK(std::count_if(names.begin(), names.end(), [&, of = op](const std::string& name) {
            return first_word(name) == of;
          }) >= static_cast<std::ptrdiff_t>(declarations));
  }
  CHECK(modules.size() >= 9);
  for (const std::string& module : modules) CHECK(first_words.contains(module));
}

TEST_CASE("fledge gradcheck: both oracles of every name within their figures, seeds 1 to 3") {
  for (int seed = 1; seed <= (sanitized ? 1 : 3); ++seed) {
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

TEST_CASE("explain: the paths add up to backward(), for the first element of every row") {
  for (const GradientRow& row : sanitized ? rows_with({"matmul", "max"}) : all_rows()) {
    if (row.oracle != "dual" || row.shapes[0] != '(' || row.shapes.ends_with("ids")) continue;
    const std::string element = row.name + first_index_of(row.shapes);
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

TEST_CASE("a program that never ends, or never stops to answer, is ended") {
  // Larger than a pipe holds: a program that does not read must not stop this one either.
  const report::Numbers large{"x", {100000}, std::vector<float>(100000, 1)};
  const std::string late = "gave no whole answer within 1 second";
  const std::vector<std::array<std::string, 2>> rows{
      {"sleep 60", late},
      {"yes", "gave "},  // no whole answer, or more than 256 MiB
      {"sh -c 'exec sleep 60 <&-'", late},
      {"sh -c 'exec >&-; exec sleep 60'", "closed its output and did not end"}};
  for (const auto& [command, problem] : rows) {
    std::vector<report::Numbers> answer{{"y", {1}, {}}};
    std::string said;
    try {
      fledge::call_program(command, "softmax", {large}, answer, 1);
    } catch (const support::InputError& error) {
      said = error.what();
    }
    CHECK(said.starts_with("'" + command + "' " + problem));
  }
}

TEST_CASE("a program that answers before it reads, and more than a pipe holds, is heard") {
  std::vector<report::Numbers> answer{{"x", {100000}, {}}};
  const report::Numbers large{"x", {100000}, std::vector<float>(100000, 1)};
  fledge::call_program("cat", "softmax", {large}, answer);
  CHECK(answer[0].numbers == large.numbers);
}

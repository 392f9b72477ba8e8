// fledge gradcheck --explain: the paths of one number of a gradient, and that they add up.
#include <cmath>

#include "examples/support/text.h"
#include "tests/examples/fledge/command.h"
#include "tests/support/catch.h"
#include "tests/support/sanitized.h"

using namespace testing;

namespace {

const std::string wrong_fledge = FLEDGE_BINARY_DIR "/fledge_wrong";

StrictJson explanation_of(const std::string& element) {
  const Result result = fledge_says({"gradcheck", "--explain", element, "--json"});
  CAPTURE(element, result.err);
  REQUIRE(result.status == 0);
  return strict_json(result.out);
}

double sum_of_products(const StrictJson& found) {
  double sum = 0;
  for (const StrictJson& path : found["paths"].array()) {
    const double product = path["derivative"].number() * path["cotangent"].number();
    CHECK_THAT(path["product"].number(), WithinRel(product, 1e-15));
    sum += product;
  }
  return sum;
}

std::string refused_explanation(const std::string& element) {
  const Result result = fledge_says({"gradcheck", "--explain", element});
  CAPTURE(element);
  CHECK(result.status == 2);
  CHECK(result.out.empty());
  return two_lines(result.err);
}

std::vector<GradientRow> rows_of_two_ops() {
  return rows_of(fledge_says({"gradcheck", "--json", "matmul", "max"}).out);
}

/// "(2, 3) (4)" gives "[0,0]".
std::string first_index(const std::string& shapes) {
  std::string index = "[";
  for (const char c : shapes.substr(0, shapes.find(')')))
    if (c == ',') index += "0,";
  return shapes.starts_with("()") ? "[]" : index + "0]";
}

}  // namespace

TEST_CASE(
    "explain: the paths are the outputs that depend on the number, each with its derivative") {
  const StrictJson twice = explanation_of("add itself[1]");
  CHECK(twice["element"].string() == "x[1]");
  REQUIRE(twice["paths"].array().size() == 1);
  CHECK(twice["paths"][0]["output"].string() == "y[1]");
  CHECK(twice["paths"][0]["derivative"].number() == 2);
  CHECK(twice["other_outputs"].number() == 2);
  REQUIRE(twice["ops"].array().size() == 2);  // x enters + on both sides
  for (const StrictJson& op : twice["ops"].array()) {
    CHECK(op["op"].string() == "+");
    CHECK(op["gives"].number() == twice["paths"][0]["cotangent"].number());
  }

  // C = A·B: A[0,1] reaches the four outputs of row 0; B[2,3] the two outputs of column 3.
  const StrictJson left = explanation_of("matmul[0,1]"), right = explanation_of("matmul:1[2,3]");
  CHECK(left["element"].string() == "x0[0,1]");
  REQUIRE(left["paths"].array().size() == 4);
  CHECK(left["paths"][3]["output"].string() == "y[0,3]");
  CHECK(left["other_outputs"].number() == 4);
  CHECK(right["element"].string() == "x1[2,3]");
  REQUIRE(right["paths"].array().size() == 2);
  CHECK(right["paths"][1]["output"].string() == "y[1,3]");
}

TEST_CASE("explain: the paths add up to backward(), for the first element of every row") {
  for (const GradientRow& row : sanitized ? rows_of_two_ops() : all_rows()) {
    if (row.oracle != "dual" || row.shapes[0] != '(' || row.shapes.ends_with("ids")) continue;
    const std::string element = row.name + first_index(row.shapes);
    const StrictJson found = explanation_of(element);
    CAPTURE(element);
    CHECK(found["paths_agree"].boolean());
    CHECK(found["differences_agree"].boolean());
    const double sum = sum_of_products(found), size = std::max(1.0, std::abs(sum));
    CHECK(std::abs(found["sum_of_paths"].number() - sum) <= 1e-14 * size);
    CHECK(std::abs(found["backward"].number() - sum) <= 1e-11 * size);
    CHECK(std::abs(found["differences"].number() - sum) <= 1e-7 * size);
    double given = 0;
    for (const StrictJson& op : found["ops"].array()) given += op["gives"].number();
    CHECK(std::abs(found["backward"].number() - given) <= 1e-14 * size);
  }
}

TEST_CASE("explain: a weight that is used twice, by its name") {
  const StrictJson tied = explanation_of("LanguageModel loss:wte.weight[2,3]");
  CHECK(tied["element"].string() == "wte.weight[2,3]");
  REQUIRE(tied["ops"].array().size() == 2);
  CHECK(tied["ops"][0]["op"].string() == "matmul_transposed");
  CHECK(tied["ops"][1]["op"].string() == "embedding");
  CHECK(explanation_of("LanguageModel loss:0[2,3]")["backward"].number() ==
        tied["backward"].number());
  const StrictJson bias = explanation_of("Attention causal:attention.c_attn.bias[7]");
  CHECK(std::abs(bias["backward"].number()) < 1e-14);  // of a key: softmax does not see it
}

TEST_CASE("explain: the text has the same numbers in 80 columns, and its verdict last") {
  for (const std::string element :
       {"softmax[0,1]", "attention many times[0,3]", "CrossAttention:source[1,2,0]",
        "LanguageModel logits:h.1.attn.c_attn.weight[7,20]", "add a number[]",
        "Attention causal:attention.c_attn.bias[7]"}) {
    if (sanitized && element[0] >= 'A' && element[0] <= 'Z') continue;  // another test has modules
    CAPTURE(element);
    const Result result = fledge_says({"gradcheck", "--explain", element});
    CHECK(result.status == 0);
    CHECK(result.err.empty());
    const std::vector<std::string> lines = lines_of(result.out);
    for (const std::string& line : lines) {
      CAPTURE(line);
      CHECK(support::display_width(line) <= 80);
    }
    CHECK(lines.size() <= 36);
    CHECK(lines.back() == "The paths add up to what backward() gives.");
    const StrictJson found = explanation_of(element);
    CHECK_THAT(result.out,
               ContainsSubstring(support::formatted("%.15f", found["backward"].number())));
    CHECK_THAT(result.out,
               ContainsSubstring(support::formatted("%.15f", found["sum_of_paths"].number())));
    std::size_t shown = 0;
    for (const StrictJson& path : found["paths"].array())
      for (const std::string& line : lines) {
        const bool is_path = line.starts_with(path["output"].string() + " ");
        if (!is_path) continue;
        ++shown;
        CHECK_THAT(line, EndsWith(support::formatted("%.6g", path["product"].number())));
      }
    CHECK(shown == std::min<std::size_t>(found["paths"].array().size(), 12));
  }
  const std::string many = fledge_says({"gradcheck", "--explain", "attention many times[0,3]"}).out;
  CHECK_THAT(many, ContainsSubstring("1059 smaller ones"));
}

TEST_CASE("explain: --seed draws other inputs and cotangents") {
  const auto out = [](const char* seed) {
    return fledge_says({"gradcheck", "--explain", "exp[0,0]", "--seed", seed}).out;
  };
  CHECK(out("1") == fledge_says({"gradcheck", "--explain", "exp[0,0]"}).out);
  CHECK(out("1") != out("2"));
}

TEST_CASE("explain: status 1 and another verdict where the rule is wrong") {
  const Result wrong = run({wrong_fledge, "gradcheck", "--explain", "halved[1,1]"});
  CHECK(wrong.status == 1);
  CHECK(lines_of(wrong.out).back() ==
        "The paths do not add up to what backward() gives: a rule is wrong.");
  const StrictJson found =
      strict_json(run({wrong_fledge, "gradcheck", "--explain", "halved[1,1]", "--json"}).out);
  CHECK_FALSE(found["paths_agree"].boolean());
  CHECK_THAT(found["sum_of_paths"].number(), WithinRel(2 * found["backward"].number(), 1e-12));
  CHECK(run({wrong_fledge, "gradcheck", "--explain", "not finite[0]"}).status == 1);
  CHECK(run({wrong_fledge, "gradcheck", "--explain", "right[0,0]"}).status == 0);
}

TEST_CASE("explain: what names no element is refused with what there is") {
  const std::string form =
      " | write --explain \"softmax[0,1]\", or \"linear:1[0,2]\" for argument 1";
  for (const std::string element :
       {"softmax", "softmax[0,1", "[0,1]x", "softmax[0,x]", "softmax[0,,1]", "softmax[1.5]",
        "softmax[99999999999999999999]"})
    CHECK(refused_explanation(element) ==
          "fledge gradcheck: --explain needs one element: got '" + element + "'" + form);
  CHECK_THAT(refused_explanation("softmacks[0,1]"),
             StartsWith("fledge gradcheck: nothing is named 'softmacks' | "));
  CHECK_THAT(refused_explanation("Attention[0]"),
             ContainsSubstring("did you mean 'Attention one head'?"));
  CHECK(refused_explanation("linear:3[0]") ==
        "fledge gradcheck: 'linear' has no such tensor | its tensors are: x0, x1, x2");
  CHECK(refused_explanation("softmax[3,0]") ==
        "fledge gradcheck: the index is not inside x of shape (3, 5) | the last element is x[2,4]");
  CHECK(refused_explanation("softmax[0]") == refused_explanation("softmax[-1,0]"));
  CHECK_THAT(refused_explanation("softmax[]"), ContainsSubstring("not inside x of shape (3, 5)"));
  const Result both = fledge_says({"gradcheck", "softmax", "--explain", "softmax[0,0]"});
  CHECK(both.status == 2);
}

#include "nn/text/added_tokens.h"

#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace fledge;
using tests::refusal;

namespace {

std::string refused_list(const std::string& text) {
  return refusal<FormatError>([&] { read_added_tokens(read_json(text)); });
}

}  // namespace

TEST_CASE("added tokens: the list comes back; flags that change where they are fail") {
  const std::vector<SpecialToken> tokens{{"<|é|>", 5, false, true}, {" \n", 0, true, false}};
  const std::string text = added_tokens_json(tokens).text();
  CHECK_THAT(text, StartsWith(R"([{"id":5,"content":"\u003c|é|\u003e","single_word":false,)"
                              R"("lstrip":false,"rstrip":false,"normalized":false,)"
                              R"("special":true},)"));
  CHECK(read_added_tokens(read_json(text)) == tokens);
  CHECK(read_added_tokens(read_json(R"([{"id":1,"content":"a"}])")) ==
        std::vector<SpecialToken>{{"a", 1, false, false}});
  CHECK(read_added_token(read_json(R"("<s>")")) == SpecialToken{"<s>"});
  CHECK(read_added_token(read_json(R"({"__type":"AddedToken","content":"<s>","special":true})")) ==
        SpecialToken{"<s>"});
  for (const char* key : {"single_word", "lstrip", "rstrip"})
    CHECK_THAT(refused_list(R"([{"id":1,"content":"a",")" + std::string(key) + "\":true}]"),
               StartsWith("line 1, column ") &&
                   ContainsSubstring(" [0]." + std::string(key) + " must be false"));
  for (const char* wrong :
       {"{}", "[1]", R"(["a"])", R"([{"id":1}])", R"([{"content":"a"}])",
        R"([{"id":-1,"content":"a"}])", R"([{"id":1000000,"content":"a"}])",
        R"([{"id":1.5,"content":"a"}])", R"([{"id":1,"content":"a","other":1}])",
        R"([{"id":1,"content":"a","special":0}])"})
    CHECK_THAT(refused_list(wrong), StartsWith("line 1, column "));
}

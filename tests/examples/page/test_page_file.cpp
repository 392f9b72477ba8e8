// The page as a file: its policy and hashes, what the script may not do, and texts that stay texts;
// the numbers in it as base64; what it holds of a run: weights at some steps, and the losses of its log.
#include "examples/page/page_file.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "examples/page/base64.h"
#include "examples/page/engine/excerpt.h"
#include "nn/io/errors.h"
#include "tests/examples/lessons/course.h"
#include "tests/support/perl.h"

using namespace fledge;
using namespace fledge::page;
using testing::has;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// A page with this word in all places of a user's text.
Page page_of(const std::string& word) {
  Page page;
  page.title = page.text = word;
  page.settings = Json::object({{"name", word}});
  page.story = {
      .title = word, .lede = word, .sentence = word, .told = word, .pairs = {{word, word}}};
  page.look = {{word, word}, {0.25, 0.75}, word, 0.5};
  page.notices = {word};
  return page;
}

LanguageModel small_model() {
  Rng rng(3);
  return {{.vocabulary = 5, .context = 4, .layers = 1, .heads = 1, .width = 4, .hidden = 8}, rng};
}

std::string snapshot(const LanguageModel& model, std::int64_t step) {
  return Json::object(snapshot_event(model, step)).text();
}

}  // namespace

TEST_CASE("page_file: the policy comes first and has the hashes of style and script") {
  const std::string file = page_file(page_of("a & b"));
  CHECK(style_hash == "sha256-" + base64(testing::sha256(style)));
  CHECK(script_hash == "sha256-" + base64(testing::sha256(script)));
  CHECK(has(file, std::string("script-src '") + script_hash + "'"));
  CHECK(has(file, "'wasm-unsafe-eval'; worker-src blob:;"));
  CHECK(has(file, std::string("style-src '") + style_hash + "'"));
  CHECK(has(file, "<style>" + style + "</style>"));
  CHECK(has(file, "<script>" + script + "</script>"));
  CHECK(file.find("Content-Security-Policy") < file.find("<title>"));
  CHECK(has(file, "<title>a &amp; b</title>"));
  CHECK(has(file.substr(0, 200), "<!-- a page made by fledge -->"));
}

TEST_CASE("page_file: style and script are small, ASCII, and parse no HTML") {
  CHECK(style.size() + script.size() <= 160'000);
  for (const std::string* text : {&style, &script})
    CHECK(std::all_of(text->begin(), text->end(), [](char c) { return c >= ' ' || c == '\n'; }));
  for (const char* part : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
                           "eval(", "Function(", "fetch(", "XMLHttpRequest", "import(",
                           "localStorage", "</script", "<!--", "Math.random", "Date"}) {
    CAPTURE(part);
    CHECK_FALSE(has(script, part));
  }
  CHECK_FALSE(has(style, "url("));
  CHECK(script.starts_with("\"use strict\";"));
}

TEST_CASE("page_file: a user's text stays a text") {
  const std::string honest = page_file(page_of("birds"));
  using namespace std::string_literals;
  for (const std::string& word :
       {"</script><script>window.__xss=1</script>"s, "<!--"s, "</noscript></section>"s,
        "<img src=x onerror=alert(1)>"s, "\" onload=\"x"s, "]]>"s, "\u2028"s, "a\0b\x1b[2J"s,
        "\u202Eabc"s, "\xED\xA0\x80 \xED\xBF\xBF"s, "\u05E9\u05DC\u05D5\u05DD"s, "\xFF\xFE"s,
        std::string(100'000, 'x')}) {
    CAPTURE(word.substr(0, 40));
    const std::string file = page_file(page_of(word));
    for (const char* tag : {"<script", "</script", "<!--", "<img", "noscript>", "</section", "<"})
      CHECK(count(file, tag) == count(honest, tag));
    CHECK(first_not_utf8(file) == file.npos);
    CHECK(std::none_of(file.begin(), file.end(),
                       [](char c) { return (c >= 0 && c < ' ' && c != '\n') || c == '\x7f'; }));
    CHECK_FALSE(has(file, "\xE2\x80\xAE"));
    // The text is the same again, but for bytes that are not UTF-8.
    const std::string begin = "id=\"data\">";
    const std::size_t at = file.find(begin) + begin.size();
    const JsonValue data = read_json(file.substr(at, file.find("</script>", at) - at));
    if (first_not_utf8(word) == word.npos) CHECK(data["text"].string() == word);
    CHECK(data["notices"].is_array());
  }
}

TEST_CASE("page_file: without JavaScript the story stands there, with a picture") {
  Page page = page_of("a & b");
  page.look = {{"birds", "walk"}, {0.25, 0.75}, "slowly", 0.5};
  const std::string file = page_file(page);
  const std::size_t begin = file.find("<section id=\"static\">"), end = file.find("</section>");
  REQUIRE(begin < end);
  CHECK(end < file.find("<script"));
  const std::string story = file.substr(begin, end - begin);
  CHECK(has(story, "<h1>a &amp; b</h1>"));
  CHECK(has(story, "aria-label=\"birds 0.25, walk 0.75\""));
  CHECK(count(story, "<path ") == 1);
  CHECK(has(story, "stroke-width=\"4.0\""));
  CHECK(has(story, "\u201cslowly\u201d: 0.50."));
  CHECK(has(file, "<noscript>") == !engine_module.empty());
  CHECK(has(story, engine_module.empty() ? "without its live part" : "needs JavaScript"));
}

TEST_CASE("page_file: the engine stands there compressed, and the page with it is small") {
  Page page;
  page.text = std::string(10'000, 'x');
  CHECK(page_file(page).size() <= 600'000);
  if (!engine_module.empty()) CHECK(base64_decoded(engine_module).starts_with("\x1f\x8b"));
}

TEST_CASE("base64: the examples of RFC 4648, all bytes, and refusals") {
  const std::string letters = "foobar";
  const char* encoded[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
  for (std::size_t i = 0; i <= 6; ++i) {
    CHECK(base64(letters.substr(0, i)) == encoded[i]);
    CHECK(base64_decoded(encoded[i]) == letters.substr(0, i));
  }
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  CHECK(base64_decoded(base64(all)) == all);
  for (const char* wrong : {"Zg=", "Z!==", "Zg==Zg=="})
    CHECK_THROWS_AS(base64_decoded(wrong), FormatError);
}

TEST_CASE("page_data: a run records what fits, with the first step and the last") {
  for (const Dim parameters : {3'680, 100'000, 700'000}) {
    CAPTURE(parameters);
    const std::vector<std::int64_t> steps = recorded_steps(500, parameters);
    CHECK(steps.size() == most_earlier(parameters));
    CHECK(std::is_sorted(steps.begin(), steps.end()));
    CHECK(steps.front() == 0);
    CHECK(steps.back() == 500);
    const auto count = static_cast<Dim>(steps.size());
    CHECK((4 + 2 * count) * parameters * 4 / 3 <= 8'000'000);
    if (count < 60) CHECK((4 + 2 * (count + 1)) * parameters * 4 / 3 > 8'000'000);
  }
  CHECK(most_earlier(3'680) == 60);
  CHECK(recorded_steps(500, 1'000'000) == std::vector<std::int64_t>{0});
  CHECK(recorded_steps(500, 10'000'000).empty());
}

TEST_CASE("page_data: bf16 are the upper halves of the weights, rounded to nearest") {
  const LanguageModel model = small_model();
  const JsonValue event = read_json(snapshot(model, 0));
  const std::string halves = base64_decoded(event["bf16"].string());
  std::size_t at = 0;
  for (const auto& [name, parameter] : named_parameters(model))
    for (const double weight : to_vector(parameter.value())) {
      const auto byte = [&](std::size_t i) {
        return std::uint32_t{static_cast<unsigned char>(halves.at(i))};
      };
      const float half = std::bit_cast<float>((byte(at) | byte(at + 1) << 8) << 16);
      CHECK(std::abs(half - weight) <= std::abs(weight) / 256);
      at += 2;
    }
  CHECK(at == halves.size());
}

TEST_CASE("page_data: the log gives losses and weights, and a damaged line is named") {
  const LanguageModel model = small_model();
  const Dim parameters = count_parameters(model);
  std::vector<std::string> lines{R"({"type":"start","baselines":{"uniform":1.6,"unigram":1.5}})",
                                 R"({"type":"step","step":1,"loss":1.5})",
                                 R"({"type":"eval","step":1,"held_out_loss":1.25})",
                                 snapshot(model, 1)};
  Page page;
  read_events(lines, parameters, page);
  CHECK(page.losses == Curve{{1, 1.5}});
  CHECK(page.held_out == Curve{{1, 1.25}});
  CHECK(page.baselines.text() == R"({"guessing":1.6,"tables":[1.5],"floor":null})");
  REQUIRE(page.kept.size() == 1);
  CHECK(page.kept[0].step == 1);

  const auto refuses = [&](const std::string& line, const std::string& part) {
    Page other;
    lines[2] = line;
    CHECK_THROWS_WITH(read_events(lines, parameters, other),
                      ContainsSubstring("line 3") && ContainsSubstring(part));
  };
  refuses(R"({"type":"snapshot","step":3,"bf16":"AAAA"})", "weights of this model");
  refuses(R"({"type":"snapshot","step":3,"bf16":"A!AA"})", "base64");
  refuses(snapshot(model, -3), "step");
  refuses(R"({"type":"step","step":3})", "loss");
  refuses(R"({"type":"start"})", "baselines");
  refuses("{", "column");
}

TEST_CASE("page_data: the kept model stands at its step, and what does not fit goes") {
  const Dim parameters = 100'000;
  const std::size_t most = most_earlier(parameters);
  const auto steps_of = [&](std::int64_t count, std::int64_t kept_step) {
    Page page;
    for (std::int64_t step = 0; step < count; ++step) page.kept.push_back({10 * step, "AAAA"});
    add_kept(kept_step, parameters, page);
    for (const Kept& one : page.kept) CHECK(one.bf16.empty() == (one.step == kept_step));
    std::vector<std::int64_t> steps;
    for (const Kept& one : page.kept) steps.push_back(one.step);
    CHECK(std::adjacent_find(steps.begin(), steps.end(), std::greater_equal<>()) == steps.end());
    return steps;
  };
  CHECK(steps_of(0, 7) == std::vector<std::int64_t>{7});
  CHECK(steps_of(3, 10) == std::vector<std::int64_t>{0, 10, 20});
  CHECK(steps_of(2, 7) == std::vector<std::int64_t>{0, 7, 10});
  CHECK(steps_of(1000, 9990).size() == most + 1);
  CHECK(steps_of(1000, 9990).front() == 0);
}

TEST_CASE("page_data: an excerpt is a whole line or sentence, or is cut between words") {
  const std::string prose = "The keeper counted the lamps, then he left. A dog barked.\n";
  const std::string poem = "Whose woods these are I think I know.\nHe stops\nby woods.\n";
  const std::string han = "床前明月光，疑是地上霜。举头望明月，低头思故乡。\n";
  constexpr Tokens character = Tokens::character, word = Tokens::word, byte = Tokens::byte;
  using Case = std::tuple<std::string, Tokens, Dim, std::string, bool>;
  for (const auto& [text, tokens, context, excerpt, goes_on] : std::vector<Case>{
           {prose, character, 50, "The keeper counted the lamps, then he left.", false},
           {prose, word, 12, "The keeper counted the lamps, then he left.", false},
           {poem, character, 60, "He stops", false},
           {han, character, 20, "床前明月光，疑是地上霜。", false},
           {han, byte, 10, "床前明", true},
           {"\xFF\n" + prose, byte, 5, "The", true}}) {
    INFO(text << context);
    const Excerpt found = excerpt_of(text, Tokenizer(tokens, text), Reading::stream, context);
    CHECK(found.text == excerpt);
    CHECK(found.goes_on == goes_on);
  }
}

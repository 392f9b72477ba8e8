#include "tests/page/browser/page_files.h"

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <stdexcept>

#include "examples/page/base64.h"
#include "nn/io/json.h"
#include "tests/support/process.h"

namespace testing {

namespace {

const std::string build = FLEDGE_BINARY_DIR;

const Folder& pages() {
  static const Folder folder;
  return folder;
}

void must_run(const std::vector<std::string>& argv) {
  const Result result = run(argv, {{"FLEDGE_THREADS", "1"}});
  if (result.status != 0)
    throw std::runtime_error(argv[0] + " ended with status " + std::to_string(result.status) +
                             ":\n" + result.err);
}

std::string poem() {
  std::string text;
  for (int verse = 0; verse < 12; ++verse)
    text +=
        "the cat sat on the mat and the dog sat on the log\n"
        "a bird can sing and a fish can swim in the blue lake\n";
  return text;
}

std::vector<std::uint16_t> numbers_of(const std::string& block) {
  const std::string bytes = fledge::page::base64_decoded(block);
  std::vector<std::uint16_t> numbers;
  for (std::size_t at = 0; at + 2 <= bytes.size(); at += 2)
    numbers.push_back(static_cast<std::uint16_t>(static_cast<unsigned char>(bytes[at]) |
                                                 static_cast<unsigned char>(bytes[at + 1]) << 8));
  return numbers;
}

/// The place behind the end of the array that begins at `at`.
std::size_t end_of_array(std::string_view text, std::size_t at) {
  int depth = 0;
  bool is_string = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (is_string) {
      if (c == '\\') ++at;
      if (c == '"') is_string = false;
      continue;
    }
    if (c == '"') is_string = true;
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  throw std::runtime_error("an array without an end");
}

}  // namespace

const std::string& birds_page() {
  static const std::string path = [] {
    std::string file = pages() / "birds.html";
    must_run({build + "/birds", "--page", file});
    return file;
  }();
  return path;
}

std::string trained_page(const Folder& folder, const std::string& text,
                         const std::vector<std::string>& options, const std::string& text_name) {
  write_file(folder / text_name, text);
  std::string file = folder / "trained.html";
  std::vector<std::string> argv{build + "/fledge", "train", "-q",     "--no-save",
                                "--steps",         "60",    "--page", file};
  argv.insert(argv.end(), options.begin(), options.end());
  argv.insert(argv.end(), {"--", folder / text_name});
  must_run(argv);
  return file;
}

const std::string& poem_page() {
  static const std::string path =
      trained_page(pages(), poem(),
                   {"--tokens", "word", "--layers", "2", "--heads", "2", "--width", "16",
                    "--context", "12", "--watch", "sat:cat"},
                   "poem.txt");
  return path;
}

std::string course_page() {
  std::string file = build + "/fledge.html";
  return std::filesystem::exists(file) ? file : "";
}

std::vector<std::string> all_pages() {
  std::vector<std::string> paths{birds_page(), poem_page()};
  if (!course_page().empty()) paths.push_back(course_page());
  return paths;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string between(std::string_view text, std::string_view begin, std::string_view end) {
  const std::size_t first = text.find(begin);
  if (first == text.npos) return "";
  const std::size_t from = first + begin.size(), to = text.find(end, from);
  return to == text.npos ? "" : std::string(text.substr(from, to - from));
}

std::string data_text(const std::string& html) {
  return between(html, "<script type=\"application/json\" id=\"data\">", "</script>");
}

StrictJson run_of(const std::string& path) {
  return strict_json(data_text(read_file(path)))["run"];
}

std::string with_wrong_weights(const std::string& html) {
  const std::string data = data_text(html), mark = "\"attention\":\"";
  const std::size_t sentences = strict_json(data)["run"]["sentences"].array().size();
  const std::size_t snapshots = html.find("\"snapshots\":", html.find("id=\"data\"")) + 12;
  const std::size_t snapshots_end = end_of_array(html, snapshots);
  std::vector<std::size_t> places;
  for (std::size_t at = html.find(mark, snapshots); at < snapshots_end;
       at = html.find(mark, at + 1))
    places.push_back(at + mark.size());
  if (places.size() < sentences) throw std::runtime_error("a page without attention weights");
  const std::size_t begin = places[places.size() - sentences], end = html.find('"', begin);
  std::vector<std::uint16_t> numbers = numbers_of(html.substr(begin, end - begin));
  for (std::uint16_t& number : numbers) number = static_cast<std::uint16_t>(65535 - number);
  return html.substr(0, begin) + fledge::page::base64(numbers) + html.substr(end);
}

std::string with_words(const std::string& html, const std::vector<std::string>& words) {
  const std::string mark = "\"words\":";
  const std::size_t begin = html.find(mark, html.find("id=\"data\"")) + mark.size();
  return html.substr(0, begin) + fledge::Json(words).text() +
         html.substr(end_of_array(html, begin));
}

std::vector<double> weights_of(const StrictJson& snapshot, std::size_t sentence) {
  std::vector<double> weights;
  for (const std::uint16_t number :
       numbers_of(snapshot["sentences"][sentence]["attention"].string()))
    weights.push_back(number / 65535.0);
  return weights;
}

}  // namespace testing

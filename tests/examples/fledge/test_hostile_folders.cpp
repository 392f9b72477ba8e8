// Folders that were made to cost much: a folder of n bytes costs at most 0.2 s + 1 us a byte of the
// processor and 64 MB + 8 n bytes of memory, whatever is in it, and ends in 0 or 3.
#include <cstdio>
#include <functional>

#include "tests/examples/fledge/training.h"
#include "tests/support/sanitized.h"

using namespace testing;
using tests::entry;
using tests::stored_file;

namespace {

std::string times(std::size_t count, const std::string& text) {
  std::string all;
  all.reserve(count * text.size());
  while (count-- > 0) all += text;
  return all;
}

// The parts f(0), f(1), ... with commas between, some `size` bytes of them.
template <class F>
std::string listed(std::size_t size, F f) {
  std::string all;
  for (std::size_t i = 0; all.size() < size; ++i) all += (i == 0 ? "" : ",") + f(i);
  return all;
}

std::string key(std::size_t i) { return "\"k" + std::to_string(i) + "\":0"; }
std::string tensor(std::size_t i) { return entry("t" + std::to_string(i), "U8", "[0]", "[0,0]"); }

// A model of the tensors of GPT-2's shape with one channel, each number a byte.
std::string one_channel(std::size_t vocabulary, std::size_t context, std::size_t layers) {
  std::string header;
  std::size_t end = 0;
  const auto add = [&](const std::string& name, const std::string& shape, std::size_t numbers) {
    header += (header.empty() ? "" : ",") +
              entry(name, "U8", shape,
                    "[" + std::to_string(end) + "," + std::to_string(end + numbers) + "]");
    end += numbers;
  };
  add("wte.weight", "[" + std::to_string(vocabulary) + ",1]", vocabulary);
  add("wpe.weight", "[" + std::to_string(context) + ",1]", context);
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const std::string h = "h." + std::to_string(layer);
    for (const char* norm : {".ln_1", ".ln_2"})
      for (const char* part : {".weight", ".bias"}) add(h + norm + part, "[1]", 1);
    add(h + ".attn.c_attn.weight", "[1,3]", 3), add(h + ".attn.c_attn.bias", "[3]", 3);
    add(h + ".attn.c_proj.weight", "[1,1]", 1), add(h + ".attn.c_proj.bias", "[1]", 1);
    add(h + ".mlp.c_fc.weight", "[1,4]", 4), add(h + ".mlp.c_fc.bias", "[4]", 4);
    add(h + ".mlp.c_proj.weight", "[4,1]", 4), add(h + ".mlp.c_proj.bias", "[1]", 1);
  }
  add("ln_f.weight", "[1]", 1), add("ln_f.bias", "[1]", 1);
  return stored_file("{" + header + "}", std::string(end, '\1'));
}

std::string config(std::size_t vocabulary, std::size_t context, std::size_t layers,
                   const std::string& tokenizer) {
  const auto size = [](const char* name, std::size_t n) {
    return "\"" + std::string(name) + "\":" + std::to_string(n) + ",";
  };
  return R"({"model_type":"gpt2",)" + size("vocab_size", vocabulary) +
         size("n_positions", context) + size("n_embd", 1) + size("n_layer", layers) +
         size("n_head", 1) +
         R"("fledge":{"version":4,"text":"/dev/null","text_bytes":1,"text_hash":"0",)"
         R"("run":{"warmup":"1"},"tokenizer":)" +
         tokenizer + "}}";
}

const std::string bytes_tokenizer = R"({"kind":"byte"})";

// Five letters, different for each i below 11 million.
std::string word(std::size_t i) {
  std::string text = "\"aaaaa\"";
  for (std::size_t at = 5; at > 0; --at, i /= 26) text[at] = static_cast<char>('a' + i % 26);
  return text;
}
std::string words_tokenizer(std::size_t size, std::size_t& count) {
  count = 0;
  return R"({"kind":"word","rule":"punctuation","symbols":[)" +
         listed(size,
                [&](std::size_t i) {
                  ++count;
                  return word(i);
                }) +
         "]}";
}

// Symbol i has the digits of i, and is merged of symbols i / 10 and i % 10.
std::string byte_pairs_tokenizer(std::size_t size, std::size_t& count) {
  count = 10;
  const std::string merges = listed(size / 2, [&](std::size_t i) {
    ++count;
    return "[" + std::to_string(i / 10 + 1) + "," + std::to_string(i % 10) + "]";
  });
  std::string symbols = R"({"kind":"bpe","rule":"gpt2","vocab":["0")";
  for (std::size_t i = 1; i < count; ++i) symbols += ",\"" + std::to_string(i) + "\"";
  return symbols + "],\"merges\":[" + merges + "]}";
}

struct Hostile {
  const char* kind;
  std::function<Files(std::size_t n)> files;  // some n bytes that take the place of good ones
};

// `count` is read after the tokenizer is made, which counts.
Files model_of(const std::string& tokenizer, const std::size_t& count) {
  return {{"config.json", config(count, 4, 1, tokenizer)},
          {"model.safetensors", one_channel(count, 4, 1)}};
}
Files in_header(const std::string& header) { return {{"model.safetensors", stored_file(header)}}; }

std::vector<Hostile> hostile(const std::string& good) {
  using Size = std::size_t;
  const auto in_config = [&good](const std::string& from, const std::string& to) {
    return Files{{"config.json", replaced(good, from, to)}};
  };
  const auto below_fledge = [=](const std::string& member) {
    return in_config("\"version\"", member + ",\"version\"");
  };
  const auto note = [](Size i) { return "\"" + std::to_string(i) + "\":\"\""; };
  const auto same = [](const std::string& part) { return [part](Size) { return part; }; };
  const auto layers_in_one_tensor = [](Size n, Size layers) {
    const std::string size = std::to_string(n);
    return Files{
        {"config.json", config(256, 1, layers, bytes_tokenizer)},
        {"model.safetensors",
         stored_file("{" + entry("t", "U8", "[" + size + "]", "[0," + size + "]") + "}", n)}};
  };
  const auto whole_config = [](const std::string& text) { return Files{{"config.json", text}}; };
  return {
      {"brackets", [=](Size n) { return whole_config(std::string(n, '[')); }},
      {"white space", [=](Size n) { return whole_config(std::string(n, ' ')); }},
      {"keys", [=](Size n) { return in_config("{", "{" + listed(n, key) + ","); }},
      {"equal keys", [=](Size n) { return in_config("{", "{" + listed(n, same(key(7))) + ","); }},
      {"keys below fledge", [=](Size n) { return below_fledge(listed(n, key)); }},
      {"keys of a run",
       [=](Size n) { return in_config("\"lines\"", listed(n, key) + ",\"lines\""); }},
      {"a long key", [=](Size n) { return below_fledge("\"" + std::string(n, 'k') + "\":0"); }},
      {"a long string", [=](Size n) { return in_config("gpt2", std::string(n, 'g')); }},
      {"escapes", [=](Size n) { return in_config("gpt2", times(n / 6, "\\u0041")); }},
      {"a long number",
       [=](Size n) { return in_config("\"n_ctx\": 1", "\"n_ctx\": 1" + std::string(n, '1')); }},
      {"a long fraction",
       [=](Size n) { return in_config("\"lr\": \"", "\"lr\": \"0." + std::string(n, '1')); }},
      {"values", [=](Size n) { return below_fledge("\"v\":[" + listed(n, same("0")) + "]"); }},
      {"objects", [=](Size n) { return below_fledge("\"v\":[" + listed(n, same("{}")) + "]"); }},
      {"equal symbols",
       [=](Size n) {
         return in_config("\"symbols\": [", "\"symbols\": [" + listed(n, same("\"a\"")) + ",");
       }},
      {"merges",
       [=](Size n) {
         const std::string merges = R"({"kind":"bpe","rule":"gpt2","vocab":["a","aa"],"merges":[)" +
                                    listed(n, same("[0,0]")) + "]}";
         return Files{{"config.json", config(256, 1, 1, merges)}};
       }},
      {"numbers without text",
       [=](Size n) {
         const std::string symbols = R"("vocab":[)" + listed(n, same("\"\"")) + "]}";
         return model_of(R"({"kind":"bpe","rule":"gpt2","merges":[],)" + symbols, 256);
       }},
      {"a model of byte pairs",
       [](Size n) {
         Size count = 0;
         return model_of(byte_pairs_tokenizer(n, count), count);
       }},
      {"tensors", [](Size n) { return in_header("{" + listed(n, tensor) + "}"); }},
      {"equal tensors", [=](Size n) { return in_header("{" + listed(n, same(tensor(7))) + "}"); }},
      {"a long name",
       [](Size n) {
         return in_header("{" + entry(std::string(n, 'n'), "U8", "[0]", "[0,0]") + "}");
       }},
      {"axes",
       [=](Size n) {
         return in_header("{" + entry("t", "U8", "[" + listed(n, same("1")) + "]", "[0,1]") + "}");
       }},
      {"metadata",
       [=](Size n) { return in_header("{\"__metadata__\":{" + listed(n, note) + "}}"); }},
      {"header of brackets", [](Size n) { return in_header(std::string(n, '[')); }},
      {"layers in one tensor", [=](Size n) { return layers_in_one_tensor(n, n / 29); }},
      {"1,000 layers in one tensor", [=](Size n) { return layers_in_one_tensor(n, 1000); }},
      {"a model of layers",
       [](Size n) {
         const Size layers = std::min<Size>(n / 1200, 1000);
         return Files{{"config.json", config(256, 4, layers, bytes_tokenizer)},
                      {"model.safetensors", one_channel(256, 4, layers)}};
       }},
      {"a model of context",
       [](Size n) {
         return Files{{"config.json", config(256, n, 1, bytes_tokenizer)},
                      {"model.safetensors", one_channel(256, n, 1)}};
       }},
      {"a model of words", [](Size n) {
         Size count = 0;
         return model_of(words_tokenizer(n, count), count);
       }}};
}

// Puts the files into the folder of an export. The folder of a run gets them too: config.json as its
// settings, else the weights as its whole file. Another process makes them: a program's peak of memory
// counts from the process that starts it, and the bytes of a file would be part of that.
void write_files(const Hostile& folder, std::size_t size, const Desk& desk) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const Files files = folder.files(size);
    for (const auto& [name, bytes] : files) write_text(desk / ("export/" + name), bytes);
    const std::string run = desk / "run/run.safetensors";
    write_text(run, files.contains("config.json")
                        ? tests::with_metadata(text_of(run), "settings", files.at("config.json"))
                        : files.at("model.safetensors"));
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
}

// A call whose cost must be in proportion to the bytes of its folder. Prints it when asked.
void try_call(const std::string& kind, const std::string& folder, const Words& line, bool prints) {
  std::uintmax_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) bytes += file.file_size();
  const auto n = static_cast<double>(bytes);
  const Result result = fledge_says(line + Words{"--threads", "1"});
  INFO(kind << ", " << n << " bytes: " << line[0] << ": " << result.err.substr(0, 300));
  CHECK((result.status == 0 || result.status == 3));
  CHECK(result.err.size() < 4000);
  const double slower = sanitized ? 20 : FLEDGE_OPTIMISED ? 1 : 10;
  CHECK(result.seconds < slower * (0.2 + 1e-6 * n));  // work that is not linear takes minutes
  if (!sanitized) CHECK(result.megabytes < 64 + 8e-6 * n);
  if (prints)
    std::printf("%9.2f MB  %-27s %-9s exit %d %8.2f s %8.1f MB\n", n / 1e6, kind.c_str(),
                line[0].c_str(), result.status, result.seconds, result.megabytes);
}

// Does the folders of a size.
void try_all(std::size_t size, bool prints) {
  const Desk desk;
  trained({desk.poems(), "-o", desk / "good"});
  CHECK(fledge_says({"export", desk / "good", "-o", desk / "copy"}).status == 0);
  const std::string run = desk / "run", other = desk / "export";
  const std::string good = text_of(desk / "copy/config.json");
  for (const Hostile& folder : hostile(good)) {
    for (const std::string& name : {run, other}) std::filesystem::remove_all(name);
    std::filesystem::copy(desk / "good", run);
    std::filesystem::copy(desk / "copy", other);
    write_files(folder, size, desk);
    try_call(folder.kind, other, {"generate", other, "--tokens-out", "8"}, prints);
    try_call(folder.kind, other, {"eval", other, desk.poems()}, prints);
    try_call(folder.kind, run, {"train", "--resume", run, desk.poems(), "--steps", "21", "-q"},
             prints);
  }
}

}  // namespace

TEST_CASE("hostile folders of 0.2 and 1 MB cost little") {
  try_all(200'000, false);
  if (!sanitized) try_all(1'000'000, false);
}
TEST_CASE("hostile folders of 0.2, 1, 10 and 50 MB: the table", "[.nightly]") {
  for (const std::size_t size : {200'000U, 1'000'000U, 10'000'000U, 50'000'000U})
    try_all(size, true);
}

TEST_CASE("hostile folders: files that are huge and empty are not read") {
  const Desk desk;
  const std::string run = desk / "run", other = desk / "export";
  trained({desk.poems(), "-o", run});
  CHECK(fledge_says({"export", run, "-o", other}).status == 0);
  for (const std::string& name : {other + "/config.json", other + "/model.safetensors",
                                  run + "/run.safetensors", run + "/events.jsonl"}) {
    const std::string kept = text_of(name), folder = name.substr(0, name.rfind('/'));
    std::filesystem::resize_file(name, std::uintmax_t{3} << 30);  // sparse
    std::vector<Words> lines{{"generate", folder, "--tokens-out", "8"}, {"eval", folder}};
    if (folder == run) lines.push_back({"train", "--resume", run, "--steps", "21", "-q"});
    if (name.ends_with("jsonl")) lines = {lines.back(), {"plot", run}, {"page", run}};
    for (const Words& line : lines) {
      const Result result = fledge_says(line);
      INFO(name << ": " << line[0] << ": " << result.err);
      CHECK(result.status == 3);
      if (!sanitized) CHECK(result.megabytes < 64);
    }
    write_text(name, kept);
  }
}

TEST_CASE("hostile folders: --force replaces a huge file without reading it") {
  const Desk desk;
  trained({desk.poems(), "-o", desk / "run"});
  for (const char* name : {"run.safetensors", "events.jsonl"}) {
    std::filesystem::resize_file(desk / "run/" + std::string(name), std::uintmax_t{3} << 30);
    const Result result =
        fledge_says({"train", desk.poems(), "-o", desk / "run", "--force", "--steps", "2", "-q"});
    INFO(name << ": " << result.err);
    CHECK(result.status == 0);
    if (!sanitized) CHECK(result.megabytes < 256);  // the file has 3,072 MB
  }
}

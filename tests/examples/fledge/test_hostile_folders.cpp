// Folders that were made to cost much: a folder of n bytes costs at most 0.2 s + 1 us a byte of the
// processor and 64 MB + 8 n bytes of memory, whatever is in it, and ends in 0 or 3.
#include <functional>

#include "tests/examples/fledge/training.h"

using namespace testing;
using tests::entry;
using tests::stored_file;

namespace {

using Size = std::size_t;

// Some `size` bytes of the part, again and again, in which # is a counter; `count` parts.
std::string repeated(Size size, const std::string& part, Size& count) {
  const Size at = part.find('#');
  std::string all;
  for (count = 0; all.size() < size; ++count)
    all +=
        at == part.npos ? part : part.substr(0, at) + std::to_string(count) + part.substr(at + 1);
  return all;
}
std::string repeated(Size size, const std::string& part) {
  Size count = 0;
  return repeated(size, part, count);
}
// Of a list that ends there.
std::string listed(Size size, const std::string& part, Size& count) {
  const std::string all = repeated(size, part + ",", count);
  return all.substr(0, all.size() - 1);
}

// A model of the tensors of GPT-2's shape with one channel, each number a byte.
std::string one_channel(Size vocabulary, Size context, Size layers) {
  std::string header;
  Size end = 0;
  const auto add = [&](const std::string& name, Size rows, Size columns = 0) {
    const Size begin = end;
    end += rows * (columns == 0 ? 1 : columns);
    header += (header.empty() ? "" : ",") +
              entry(name, "U8",
                    "[" + std::to_string(rows) +
                        (columns == 0 ? "" : "," + std::to_string(columns)) + "]",
                    "[" + std::to_string(begin) + "," + std::to_string(end) + "]");
  };
  add("wte.weight", vocabulary, 1), add("wpe.weight", context, 1);
  for (Size layer = 0; layer < layers; ++layer) {
    const std::string h = "h." + std::to_string(layer);
    for (const char* norm : {".ln_1", ".ln_2"})
      for (const char* part : {".weight", ".bias"}) add(h + norm + part, 1);
    add(h + ".attn.c_attn.weight", 1, 3), add(h + ".attn.c_attn.bias", 3);
    add(h + ".attn.c_proj.weight", 1, 1), add(h + ".attn.c_proj.bias", 1);
    add(h + ".mlp.c_fc.weight", 1, 4), add(h + ".mlp.c_fc.bias", 4);
    add(h + ".mlp.c_proj.weight", 4, 1), add(h + ".mlp.c_proj.bias", 1);
  }
  add("ln_f.weight", 1), add("ln_f.bias", 1);
  return stored_file("{" + header + "}", std::string(end, '\1'));
}

Files config(Size vocabulary, Size context, Size layers, const std::string& tokenizer) {
  std::string text = R"({"model_type":"gpt2","n_embd":1,"n_head":1)";
  for (const auto& [name, size] :
       {std::pair{"vocab_size", vocabulary}, {"n_positions", context}, {"n_layer", layers}})
    text += ",\"" + std::string(name) + "\":" + std::to_string(size);
  return {
      {"config.json", text +
                          R"(,"fledge":{"version":6,"text":"/dev/null","text_bytes":1,)"
                          R"("text_hash":"0","file_bytes":[],"run":{"warmup":"1"},"tokenizer":)" +
                          tokenizer + "}}"}};
}
Files model(Size vocabulary, Size context, Size layers,
            const std::string& tokenizer = R"({"kind":"byte"})") {
  Files files = config(vocabulary, context, layers, tokenizer);
  files["model.safetensors"] = one_channel(vocabulary, context, layers);
  return files;
}
std::string byte_pairs(const std::string& vocabulary, const std::string& merges) {
  return R"({"kind":"bpe","rule":"gpt2","vocab":[)" + vocabulary + "],\"merges\":[" + merges + "]}";
}

Files of_words(Size size) {
  Size count = 0;
  const std::string words = listed(size, "\"w#\"", count);
  return model(count, 4, 1, R"({"kind":"word","rule":"punctuation","symbols":[)" + words + "]}");
}
// Symbol i has the digits of i, and is merged of symbols i / 10 and i % 10.
Files of_byte_pairs(Size size) {
  std::string merges, symbols = R"("0","1","2","3","4","5","6","7","8","9")";
  Size count = 10;
  for (; merges.size() < size / 2; ++count) {
    merges += (count == 10 ? "[" : ",[") + std::to_string(count / 10) + "," +
              std::to_string(count % 10) + "]";
    symbols += ",\"" + std::to_string(count) + "\"";
  }
  return model(count, 4, 1, byte_pairs(symbols, merges));
}
Files of_one_tensor(Size n, Size layers) {
  const std::string size = std::to_string(n);
  Files files = config(256, 1, layers, R"({"kind":"byte"})");
  files["model.safetensors"] =
      stored_file("{" + entry("t", "U8", "[" + size + "]", "[0," + size + "]") + "}", n);
  return files;
}

struct Hostile {
  std::string kind;
  std::function<Files(Size n)> files;  // some n bytes that take the place of good ones
};

// In place of `anchor` in a config ("": of all of it, "header": of that of the weights) stand
// `before`, many parts, and `after`.
struct Row {
  const char *kind, *anchor, *before, *part, *after;
};
constexpr Row hostile_rows[] = {
    {"brackets", "", "", "[", ""},
    {"white space", "", "", " ", ""},
    {"keys", "{", "{", "\"k#\":0,", ""},
    {"equal keys", "{", "{", "\"k\":0,", ""},
    {"keys below fledge", "\"version\"", "", "\"k#\":0,", "\"version\""},
    {"keys of a run", "\"lines\"", "", "\"k#\":0,", "\"lines\""},
    {"a long key", "\"version\"", "\"", "k", "\":0,\"version\""},
    {"a long string", "gpt2", "", "g", ""},
    {"escapes", "gpt2", "", "\\u0041", ""},
    {"a long number", "\"n_ctx\": 1", "\"n_ctx\": 1", "1", ""},
    {"a long fraction", "\"lr\": \"", "\"lr\": \"0.", "1", ""},
    {"values", "\"version\"", "\"v\":[", "0,", "0],\"version\""},
    {"objects", "\"version\"", "\"v\":[", "{},", "{}],\"version\""},
    {"equal symbols", "\"symbols\": [", "\"symbols\": [", "\"a\",", ""},
    {"tensors", "header", "{", R"("t#":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)",
     R"("t":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})"},
    {"equal tensors", "header", "{", R"("t":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)",
     R"("t":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})"},
    {"a long name", "header", "{\"", "n", R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})"},
    {"axes", "header", R"({"t":{"dtype":"U8","shape":[)", "1,", R"(1],"data_offsets":[0,1]}})"},
    {"metadata", "header", R"({"__metadata__":{)", "\"#\":\"\",", R"("":""}})"},
    {"header of brackets", "header", "", "[", ""}};

std::vector<Hostile> hostile(const std::string& good) {
  std::vector<Hostile> all{
      {"merges",
       [](Size n) {
         Size count = 0;
         return config(256, 1, 1, byte_pairs(R"("a","aa")", listed(n, "[0,0]", count)));
       }},
      {"numbers without text",
       [](Size n) {
         Size count = 0;
         const std::string symbols = listed(n, "\"\"", count);
         return model(count, 4, 1, byte_pairs(symbols, ""));
       }},
      {"a model of byte pairs", of_byte_pairs},
      {"layers in one tensor", [](Size n) { return of_one_tensor(n, n / 29); }},
      {"1,000 layers in one tensor", [](Size n) { return of_one_tensor(n, 1000); }},
      {"a model of layers", [](Size n) { return model(256, 4, std::min<Size>(n / 1200, 1000)); }},
      {"a model of context", [](Size n) { return model(256, n, 1); }},
      {"a model of words", of_words}};
  for (const Row& row : hostile_rows)
    all.push_back(
        {row.kind, [&row, &good](Size n) {
           const std::string anchor = row.anchor,
                             text = row.before + repeated(n, row.part) + row.after;
           if (anchor == "header") return Files{{"model.safetensors", stored_file(text)}};
           return Files{{"config.json", anchor.empty() ? text : replaced(good, anchor, text)}};
         }});
  return all;
}

// Puts the files into the folder of an export. The folder of a run gets them too: config.json as
// its settings, else the weights as its whole file. Another process makes them: a program's peak of
// memory counts from the process that starts it, and the bytes of a file would be part of that.
void write_files(const Hostile& folder, const Desk& desk) {
  const Result made = run_here([&] {
    const Files files = folder.files(200'000);
    for (const auto& [name, bytes] : files) write_file(desk / ("export/" + name), bytes);
    const std::string run = desk / "run/run.safetensors";
    write_file(run, files.contains("config.json")
                        ? tests::with_metadata(text_of(run), "settings", files.at("config.json"))
                        : files.at("model.safetensors"));
    return 0;
  });
  REQUIRE(made.status == 0);
}

// A run, its export, and a model as other programs save it.
struct Folders : Desk {
  std::string run = Desk::run("run"), exported = *this / "export", other = *this / "gpt2";
  Folders() {
    done({"export", run, "-o", exported});
    const std::string pairs = *this / "pairs";
    done(
        Words{"train", poems(), "-o", pairs, "-q"} +
        words(
            "--recipe gpt2 --tokens bpe --symbols 265 --layers 1 --heads 2 --width 8 --context 12 --steps 2"));
    done({"export", pairs, "-o", other});
    fs::remove(other + "/tokenizer.json");
    for (const char* name : {"/config.json", "/vocab.json", "/merges.txt"})
      fs::copy_file(FLEDGE_SOURCE_DIR "/tests/command/texts/gpt2" + std::string(name), other + name,
                    fs::copy_options::overwrite_existing);
    write_file(other + "/special_tokens_map.json",
               R"({"eos_token": {"content": "<|endoftext|>"}})");
    write_file(other + "/generation_config.json",
               R"({"eos_token_id": [264], "pad_token_id": 263})");
  }
};

}  // namespace

TEST_CASE("hostile folders of 0.2 MB cost little") {
  const Desk desk;
  const std::string run = desk / "run", other = desk / "export", poems = desk.poems();
  done({"export", desk.run("good"), "-o", desk / "copy"});
  const std::string good = text_of(desk / "copy/config.json");
  for (const Hostile& folder : hostile(good)) {
    for (const std::string& name : {run, other}) fs::remove_all(name);
    fs::copy(desk / "good", run);
    fs::copy(desk / "copy", other);
    write_files(folder, desk);
    for (const Words& line : {Words{"generate", other, "--tokens-out", "8"},
                              {"eval", other, poems},
                              {"train", "--resume", run, poems, "--steps", "21", "-q"}}) {
      double n = 0;
      for (const auto& file : fs::directory_iterator(line[0] == "train" ? run : other))
        n += static_cast<double>(file.file_size());
      const Result result = fledge_says(line + Words{"--threads", "1"});
      INFO(folder.kind << ", " << n << " bytes: " << line[0] << ": " << result.err.substr(0, 300));
      CHECK((result.status == 0 || result.status == 3));
      CHECK(result.err.size() < 4000);
      const double slower = sanitized ? 20 : FLEDGE_OPTIMISED ? 2 : 10;
      CHECK(result.seconds < slower * (0.2 + 1e-6 * n));  // work that is not linear takes minutes
      if (!sanitized) CHECK(result.megabytes < 64 + 8e-6 * n);
    }
  }
}

TEST_CASE("hostile folders: files that are huge and empty are not read") {
  const Folders desk;
  std::vector<std::string> files{desk.run + "/run.safetensors", desk.run + "/events.jsonl",
                                 desk.exported + "/config.json",
                                 desk.exported + "/model.safetensors"};
  for (const char* name :
       {"tokenizer.json", "merges.txt", "vocab.json", "config.json", "tokenizer_config.json",
        "special_tokens_map.json", "added_tokens.json", "generation_config.json"})
    files.push_back(desk.other + "/" + name);
  for (const std::string& file : files) {
    const bool is_new = !fs::exists(file), is_log = file.ends_with("jsonl");
    const std::string kept = is_new ? "{" : text_of(file), folder = file.substr(0, file.rfind('/'));
    write_file(file, kept);
    fs::resize_file(file, std::uintmax_t{3} << 30);  // sparse
    std::vector<Words> lines{{"generate", folder, "--tokens-out", "8"},
                             {"eval", folder, desk.poems()}};
    if (is_log) lines = {{"plot", folder}, {"page", folder}};
    if (folder == desk.run && !is_log)
      lines.push_back({"train", "--resume", folder, "--steps", "21", "-q"});
    for (const Words& line : lines) {
      const Result result = fledge_says(line);
      INFO(file << ": " << line[0] << ": " << result.err);
      CHECK(result.status == 3);
      CHECK_FALSE(refusal_of(result).starts_with("not two lines"));
      if (!sanitized) CHECK(result.megabytes < 64);
    }
    if (folder == desk.run) {  // and replaced without being read
      const Result result = trained({desk.poems(), "-o", folder, "--force", "-q"});
      if (!sanitized) CHECK(result.megabytes < 256);
      continue;
    }
    is_new ? static_cast<void>(fs::remove(file)) : write_file(file, kept);
  }
}

TEST_CASE("hostile folders: any change of a byte is refused in words, or does no harm") {
  std::mt19937 draw(7);
  const Folders desk;
  for (const std::string& folder : {desk.other, desk.exported, desk.run})
    for (const auto& [name, bytes] : files_in(folder))
      for (int change = 0; change < (sanitized ? 5 : 40); ++change) {
        std::string changed = bytes;
        // The header of safetensors comes first.
        const Size at = draw() % std::min<Size>(changed.size(), 2500);
        if (change % 3 == 0)
          changed.resize(at);
        else if (change % 3 == 1)
          changed[at] = static_cast<char>(draw());
        else
          changed.insert(at, 1, "\"{}[],:0-\\\n"[draw() % 11]);
        write_file(folder + "/" + name, changed);
        const Result result = fledge_says({"generate", folder, "birds", "--tokens-out", "1"});
        INFO(name << ", change " << change << " at " << at << ": " << result.err);
        CHECK((result.status == 0 || result.status == 3));
        if (result.status == 3) CHECK_FALSE(refusal_of(result).starts_with("not two lines"));
        if (!sanitized) CHECK(result.megabytes < 64);
        write_file(folder + "/" + name, bytes);
      }
}

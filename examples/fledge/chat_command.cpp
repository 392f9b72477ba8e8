#include <cstdio>
#include <iostream>
#include <random>

#include "examples/fledge/commands.h"
#include "examples/fledge/generate/sample.h"
#include "examples/fledge/known_names.h"
#include "examples/fledge/train/source.h"
#include "examples/support/options.h"
#include "examples/support/text.h"
#include "nn/io/json.h"

namespace fledge {

namespace {

struct ChatConfig {
  ModelOptions source;
  std::string folder, stop;
  std::int64_t tokens_out = 100;
  SampleOptions choice;
  std::uint64_t seed = 1;
  bool is_random_seed = false, json = false;
};

ChatConfig chat_config(int argc, char** argv) {
  constexpr double many = 1e9;
  ChatConfig config;
  support::Options options("fledge chat",
                           "Each line that you type is read after all that came before; the model "
                           "goes on. Ctrl-D ends.");
  options.arguments("DIR", 1, 1);
  options.example("fledge chat run", "type a few words, then Enter; an empty line: go on");
  options.example("fledge chat run --stop .", "each answer ends before the next point");
  options.add("--tokens-out", "N", config.tokens_out, "at most so many tokens an answer",
              {1, many});
  options.add("--stop", "S", config.stop, "an answer ends before this text");
  options.add("--temperature", "X", config.choice.temperature,
              "0: the most likely token; 1: as learned; more: more surprising", {0, 1000});
  options.add("--top-k", "N", config.choice.top_k, "only the N most likely tokens; 0: all",
              {0, many});
  options.add("--top-p", "X", config.choice.top_p,
              "only the most likely tokens that together have this probability", {1e-9, 1});
  options.add("--seed", "N", config.seed, "the same seed and lines give the same answers");
  options.without_default();
  options.add("--json", "", config.json, "one object a line on stdout");
  add_model_options(options, config.source);
  options.threads();
  options.exit_statuses("0 done, 1 failed, 2 wrong usage, 3 unusable input");
  add_known_names(options);
  options.parse(argc, argv);
  config.folder = options.arguments()[0];
  config.is_random_seed = !options.given().contains("--seed");
  if (config.is_random_seed) config.seed = std::random_device{}();
  return config;
}

/// A text that grows by the user's lines and the model's answers.
class Chat {
 public:
  Chat(const ChatConfig& config, const TrainedModel& trained)
      : config_(config), trained_(trained), decoder_(trained.model), rng_(config.seed) {}

  /// The model's answer to a line. Throws InputError for a line that it cannot read; then the text
  /// has not changed.
  std::string answer(const std::string& line) {
    const bool begins = unread_.empty();
    const auto [read, begin] =
        train::prompt_of(trained_.tokenizer(), trained_.readable(line, "the line"),
                         begins && trained_.lines, "the line");
    const std::vector<Dim> typed(read.begin() + static_cast<std::ptrdiff_t>(begin), read.end());
    std::vector<Dim> ids = begins ? read : unread_;
    if (!begins) ids.insert(ids.end(), typed.begin(), typed.end());
    std::vector<Dim> drawn;
    const Dim boundary = trained_.lines ? trained_.first_token() : -1;
    const auto take = [&](Dim token, const Array&) {
      drawn.push_back(token);
      return token != boundary && end_of(text_after(typed, drawn)) == std::string::npos;
    };
    generate(decoder_, ids, config_.tokens_out, config_.choice, rng_, take);
    unread_ = {drawn.back()};  // generate() does not read the last token
    if (drawn.back() == boundary) drawn.pop_back();
    const std::string text = text_after(typed, drawn);
    return text.substr(0, end_of(text));
  }

 private:
  std::string text_after(const std::vector<Dim>& typed, const std::vector<Dim>& drawn) const {
    std::vector<Dim> all = typed;
    all.insert(all.end(), drawn.begin(), drawn.end());
    return trained_.tokenizer().decode(all).substr(trained_.tokenizer().decode(typed).size());
  }
  std::size_t end_of(const std::string& text) const {
    return config_.stop.empty() ? std::string::npos : text.find(config_.stop);
  }

  const ChatConfig& config_;
  const TrainedModel& trained_;
  Decoder decoder_;
  Rng rng_;
  std::vector<Dim> unread_;  // drawn, and not read by the decoder yet; empty before the first line
};

void print(const ChatConfig& config, const std::string& line, const std::string& answer) {
  if (config.json) {
    put(Json::object({{"prompt", line}, {"text", answer}}).text() + "\n");
  } else {
    put(shown(line + answer, !support::is_terminal(stdout)));
    if (!(line + answer).ends_with('\n')) put("\n");
  }
  std::fflush(stdout);
}

int run(const ChatConfig& config) {
  const TrainedModel trained = load_trained(config.folder, config.source.form);
  if (config.is_random_seed) {
    const std::string seed = std::to_string(config.seed);
    support::say(stderr, "Seed " + seed + ": --seed " + seed + " gives these answers again");
  }
  Chat chat(config, trained);
  const bool prompts = support::is_terminal(stdin);
  const std::string margin(std::string_view("fledge chat: ").size(), ' ');
  std::string line;
  while (true) {
    if (prompts) std::fputs("> ", stderr);
    if (!std::getline(std::cin, line) || std::ferror(stdout)) break;
    try {
      print(config, line, chat.answer(line));
    } catch (const support::InputError& error) {  // an unknown character: the user tries again
      const std::string said = support::wrapped(
          std::string("fledge chat: ") + error.what() + "\n" + margin + error.advice,
          support::terminal_width(stderr), static_cast<int>(margin.size()));
      std::fprintf(stderr, "%s\n", said.c_str());
    } catch (const NumericError&) {
      refuse_numbers(config.folder, trained.model, {trained.first_token()});
    }
  }
  if (prompts) std::fputs("\n", stderr);
  return 0;
}

}  // namespace

int chat_command(int argc, char** argv) {
  const ChatConfig config = chat_config(argc, argv);
  return support::with_advice("a model's folder is made by: fledge train FILE -o DIR",
                              [&] { return run(config); });
}

}  // namespace fledge

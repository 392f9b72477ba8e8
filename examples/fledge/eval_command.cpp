#include "examples/fledge/commands.h"

#include <cmath>
#include <cstdio>

#include "examples/fledge/train/source.h"
#include "examples/fledge/trained_model.h"
#include "examples/fledge/unusable.h"
#include "examples/support/options.h"
#include "examples/support/text.h"
#include "nn/io/json.h"
#include "nn/train/trainer.h"

namespace fledge {

namespace {

support::Options declared_options() {
  support::Options options("fledge eval",
                           "The loss of a trained model on what it was not trained on.");
  options.arguments("DIR [FILE]", 1, 2);
  options.example("fledge eval run", "on the held-out part of its own text");
  options.example("fledge eval run other.txt", "on the whole of another text");
  options.integer("--batch", "N", 12, 1, 1'000'000, "windows at a time");
  options.threads();
  options.flag("--json", "one object on stdout");
  options.exit_statuses("0 done, 1 failed, 2 wrong usage, 3 unusable input");
  return options;
}

int evaluate(const support::Options& options) {
  const TrainedModel trained = load_trained(options.arguments()[0]);
  TokenText text;
  if (options.arguments().size() < 2) {
    text = trained.held_out();
  } else {
    const std::string& path = options.arguments()[1];
    text =
        train::tokens_of_text(trained.tokenizer(), train::read_text_file(path, "name a text file"),
                              trained.run.settings.corpus.reading,
                              path == "-" ? "standard input" : support::quoted(path));
  }
  if (text.size() < 2)
    throw InputError("there is nothing to guess in one token", "name a longer text");
  const double loss = mean_loss(trained.model, text, options.integer("--batch"));
  if (!std::isfinite(loss)) refuse_numbers(options.arguments()[0], trained.model, text.tokens);
  const Dim guessed = text.size() - 1;  // nothing stands before the first
  if (options.has("--json")) {
    JsonWriter json;
    json.begin_object().field("loss", loss).field("perplexity", std::exp(loss));
    json.field("tokens", guessed);
    std::printf("%s\n", json.end_object().text().c_str());
  } else {
    std::printf("%.4f nats per token, like choosing among %.2f; %lld tokens\n", loss,
                std::exp(loss), static_cast<long long>(guessed));
  }
  return 0;
}

}  // namespace

int eval_command(int argc, char** argv) {
  support::Options options = declared_options();
  options.parse(argc, argv);
  options.use_threads();
  return with_usable_input("fledge eval", "a model's folder is made by: fledge train FILE -o DIR",
                           [&] { return evaluate(options); });
}

}  // namespace fledge

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "engine/base/errors.h"
#include "examples/fledge/commands.h"
#include "examples/fledge/train/recorded_page.h"
#include "examples/fledge/train/source.h"
#include "examples/fledge/trained_model.h"
#include "examples/page/page_file.h"
#include "examples/support/options.h"
#include "examples/support/text.h"
#include "nn/generate/sampler.h"

namespace fledge {

namespace {

/// The text of the run. If it is not to be had, `why` says why, and the model writes one: at least
/// 1000 tokens in pieces of a context, so that a page can train on it.
std::string text_of(const TrainedModel& trained, const std::string& folder, std::string& why) {
  try {
    if (!trained.has_run())
      why = "no run of fledge train made it";
    else if (trained.run.settings.texts == std::vector<std::string>{"-"})
      why = "standard input cannot be read again";
    else
      return train::text_of_run(trained.run, folder);
  } catch (const support::InputError& error) {
    why = error.what();
  }
  if (count_parameters(trained.model) > page::most_parameters) return "";  // which is refused
  Decoder decoder(trained.model, trained.without_text());
  const std::optional<Dim> end = trained.tokenizer().find("\n");
  std::vector<Dim> ids;
  for (std::uint64_t seed = 1; ids.size() < 1000 && seed <= 200; ++seed) {
    Rng rng(seed);
    generate(decoder, {trained.first_token()}, std::max<Dim>(trained.model.sizes.context - 1, 1),
             {}, rng, [&](Dim token, const Array&) {
               if (!trained.ends_text(token)) ids.push_back(token);
               return !trained.ends_text(token);
             });
    if (end && !ids.empty() && ids.back() != *end) ids.push_back(*end);
  }
  return trained.tokenizer().decode(ids);
}

}  // namespace

int page_command(int argc, char** argv) {
  std::string out;
  support::Options options("fledge page", "One HTML page that shows how a model learned.");
  options.arguments("DIR", 1, 1);
  options.example("fledge page poems-run", "writes poems-run/page.html");
  options.example("fledge page poems-run -o poems.html", "the same in another file");
  options.add("-o, --out", "FILE", out, "the file of the page; without it page.html in the folder");
  options.parse(argc, argv);
  const std::string folder = options.arguments()[0];
  const TrainedModel trained = load_trained(folder);
  if (out.empty()) out = (std::filesystem::path(folder) / "page.html").string();
  page::require_place(out);
  const Folder files(folder);
  const std::string events = files.has(train::run_file) ? train::saved_events(files) : "";
  try {
    std::string why;
    const std::string text = text_of(trained, folder, why);
    const page::Page made = support::with_advice(
        "restore the file, or train again",
        [&] {
          return train::recorded_page(trained.run, trained.model, text, why, trained.step, events);
        },
        support::quoted(files.file(train::log_file)));
    const std::vector<std::string> said = page::write_page(out, made);
    std::fprintf(stderr, "The page is in %s.\n", support::printable(out).c_str());
    for (const std::string& sentence : said) support::say(stderr, sentence);
  } catch (const NumericError&) {
    refuse_numbers(trained, {trained.first_token()});
  }
  return 0;
}

}  // namespace fledge

#include "examples/fledge/train/source.h"

#include "engine/errors.h"
#include "examples/birds/corpus.h"
#include "examples/support/text.h"
#include "nn/io/digits.h"

namespace fledge::train {

std::string read_text(const Plan& plan) {
  if (!plan.text_path.empty()) return read_file(plan.text_path);
  std::string text;
  for (const std::string_view sentence : birds::sentences()) text.append(sentence).append("\n");
  return text;
}

std::string name_of(const Plan& plan) {
  return plan.text_path.empty()  ? "the built-in text"
         : plan.text_path == "-" ? "standard input"
                                 : support::printable(plan.text_path);
}

void require_same_text(const RunConfig& config, const std::string& text, const std::string& name) {
  require<ValueError>(text.size() == config.text_bytes, name,
                      "is not the text of this run: it has ", text.size(), " bytes, the run's had ",
                      config.text_bytes);
  const std::uint64_t hash = hash_of(text);
  require<ValueError>(hash == config.text_hash, name,
                      "is not the text of this run: as long, but other bytes (hash ",
                      hexadecimal(hash), " instead of ", hexadecimal(config.text_hash), ")");
}

}  // namespace fledge::train

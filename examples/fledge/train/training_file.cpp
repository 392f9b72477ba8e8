#include "examples/fledge/train/training_file.h"

#include <cerrno>

#include "examples/fledge/train/run_place.h"
#include "examples/fledge/train/run_state.h"
#include "examples/fledge/train/source.h"
#include "examples/support/text.h"
#include "nn/io/files.h"
#include "nn/train/checkpoint.h"
#include "nn/train/training_export.h"

namespace fledge::train {

std::string training_file(const Folder& folder, const RunConfig& run) {
  const std::string text = text_of_run(run, folder.path());
  const Corpus corpus = usable_corpus(text, run.settings, &run.tokenizer);
  const LanguageModelSizes& sizes = run.settings.sizes;
  const std::optional<std::string> state = folder.read(state_name, most_file_bytes(sizes, 3));
  if (!state) throw FileError("read", folder.file(state_name), ENOENT);
  return support::with_advice(
      "name the folder of a run that fledge train has saved",
      [&] {
        require_model_in_state(*state, sizes);
        Trainer trainer(LanguageModel(sizes, InitialWeights::none()), corpus.train,
                        run.settings.training);
        const RunNotes notes = load_checkpoint(*state, trainer);
        require<FormatError>(notes.run_id == run.id, "the checkpoint",
                             "must belong to the config.json beside it");
        return training_bytes(trainer, corpus.valid, {{"id", run.id}});
      },
      support::quoted(folder.file(state_name)));
}

}  // namespace fledge::train

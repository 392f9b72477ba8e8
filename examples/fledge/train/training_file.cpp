#include "examples/fledge/train/training_file.h"

#include "examples/fledge/train/run_folder.h"
#include "examples/fledge/train/source.h"
#include "examples/support/text.h"
#include "nn/train/training_export.h"

namespace fledge::train {

std::string training_file(const Folder& folder) {
  const SavedRun run = open_run(folder);
  const std::string text = text_of_run(run.config, folder.path());
  const Corpus corpus = usable_corpus(text, run.config.settings, &run.config.tokenizer);
  return support::with_advice(
      "name the folder of a run that fledge train has saved",
      [&] {
        const LanguageModelSizes& sizes = run.config.settings.sizes;
        Trainer trainer(LanguageModel(sizes, InitialWeights::none()), corpus.train,
                        run.config.settings.training);
        restore(run.checkpoint, trainer);
        return training_bytes(trainer, corpus.valid);
      },
      support::quoted(folder.file(run_file)));
}

}  // namespace fledge::train

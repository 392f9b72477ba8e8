// A checkpoint gives back every bit, and no other bytes pass for one.
#include "nn/train/checkpoint.h"

#include <functional>
#include <map>

#include "nn/io/json.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/refuses.h"
#include "tests/support/sanitized.h"
#include "tests/support/stored_file.h"

using namespace fledge;
using tests::refusal;

namespace {

LanguageModel letter_model(Dim width = 2, Dim layers = 1) {
  Rng rng(5);
  return {{.vocabulary = 3, .context = 2, .layers = layers, .heads = 1, .width = width}, rng};
}

Trainer trainer_of(const LanguageModel& model, std::int64_t steps = 0,
                   Optimizer optimizer = Optimizer::adamw, double average = 0.9) {
  static const Corpus corpus = read_corpus("abcabbcaabcbacbbacab", {});
  TrainerOptions options;
  options.average = average;
  options.optimizer = optimizer;
  options.batch = 2;
  options.schedule = {.rate = 0.02, .warmup = 0, .steps = 20};
  Trainer trainer(model, corpus.train, options);
  while (trainer.steps_done() < steps) trainer.step();
  return trainer;
}

RunNotes notes(std::int64_t best_step = 0) {
  RunNotes result;
  result.best_step = best_step;
  result.best_loss = 1.0 / 3;
  result.last_loss = 0.1 + 0.2;
  result.since_best = 1;
  result.train_loss = 1e-300;
  result.best_train_loss = 2.5;
  result.overfitting_step = 12;
  result.log_bytes = (std::int64_t{1} << 53) - 1;
  return result;
}

bool same_notes(const RunNotes& a, const RunNotes& b) {
  return a.best_step == b.best_step && a.best_loss == b.best_loss && a.last_loss == b.last_loss &&
         a.since_best == b.since_best && a.train_loss == b.train_loss &&
         a.best_train_loss == b.best_train_loss && a.overfitting_step == b.overfitting_step &&
         a.log_bytes == b.log_bytes;
}

const std::string settings = "any text: \"\n\u00fc";

std::string bytes_of(const Trainer& trainer, const RunNotes& notes = {},
                     const std::vector<Array>& best = {}) {
  return checkpoint_bytes(trainer, notes, best, settings);
}

/// Opens the bytes and sets the trainer to them.
RunNotes load(const std::string& bytes, Trainer& trainer) {
  const Checkpoint checkpoint = open_checkpoint(bytes);
  restore(checkpoint, trainer);
  return checkpoint.notes;
}

/// A checkpoint taken apart, to be put together again with other contents and a new checksum.
struct TakenApart {
  std::map<std::string, Array> arrays;
  std::map<std::string, std::string> texts;

  explicit TakenApart(const std::string& bytes) {
    const StoredHeader header = stored_header(bytes);
    for (const StoredTensor& tensor : header.tensors)
      arrays[tensor.name] = tests::stored_array(bytes, tensor);
    for (const char* key : {"format", "notes", "settings"}) texts[key] = header.text(key);
  }
  std::string bytes() const {
    std::vector<NamedArray> named;
    for (const auto& [name, array] : arrays) named.push_back({name, array});
    return stored_bytes(named, texts);
  }
  TakenApart& change(const std::string& from, const std::string& to) {
    for (auto& [key, text] : texts)
      if (const std::size_t at = text.find(from); at != text.npos) {
        text.replace(at, from.size(), to);
        return *this;
      }
    FAIL("no " << from);
    return *this;
  }
};

/// Why a checkpoint is refused; and that the trainer is then as it was.
template <class E>
std::string refused_checkpoint(const std::string& bytes) {
  Trainer trainer = trainer_of(letter_model(), 1);
  const std::string before = bytes_of(trainer);
  const std::string said = refusal<E>([&] { load(bytes, trainer); });
  CHECK((bytes_of(trainer) == before));
  return said;
}

bool same_weights(const std::vector<Array>& a, const std::vector<Array>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), tests::same_bits);
}

}  // namespace

TEST_CASE("checkpoint: every bit comes back, at any step, and the same state has the same bytes") {
  for (const Optimizer optimizer : {Optimizer::adamw, Optimizer::muon})
    for (const std::int64_t steps : {0, 1, 3}) {
      Trainer trainer = trainer_of(letter_model(), steps, optimizer);
      const std::string bytes = bytes_of(trainer, notes(steps));
      CHECK((bytes_of(trainer, notes(steps)) == bytes));
      Trainer other = trainer_of(letter_model(), 2, optimizer);
      CHECK(same_notes(load(bytes, other), notes(steps)));
      CHECK(open_checkpoint(bytes).settings == settings);
      CHECK(other.steps_done() == steps);
      CHECK((bytes_of(other, notes(steps)) == bytes));
      trainer.step();
      other.step();
      CHECK((bytes_of(other) == bytes_of(trainer)));
    }
  Trainer trainer = trainer_of(letter_model());
  CHECK(same_notes(load(bytes_of(trainer), trainer), {}));  // losses still infinite
}

TEST_CASE("checkpoint: the weights that are kept are those of the best step, else the last") {
  const std::vector<Array> best = weights_of(trainer_of(letter_model(), 1).model());
  const LanguageModelSizes sizes = letter_model().sizes;
  for (const double average : {0.0, 0.9})
    for (const std::int64_t best_step : {0, 1, 3}) {
      CAPTURE(average, best_step);
      const Trainer trainer = trainer_of(letter_model(), 3, Optimizer::adamw, average);
      const std::vector<Array> last = weights_of(trainer.model()), mean = trainer.kept_weights();
      CHECK(same_weights(last, mean) == (average == 0));
      const std::string bytes = bytes_of(trainer, notes(best_step), best);
      const Checkpoint checkpoint = open_checkpoint(bytes);
      const std::vector<Array>& kept = best_step == 1 ? best : mean;
      CHECK(checkpoint.notes.kept_step() == (best_step == 1 ? 1 : 3));
      CHECK(same_weights(weights_of(kept_model(checkpoint, sizes)), kept));
      Trainer other = trainer_of(letter_model(), 0, Optimizer::adamw, average);
      CHECK(same_weights(restore(checkpoint, other), kept));
      CHECK(same_weights(weights_of(other.model()), last));
      CHECK(same_weights(other.kept_weights(), mean));
      const auto arrays = TakenApart(bytes).arrays;
      CHECK(arrays.contains("last.wte.weight") == (average > 0 || best_step == 1));
      CHECK(arrays.contains("average.wte.weight") == (average > 0 && best_step == 1));
    }
  LanguageModelSizes wrong = sizes;
  wrong.width = 4;
  const std::string bytes = bytes_of(trainer_of(letter_model(), 3));
  CHECK(refusal<FormatError>([&] { kept_model(open_checkpoint(bytes), wrong); }) ==
        "its tensors: 'wte.weight' must have shape (3, 4): the file has (3, 2)");
}

TEST_CASE("checkpoint: the moments of one optimiser are not those of the other") {
  const std::string of_muon = bytes_of(trainer_of(letter_model(), 1, Optimizer::muon));
  CHECK(TakenApart(of_muon).arrays.contains("muon.m.h.0.attn.c_attn.weight"));
  CHECK(TakenApart(of_muon).arrays.contains("adamw.v.wte.weight"));
  CHECK(refused_checkpoint<FormatError>(of_muon).starts_with(
      "its tensors: 'adamw.m.h.0.attn.c_attn.weight' must have shape (2, 6): the file has none"));
  CHECK_NOTHROW(kept_model(open_checkpoint(of_muon), letter_model().sizes));
}

TEST_CASE("checkpoint: no byte of it can be changed, and none left away or added") {
  const std::vector<Array> best = weights_of(trainer_of(letter_model(), 1).model());
  const std::string good = bytes_of(trainer_of(letter_model(), 2), notes(1), best);
  Trainer trainer = trainer_of(letter_model(), 3);
  CHECK_NOTHROW(load(good, trainer));
  trainer.step();
  const std::string before = bytes_of(trainer);
  const auto passes = [&](const std::string& bytes) {
    try {
      load(bytes, trainer);
    } catch (const FormatError&) {
      return false;
    }
    return true;
  };
  const std::size_t step = testing::sanitized ? 5 : 1;
  std::size_t passed = 0, tried = 0;
  std::string changed = good;
  for (std::size_t at = 0; at < good.size(); at += step, ++tried)
    for (const int mask : {0x01, 0x0F, 0x80}) {  // 0x0F makes I32 of F32
      changed[at] = static_cast<char>(good[at] ^ mask);
      if (passes(changed)) {
        ++passed;
        UNSCOPED_INFO("byte " << at << " of " << good.size() << ", " << mask);
      }
      changed[at] = good[at];
    }
  for (std::size_t size = 0; size < good.size(); size += 7 * step)
    passed += passes(good.substr(0, size));
  passed += passes(good + '\0');
  CHECK(passed == 0);
  CHECK(tried > 3000 / step);
  CHECK((bytes_of(trainer) == before));
}

TEST_CASE("checkpoint: while one weight cannot be written, none of a checkpoint is taken over") {
  const std::string good = bytes_of(trainer_of(letter_model(), 3), notes());
  Trainer trainer = trainer_of(letter_model(), 1);
  const std::string before = bytes_of(trainer);
  for (const Tensor& held : parameters(trainer.model())) {
    const Array also = held.value();
    CHECK_THROWS_AS(load(good, trainer), GraphError);
    CHECK((bytes_of(trainer) == before));
    std::vector<Array> zeros = weights_of(trainer.model());
    for (Array& array : zeros) array = Array::zeros(array.shape());
    CHECK_THROWS_AS(set_weights(trainer.model(), zeros), GraphError);
    CHECK((bytes_of(trainer) == before));
  }
  load(good, trainer);
  CHECK((bytes_of(trainer, notes()) == good));
}

TEST_CASE("checkpoint: what no run has saved is refused by its name; the trainer is unchanged") {
  const std::string good = bytes_of(trainer_of(letter_model(), 1));
  CHECK((TakenApart(good).bytes() == good));
  struct Row {
    std::function<void(TakenApart&)> change;
    std::string said;
  };
  const auto text = [](const char* from, const char* to) {
    return [from, to](TakenApart& parts) { parts.change(from, to); };
  };
  const auto array = [](const char* name, const Array& value) {
    return [name, value](TakenApart& parts) { parts.arrays[name] = value; };
  };
  const auto number = [](const char* name, double x) {
    return [name, x](TakenApart& parts) { parts.arrays.at(name).write()[1] = Real(x); };
  };
  const double nan = std::nan("");
  const std::string finite = " must hold numbers that are finite: number 1 is not",
                    whole = " must be a whole number from 0 to ";
  const std::vector<Row> rows{
      {[](TakenApart& parts) { parts.arrays.erase("adamw.v.ln_f.bias"); },
       "its tensors: 'adamw.v.ln_f.bias' must have shape (2): the file has none"},
      {array("adamw.m.wte.weight", Array::zeros({2, 3})),
       "its tensors: 'adamw.m.wte.weight' must have shape (3, 2): the file has (2, 3)"},
      {array("colour", Array::zeros({1})), "its tensors: 'colour' is not in the model"},
      {text("fledge run 4", "fledge run 5"),
       "the checkpoint must have the format 'fledge run 4': got 'fledge run 5'; use the fledge "
       "that wrote it, or train again"},
      {text("fledge run 4", "other"), "the checkpoint must be written by fledge train"},
      {text("\"best_loss\"", "\"colour\""), "must have a key 'best_loss'"},
      {text("\"log_bytes\"", "\"colour\""), "must have a key 'log_bytes'"},
      {text("\"step\":1,", ""), "must have a key 'step'"},
      {text("\"step\":1", "\"step\":-1"), "step" + whole},
      {text("\"step\":1", "\"step\":1.5"), "step" + whole},
      {text("\"gradients\":[1", "\"gradients\":[-1"), "gradients[0]" + whole},
      {text("\"gradients\":[1", "\"gradients\":[2"), "gradients[0]" + whole},
      {text("\"gradients\":[1", "\"gradients\":[0"), "'adamw.m.wte.weight' is not in the model"},
      {number("wte.weight", nan), "'wte.weight'" + finite},
      {number("wpe.weight", infinity), "'wpe.weight'" + finite},
      {number("adamw.m.wte.weight", -infinity), "'adamw.m.wte.weight'" + finite},
      {number("adamw.v.ln_f.bias", nan), "'adamw.v.ln_f.bias'" + finite},
      {number("adamw.v.ln_f.bias", infinity), "'adamw.v.ln_f.bias'" + finite},
      {number("adamw.v.ln_f.bias", -0.5),
       "the checkpoint must have no negative mean of squares: 'adamw.v.ln_f.bias' has one, "
       "number 1 is -0.5"}};
  for (const auto& [change, said] : rows) {
    TakenApart parts(good);
    change(parts);
    CHECK_THAT(refused_checkpoint<FormatError>(parts.bytes()), ContainsSubstring(said));
  }
  CHECK(refused_checkpoint<FormatError>(bytes_of(trainer_of(letter_model(2, 2), 1))) ==
        "the checkpoint must be of a model with 16 parameters: it has another number of them");
  CHECK(refused_checkpoint<FormatError>(bytes_of(trainer_of(letter_model(4)))) ==
        "its tensors: 'wte.weight' must have shape (3, 2): the file has (3, 4)");
  Trainer trainer = trainer_of(letter_model(), 1);
  for (const auto& [name, x] : {std::pair{"adamw.m.ln_f.bias", -0.5}, {"adamw.v.ln_f.bias", 0.0}}) {
    TakenApart parts(good);
    parts.arrays.at(name).write()[1] = Real(x);
    CHECK_NOTHROW(load(parts.bytes(), trainer));
  }
}

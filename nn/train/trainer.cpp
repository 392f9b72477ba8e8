#include "nn/train/trainer.h"

#include <span>

#include "engine/autograd.h"
#include "engine/gradcheck/nan_detector.h"

namespace fledge {

namespace {

const TrainerOptions& checked(const TrainerOptions& options) {
  require<ValueError>(options.batch >= 1, "Trainer", "a step takes at least one window: got ",
                      options.batch);
  require<ValueError>(options.schedule.steps >= 1 && options.schedule.warmup >= 0, "Trainer",
                      "needs at least one step, and a warm-up that is not negative: got ",
                      options.schedule.steps, " and ", options.schedule.warmup);
  require<ValueError>(options.clip >= 0, "Trainer", "clip must not be negative: got ",
                      options.clip);
  return options;
}

std::string not_finite(double number) { return number != number ? "not-a-number" : "infinite"; }

// Matrices and embeddings have weight decay; vectors have none.
std::vector<double> decay_factors(const std::vector<Tensor>& parameters) {
  std::vector<double> factors;
  for (const Tensor& tensor : parameters) factors.push_back(tensor.rank() >= 2 ? 1 : 0);
  return factors;
}

// Pointers to the numbers of each weight. All checks are done before the first number changes.
std::vector<Real*> places_for(const LanguageModel& model, const std::vector<Array>& weights) {
  const std::vector<Tensor> learned = parameters(model);
  require<ValueError>(weights.size() == learned.size(), "set_weights", "the model has ",
                      learned.size(), " parameters: got ", weights.size());
  for (std::size_t p = 0; p < learned.size(); ++p)
    require(weights[p].shape() == learned[p].shape(), "set_weights", "parameter ", p, " has shape ",
            learned[p].shape(), ": got ", weights[p].shape());
  std::vector<Real*> places;
  for (const Tensor& tensor : learned) places.push_back(tensor.write());
  return places;
}

void copy_weights(const std::vector<Array>& weights, const std::vector<Real*>& places) {
  for (std::size_t p = 0; p < weights.size(); ++p)
    std::copy(weights[p].data(), weights[p].data() + weights[p].size(), places[p]);
}

// mean_loss(), which records gradients unless a NoGrad is active. The loss of each window is
// computed separately, and the losses are added in the order of the text. So the sum does not
// depend on the batch size.
double loss_over_windows(const LanguageModel& model, const TokenText& text, Dim batch,
                         Dim max_windows, Dim history) {
  const std::vector<TextWindow> windows = evaluation_windows(text, model.sizes.context, history);
  require<ValueError>(batch >= 1, "mean_loss", "batch must be at least 1: got ", batch);
  require<ValueError>(!windows.empty(), "mean_loss",
                      "the text must have at least 2 tokens, of which the second is guessed: got ",
                      text.size());
  const auto all = static_cast<Dim>(windows.size());
  const Dim passes = ceil_div(all, batch);
  const Dim wanted = max_windows > 0 ? std::min(passes, ceil_div(max_windows, batch)) : passes;
  double sum = 0, tokens = 0;
  for (Dim pass = 0; pass < wanted; ++pass) {
    check_interrupt();
    const Dim first = pass * passes / wanted * batch;
    const std::span<const TextWindow> part(windows.data() + first,
                                           static_cast<std::size_t>(std::min(batch, all - first)));
    const Batch batch_of_part = batch_of(text, part);
    const Tensor logits = model(batch_of_part.inputs, Mode::evaluation(), batch_of_part.lengths);
    const Tensor rows = reshape(logits, {batch_of_part.inputs.size(), logits.dim(-1)});
    Dim row = 0;
    for (std::size_t i = 0; i < part.size(); ++i) {
      const Dim length = part[i].length, counted = part[i].counted();
      const Tensor own = reshape(slice(rows, 0, row, row + length), {1, length, rows.dim(1)});
      const Batch alone = batch_of(text, part.subspan(i, 1));
      sum += static_cast<double>(counted) * cross_entropy(own, alone.targets, no_target).item();
      tokens += static_cast<double>(counted);
      row += length;
    }
  }
  return sum / tokens;
}

}  // namespace

Trainer::Trainer(LanguageModel model, const TokenText& text, const TrainerOptions& options)
    : model_(std::move(model)),
      text_(&text),
      options_(checked(options)),
      named_(named_parameters(model_)),
      parameters_(parameters(model_)),
      optimizer_(parameters_,
                 {.beta1 = options.beta1, .beta2 = options.beta2, .decay = options.decay},
                 decay_factors(parameters_),
                 options.optimizer == Optimizer::muon ? matrices_of_blocks(named_)
                                                      : std::vector<std::vector<Dim>>()),
      held_(model_),
      average_(parameters_, options.average) {
  sample_windows(text, 1, model_.sizes.context, 0, Rng(0));  // throws for a text that is too short
}

// The mean loss of the next step's targets.
Tensor Trainer::loss_of_step() const {
  const Batch batch =
      batch_of(*text_, sample_windows(*text_, options_.batch, model_.sizes.context, done_,
                                      Rng(options_.seed).stream(batch_stream)));
  Rng dropout = Rng(options_.seed).stream(dropout_stream).stream(static_cast<std::uint64_t>(done_));
  // No handle of the logits is left: their memory is free during the backward pass.
  return cross_entropy(model_(batch.inputs, Mode::training(dropout), batch.lengths), batch.targets,
                       no_target);
}

Trainer::Step Trainer::step() {
  const double rate = options_.schedule.at(done_);
  zero_grad(parameters_);
  double loss = 0, norm = 0;
  {
    const Tensor mean = loss_of_step();
    loss = mean.item();
    require_finite_loss(loss);
    backward(mean);
  }
  held_.change_gradients();
  try {
    norm = clip_gradients(parameters_, options_.clip > 0 ? options_.clip : infinity);
    const double left = options_.clip > 0 ? std::min(norm, options_.clip) : norm;
    require<NumericError>(isfinite(Real(left * left)), "Trainer",
                          "a square overflows");  // in AdamW
    optimizer_.options.rate = rate;
    held_.keep_during([&] { optimizer_.step(); });
  } catch (const NumericError&) {
    throw_step_diverged("a gradient became infinite, not-a-number, or too large to be squared");
  }
  average_.follow(++done_);
  return {done_, loss, norm, rate};
}

void Trainer::dry_run() {
  backward(loss_of_step());
  zero_grad(parameters_);
}

double Trainer::next_loss() const {
  const double loss = [&] {
    const NoGrad no_grad;
    return loss_of_step().item();
  }();
  require_finite_loss(loss);
  return loss;
}

void Trainer::require_finite_loss(double loss) const {
  if (!std::isfinite(loss)) throw_step_diverged("the loss became " + not_finite(loss));
}

// Computes the step again to find the op that gives the first number that is not finite.
void Trainer::throw_step_diverged(const std::string& what) const {
  throw_diverged(what + " at step " + std::to_string(done_ + 1), [&] {
    if (const Tensor loss = loss_of_step(); std::isfinite(loss.item())) backward(loss);
  });
}

void Trainer::throw_diverged(const std::string& what, const std::function<void()>& compute) const {
  zero_grad(parameters_);
  std::string where = first_not_finite(named_, compute);
  std::vector<std::pair<std::string, Array>> gradients;
  for (const auto& [name, tensor] : named_)
    if (tensor.has_grad()) gradients.emplace_back(name, tensor.grad());
  if (where.empty() && !gradients.empty()) where = "the largest is " + largest_number(gradients);
  zero_grad(parameters_);
  throw Diverged(what + (where.empty() ? "" : ": " + where));
}

std::string first_not_finite(const std::vector<NamedTensor>& parameters,
                             const std::function<void()>& compute) {
  for (const auto& [name, tensor] : parameters)
    for (Dim i = 0; i < tensor.size(); ++i)
      if (!isfinite(tensor.value()[i]))
        return "the weights of " + name + " are not finite any more";
  const NanDetector detector;
  try {
    compute();
  } catch (const NumericError&) {  // `detector` has found its cause
  }
  const auto& found = detector.finding();
  if (!found) return "";
  const std::string op = "'" + std::string(found->op) + "'";
  std::string where = found->backward ? "first in the gradient that " + op + " gives"
                                      : "first in the value of " + op;
  std::string_view joint = found->backward ? " to " : " with ";
  for (const Node* input : found->inputs)
    for (const auto& [name, tensor] : parameters)
      if (tensor.node().get() == input) {
        where += std::string(joint) + name;
        joint = " and ";
      }
  return where + ", shape " + to_string(found->shape) + ", element " +
         std::to_string(found->element);
}

std::string largest_number(const std::vector<std::pair<std::string, Array>>& arrays) {
  double largest = 0;
  std::string where;
  for (const auto& [name, array] : arrays)
    for (Dim i = 0; i < array.size(); ++i)
      if (const double size = std::abs(value_of(array[i])); size > largest) {
        largest = size;
        where = name;
      }
  return message::digits(largest, 3) + " in " + where;
}

Trainer::State Trainer::state() const { return {done_, optimizer_.moments(), average_.copies()}; }

void Trainer::restore(const State& state, const std::vector<Array>& weights) {
  require<ValueError>(state.done >= 0, "Trainer",
                      "the number of steps done must not be negative: got ", state.done);
  const std::vector<Real*> numbers = places_for(model_, weights);
  std::vector<Array> average = average_.copies_of(state.average);
  optimizer_.restore(state.moments);
  average_.restore(std::move(average));
  done_ = state.done;
  copy_weights(weights, numbers);
}

std::vector<Array> Trainer::kept_weights() const {
  return average_.exists() ? average_.copies() : weights_of(model_);
}

std::vector<Array> weights_of(const LanguageModel& model) {
  std::vector<Array> weights;
  for (const Tensor& tensor : parameters(model)) weights.push_back(tensor.value().clone());
  return weights;
}

void set_weights(const LanguageModel& model, const std::vector<Array>& weights) {
  copy_weights(weights, places_for(model, weights));
}

double mean_loss(const LanguageModel& model, const TokenText& text, Dim batch, Dim max_windows,
                 Dim history) {
  const NoGrad no_grad;
  return loss_over_windows(model, text, batch, max_windows, history);
}

double Trainer::loss_on(const TokenText& text, Dim batch, Dim max_windows) const {
  const Dim history = model_.sizes.context / 2;
  const double loss = mean_loss(model_, text, batch, max_windows, history);
  if (std::isfinite(loss)) return loss;
  throw_diverged(
      "the held-out loss became " + not_finite(loss) + " after step " + std::to_string(done_),
      [&] { loss_over_windows(model_, text, batch, max_windows, history); });
}

}  // namespace fledge

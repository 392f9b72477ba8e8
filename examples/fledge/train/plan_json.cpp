// A plan as config.json keeps it, and back.
#include <cstdio>

#include "examples/fledge/train/plan.h"
#include "nn/io/digits.h"
#include "nn/io/json.h"
#include "nn/io/json_reader.h"

namespace fledge::train {

void write_plan(JsonWriter& json, const Plan& plan) {
  json.begin_object().field("text", plan.text_path);
  json.field("lines", plan.corpus.reading == Reading::lines).field("valid", plan.corpus.valid);
  const TrainerOptions& t = plan.training;
  json.field("steps", t.schedule.steps).field("batch", t.batch).field("accumulate", t.accumulate);
  json.field("lr", t.schedule.rate).field("min_lr", t.schedule.least);
  json.field("warmup", t.schedule.warmup).field("decay", t.decay).field("clip", t.clip);
  json.field("dropout", plan.sizes.dropout).field("seed", std::to_string(t.seed));
  json.field("eval_every", plan.evaluate_every).field("patience", plan.patience).end_object();
}

namespace {

double number(const JsonValue& json, double low, double high) {
  const double value = json.number();
  if (!(value >= low && value <= high)) {
    char range[80];
    std::snprintf(range, sizeof range, "must be a number from %g to %g", low, high);
    json.fail(range);
  }
  return value;
}

std::uint64_t seed_of(const JsonValue& json) {
  const std::optional<std::uint64_t> seed = unsigned_number(json.string(), 10);
  if (!seed) json.fail("must be a whole number from 0 in quotes");
  return *seed;
}

}  // namespace

void read_plan(const JsonValue& json, Plan& plan) {
  constexpr std::int64_t many = 1'000'000'000'000;
  json.allow_only({"text", "lines", "valid", "steps", "batch", "accumulate", "lr", "min_lr",
                   "warmup", "decay", "clip", "dropout", "seed", "eval_every", "patience"});
  plan.text_path = json["text"].string();
  plan.corpus.reading = json["lines"].boolean() ? Reading::lines : Reading::stream;
  plan.corpus.valid = number(json["valid"], 0, 1e12);
  TrainerOptions& t = plan.training;
  t.schedule.steps = json["steps"].integer(1, many);
  t.batch = json["batch"].integer(1, many);
  t.accumulate = json["accumulate"].integer(1, many);
  t.schedule.rate = number(json["lr"], 0, 1e12);
  t.schedule.least = number(json["min_lr"], 0, 1);
  t.schedule.warmup = json["warmup"].integer(0, t.schedule.steps);
  t.decay = number(json["decay"], 0, 1e12);
  t.clip = number(json["clip"], 0, 1e12);
  plan.sizes.dropout = number(json["dropout"], 0, 0.999);
  t.seed = plan.corpus.seed = seed_of(json["seed"]);
  plan.evaluate_every = json["eval_every"].integer(1, many);
  plan.patience = json["patience"].integer(0, many);
}

}  // namespace fledge::train

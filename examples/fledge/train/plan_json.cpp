// A plan as config.json keeps it, and back.
#include <cstdio>

#include "examples/fledge/train/limits.h"
#include "examples/fledge/train/plan.h"
#include "nn/io/hex.h"
#include "nn/io/json.h"
#include "nn/io/json_reader.h"
#include "nn/io/utf8.h"

namespace fledge::train {

namespace {

// A path has any bytes, a string of JSON is UTF-8: other paths are kept in hexadecimal.
void write_path(JsonWriter& json, const std::string& path) {
  if (first_not_utf8(path) == std::string::npos) {
    json.field("text", path);
    return;
  }
  std::string digits;
  for (const char c : path)
    for (const int shift : {4, 0})
      digits += "0123456789abcdef"[static_cast<unsigned char>(c) >> shift & 15];
  json.field("text_hex", digits);
}

std::string path_of(const JsonValue& json) {
  if (!json.has("text_hex")) return json["text"].string();
  const JsonValue hex = json["text_hex"];
  const std::string digits = hex.string();
  if (json.has("text")) hex.fail("and text are two names of one file: only one may be there");
  if (digits.size() % 2 != 0 || digits.find_first_not_of("0123456789abcdef") != std::string::npos)
    hex.fail("must be pairs of hexadecimal digits");
  std::string path;
  for (std::size_t at = 0; at < digits.size(); at += 2)
    path += static_cast<char>(*unsigned_number(digits.substr(at, 2), 16));
  return path;
}

}  // namespace

void write_plan(JsonWriter& json, const Plan& plan) {
  write_path(json.begin_object(), plan.text_path);
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
  json.allow_only({"text", "text_hex", "lines", "valid", "steps", "batch", "accumulate", "lr",
                   "min_lr", "warmup", "decay", "clip", "dropout", "seed", "eval_every",
                   "patience"});
  plan.text_path = path_of(json);
  plan.corpus.reading = json["lines"].boolean() ? Reading::lines : Reading::stream;
  plan.corpus.valid = number(json["valid"], 0, limits::valid);
  TrainerOptions& t = plan.training;
  t.schedule.steps = json["steps"].integer(1, limits::steps);
  t.batch = json["batch"].integer(1, limits::batch);
  t.accumulate = json["accumulate"].integer(1, limits::accumulate);
  t.schedule.rate = number(json["lr"], 0, limits::rate);
  t.schedule.least = number(json["min_lr"], 0, 1);
  t.schedule.warmup = json["warmup"].integer(0, t.schedule.steps);
  t.decay = number(json["decay"], 0, limits::rate);
  t.clip = number(json["clip"], 0, limits::rate);
  plan.sizes.dropout = number(json["dropout"], 0, limits::dropout);
  t.seed = plan.corpus.seed = seed_of(json["seed"]);
  plan.evaluate_every = json["eval_every"].integer(1, limits::steps);
  plan.patience = json["patience"].integer(0, limits::steps);
}

}  // namespace fledge::train

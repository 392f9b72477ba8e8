#include <algorithm>

#include "examples/birds/story.h"
#include "nn/io/json.h"

namespace fledge::birds {

namespace {

// The engine computes in float: prints the fewest digits that give the same float back.
float digits(double x) { return static_cast<float>(x); }

template <class Numbers>
void field_of_numbers(JsonWriter& out, const char* name, const Numbers& numbers) {
  out.key(name).begin_array();
  for (const double x : numbers) out.value(digits(x));
  out.end_array();
}

void write(JsonWriter& out, const ByHand& part) {
  out.begin_object();
  out.field("before", digits(part.before));
  field_of_numbers(out, "v_hat", part.v_hat);
  out.field("association", digits(part.association)).field("row_sum", digits(part.row_sum));
  out.field("normalised", digits(part.normalised)).field("as_labelled", digits(part.as_labelled));
  out.end_object();
}

void write(JsonWriter& out, const Learned& part) {
  out.begin_object();
  out.field("learns", part.learns);
  out.field("objective", part.objective == Objective::product ? "product" : "cosine");
  out.field("before", digits(part.before.association))
      .field("after", digits(part.after.association));
  out.key("ceiling");
  if (part.ceiling)
    out.value(digits(*part.ceiling));
  else
    out.value(nullptr);
  field_of_numbers(out, "attention_before", part.before.attention);
  field_of_numbers(out, "attention", part.after.attention);
  out.field("steps", part.steps);
  out.end_object();
}

void write(JsonWriter& out, const TextStory::Seen& seen) {
  out.begin_object();
  out.field("word", seen.pair.word).field("looks_at", seen.pair.looks_at);
  out.field("sentence", seen.pair.sentence);
  out.field("attention_before", digits(seen.before.attention));
  out.field("attention_after", digits(seen.after.attention));
  out.field("association_before", digits(seen.before.association));
  out.field("association_after", digits(seen.after.association));
  out.end_object();
}

void write(JsonWriter& out, const TextStory::Completed& completed) {
  out.begin_object();
  out.field("prompt", completed.prompt);
  out.field("next", completed.after.next).field("probability", digits(completed.after.probability));
  out.field("next_before", completed.before.next);
  out.field("probability_before", digits(completed.before.probability));
  out.end_object();
}

template <class Parts>
void field_of_parts(JsonWriter& out, const char* name, const Parts& parts) {
  out.key(name).begin_array();
  for (const auto& part : parts) write(out, part);
  out.end_array();
}

}  // namespace

std::string json(const ByHand& by_hand, const std::vector<Learned>& learning, const TextStory& text,
                 const report::ModelProof& proof) {
  JsonWriter out(JsonWriter::Layout::indented);
  out.begin_object();
  out.key("by_hand");
  write(out, by_hand);
  field_of_parts(out, "learning", learning);
  out.key("text").begin_object();
  out.field("sentences", text.sentence_count);
  out.field("words", text.vocabulary - 1);  // the line end is a token, not a word
  out.field("loss_of_guessing", digits(text.loss_of_guessing));
  out.field("loss", digits(text.losses.back()));
  field_of_parts(out, "watch", text.watched);
  field_of_parts(out, "completions", text.completed);
  out.end_object();
  out.key("gradcheck").begin_object();
  out.field("parameters", text.parameters);
  out.field("finite_difference", proof.differences.max_error).field("dual", proof.dual.max_error);
  out.field("ok", proof.differences.ok && proof.dual.ok);
  out.end_object();
  out.end_object();
  return out.text();
}

}  // namespace fledge::birds

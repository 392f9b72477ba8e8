// What a page calls: the engine in a WebAssembly module, one run in each instance.
//
// A call takes numbers, and bytes that the page has written at fledge_input(). It returns a number,
// and often bytes at fledge_output(): then the number is how many. Bytes are JSON in UTF-8, float32
// (f32) or float64 (f64), little-endian. They stay until the next call. Layers, heads, positions and
// tokens count from 0.
//
// An error calls `fail` of the page with its sentence, which must not return: the page throws it as
// an exception of its own. The instance is then of no more use, and the page makes a new one.
//
// The run has weights that learn. What a page looks at is computed with the weights that are shown,
// which are those, or copies from an earlier step (fledge_show). It is computed for one sentence
// (fledge_read) under one list of changes (fledge_change).
#pragma once

#include <cstdint>

extern "C" {

/// Supplied by the page; the module imports it as env.fail. It must not return.
[[noreturn]] void fail(const char* sentence, std::uint32_t bytes);
/// Supplied by the page, as env.write_digits: writes the `count` first digits of a positive number, the
/// last one rounded. Returns the exponent e of d.dd… · 10^e.
int write_digits(double number, int count, char* to);
/// Supplied by the page, as env.read_number: the nearest double.
double read_number(const char* text, std::uint32_t bytes);

/// Room for `bytes` bytes, which the next call reads.
char* fledge_input(std::uint32_t bytes);
/// The bytes of the last call that has any.
const char* fledge_output();

// -- the run --------------------------------------------------------------------------------------

/// Input: a text, then the settings as JSON. Begins a run of this text at step 0: its random weights
/// are shown, there is no sentence and no change. The settings are those of settings.h. What is not
/// given is chosen from the text as `fledge train` does, but for half a minute of one core. Output:
/// JSON, the run.
std::uint32_t fledge_new(std::uint32_t text_bytes, std::uint32_t settings_bytes);
/// At most `count` steps of training, fewer at the end of the run. Output: of each step its number,
/// loss before the step, norm of the gradient and learning rate, 4 f64. Bytes: 32 a step.
std::uint32_t fledge_step(std::uint32_t count);
/// The mean loss of the shown weights in nats per token, over the training text (0) or the held-out
/// text (1), as Trainer::loss_on(). `windows`: at most so many windows; 0: all. NaN without a
/// held-out text.
double fledge_loss(std::uint32_t held_out, std::uint32_t windows);
/// Losses to compare with, which depend on the text alone. Output: JSON
/// {"guessing", "tables": [of 0, 1, 2, 3 tokens of history], "floor": null for a stream}.
std::uint32_t fledge_baselines();

// -- weights --------------------------------------------------------------------------------------

/// Output: f32, all shown weights, in the order of named_parameters().
std::uint32_t fledge_weights();
/// Input: such f32. They are shown; training goes on from its own weights. 0 bytes: shows the
/// weights that learn.
void fledge_show(std::uint32_t bytes);
/// Output: the bytes of run.safetensors with the weights that learn, which `fledge` opens.
std::uint32_t fledge_save();
/// Input: such bytes, of this page or of `fledge`, then the text of the run; without its text
/// nothing can be trained further. Begins this run in place of the one before. Output: JSON, as
/// fledge_new().
std::uint32_t fledge_load(std::uint32_t file_bytes, std::uint32_t text_bytes);

// -- the sentence and what is changed in it -------------------------------------------------------

/// Input: a text. It becomes the sentence, behind a line end if the text of the run has lines, cut
/// to its last `context` tokens. All changes are taken back. A text with words that the tokenizer
/// does not have changes nothing. Output: JSON {"tokens": [3, …], "words": ["\n", "birds", …],
/// "cut": tokens that are left out, "unknown": [words]}.
std::uint32_t fledge_read(std::uint32_t bytes);
/// Input: JSON. It replaces the changes before; a key that is missing changes nothing.
///   {"hidden": [1],                          positions that no other position sees
///    "rows": [{"layer": 0, "head": 0, "query": 3, "weights": [0, 1, 0, 0]}],   a weight for each key
///    "off": [{"layer": 0, "head": 0}],       heads whose output is 0
///    "nudges": [{"layer": 0, "head": 0, "query": 3, "key": 1, "by": 0.5}]}     added to a score
void fledge_change(std::uint32_t bytes);

// -- what the page shows --------------------------------------------------------------------------

/// The tokens that the text of the run has behind the sentence, the most frequent first. Output: JSON
/// [{"token": 5, "word": "walk", "count": 12}].
std::uint32_t fledge_said();
/// The attention weights of all layers and heads. Output: f32 (layers, heads, T, T).
std::uint32_t fledge_attention();
/// The `count` likeliest next tokens after a position. `layer` −1: of the model. Else as if the
/// model ended in this layer: `part` 0 before its attention, 1 between attention and MLP, 2 behind
/// its MLP. Output: JSON [{"token": 5, "word": "walk", "p": 0.98}], the likeliest first.
std::uint32_t fledge_next(std::int32_t layer, std::uint32_t part, std::uint32_t position,
                          std::uint32_t count);
/// Every number of one cell of attention. Output: JSON, f in D dimensions of the head:
///   {"q": f, "k": f, "products": f, "dot": their sum, "divisor": √D or 1, "score": with its nudge,
///    "scores": of this query to all keys, null where hidden, "weights": of this query,
///    "v": f, "part": weight·v, f, "output": the sum of the parts of all keys, f; of
///    an exclusive head what it passes on of it}
std::uint32_t fledge_cell(std::uint32_t layer, std::uint32_t head, std::uint32_t query,
                          std::uint32_t key);
/// The loss of the sentence: the mean over its positions that have a next token. `next` is the token
/// behind the last one; −1: none. NaN without a next token.
double fledge_sentence_loss(std::int32_t next);
/// ∂loss/∂score of all scores, of the same loss. Output: f32 (layers, heads, T, T).
std::uint32_t fledge_gradient(std::int32_t next);
/// The vectors of all tokens in a plane. Output: f64, the share of the variance that it shows, then
/// x of all tokens, then y of all tokens.
std::uint32_t fledge_map();
/// Draws at most `count` tokens after the sentence, without its changes, until a document ends.
/// Output: JSON {"text": "..."}.
std::uint32_t fledge_write(std::uint32_t count, double temperature, std::uint32_t seed);

// -- figures of the lessons -----------------------------------------------------------------------

/// One attention head of given numbers, without a run. Input: JSON
///   {"x": [[1, 0], …],                    a row for each word
///    "from": rows,                        others that queries are made of: cross attention
///    "wq", "wk", "wv": rows,              the identity matrix if it is not given
///    "q", "k", "v": rows,                 in place of inputs and matrices
///    "causal": false, "scale": true,
///    "linear": false,                      weights are the scores, without softmax; not if causal
///    "exclusive": false,                   less the part along the own value (Zhai 2026)
///    "goal": {"row": 2, "with": [1, 0]}}  the number output[row]·with
/// Output: JSON, rows, {"q", "k", "v", "scores" (null where hidden), "weights", "output"}, and with a
/// goal {"goal": number, "gradient": {"wq", "wk", "wv", "scores"}} of it, null for what is given.
std::uint32_t fledge_head(std::uint32_t bytes);
}

// generate --why: what hiding each token does, for people and for programs.
#pragma once

#include "examples/fledge/generate/why.h"
#include "examples/support/terminal.h"
#include "nn/io/json.h"

namespace fledge {

/// The probability of the token and what it becomes with each of three tokens hidden, as bars; the
/// text with shades of what each token costs; and where each head looked.
std::string why_text(const Why& why, const Tokenizer& tokenizer, int columns, support::Paint paint);

/// {"word":…,"was_drawn":…,"id":…,"token":…,"probability":…,"begin":…,"read":[…],"read_ids":[…],
/// "heads":[…],"ln_p":…,"left_out":[{"position":…,"id":…,"token":…,"probability":…,"ln_p":…,
/// "change":…},…]}. Positions count from 0 in the text, and `read` begins at `begin`; an id is a
/// token's number; the change is that of ln p.
Json as_json(const Why& why, const Tokenizer& tokenizer);

/// The names of the columns, and a row for each token that can be hidden.
inline const std::vector<std::string> why_columns{
    "word",      "id",           "token",       "position",
    "hidden_id", "hidden_token", "probability", "probability_without"};
std::vector<std::vector<std::string>> why_rows(const Why& why, const Tokenizer& tokenizer);

}  // namespace fledge

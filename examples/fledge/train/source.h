// The text of a run: its files and folders, read as one text; whether it is the one that the run
// began with; and its tokens, or those of another text or prompt for the same model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "examples/fledge/train/store.h"
#include "examples/support/run_main.h"

namespace fledge::train {

/// The files that these names stand for, sorted, each once. A folder stands for the text files in it
/// and below it: regular files without a NUL byte in their first 4096 bytes. Names that begin with a
/// dot and folders of models are skipped. A single name of a file and "-" stay as they are. Throws
/// InputError for a folder without text files, and for more than 10,000; UsageError for a
/// name of a model's folder.
std::vector<std::string> text_files(const std::vector<std::string>& names);

/// How files are read as a text.
struct FileRules {
  bool needs_utf8 = true;
  bool keep_cr = false;                 // the \r of line ends, \r\n and \r
  std::vector<std::int64_t> sizes{};    // of each file, in bytes; none: as they are
  std::int64_t most = 0;                // bytes in all; 0: all, see joined_text()
  std::string not_found{}, not_utf8{};  // what to do then
};

/// A text without what only encodes it.
struct FileText {
  std::string text;
  std::vector<std::int64_t> sizes{};    // of each file, in bytes; more than are read, in pieces
  std::int64_t marks = 0, returns = 0;  // byte order marks, and \r in front of \n: left out
  std::int64_t line_ends = 0;           // \r read as \n, of files that have no \n
  std::int64_t grown = 0;               // bytes that the files have beyond their sizes: not read

  /// What was changed, in sentences; "" if nothing was. `how_to_keep` returns: ", as before".
  std::string report(const std::string& how_to_keep = "") const;
};

/// The texts of these files, one after the other, without their byte order marks and, unless the
/// rules keep them, without the \r of their line ends: \n stands for \r\n, and for \r in a file that
/// has no \n. A line end is added to a text in front of another if it does not end with one. "-": standard
/// input.
///
/// A text of more than `most` bytes is read in pieces, evenly spaced, about `most` bytes in all, in whole
/// lines if possible. What a file has grown since it had its size of the rules is not read. Throws
/// InputError, which suggests a file with a similar name, for one that is not there and,
/// if the rules need UTF-8, for one that is not UTF-8. Names UTF-16 and UTF-32.
FileText joined_text(const std::vector<std::string>& files, const FileRules& rules);

/// "'a', 'b' and 7 more": at most `most` of the items.
std::string list_of(const std::vector<std::string>& items, std::int64_t most);
/// "poems.txt", "standard input", "the built-in text", or "a.txt and 2 other files".
std::string name_of_files(const std::vector<std::string>& files);

/// What to do if a text for a model of characters is not UTF-8.
inline constexpr const char* not_utf8_advice =
    "the model reads characters: convert it, such as with iconv -f WINDOWS-1252 -t UTF-8";

/// The text that the options name, or the built-in text.
FileText read_text(const TrainConfig& config);
/// The names of files or folders, without the folders above them. A run keeps no more: what is made
/// for others must not tell where its text was.
std::vector<std::string> names_without_folders(std::vector<std::string> paths);
/// Where the texts of the run are: beside its folder, else in the current one. Throws InputError for
/// a name that is in neither; `or_else` is what can be done besides bringing it there.
std::vector<std::string> found_texts(const RunConfig& run, const std::string& folder,
                                     const std::string& or_else = "");
/// The command that goes on with the run. It names the texts where their names alone, which the run
/// keeps, would not find them.
std::string resume_command(const TrainConfig& config);

/// The tokens of a text, with the run's own tokenizer or, for a new run, one made from it. Throws
/// InputError when there is nothing to learn from it.
Corpus usable_corpus(const std::string& text, const TrainConfig& config,
                     const Tokenizer* tokenizer);
/// Throws InputError unless the training part has the tokens of one window and the one after it.
void require_window(const Corpus& corpus, const TrainConfig& config);

/// The tokens of a word, a sentence or a prompt; messages call it `name` and add `first` to the
/// number of a byte. Throws InputError for unknown symbols and, if the tokens are characters, for
/// text that is not UTF-8. If the tokens are words, the message names the word nearest in spelling,
/// if any; if the command has --skip-unknown (`can_skip`), the message says so.
std::vector<Dim> tokens_of(const Tokenizer& tokenizer, const std::string& text,
                           const std::string& name, bool can_skip = false);
/// --skip-unknown: the symbols that the tokenizer does not have, and the text without them, `rest`; says
/// on stderr what is left out. Throws InputError if no other symbol is left.
UnknownSymbols known_text(const Tokenizer& tokenizer, const std::string& text,
                          const std::string& name);
/// The token that a text begins with for the model.
struct FirstToken {
  Dim id;
  bool is_text;  // it is a part of the text
};
/// Tokenizer::begin_of_text() or the line end, which are no part of the text; without both token 0,
/// which is. In front of lines stands the line end (read_corpus).
FirstToken first_token(const Tokenizer& tokenizer, bool lines);
/// A text as a model reads it.
struct Prompt {
  std::vector<Dim> ids;
  std::size_t begin = 0;  // the text's own tokens are ids[begin] …; 1 after a first_token()

  bool is_empty() const { return ids.size() == begin; }
};
/// The tokens of a text. In front of them is first_token() if there are none, or if the model was
/// trained on lines: then each text begins with it. Throws InputError like tokens_of().
Prompt prompt_of(const Tokenizer& tokenizer, const std::string& text, bool lines,
                 const std::string& name, bool can_skip = false);
/// The tokens of another text, read whole or in lines like the run's own. Throws InputError as
/// above, and for a text without tokens. The command must have --skip-unknown.
TokenText tokens_of_text(const Tokenizer& tokenizer, const std::string& text, Reading reading,
                         const std::string& name);

/// Throws InputError, which names the difference, unless this is the text of the run.
void require_same_text(const RunConfig& config, const std::string& text, const std::string& name);
/// The text of a run that is over or was stopped, found again and the same. Throws InputError.
std::string text_of_run(const RunConfig& run, const std::string& folder);

}  // namespace fledge::train

#include "examples/fledge/train/source.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>

#include "engine/base/interrupt.h"
#include "examples/fledge/train/report.h"
#include "examples/support/built_in_text.h"
#include "examples/support/text.h"
#include "nn/io/checksum.h"
#include "nn/io/files.h"
#include "nn/io/utf8.h"

namespace fledge::train {

using support::counted, support::printable, support::thousands, support::shell_word,
    support::InputError, support::refuse_usage;

namespace fs = std::filesystem;

namespace {

// The most files of a text, as their names are saved with the run.
constexpr std::int64_t most_text_files = 10'000;
// The most names in a folder: with more of them a hint would take too long.
constexpr std::size_t most_names = 10'000;

bool is_folder_of_a_model(const fs::path& path) {
  std::error_code error;
  const auto has = [&](const char* name) { return fs::exists(path / name, error); };
  return has(run_file) || (has("config.json") && has("model.safetensors"));
}

bool is_text(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::optional<std::string> begin = support::with_advice(
      "make it readable, or name the files to be read",
      [&] { return Folder(path.parent_path().string()).beginning(name, 4096); });
  return begin && begin->find('\0') == std::string::npos;
}

[[noreturn]] void refuse_many(const std::string& name) {
  throw InputError(
      support::quoted(name) + " has more than " + thousands(most_text_files) + " text files",
      "join them to one file");
}

void add_folder(const std::string& folder, std::set<std::string>& files) {
  std::error_code error;
  bool has_text = false;
  fs::recursive_directory_iterator entry(folder, error);
  for (const fs::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
    std::error_code unknown;
    const bool is_below = entry->is_directory(unknown);
    const bool is_hidden = entry->path().filename().string().starts_with('.');
    if (is_hidden || (is_below && is_folder_of_a_model(entry->path())))
      entry.disable_recursion_pending();
    else if (entry->is_regular_file(unknown) && is_text(entry->path())) {
      files.insert(entry->path().lexically_normal().string());
      has_text = true;
    }
    if (std::ssize(files) > most_text_files) refuse_many(folder);
  }
  if (error)
    throw InputError("cannot read " + support::quoted(folder) + ": " + error.message(),
                     "name the files themselves");
  if (!has_text)
    throw InputError(
        "there is no text file in the folder " + support::quoted(folder),
        "name a text file; a file with NUL bytes, as UTF-16 has, does not count as text");
}

// The file in the same folder that was most likely meant, or "".
std::string file_meant_by(const std::string& path) {
  const fs::path whole(path), folder = whole.parent_path();
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), none;
       !error && entry != none && names.size() <= most_names; entry.increment(error))
    if (std::error_code unknown; entry->is_regular_file(unknown))
      names.push_back(entry->path().filename().string());
  if (names.size() > most_names) return "";
  std::sort(names.begin(), names.end());  // folders have no order
  const std::string meant = support::closest(whole.filename().string(), names);
  return meant.empty() || meant == whole.filename() ? "" : (folder / meant).string();
}

// The bytes of a file as it is; 0 for one that is not regular, such as standard input.
std::int64_t size_of(const std::string& file) {
  std::error_code unknown;
  const bool is_known = file != "-" && fs::is_regular_file(file, unknown);
  return is_known ? static_cast<std::int64_t>(fs::file_size(file, unknown)) : 0;
}

// Of a text of `total` bytes about `most`, in pieces of 64 KiB, or in fewer than 16 of another size,
// evenly spaced: those that begin in this part, whose first byte is byte `before` of the text. A piece
// begins and ends with a line if a line end is near, else with a character; where a line is cut, a
// line end follows if the text has any.
std::string pieces_of(const ByteSource& part, std::int64_t bytes, std::int64_t before,
                      std::int64_t total, std::int64_t most) {
  constexpr std::int64_t usual = 1 << 16;
  const std::int64_t pieces = std::max<std::int64_t>(most / usual, 1),
                     size = pieces < 16 ? most / pieces : usual, every = total / pieces,
                     near = size / 2;
  std::string text;
  for (std::int64_t at = (before + every - 1) / every * every - before; at < bytes; at += every) {
    check_interrupt();
    const std::int64_t end = std::min(at + size, bytes);
    // The byte behind the piece, if there is one, shows whether a character goes on.
    const std::string piece = part.read(static_cast<std::uint64_t>(at),
                                        static_cast<std::size_t>(std::min(end + 1, bytes) - at));
    const auto is_inside = [&](std::int64_t byte) {
      return byte < std::ssize(piece) &&
             (static_cast<unsigned char>(piece[static_cast<std::size_t>(byte)]) & 0xC0) == 0x80;
    };
    const auto line = static_cast<std::int64_t>(piece.find('\n')),  // -1: none
        last_line = static_cast<std::int64_t>(piece.rfind('\n'));
    std::int64_t first = at > 0 && line < near ? line + 1 : 0, last = end - at;
    for (int step = 0; step < 3 && at > 0 && first == step && is_inside(first); ++step) ++first;
    if (end < bytes && last_line >= near) last = last_line + 1;
    for (int step = 0; step < 3 && is_inside(last); ++step) --last;
    first = std::clamp<std::int64_t>(first, 0, std::max<std::int64_t>(last, 0));
    text.append(piece, static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
    if (!text.ends_with('\n') && text.find('\n') != std::string::npos && at + every < bytes)
      text += '\n';
  }
  return text;
}

// The text of a file that has this size, or its pieces if the texts have more than rules.most bytes:
// `total`, of which `before` stand in front of this file. Without sizes in the rules a file is read
// whole, and its size set. If the file does not exist and one with a similar name does, the error
// suggests it.
std::string read_text_file(const std::string& path, const FileRules& rules, std::int64_t& size,
                           std::int64_t before, std::int64_t total) {
  try {
    if (rules.most > 0 && total > rules.most && path != "-") {
      const ByteSource file(Descriptor(AT_FDCWD, path, O_RDONLY | O_NONBLOCK), path);
      return pieces_of(file, std::min(static_cast<std::int64_t>(file.size()), size), before, total,
                       rules.most);
    }
    std::string text = read_file(path);
    if (rules.sizes.empty() || path == "-") size = std::ssize(text);
    text.resize(std::min(text.size(), static_cast<std::size_t>(size)));
    return path == "-" && rules.most > 0 && size > rules.most
               ? pieces_of(text, size, 0, size, rules.most)
               : text;
  } catch (const FileError& error) {
    const bool exists = path == "-" || access(path.c_str(), F_OK) == 0;
    const std::string meant = exists ? "" : file_meant_by(path);
    throw InputError(error.what(), meant.empty() ? rules.not_found
                                                 : "did you mean " + support::quoted(meant) + "?");
  }
}

// The name that iconv has for the encoding, if the first bytes show one that is not UTF-8: by a byte
// order mark, or by zeros in every other byte of Latin letters. "" otherwise.
std::string other_encoding(std::string_view text) {
  using namespace std::string_view_literals;
  if (text.starts_with("\xFF\xFE\0\0"sv) || text.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32";
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return "UTF-16";
  const std::string_view begin = text.substr(0, 4096);
  std::size_t zeros[2] = {};  // at even and at odd places
  for (std::size_t at = 0; at < begin.size(); ++at) zeros[at % 2] += begin[at] == '\0';
  const auto are_high_bytes = [&](std::size_t some, std::size_t others) {
    return begin.size() % 2 == 0 && some > begin.size() / 4 && others == 0;
  };
  return are_high_bytes(zeros[1], zeros[0])   ? "UTF-16LE"
         : are_high_bytes(zeros[0], zeros[1]) ? "UTF-16BE"
                                              : "";
}

void require_utf8(const std::string& text, const std::string& file, const FileRules& rules,
                  bool is_part) {
  const std::string name = name_of_files({file}), encoding = other_encoding(text);
  if (!encoding.empty())
    throw InputError(name + " is " + encoding + ", not UTF-8",
                     "convert it: iconv -f " + encoding + " -t UTF-8" +
                         (file == "-" ? "" : " " + shell_word(file)) + " > new.txt");
  if (text.starts_with("\x1F\x8B"))
    throw InputError(
        name + " is packed with gzip",
        "unpack it: gunzip" + (file == "-" ? "" : " <" + shell_word(file)) + " >new.txt");
  if (const std::size_t wrong = first_not_utf8(text); wrong != std::string::npos)
    throw InputError(name + " is not UTF-8 at byte " + std::to_string(wrong) +
                         (is_part ? " of what is read (--read)" : ""),
                     rules.not_utf8);
}

// Adds the text of a file, without what is left out.
void add_file(std::string_view file, bool keep_cr, FileText& to) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (file.starts_with(mark)) {
    file.remove_prefix(mark.size());
    ++to.marks;
  }
  if (!to.text.empty() && !to.text.ends_with('\n') && !file.empty()) to.text += '\n';
  if (!keep_cr && file.find('\n') == std::string_view::npos) {
    to.line_ends += std::count(file.begin(), file.end(), '\r');
    for (const char c : file) to.text += c == '\r' ? '\n' : c;
    return;
  }
  for (std::size_t end = 0; !file.empty(); file.remove_prefix(end)) {
    end = keep_cr ? std::string_view::npos : file.find("\r\n");
    to.text += file.substr(0, end);
    if (end == std::string_view::npos) return;
    ++to.returns;
    ++end;
  }
}

bool is_readable_file(const std::string& path) {
  std::error_code unknown;
  return fs::is_regular_file(path, unknown) && access(path.c_str(), R_OK) == 0;
}

void require_characters(const Tokenizer& tokenizer, const std::string& text,
                        const std::string& name) {
  const std::size_t wrong =
      tokenizer.kind() == Tokens::character ? first_not_utf8(text) : std::string::npos;
  if (wrong != std::string::npos)
    throw InputError(name + " is not UTF-8 at byte " + std::to_string(wrong), not_utf8_advice);
}

// "4 characters: abdr", without line ends and blanks; "61 characters" if there are many.
std::string known_characters(const Tokenizer& tokenizer) {
  constexpr Dim most_listed = 20;
  std::string count = thousands(tokenizer.size()) + " " + token_word(tokenizer.kind()) + "s";
  if (tokenizer.size() > most_listed) return count;
  std::string list;
  for (const std::string& symbol : tokenizer.symbols())
    if (symbol.find_first_of(" \t\r\n") == std::string::npos) list += printable(symbol);
  return count + ": " + list;
}

// The byte pairs of a run take any text. Only those of other folders can lack a token.
std::string what_is_unknown(Tokens kind, bool is_one) {
  if (kind == Tokens::bpe)
    return is_one ? "is not among the model's tokens" : "are not among the model's tokens";
  return is_one ? "was not in the training text" : "were not in the training text";
}

// The most frequent first.
std::string unknown_list(const UnknownSymbols& found) {
  std::vector<std::pair<std::string, Dim>> symbols(found.counts.begin(), found.counts.end());
  std::stable_sort(symbols.begin(), symbols.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> names;
  for (const auto& symbol : symbols) names.push_back(symbol.first);
  return list_of(names, 8);
}

// `first` is added to places in the text, which has the symbol `unknown` and perhaps others.
[[noreturn]] void refuse_unknown(const UnknownSymbol& unknown, const Tokenizer& tokenizer,
                                 const std::string& text, const std::string& name, bool can_skip) {
  const UnknownSymbols found = tokenizer.unknown_symbols(text);
  const std::string kind = token_word(tokenizer.kind());
  const bool is_word = tokenizer.kind() == Tokens::word, is_one = found.counts.size() == 1;
  const std::string missing = what_is_unknown(tokenizer.kind(), is_one);
  const std::string meant =
      is_word ? support::closest(unknown.symbol, tokenizer.symbols()) : std::string();
  const std::string known =
      is_word ? thousands(tokenizer.size()) + " words" : known_characters(tokenizer);
  const std::string place =
      support::quoted(unknown.symbol) + " at byte " + std::to_string(unknown.at);
  std::string problem;
  if (is_one) {
    problem = "the " + kind + " " + place + " of " + name + " " + missing;
    if (found.unknown > 1)
      problem += "; it occurs there " + thousands(found.unknown) + " times, " +
                 support::percent(found.share()) + " of the text";
  } else {
    problem = thousands(std::ssize(found.counts)) + " different " + kind + "s of " + name + " " +
              missing + ", " + thousands(found.unknown) + " in all, " +
              support::percent(found.share()) + " of it: " + unknown_list(found) +
              "; the first is " + place;
  }
  if (!meant.empty() && (is_one || !can_skip))
    throw InputError(problem, "nearest by spelling: " + support::quoted(meant));
  if (can_skip && found.unknown < found.all)
    throw InputError(problem, "--skip-unknown leaves " + std::string(is_one ? "it" : "them") +
                                  " out; the model knows " + known);
  throw InputError(problem,
                   "the model knows " + known + "; one trained with --tokens byte reads any text");
}

// The training part of the text is empty, and `valid` is a share of it.
[[noreturn]] void refuse_short(const std::string& text, const CorpusOptions& options,
                               const std::string& name) {
  const bool lines = options.reading == Reading::lines;
  std::int64_t count = lines ? std::ssize(lines_of(text)) : 0;
  if (!lines)
    for (std::size_t at = 0; at < text.size(); at += code_point_at(text, at).bytes) ++count;
  const std::string least = lines ? "100 lines" : "1,000 characters";
  throw InputError(name + " has " + counted(count, lines ? "line" : "character") +
                       ": too few to train on and to hold a part out",
                   count < (lines ? 100 : 1000) ? "name a text with at least " + least
                   : options.tokens == Tokens::word && !lines
                       ? "use a smaller --valid, or --tokens char if it has few words"
                       : "use a smaller --valid");
}

// read_corpus(), whose errors name the text here, not the function. `tokenizer`: of a model, or null.
Corpus corpus_of(const std::string& text, const std::string& name, const CorpusOptions& options,
                 const Tokenizer* tokenizer, bool can_skip, const std::string& what_to_do) {
  try {
    return tokenizer ? read_corpus(text, options, *tokenizer) : read_corpus(text, options);
  } catch (const UnknownSymbol& error) {
    if (!tokenizer) throw;
    refuse_unknown(error, *tokenizer, text, name, can_skip);
  } catch (const ValueError& error) {
    if (dynamic_cast<const NothingToTrain*>(&error) && options.valid < 1)
      refuse_short(text, options, name);
    const std::string problem = error.what();  // "read_corpus: ..."
    throw InputError(name + problem.substr(problem.find(": ")), what_to_do);
  }
}

}  // namespace

std::vector<std::string> text_files(const std::vector<std::string>& names) {
  std::error_code error;
  for (const std::string& name : names)
    if (is_folder_of_a_model(name))
      refuse_usage(support::quoted(name) + " is the folder of a model, not of texts",
                   "--resume " + shell_word(name) + " goes on with its run, FILE --from " +
                       shell_word(name) + " trains it on another text");
  const bool is_one = names.size() < 2;
  if (is_one && (names.empty() || names[0] == "-" || !fs::is_directory(names[0], error)))
    return names;
  std::set<std::string> files;
  for (const std::string& name : names)
    if (fs::is_directory(name, error))
      add_folder(name, files);
    else
      files.insert(fs::path(name).lexically_normal().string());
  if (std::ssize(files) > most_text_files) refuse_many(names[0]);
  return {files.begin(), files.end()};
}

std::string FileText::report(const std::string& how_to_keep) const {
  std::string said;
  const auto say_if = [&](std::int64_t count, const std::string& sentence) {
    if (count > 0) said += (said.empty() ? "" : " ") + sentence;
  };
  const auto were = [](std::int64_t count) { return count == 1 ? "was" : "were"; };
  say_if(marks, marks == 1 ? "A byte order mark was left out."
                           : thousands(marks) + " byte order marks were left out.");
  say_if(returns, "The text has line ends of Windows: " + thousands(returns) + " \\r " +
                      were(returns) + " left out" + how_to_keep + ".");
  say_if(line_ends, "The text has \\r alone as line ends: " + thousands(line_ends) + " " +
                        were(line_ends) + " read as \\n" + how_to_keep + ".");
  say_if(grown, "What the text has grown by since the run began, " + counted(grown, "byte") +
                    ", is not read.");
  return said;
}

std::string list_of(const std::vector<std::string>& items, std::int64_t most) {
  std::string list;
  const std::int64_t count = std::ssize(items);
  for (std::int64_t i = 0; i < std::min(count, most); ++i)
    list += (i > 0 ? ", " : "") + support::quoted(items[static_cast<std::size_t>(i)]);
  return list + (count > most ? " and " + thousands(count - most) + " more" : "");
}

FileText joined_text(const std::vector<std::string>& files, const FileRules& rules) {
  FileText all{.text = "", .sizes = rules.sizes};
  if (all.sizes.empty())
    for (const std::string& file : files) all.sizes.push_back(size_of(file));
  const std::int64_t total = std::accumulate(all.sizes.begin(), all.sizes.end(), std::int64_t{0});
  std::int64_t before = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string text = read_text_file(files[i], rules, all.sizes[i], before, total);
    before += all.sizes[i];
    all.grown += std::max<std::int64_t>(size_of(files[i]) - all.sizes[i], 0);
    if (rules.needs_utf8) require_utf8(text, files[i], rules, std::ssize(text) < all.sizes[i]);
    add_file(text, rules.keep_cr, all);
  }
  return all;
}

std::string name_of_files(const std::vector<std::string>& files) {
  if (files.empty()) return "the built-in text";
  if (files[0] == "-") return "standard input";
  const std::int64_t others = std::ssize(files) - 1;
  return support::quoted(files[0]) + (others > 0 ? " and " + counted(others, "other file") : "");
}

FileText read_text(const TrainConfig& config) {
  if (config.texts.empty()) return {std::string(support::built_in_text())};
  const Tokens kind = config.corpus.tokens;
  return joined_text(
      config.texts,
      {kind == Tokens::character || kind == Tokens::word, kind == Tokens::byte,
       config.texts.size() == config.file_bytes.size() ? config.file_bytes
                                                       : std::vector<std::int64_t>(),
       config.read_bytes, "name a text file, or - for standard input",
       config.has_model() ? not_utf8_advice
       : config.texts.size() > 1
           ? "leave it out, convert it, or use --tokens byte: it takes any bytes"
           : "convert it, or use --tokens byte or --tokens bpe: they take any bytes"});
}

std::vector<std::string> names_without_folders(std::vector<std::string> paths) {
  for (std::string& path : paths) {
    fs::path whole = fs::path(path).lexically_normal();
    if (!whole.has_filename()) whole = whole.parent_path();  // "gpt2/"
    path = whole.filename().string();
  }
  return paths;
}

std::vector<std::string> found_texts(const RunConfig& run, const std::string& folder,
                                     const std::string& or_else) {
  std::error_code no_folder;  // the current folder may have been removed
  const fs::path beside =
      fs::absolute(folder + "/", no_folder).lexically_normal().parent_path().parent_path();
  std::vector<std::string> texts = run.settings.texts;
  for (std::string& name : texts) {
    if (name == "-") continue;
    const std::string other = (beside / name).string();
    if (is_readable_file(other)) {
      if (!fs::equivalent(other, name, no_folder)) name = other;
    } else if (!is_readable_file(name)) {
      throw InputError(
          "the text of the run must be here or beside the run: there is no readable file " +
              support::quoted(name),
          "bring it, or a link to it, here or into the folder " + support::quoted(beside.string()) +
              or_else);
    }
  }
  return texts;
}

std::string resume_command(const TrainConfig& config) {
  std::error_code no_file;
  const fs::path above = fs::absolute(config.folder() + "/", no_file).lexically_normal();
  const fs::path beside = above.parent_path().parent_path();
  const auto is_found = [&](const std::string& path) {
    const std::string name = names_without_folders({path})[0];
    if (first_not_utf8(name) != std::string::npos) return false;  // the run has another name
    const std::string other = (beside / name).string();           // found_texts() looks there first
    return fs::equivalent(path, is_readable_file(other) ? other : name, no_file);
  };
  std::string command = "fledge train --resume " + shell_word(config.folder());
  if (!std::all_of(config.texts.begin(), config.texts.end(), is_found))
    for (const std::string& name : config.named) command += " " + shell_word(name);
  return command;
}

Corpus usable_corpus(const std::string& text, const TrainConfig& config,
                     const Tokenizer* tokenizer) {
  const std::string name = name_of_files(config.texts);
  if (text.empty()) throw InputError(name + " is empty", "name a text with a few thousand words");
  const Tokens kind = tokenizer ? tokenizer->kind() : config.corpus.tokens;
  if (config.corpus.reading == Reading::lines && lines_of(text).empty())
    throw InputError(name + " has no line with letters: all its lines are blank",
                     "name a text with a few thousand words");
  Corpus corpus =
      corpus_of(text, name, config.corpus, tokenizer, false, "use another --valid, or more text");
  const std::string token = token_word(kind);
  if (corpus.facts.symbols < 2)
    throw InputError(name + " consists of one repeated " + token + ", so there is nothing to learn",
                     "name a text with at least two different " + token + "s");
  return corpus;
}

void require_window(const Corpus& corpus, const TrainConfig& config) {
  const std::string name = name_of_files(config.texts), token = token_word(corpus.tokenizer.kind());
  const Dim tokens = corpus.train.size(), context = config.sizes.context;
  if (config.corpus.reading == Reading::stream && tokens <= context)
    throw InputError(name + " has " + std::to_string(tokens) + " " + token +
                         (tokens == 1 ? "" : "s") + " to train on; a context of " +
                         std::to_string(context) + " needs at least " + std::to_string(context + 1),
                     tokens > 1 ? "use --context " + std::to_string(tokens - 1) + ", or more text"
                                : "use more text");
}

std::vector<Dim> tokens_of(const Tokenizer& tokenizer, const std::string& text,
                           const std::string& name, bool can_skip) {
  require_characters(tokenizer, text, name);
  try {
    return tokenizer.encode(text);
  } catch (const UnknownSymbol& error) {
    refuse_unknown(error, tokenizer, text, name, can_skip);
  }
}

UnknownSymbols known_text(const Tokenizer& tokenizer, const std::string& text,
                          const std::string& name) {
  require_characters(tokenizer, text, name);
  UnknownSymbols found = tokenizer.unknown_symbols(text);
  if (found.unknown == 0) return found;
  const std::string kind = token_word(tokenizer.kind());
  if (found.unknown == found.all)
    throw InputError("the model knows no " + kind + " of " + name, "use another text");
  const bool is_one = found.counts.size() == 1;
  const std::string what = is_one ? unknown_list(found) + ", which "
                                  : thousands(std::ssize(found.counts)) + " different " + kind +
                                        "s (" + unknown_list(found) + ") that ";
  support::say(stderr, "Left out of " + name + ": " + what +
                           what_is_unknown(tokenizer.kind(), is_one) + ", " +
                           support::percent(found.share()) + " of it.");
  return found;
}

FirstToken first_token(const Tokenizer& tokenizer, bool lines) {
  const std::optional<Dim> begin = tokenizer.begin_of_text(), line_end = tokenizer.find("\n");
  if (begin && !(lines && line_end)) return {*begin, false};
  return {line_end.value_or(0), !line_end};
}

Prompt prompt_of(const Tokenizer& tokenizer, const std::string& text, bool lines,
                 const std::string& name, bool can_skip) {
  Prompt prompt{tokens_of(tokenizer, text, name, can_skip), 0};
  if (!prompt.ids.empty() && !lines) return prompt;
  prompt.ids.insert(prompt.ids.begin(), first_token(tokenizer, lines).id);
  prompt.begin = 1;
  return prompt;
}

TokenText tokens_of_text(const Tokenizer& tokenizer, const std::string& text, Reading reading,
                         const std::string& name) {
  if (text.empty()) throw InputError(name + " is empty", "name another text");
  require_characters(tokenizer, text, name);
  return corpus_of(text, name, {.reading = reading, .valid = 0}, &tokenizer, true,
                   "name another text")
      .train;
}

void require_same_text(const RunConfig& config, const std::string& text, const std::string& name) {
  const auto facts = [](std::uint64_t bytes, std::uint64_t hash) {
    return std::to_string(bytes) + " bytes (hash " + hexadecimal(hash) + ")";
  };
  const std::uint64_t hash = hash_of(text);
  if (text.size() != config.text_bytes || hash != config.text_hash)
    throw InputError(name + " is not the text of this run: it has " + facts(text.size(), hash) +
                         ", the run's had " + facts(config.text_bytes, config.text_hash),
                     "a run keeps to its text: bring it back, or begin a new run with -o");
}

std::string text_of_run(const RunConfig& run, const std::string& folder) {
  TrainConfig settings = run.settings;
  settings.texts = found_texts(run, folder);
  settings.resume = folder;
  std::string text = read_text(settings).text;
  require_same_text(run, text, name_of_files(settings.texts));
  return text;
}

}  // namespace fledge::train

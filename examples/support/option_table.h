// One table for all that a command does with its options: parse, explain, save, load and resume.
//
// Not here: how an argument is parsed (options.h). Key idea: a row names the member of a struct that
// holds the option's value, and every use of the options walks the rows. So a new option is a member
// with its default, and one row:
//
//   Row("--layers", "N", "blocks", member_at(&Config::layers), {1, 100}, Lifetime::lasting, {"layers"})
#pragma once

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "examples/support/options.h"
#include "nn/io/json.h"
#include "nn/io/json_reader.h"

namespace support {

/// A member that is an enumeration: the number of its enumerator.
struct EnumMember {
  void* at;
  int (*get)(const void* at);
  void (*set)(void* at, int number);
};

/// The member that holds an option's value: a flag, a whole number, a number, the seed, a text, or a
/// choice (an enumeration of two without words is a flag).
using OptionMember =
    std::variant<bool*, std::int64_t*, double*, std::uint64_t*, std::string*, EnumMember>;

template <class T>
OptionMember option_member(T& member) {
  if constexpr (std::is_enum_v<T>)
    return EnumMember{&member,
                      [](const void* at) { return static_cast<int>(*static_cast<const T*>(at)); },
                      [](void* at, int number) { *static_cast<T*>(at) = static_cast<T>(number); }};
  else
    return &member;
}

/// member_at(&Outer::inner, &Inner::value): the member `inner.value` of an Outer.
template <class Config, class First, class... Rest>
std::function<OptionMember(Config&)> member_at(First Config::*first, Rest... rest) {
  return [=](Config& config) { return option_member(((config.*first).*....*rest)); };
}

/// What becomes of an option when a run is resumed.
enum class Lifetime {
  lasting,     // it belongs to the run: saved, and not to be given again
  may_change,  // saved, and what is given at --resume holds from then on
  per_call     // not saved: each call gives it, or has the default
};

/// The smallest and the largest value of a number.
struct OptionLimits {
  double lowest = 0, highest = 0;
};

/// The key of a value in the saved object. Keys with a place from 1 on stand first, in this order,
/// and must be there. Keys without one were added later: a file without such a key gives the default.
struct SavedKey {
  std::string name;  // "": not saved by the table
  int place = 0;
};

/// A row of the table, without the struct that it belongs to.
struct OptionFacts {
  std::string flag;      // "--layers", or with a letter "-o, --out"
  std::string argument;  // "N"; of a choice its words, "char|word"; of a flag ""
  std::string help;
  OptionLimits limits;
  Lifetime lifetime;
  SavedKey saved;

  /// "--out" of "-o, --out".
  std::string name() const;
  void declare(Options& options, const OptionMember& fallback) const;
  void read(const Options& options, const OptionMember& member) const;
  void save(fledge::JsonWriter& json, const OptionMember& member) const;
  /// Throws FormatError for what the option would not accept.
  void load(const fledge::JsonValue& json, const OptionMember& member) const;
};

template <class Config>
struct OptionRow : OptionFacts {
  /// A row without a member is --threads, which holds for the process.
  std::function<OptionMember(Config&)> member;

  OptionRow(std::string name_, std::string argument_, std::string help_,
            std::function<OptionMember(Config&)> member_, OptionLimits limits_ = {},
            Lifetime lifetime_ = Lifetime::per_call, SavedKey saved_ = {})
      : OptionFacts{std::move(name_), std::move(argument_), std::move(help_), limits_,
                    lifetime_,        std::move(saved_)},
        member(std::move(member_)) {}
};

template <class Config>
struct OptionGroup {
  std::string title;
  std::vector<OptionRow<Config>> rows;
};

/// What `from` points to, for `to`. Both are of one kind.
void copy_member(const OptionMember& from, const OptionMember& to);

/// The defaults are the values of Config{}.
template <class Config>
class OptionTable {
 public:
  explicit OptionTable(std::vector<OptionGroup<Config>> groups) : groups_(std::move(groups)) {}

  /// Adds all rows to the options of a command.
  void declare(Options& options) const {
    Config fallback;
    for (const auto& [title, rows] : groups_) {
      options.group(title);
      for (const Row& row : rows)
        if (row.member)
          row.declare(options, row.member(fallback));
        else
          options.threads();
    }
  }

  /// Sets the members of the options that were given, and returns their names.
  std::set<std::string> read(const Options& options, Config& config) const {
    std::set<std::string> given;
    for (const Row* row : rows())
      if (options.has(row->name())) {
        row->read(options, row->member(config));
        given.insert(row->name());
      }
    return given;
  }

  /// The first option of this lifetime among those that were given; "" if there is none.
  std::string first_given(Lifetime lifetime, const std::set<std::string>& given) const {
    for (const Row* row : rows())
      if (row->lifetime == lifetime && given.contains(row->name())) return row->name();
    return "";
  }

  /// Writes the keys and values into an object.
  void save(fledge::JsonWriter& json, Config config) const {
    for (const Row* row : saved_rows()) row->save(json, row->member(config));
  }

  /// Sets the members from such an object, which may have these `other_keys` besides.
  void load(const fledge::JsonValue& json, Config& config,
            std::vector<std::string_view> other_keys) const {
    for (const Row* row : saved_rows()) other_keys.push_back(row->saved.name);
    json.allow_only(other_keys);
    for (const Row* row : saved_rows())
      if (row->saved.place > 0 || json.has(row->saved.name))
        row->load(json[row->saved.name], row->member(config));
  }

  /// The saved settings of a run with those of a call that resumes it and gave these options.
  Config resume(Config saved, Config call, const std::set<std::string>& given) const {
    for (const Row* row : rows()) {
      const bool is_of_call =
          row->lifetime == Lifetime::per_call ||
          (row->lifetime == Lifetime::may_change && given.contains(row->name()));
      if (is_of_call) copy_member(row->member(call), row->member(saved));
    }
    return saved;
  }

 private:
  using Row = OptionRow<Config>;

  std::vector<const Row*> rows() const {
    std::vector<const Row*> all;
    for (const auto& group : groups_)
      for (const Row& row : group.rows)
        if (row.member) all.push_back(&row);
    return all;
  }

  std::vector<const Row*> saved_rows() const {
    std::vector<const Row*> saved = rows();
    std::erase_if(saved, [](const Row* row) { return row->saved.name.empty(); });
    const auto rank = [](const Row* row) {
      return row->saved.place > 0 ? row->saved.place : 1'000'000;
    };
    std::stable_sort(saved.begin(), saved.end(),
                     [&](const Row* a, const Row* b) { return rank(a) < rank(b); });
    return saved;
  }

  std::vector<OptionGroup<Config>> groups_;
};

}  // namespace support

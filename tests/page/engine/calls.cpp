// Makes the calls of a list on the engine of a page, compiled for this machine:
//   calls <list >answers
//
// A line has the name of a function without fledge_, its numbers, and for each file or text that it
// reads a word @FILE or the rest of the line behind a bar. The answer is what the call returns, and
// the bytes that it gives out: a double, the number of bytes, the bytes. calls.mjs does the same
// with the module.
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "examples/page/engine/interface.h"
#include "tests/support/folder.h"

namespace {

using Numbers = std::vector<double>;

std::uint32_t u(double number) { return static_cast<std::uint32_t>(number); }
std::int32_t i(double number) { return static_cast<std::int32_t>(number); }

const std::map<std::string, std::function<double(const Numbers&)>> functions = {
    {"new", [](const Numbers& n) { return fledge_new(u(n[0]), u(n[1])); }},
    {"step", [](const Numbers& n) { return fledge_step(u(n[0])); }},
    {"loss", [](const Numbers& n) { return fledge_loss(u(n[0]), u(n[1])); }},
    {"baselines", [](const Numbers&) { return fledge_baselines(); }},
    {"weights", [](const Numbers&) { return fledge_weights(); }},
    {"show", [](const Numbers& n) { return fledge_show(u(n[0])), 0; }},
    {"save", [](const Numbers&) { return fledge_save(); }},
    {"load", [](const Numbers& n) { return fledge_load(u(n[0]), u(n[1])); }},
    {"read", [](const Numbers& n) { return fledge_read(u(n[0])); }},
    {"said", [](const Numbers&) { return fledge_said(); }},
    {"change", [](const Numbers& n) { return fledge_change(u(n[0])), 0; }},
    {"attention", [](const Numbers&) { return fledge_attention(); }},
    {"next", [](const Numbers& n) { return fledge_next(i(n[0]), u(n[1]), u(n[2]), u(n[3])); }},
    {"cell", [](const Numbers& n) { return fledge_cell(u(n[0]), u(n[1]), u(n[2]), u(n[3])); }},
    {"sentence_loss", [](const Numbers& n) { return fledge_sentence_loss(i(n[0])); }},
    {"gradient", [](const Numbers& n) { return fledge_gradient(i(n[0])); }},
    {"map", [](const Numbers&) { return fledge_map(); }},
    {"write", [](const Numbers& n) { return fledge_write(u(n[0]), n[1], u(n[2])); }},
    {"head", [](const Numbers& n) { return fledge_head(u(n[0])); }},
};

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const std::size_t bar = line.find('|');
    std::istringstream words(line.substr(0, bar));
    std::string name, word, input;
    Numbers numbers;
    words >> name;
    const auto put = [&](const std::string& bytes) {
      input += bytes;
      numbers.push_back(static_cast<double>(bytes.size()));
    };
    while (words >> word)
      if (word[0] == '@')
        put(testing::text_of(word.substr(1)));
      else
        numbers.push_back(std::strtod(word.c_str(), nullptr));
    if (bar != std::string::npos) put(line.substr(bar + 1));
    if (!input.empty())
      input.copy(fledge_input(u(static_cast<double>(input.size()))), input.size());
    const double result = functions.at(name)(numbers);
    const bool has_output = name != "loss" && name != "sentence_loss";
    const std::uint32_t bytes = has_output ? u(result) : 0;
    std::fwrite(&result, sizeof result, 1, stdout);
    std::fwrite(&bytes, sizeof bytes, 1, stdout);
    std::fwrite(fledge_output(), 1, bytes, stdout);
  }
}

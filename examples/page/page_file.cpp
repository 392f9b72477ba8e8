#include "examples/page/page_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "examples/support/run_main.h"
#include "examples/support/text.h"
#include "nn/io/folder.h"

namespace fledge::page {

namespace {

using support::formatted, support::markup_escaped;
namespace fs = std::filesystem;

constexpr std::string_view page_mark = "<!-- a page made by fledge -->";

// The worker of the engine is made from a text of the script itself: trusted type "fledge".
std::string policy() {
  return "default-src 'none'; script-src '" + script_hash +
         "' 'wasm-unsafe-eval'; worker-src blob:; style-src '" + style_hash +
         "'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "
         "trusted-types fledge";
}

std::string paragraph(const std::string& text) {
  return text.empty() ? "" : "<p>" + markup_escaped(text) + "</p>\n";
}

/// The words in a row, under each its weight, and from the last word an arc to each, as thick as
/// the weight.
std::string picture(const Look& look) {
  std::string words, arcs, label;
  std::vector<double> middles;
  double x = 8;
  for (const std::string& word : look.words) {
    const double width = 11 * std::max(support::display_width(word), 3) + 16;
    middles.push_back(x + width / 2);
    x += width;
  }
  const double from = middles.back();
  for (std::size_t j = 0; j < look.words.size(); ++j) {
    const double weight = look.weights[j], to = middles[j],
                 top = 120 - std::min(0.6 * (from - to), 150.0);
    const std::string word = markup_escaped(look.words[j]);
    words +=
        formatted("<text x=\"%.0f\" y=\"140\">", to) + word +
        formatted("<tspan x=\"%.0f\" y=\"162\" font-size=\"13\">%.2f</tspan></text>", to, weight);
    label += (j == 0 ? "" : ", ") + word + formatted(" %.2f", weight);
    if (to < from)
      arcs +=
          formatted("<path d=\"M%.0f,120C%.0f,%.0f %.0f,%.0f %.0f,120\" stroke-width=\"%.1f\"/>",
                    from, from, top, to, top, to, 0.5 + 14 * weight);
  }
  return formatted(
             "<div class=\"scroll\"><svg viewBox=\"0 0 %.0f 170\" width=\"%.0f\" role=\"img\" aria-label=\"",
             x + 8, x + 8) +
         label + "\"><g fill=\"none\" stroke=\"currentColor\" opacity=\"0.5\">" + arcs +
         "</g><g fill=\"currentColor\" font-size=\"18\" text-anchor=\"middle\">" + words +
         "</g></svg></div>\n";
}

// What a reader without JavaScript sees.
std::string still(const Page& page) {
  const Look& look = page.look;
  std::string html = "<section id=\"static\">\n<h1>" + markup_escaped(page.story.title) +
                     "</h1>\n" + paragraph(page.story.lede) + paragraph(page.story.told);
  if (!look.words.empty())
    html += picture(look) +
            paragraph("After training, \u201c" + look.words.back() +
                      "\u201d looks back with these weights. The likeliest to come next is \u201c" +
                      look.next + "\u201d" + formatted(": %.2f.", look.probability));
  return html +
         paragraph(engine_module.empty() ? "This page was made without its live part: the command "
                                           "make page builds it."
                                         : "This page runs the model in front of you. For that it "
                                           "needs JavaScript.") +
         "</section>";
}

}  // namespace

std::string page_file(const Page& page) {
  std::string html = "<!DOCTYPE html>\n" + std::string(page_mark) + "\n";
  html += "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  html += "<meta http-equiv=\"Content-Security-Policy\" content=\"" + policy() + "\">\n";
  html += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  html += "<meta name=\"referrer\" content=\"no-referrer\">\n";
  html += "<meta name=\"color-scheme\" content=\"light dark\">\n";
  html += "<title>" + markup_escaped(page.title) + "</title>\n";
  html += "<style>" + style + "</style>\n</head>\n<body>\n<div id=\"page\">";
  html += engine_module.empty() ? still(page) : "<noscript>" + still(page) + "</noscript>";
  html += "</div>\n<script type=\"application/json\" id=\"data\">" + page_json(page).text() +
          "</script>\n";
  html += "<script type=\"text/plain\" id=\"engine\">" + engine_module + "</script>\n";
  html += "<script>" + script + "</script>\n</body>\n</html>\n";
  return html;
}

void require_place(const std::string& path, bool makes_folder) {
  const auto refuse = [&](const std::string& problem, const std::string& advice) {
    throw support::CommandError(
        support::Exit::failed,
        "the page " + support::quoted(path) + " cannot be written: " + problem, advice);
  };
  const std::string a_file = "name a file, such as page.html";
  if (path.ends_with('/')) refuse("it ends with '/', as a folder does", a_file);
  fs::path folder = fs::path(path).parent_path();
  if (folder.empty()) folder = ".";
  std::error_code problem;
  const fs::file_status place = fs::status(folder, problem);
  if (place.type() == fs::file_type::not_found && problem != std::errc::not_a_directory) {
    if (makes_folder) return;
    refuse("the folder " + support::quoted(folder.string()) + " does not exist",
           "make it first: mkdir -p " + support::shell_word(folder.string()));
  }
  if (!fs::is_directory(place)) refuse(support::quoted(folder.string()) + " is no folder", a_file);
  const fs::file_status there = fs::status(path, problem);
  if (fs::is_directory(there)) refuse("it is a folder", a_file);
  if (fs::exists(there) && !fs::is_regular_file(there)) refuse("it is a device or a pipe", a_file);
  if (fs::exists(there)) {
    Descriptor old(AT_FDCWD, path, O_RDONLY | O_NONBLOCK);
    constexpr std::size_t first_lines = 300;
    const std::string beginning =
        old.exists() ? ByteSource(std::move(old), path).beginning(first_lines) : "unknown";
    if (!beginning.empty() && beginning.find(page_mark) == std::string::npos)
      refuse("it exists and was not written by fledge", "name another file, or remove this one");
  }
  const std::string trial = path + ".trial" + std::to_string(::getpid());
  if (!Descriptor(AT_FDCWD, trial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW).exists())
    refuse(FileError("make a file in", folder.string(), errno).what(), "name another file");
  ::unlink(trial.c_str());
}

std::vector<std::string> write_page(const std::string& path, const Page& page) {
  require_place(path);
  fledge::replace_file(path, page_file(page));
  std::vector<std::string> said = page.notices;
  if (engine_module.empty())
    said.emplace_back(
        "This fledge was built without the engine of pages (make page builds it), so the "
        "page has no live part.");
  return said;
}

}  // namespace fledge::page

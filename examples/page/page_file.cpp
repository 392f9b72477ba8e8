#include "examples/page/page_file.h"

#include "examples/page/static_tables.h"
#include "examples/support/text.h"

namespace fledge::page {

namespace {

std::string policy() {
  return std::string("default-src 'none'; script-src '") + script_hash + "'; style-src '" +
         style_hash +
         "'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "
         "trusted-types 'none'";
}

}  // namespace

std::string page_file(const std::string& title, const Json& data) {
  const std::string name = support::markup_escaped(title);
  std::string html = "<!DOCTYPE html>\n" + std::string(page_kind.mark) + "\n";
  html += "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  html += "<meta http-equiv=\"Content-Security-Policy\" content=\"" + policy() + "\">\n";
  html += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  html += "<meta name=\"referrer\" content=\"no-referrer\">\n";
  html += "<meta name=\"color-scheme\" content=\"light dark\">\n";
  html += "<title>" + name + "</title>\n<style>" + style + "</style>\n</head>\n<body>\n";
  html += "<a class=\"skip\" href=\"#time\">Skip to the steps of training</a>\n";
  html += static_tables(name, data);
  html += "<script type=\"application/json\" id=\"data\">" + data.text() + "</script>\n";
  html += "<script>" + script + "</script>\n</body>\n</html>\n";
  return html;
}

}  // namespace fledge::page

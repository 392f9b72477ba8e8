#include "examples/support/attention_map.h"
#include "examples/support/text.h"

namespace support {

namespace {

constexpr double least_share = 0.05;

/// A character with the marks that combine with it.
struct ShadedCell {
  std::string text;
  double share;
  int width;
};

class PaintedLines {
 public:
  PaintedLines(int columns, Paint paint, bool unicode)
      : columns_(columns), paint_(paint), unicode_(unicode) {}

  void add(const std::string& one, double share) {
    const std::string drawn = one == "\n" ? token_label(one, unicode_) : printable(one);
    const int width = display_width(drawn);
    if (width == 0 && !word_.empty()) {
      word_.back().text += drawn;
      return;
    }
    word_.push_back({drawn, share, width});
    word_width_ += width;
    if (one == " " || one == "\n") end_word();
    if (one == "\n") end_line();
  }

  std::string text() {
    end_word();
    if (!line_.empty()) end_line();
    return text_;
  }

 private:
  void end_word() {
    const bool has_blank = !word_.empty() && word_.back().text == " ";
    if (width_ > 0 && width_ + word_width_ - (has_blank ? 1 : 0) > columns_) end_line();
    for (const ShadedCell& cell : word_) {
      if (width_ + cell.width > columns_) end_line();
      line_.push_back(cell);
      width_ += cell.width;
    }
    word_.clear();
    word_width_ = 0;
  }

  void end_line() {
    std::string line, below;
    for (std::size_t begin = 0, end = 0; begin < line_.size(); begin = end) {
      std::string run;  // of cells with the same shade
      const double share = line_[begin].share;
      for (; end < line_.size() && (end == begin || line_[end].share == share); ++end) {
        run += line_[end].text;
        for (int i = 0; i < line_[end].width; ++i)
          below += share >= least_share ? shade(share, unicode_) : " ";
      }
      line += paint_.ground(run, share);
    }
    for (std::string* shown : {&line, &below}) shown->erase(shown->find_last_not_of(' ') + 1);
    text_ += line + "\n";
    if (!paint_.on && !below.empty()) text_ += below + "\n";
    line_.clear();
    width_ = 0;
  }

  int columns_;
  Paint paint_;
  bool unicode_;
  std::vector<ShadedCell> word_, line_;
  int word_width_ = 0, width_ = 0;
  std::string text_;
};

}  // namespace

std::string painted_text(const std::vector<ShadedPart>& parts, int columns, Paint paint,
                         bool unicode) {
  PaintedLines lines(columns, paint, unicode);
  for (const auto& [text, share] : parts)
    for (std::size_t at = 0, bytes = 0; at < text.size(); at += bytes) {
      bytes = fledge::code_point_at(text, at).bytes;
      const std::string one = text.substr(at, bytes);
      lines.add(one, one == " " && at == 0 && text.size() > 1 ? 0 : share);
    }
  return lines.text();
}

}  // namespace support

#include "examples/support/painted_text.h"

#include "examples/support/attention_map.h"
#include "examples/support/text.h"
#include "examples/support/token_label.h"

namespace support {

namespace {

constexpr double least_share = 0.05;

/// A character with the marks that combine with it.
struct Cell {
  std::string text;
  double share;
  int width;
};
using Cells = std::vector<Cell>;

class PaintedLines {
 public:
  PaintedLines(int columns, Paint paint, bool unicode)
      : columns_(columns), paint_(paint), unicode_(unicode) {}

  void add(const ShadedPart& part) {
    const std::string& text = part.text;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t bytes = fledge::code_point_at(text, at).bytes;
      const std::string one = text.substr(at, bytes);
      const bool is_before = one == " " && at == 0 && text.size() > 1;
      add_one(one, is_before ? 0 : part.share);
      at += bytes;
    }
  }
  std::string text() {
    end_word();
    if (!line_.empty()) end_line();
    return text_;
  }

 private:
  void add_one(const std::string& one, double share) {
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

  void end_word() {
    const bool has_blank = !word_.empty() && word_.back().text == " ";
    if (width_ > 0 && width_ + word_width_ - (has_blank ? 1 : 0) > columns_) end_line();
    for (const Cell& cell : word_) {
      if (width_ + cell.width > columns_) end_line();
      line_.push_back(cell);
      width_ += cell.width;
    }
    word_.clear();
    word_width_ = 0;
  }

  void end_line() {
    std::string line, shade_line;
    for (std::size_t begin = 0; begin < line_.size();) {
      std::string run;  // of cells with the same shade
      std::size_t end = begin;
      for (; end < line_.size() && (end == begin || line_[end].share == line_[begin].share);
           ++end) {
        const Cell& cell = line_[end];
        run += cell.text;
        for (int i = 0; i < cell.width; ++i)
          shade_line += cell.share >= least_share ? shade(cell.share, unicode_) : " ";
      }
      line += paint_.ground(run, line_[begin].share);
      begin = end;
    }
    text_ += trimmed(line) + "\n";
    if (!paint_.on && !trimmed(shade_line).empty()) text_ += trimmed(shade_line) + "\n";
    line_.clear();
    width_ = 0;
  }

  static std::string trimmed(const std::string& line) {
    return line.substr(0, line.find_last_not_of(' ') + 1);
  }

  int columns_;
  Paint paint_;
  bool unicode_;
  Cells word_, line_;
  int word_width_ = 0, width_ = 0;
  std::string text_;
};

}  // namespace

std::string painted_text(const std::vector<ShadedPart>& parts, int columns, Paint paint,
                         bool unicode) {
  PaintedLines lines(columns, paint, unicode);
  for (const ShadedPart& part : parts) lines.add(part);
  return lines.text();
}

}  // namespace support

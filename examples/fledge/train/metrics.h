// The measurements of a run, one row for each logged step: metrics.csv and metrics.jsonl. The
// latter also has the watched pairs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "nn/io/json.h"

namespace fledge::train {

/// One step as it is logged. No times: two runs of the same seed write the same bytes.
struct Metrics {
  std::int64_t step = 0;
  double loss = 0, rate = 0, gradient_norm = 0;
  std::optional<double> validation;
};

inline constexpr const char* csv_header = "step,loss,val_loss,lr,grad_norm\n";

/// Ends with a line end.
inline std::string as_csv(const Metrics& row) {
  const auto number = [](double x) {
    return x != x ? "nan" : x > 1e308 ? "inf" : json_number(static_cast<float>(x));
  };
  return std::to_string(row.step) + "," + number(row.loss) + "," +
         (row.validation ? number(*row.validation) : "") + "," + number(row.rate) + "," +
         number(row.gradient_norm) + "\n";
}

/// {"type":"step",…}, without a line end.
inline std::string as_json(const Metrics& row) {
  Json::Members members{
      {"type", "step"}, {"step", row.step}, {"loss", static_cast<float>(row.loss)}};
  if (row.validation) members.emplace_back("val_loss", static_cast<float>(*row.validation));
  members.emplace_back("lr", static_cast<float>(row.rate));
  members.emplace_back("grad_norm", static_cast<float>(row.gradient_norm));
  return Json::object(members).text();
}

}  // namespace fledge::train

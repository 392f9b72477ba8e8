// A program that `fledge gradcheck softmax --against` checks, as a guide for one of yours, in any
// language: softmax over the last axis in float, and its backward pass.
//
//   stdin    safetensors: 8 bytes N, little-endian; N bytes of JSON; the numbers, end to end (F32)
//            {"dy": {"dtype": "F32", "shape": [3, 5], "data_offsets": [0, 60]}, "x": {...}, ...}
//   stdout   the same with "y" and "dx"
//
// `softmax_program diagonal` has a fault: of the Jacobian it uses the diagonal alone.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

static std::vector<float> numbers_of(const std::string& file, const std::string& name,
                                     std::string& shape) {
  std::uint64_t size = 0;
  std::memcpy(&size, file.data(), 8);
  const std::string header = file.substr(8, size);
  const std::size_t entry = header.find("\"" + name + "\":"), at = header.find("\"shape\":", entry),
                    offsets = header.find("\"data_offsets\":", entry);
  shape = header.substr(at + 8, header.find(']', at) - at - 7);
  std::size_t begin = 0, end = 0;
  if (offsets != std::string::npos)  // else it has no such tensor
    std::sscanf(header.c_str() + header.find('[', offsets), "[%zu,%zu]", &begin, &end);
  std::vector<float> numbers((end - begin) / sizeof(float));
  if (end > begin) std::memcpy(numbers.data(), file.data() + 8 + size + begin, end - begin);
  return numbers;
}

int main(int argc, char** argv) {
  const bool is_diagonal = argc > 1 && std::string(argv[1]) == "diagonal";
  const std::string file{std::istreambuf_iterator<char>(std::cin), {}};
  std::string shape;
  const std::vector<float> x = numbers_of(file, "x", shape), dy = numbers_of(file, "dy", shape);
  std::vector<float> y(x.size()), dx(x.size());
  const std::size_t C = std::stoul(shape.substr(shape.rfind(',') + 1));

  for (std::size_t row = 0; row < x.size(); row += C) {
    float largest = x[row], sum = 0, dot = 0;
    for (std::size_t i = row; i < row + C; i++) largest = std::fmax(largest, x[i]);
    for (std::size_t i = row; i < row + C; i++) sum += y[i] = std::exp(x[i] - largest);
    for (std::size_t i = row; i < row + C; i++) y[i] /= sum;
    for (std::size_t i = row; i < row + C; i++) dot += y[i] * dy[i];
    for (std::size_t i = row; i < row + C; i++)
      dx[i] = y[i] * (dy[i] - (is_diagonal ? y[i] * dy[i] : dot));
  }

  const std::size_t bytes = y.size() * sizeof(float);
  const auto entry = [&](std::size_t begin) {
    return R"({"dtype":"F32","shape":)" + shape + R"(,"data_offsets":[)" + std::to_string(begin) +
           "," + std::to_string(begin + bytes) + "]}";
  };
  const std::string header = R"({"dx":)" + entry(0) + R"(,"y":)" + entry(bytes) + "}";
  const std::uint64_t size = header.size();
  std::fwrite(&size, 8, 1, stdout);
  std::fwrite(header.data(), 1, header.size(), stdout);
  std::fwrite(dx.data(), 1, bytes, stdout);
  std::fwrite(y.data(), 1, bytes, stdout);
}

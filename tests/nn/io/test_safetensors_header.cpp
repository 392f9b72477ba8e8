// builds: f64
// Headers of safetensors files that are wrong in one thing each (reliability.md FF01 to FF63).
#include "nn/io/safetensors.h"

#include "tests/support/catch.h"

using namespace fledge;

namespace {

using Fault = StoredFault;

std::string length_of(std::uint64_t n) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(n >> (8 * i) & 0xFF);
  return bytes;
}
std::string file(const std::string& header, std::size_t data = 0) {
  return length_of(header.size()) + header + std::string(data, '\0');
}
// One F32 tensor "t".
std::string tensor(const std::string& shape, const std::string& offsets) {
  return R"({"t":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

void check_refused(const std::string& bytes, Fault fault, const std::string& part = "") {
  try {
    stored_header(bytes);
    FAIL_CHECK("accepted: " << shown_name(bytes.substr(0, 60)));
  } catch (const StoredError& error) {
    INFO(error.what());
    CHECK(error.fault == fault);
    CHECK_THAT(std::string(error.what()), ContainsSubstring(part));
    for (const char c : std::string(error.what())) CHECK(static_cast<unsigned char>(c) >= 0x20);
  }
}

}  // namespace

TEST_CASE("safetensors: what a file must have before its header", "[FF01][FF06][FF07][FF09]") {
  for (std::size_t size = 0; size < 8; ++size)
    check_refused(std::string(size, '\0'), Fault::header_too_small);
  check_refused(length_of(60), Fault::invalid_header_length);
  for (const std::uint64_t n : {~std::uint64_t{0}, std::uint64_t{1} << 63, std::uint64_t{1} << 32,
                                std::uint64_t{100'000'001}})
    check_refused(length_of(n) + "{}", Fault::header_too_large);
  check_refused(length_of(100'000'000) + std::string(1000, ' '), Fault::invalid_header_length);
  check_refused(length_of(3) + "{}", Fault::invalid_header_length);
  check_refused(length_of(1) + "{}", Fault::invalid_json);
  check_refused(length_of(0), Fault::invalid_json);
  check_refused(std::string("\0\0\0\0\0\0\0\2{}", 10), Fault::header_too_large);
  check_refused("version https://git-lfs.github.com/spec/v1\n", Fault::header_too_large, "Git LFS");
  check_refused("<!DOCTYPE html><html></html>", Fault::header_too_large, "a web page");
}

TEST_CASE("safetensors: no tensors, and spaces round the object, are fine", "[FF05][FF16][FF17]") {
  for (const char* header : {"{}", "{} ", " {}", "{\t\r\n} \t\r\n", "{}      "}) {
    const StoredHeader found = stored_header(file(header));
    CHECK(found.tensors.empty());
    CHECK(found.metadata.empty());
    CHECK(found.data == 8 + std::string(header).size());
  }
}

TEST_CASE("safetensors: headers that are no UTF-8 or no JSON", "[FF10][FF19]") {
  for (const char* bad : {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "{\"\xe2\x82"})
    check_refused(file(bad), Fault::invalid_utf8);
  const std::string whole = tensor("[1]", "[0,4]");
  for (std::size_t size = 0; size < whole.size(); ++size)
    check_refused(file(whole.substr(0, size)), Fault::invalid_json);
  for (const char* bad :
       {"[]", "null", "\"x\"", "1", "true", "{}{}", "{}x", "\xef\xbb\xbf{}", "{'t':1}", "{,}",
        "{\"__metadata__\":{\"a\":\"b\",}}", "{\"__metadata__\":{\"a\":\"\n\"}}",
        "{\"__metadata__\":{\"a\":\"\\x41\"}}", "{\"__metadata__\":{\"a\":\"\\u12\"}}",
        "{\"__metadata__\":{\"a\":\"\\ud800\"}}", "{\"__metadata__\":{\"a\":\"\\ude00\"}}"})
    check_refused(file(bad), Fault::invalid_json);
  check_refused(file(std::string("{}\0\0", 4)), Fault::invalid_json);
  for (const char* shape : {"[1,]", "[+1]", "[01]", "[.5]", "[0x1]", "[NaN]", "[1 2]"})
    check_refused(file(tensor(shape, "[0,4]"), 4), Fault::invalid_json);
}

TEST_CASE("safetensors: a key stands once, however it is written", "[FF21][FF25]") {
  const std::string t = R"({"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  check_refused(file(R"({"t":)" + t + R"(,"t":)" + t + "}"), Fault::duplicate_key, "'t'");
  check_refused(file(R"({"t":)" + t + R"(,"\u0074":)" + t + "}"), Fault::duplicate_key, "'t'");
  check_refused(file(R"({"__metadata__":{},"__metadata__":{}})"), Fault::duplicate_key);
  check_refused(file(R"({"__metadata__":{"a":"1","a":"1"}})"), Fault::duplicate_key, "'a'");
  for (const char* field : {R"("dtype":"U8")", R"("shape":[0])", R"("data_offsets":[0,0])"})
    check_refused(file(R"({"t":{"dtype":"U8","shape":[0],"data_offsets":[0,0],)" +
                       std::string(field) + "}}"),
                  Fault::duplicate_key);
  CHECK(stored_header(file(R"({"\u0074":)" + t + "}")).tensors.at(0).name == "t");
}

TEST_CASE("safetensors: metadata is an object of strings", "[FF26][FF27]") {
  for (const char* bad : {"1", "[]", "null", "\"x\"", "true"})
    check_refused(file("{\"__metadata__\":" + std::string(bad) + "}"), Fault::invalid_metadata);
  for (const char* bad : {"0", "{}", "null", "[\"x\"]"})
    check_refused(file("{\"__metadata__\":{\"a\":" + std::string(bad) + "}}"),
                  Fault::invalid_metadata, "'a'");
  const auto found = stored_header(file(R"({"__metadata__":{"b":"\u00e9\ud83d\udc26","a":"\n"}})"));
  CHECK(found.metadata.at("a") == "\n");
  CHECK(found.metadata.at("b") == "é🐦");
}

TEST_CASE("safetensors: an entry has three fields of their types", "[FF28][FF36]") {
  check_refused(file(R"({"t":{"shape":[],"data_offsets":[0,0]}})"), Fault::missing_field, "dtype");
  check_refused(file(R"({"t":{"dtype":"U8","data_offsets":[0,0]}})"), Fault::missing_field, "shape");
  check_refused(file(R"({"t":{"dtype":"U8","shape":[]}})"), Fault::missing_field, "data_offsets");
  check_refused(file(R"({"t":{"dtype":"U8","shape":[],"data_offsets":[0,0],"x":[[[[]]]]}})"),
                Fault::unknown_field, "'x'");
  for (const char* entry : {R"(["F32",[1],[0,4]])", "1", "null", "\"x\""})
    check_refused(file("{\"t\":" + std::string(entry) + "}"), Fault::wrong_type);
  for (const char* dtype : {R"({"F32":null})", "32", "null"})
    check_refused(file(R"({"t":{"dtype":)" + std::string(dtype) + "}}"), Fault::wrong_type);
  for (const char* shape : {"1", "{}", "\"2\"", "[-1]", "[1.0]", "[1e1]", "[\"2\"]", "[true]",
                            "[null]", "[[1]]"})
    check_refused(file(tensor(shape, "[0,4]"), 4), Fault::wrong_type);
  for (const char* offsets : {"[]", "[0]", "[0,4,4]", "{}", "\"04\"", "4"})
    check_refused(file(tensor("[1]", offsets), 4), Fault::wrong_type);
  for (const char* size : {"18446744073709551616", "1000000000000000000000000000000"})
    check_refused(file(tensor("[" + std::string(size) + "]", "[0,4]"), 4),
                  Fault::number_out_of_range);
  for (const char* dtype : {"f32", "F33", "", "FLOAT"})
    check_refused(file(R"({"t":{"dtype":")" + std::string(dtype) +
                       R"(","shape":[],"data_offsets":[0,0]}})"),
                  Fault::unknown_dtype);
}

TEST_CASE("safetensors: sizes that overflow, with a 0 among them or not", "[FF34][FF42]") {
  for (const char* shape :
       {"[2,18446744073709551614]", "[2,9223372036854775807]", "[9223372036854775808,2,0]",
        "[0,9223372036854775808,9223372036854775808]", "[4194305,4194305,211106198978564]"})
    check_refused(file(tensor(shape, "[0,16]"), 16), Fault::size_overflow);
  check_refused(file(R"({"t":{"dtype":"F4","shape":[3],"data_offsets":[0,1]}})", 1),
                Fault::misaligned_size);
  check_refused(file(tensor("[1,1,1,1,1,1,1,1,1]", "[0,4]"), 4), Fault::rank_too_large);
  CHECK(stored_header(file(tensor("[]", "[0,4]"), 4)).tensors[0].sizes.empty());
  CHECK(stored_header(file(tensor("[2,0]", "[0,0]"))).tensors[0].sizes.size() == 2);
}

TEST_CASE("safetensors: ranges lie end to end and end with the file", "[FF44][FF52]") {
  check_refused(file(tensor("[1]", "[4,0]"), 4), Fault::invalid_offset);
  check_refused(file(tensor("[1]", "[4,8]"), 8), Fault::invalid_offset);
  check_refused(file(tensor("[2,2]", "[0,4]"), 4), Fault::size_mismatch);
  check_refused(file(tensor("[1000000]", "[0,4000000]"), 1), Fault::incomplete_buffer);
  for (const std::size_t data : {2u, 3u, 5u}) check_refused(file(tensor("[1]", "[0,4]"), data), Fault::incomplete_buffer);
  const auto two = [](const std::string& a, const std::string& b) {
    return R"({"b":{"dtype":"F32","shape":[1],"data_offsets":)" + a +
           R"(},"a":{"dtype":"F32","shape":[1],"data_offsets":)" + b + "}}";
  };
  check_refused(file(two("[0,4]", "[5,9]"), 9), Fault::invalid_offset);
  check_refused(file(two("[0,4]", "[3,7]"), 7), Fault::invalid_offset);
  check_refused(file(two("[0,4]", "[0,4]"), 4), Fault::invalid_offset);
  const StoredHeader sorted = stored_header(file(two("[4,8]", "[0,4]"), 8));
  CHECK(sorted.tensors.at(0).name == "a");
  CHECK(sorted.tensors.at(1).name == "b");
}

TEST_CASE("safetensors: names", "[FF58]") {
  const auto named = [](const std::string& name) {
    return file("{\"" + name + R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})");
  };
  for (const std::string& bad : {std::string(), std::string("\\u0000"), std::string("\\u001b[2J"),
                                 std::string(1025, 'x')})
    check_refused(named(bad), Fault::bad_name);
  for (const char* good : {"../../etc/passwd", "🐦", "h.0.attn.c_attn.weight"})
    CHECK(stored_header(named(good)).tensors.at(0).name == good);
}

TEST_CASE("safetensors: brackets ten million deep cost one look", "[FF55]") {
  const std::string deep(10'000'000, '[');
  check_refused(file(deep), Fault::invalid_json);
  check_refused(file("{\"t\":" + deep), Fault::wrong_type);
  check_refused(file("{\"__metadata__\":{\"a\":" + deep), Fault::invalid_metadata);
  check_refused(file(R"({"t":{"shape":)" + deep), Fault::wrong_type);
}

// Headers of safetensors files, each with one error in its text.
#include "nn/io/safetensors.h"

#include "tests/support/sanitized.h"
#include "tests/support/stored_file.h"

using namespace fledge;
using namespace tests;

TEST_CASE("safetensors: no tensors, and spaces round the object, are fine") {
  for (const std::string header : {"{}", "{} ", " {}", "{\t\r\n} \t\r\n", "{}      "}) {
    const StoredHeader found = stored_header(stored_file(header));
    CHECK(found.tensors.empty());
    CHECK(found.metadata.is_null());
    CHECK(found.text("step").empty());
  }
}

TEST_CASE("safetensors: headers that are no UTF-8") {
  for (const std::string bad : {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80"})
    check_refused(stored_file(bad + "{}"), "line 1, column 1: not UTF-8");
  check_refused(stored_file("{\"\xe2\x82"), "line 1, column 3: not UTF-8");
}

TEST_CASE("safetensors: headers that are no JSON") {
  const std::string whole = one_tensor("[1]", "[0,4]");
  for (std::size_t size = 0; size < whole.size(); ++size)
    check_refused(stored_file(whole.substr(0, size)),
                  "the header: line 1, column " + std::to_string(1 + size) + ": ");
  for (const char* bad :
       {"[]", "null", "\"x\"", "1", "true", "{}{}", "{}x", "{},", "\xef\xbb\xbf{}", "{'t':1}",
        "{,}", "{t:1}", "{1:1}", "{\"t\"}", "//\n{}", "{}/**/"})
    check_refused(stored_file(bad), "the header: line 1, column ");
  check_refused(stored_file(std::string("{}\0\0", 4)), "the header: line 1, column 3: ");
  for (const char* bad : {"\"b\",", "\"\n\"", "\"\x01\"", R"("\x41")", R"("\u12")", R"("\u12G4")",
                          R"("\ud800")", R"("\ud800\u0041")", R"("\ude00")", R"("\)", "'b'", "NaN"})
    check_refused(stored_file(R"({"__metadata__":{"a":)" + std::string(bad) + "}}"),
                  "the header: line 1, column ");
  for (const char* shape : {"[1,]", "[,1]", "[+1]", "[01]", "[.5]", "[1.]", "[1e]", "[0x1]",
                            "[NaN]", "[Infinity]", "[1 2]", "[1;2]"})
    check_refused(stored_file(one_tensor(shape, "[0,4]"), 4), "the header: line 1, column ");
}

TEST_CASE("safetensors: a key stands once, however it is written") {
  const std::string t = R"({"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  for (const char* twin : {"t", "\\u0074"})
    check_refused(stored_file(R"({"t":)" + t + ",\"" + twin + "\":" + t + "}"), "'t' occurs twice");
  check_refused(stored_file(R"({"__metadata__":{},"__\u006detadata__":{}})"), "occurs twice");
  for (const char* twin : {"a", "\\u0061"})
    check_refused(stored_file(R"({"__metadata__":{"a":"1",")" + std::string(twin) + R"(":"1"}})"),
                  "'a' occurs twice");
  for (const char* field : {R"("dtype":"U8")", R"("shape":[0])", R"("data_offsets":[0,0])"})
    check_refused(stored_file(R"({"t":{"dtype":"U8","shape":[0],"data_offsets":[0,0],)" +
                              std::string(field) + "}}"),
                  " occurs twice");
  CHECK(stored_header(stored_file(R"({"\u0074":)" + t + "}")).tensors.at(0).name == "t");
}

TEST_CASE("safetensors: metadata is an object of strings") {
  for (const char* bad : {"1", "[]", "null", "\"x\"", "true"})
    check_refused(stored_file("{\"__metadata__\":" + std::string(bad) + "}"), "__metadata__");
  for (const char* bad : {"0", "{}", "null", "[\"x\"]"})
    check_refused(stored_file("{\"__metadata__\":{\"a\":" + std::string(bad) + "}}"),
                  "__metadata__.a must be a string: got ");
  const auto found =
      stored_header(stored_file(R"({"__metadata__":{"b":"\u00e9\ud83d\udc26","a":"\n"}})"));
  CHECK(found.text("a") == "\n");
  CHECK(found.text("b") == "é🐦");
  CHECK(found.text("c").empty());
}

TEST_CASE("safetensors: an entry has three fields, and no others") {
  check_refused(stored_file(R"({"t":{"shape":[],"data_offsets":[0,0]}})"),
                "t must have a key 'dtype'");
  check_refused(stored_file(R"({"t":{"dtype":"U8","data_offsets":[0,0]}})"),
                "t must have a key 'shape'");
  check_refused(stored_file(R"({"t":{"dtype":"U8","shape":[]}})"),
                "t must have a key 'data_offsets'");
  check_refused(stored_file(R"({"t":{}})"), "t must have a key 'dtype'");
  check_refused(stored_file(R"({"t":{"dtype":"U8","x":[[[[]]]]}})"), "the key 't.x' is not known");
  for (const char* bad : {R"(["F32",[1],[0,4]])", "1", "null", "\"x\""})
    check_refused(stored_file("{\"t\":" + std::string(bad) + "}"),
                  "the header: line 1, column 6: t must be an object: got ");
}

TEST_CASE("safetensors: each field is of its kind") {
  for (const char* dtype : {R"({"F32":null})", "32", "null"})
    check_refused(stored_file(R"({"t":{"shape":[],"data_offsets":[0,0],"dtype":)" +
                              std::string(dtype) + "}}"),
                  "t.dtype must be a string: got ");
  for (const char* dtype : {"f32", "F33", "", "FLOAT", "F32\\u0000", "U16", "C64", "F8_E4M3"})
    check_refused(stored_file("{" + entry("t", dtype, "[]", "[0,0]") + "}"),
                  "t.dtype must be F64, F32, F16, BF16, I64, I32, I16, I8, U8 or BOOL: got ");
  for (const char* shape :
       {"1", "{}", "\"2\"", "[-1]", "[1.0]", "[1e1]", "[\"2\"]", "[true]", "[null]", "[[1]]"})
    check_refused(stored_file(one_tensor(shape, "[0,4]"), 4), "must be ");
  for (const char* offsets : {"[]", "[0]", "[0,4,4]", "{}", "\"04\"", "4", "[0,4.0]", "[0,\"4\"]"})
    check_refused(stored_file(one_tensor("[1]", offsets), 4), "must be ");
  for (const char* size : {"18446744073709551616", "1000000000000000000000000000000"}) {
    const std::string list = "[" + std::string(size) + "]";
    check_refused(stored_file(one_tensor(list, "[0,4]"), 4), "must be a whole number from 0 to ");
    check_refused(stored_file(one_tensor("[1]", "[0," + list.substr(1)), 4),
                  "must be a whole number from 0 to ");
  }
  std::string ones = "[1";
  for (int i = 1; i < 100'000; ++i) ones += ",1";
  check_refused(stored_file(one_tensor(ones + "]", "[0,4]"), 4),
                "t.shape must be an array of at most 8 numbers");
  CHECK(stored_header(stored_file(one_tensor("[1,1,1,1,1,1,1,1]", "[0,4]"), 4)).tensors.size() ==
        1);
}

TEST_CASE("safetensors: names") {
  const auto named = [](const std::string& name) {
    return stored_file("{" + entry(name, "U8", "[0]", "[0,0]") + "}");
  };
  for (const std::string& bad :
       {std::string(), std::string("\\u0000"), std::string("\\u001b[2J"), std::string("\\u007f"),
        std::string("a\\n"), std::string(1025, 'x')})
    check_refused(named(bad), "1 to 1,024 bytes");
  for (const std::string& good : {std::string("../../etc/passwd"), std::string("🐦"),
                                  std::string("\u202Etxt"), std::string(1024, 'x')})
    CHECK(stored_header(named(good)).tensors.at(0).name == good);
  const auto twins = stored_file("{" + entry("\u00e9", "U8", "[0]", "[0,0]") + "," +
                                 entry("e\u0301", "U8", "[0]", "[0,0]") + "}");
  CHECK(stored_header(twins).tensors.size() == 2);  // names are bytes: normal forms are not applied
}

TEST_CASE("safetensors: brackets ten million deep cost one look") {
  const std::string deep(testing::sanitized ? 1'000'000 : 10'000'000, '[');
  check_refused(stored_file(deep), "more than 64 levels");
  check_refused(stored_file("{\"t\":" + deep), "more than 64 levels");
  check_refused(stored_file("{\"__metadata__\":{\"a\":" + deep), "more than 64 levels");
  check_refused(stored_file(R"({"t":{"shape":[)" + deep), "more than 64 levels");
  check_refused(stored_file(R"({"t":{"x":)" + deep), "more than 64 levels");
}

TEST_CASE("safetensors: much of what is allowed is read in its order, too much is refused") {
  const std::string long_text(testing::sanitized ? 1'000'000 : 10'000'000, 'x');
  check_refused(stored_file("{" + entry(long_text, "U8", "[0]", "[0,0]") + "}"),
                "a tensor's name must have");
  CHECK(stored_header(stored_file(R"({"__metadata__":{"a":")" + long_text + "\"}}")).text("a") ==
        long_text);
  std::string many = "{";
  const std::size_t count = testing::sanitized ? 10'000 : 100'000;
  for (std::size_t i = 0; i < count; ++i)
    many += entry(std::to_string(i), "U8", "[0]", "[0,0]") + ",";
  many.back() = '}';
  CHECK(stored_header(stored_file(many)).tensors.size() == count);
}

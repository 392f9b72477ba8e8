// builds: f64
// Headers that are wrong in one thing each. The tags are the rows of a catalogue of attacks on the
// format: FF10 to FF36 and FF55 to FF58 are about the header's text.
#include "nn/io/safetensors_header.h"

#include "tests/support/stored_file.h"

using namespace fledge;
using namespace tests;
using Fault = SafetensorsFault;

TEST_CASE("safetensors: no tensors, and spaces round the object, are fine", "[FF05][FF16][FF17]") {
  for (const std::string header : {"{}", "{} ", " {}", "{\t\r\n} \t\r\n", "{}      "}) {
    const StoredHeader found = stored_header(stored_file(header));
    CHECK(found.tensors.empty());
    CHECK(found.metadata.empty());
    CHECK(found.data == 8 + header.size());
  }
}

TEST_CASE("safetensors: headers that are no UTF-8", "[FF10][FF11]") {
  for (const std::string bad : {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80"})
    check_refused(stored_file(bad + "{}"), Fault::invalid_utf8, "at byte 8");
  check_refused(stored_file("{\"\xe2\x82"), Fault::invalid_utf8, "at byte 10");
}

TEST_CASE("safetensors: headers that are no JSON", "[FF04][FF12][FF13][FF14][FF15][FF18][FF19]") {
  const std::string whole = one_tensor("[1]", "[0,4]");
  for (std::size_t size = 0; size < whole.size(); ++size)
    check_refused(stored_file(whole.substr(0, size)), Fault::invalid_json,
                  "at byte " + std::to_string(8 + size));
  for (const char* bad :
       {"[]", "null", "\"x\"", "1", "true", "{}{}", "{}x", "{},", "\xef\xbb\xbf{}", "{'t':1}",
        "{,}", "{t:1}", "{1:1}", "{\"t\"}", "//\n{}", "{}/**/"})
    check_refused(stored_file(bad), Fault::invalid_json);
  check_refused(stored_file(std::string("{}\0\0", 4)), Fault::invalid_json, "at byte 10");
  for (const char* bad : {"\"b\",", "\"\n\"", "\"\x01\"", R"("\x41")", R"("\u12")", R"("\u12G4")",
                          R"("\ud800")", R"("\ud800\u0041")", R"("\ude00")", R"("\)", "'b'", "NaN"})
    check_refused(stored_file(R"({"__metadata__":{"a":)" + std::string(bad) + "}}"),
                  Fault::invalid_json);
  for (const char* shape : {"[1,]", "[,1]", "[+1]", "[01]", "[.5]", "[1.]", "[1e]", "[0x1]",
                            "[NaN]", "[Infinity]", "[1 2]", "[1;2]"})
    check_refused(stored_file(one_tensor(shape, "[0,4]"), 4), Fault::invalid_json);
}

TEST_CASE("safetensors: a key stands once, however it is written",
          "[FF20][FF21][FF22][FF23][FF24][FF25]") {
  const std::string t = R"({"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  for (const char* twin : {"t", "\\u0074"})
    check_refused(stored_file(R"({"t":)" + t + ",\"" + twin + "\":" + t + "}"),
                  Fault::duplicate_key, "'t' stands twice");
  check_refused(stored_file(R"({"__metadata__":{},"__\u006detadata__":{}})"), Fault::duplicate_key);
  for (const char* twin : {"a", "\\u0061"})
    check_refused(stored_file(R"({"__metadata__":{"a":"1",")" + std::string(twin) + R"(":"1"}})"),
                  Fault::duplicate_key, "'a' stands twice");
  for (const char* field : {R"("dtype":"U8")", R"("shape":[0])", R"("data_offsets":[0,0])"})
    check_refused(stored_file(R"({"t":{"dtype":"U8","shape":[0],"data_offsets":[0,0],)" +
                              std::string(field) + "}}"),
                  Fault::duplicate_key, "'t': ");
  CHECK(stored_header(stored_file(R"({"\u0074":)" + t + "}")).tensors.at(0).name == "t");
}

TEST_CASE("safetensors: metadata is an object of strings", "[FF26][FF27]") {
  for (const char* bad : {"1", "[]", "null", "\"x\"", "true"})
    check_refused(stored_file("{\"__metadata__\":" + std::string(bad) + "}"),
                  Fault::invalid_metadata);
  for (const char* bad : {"0", "{}", "null", "[\"x\"]"})
    check_refused(stored_file("{\"__metadata__\":{\"a\":" + std::string(bad) + "}}"),
                  Fault::invalid_metadata, "'a'");
  const auto found =
      stored_header(stored_file(R"({"__metadata__":{"b":"\u00e9\ud83d\udc26","a":"\n"}})"));
  CHECK(found.metadata == std::map<std::string, std::string>{{"a", "\n"}, {"b", "é🐦"}});
}

TEST_CASE("safetensors: an entry has three fields, and no others", "[FF28][FF29][FF30]") {
  check_refused(stored_file(R"({"t":{"shape":[],"data_offsets":[0,0]}})"), Fault::missing_field,
                "'t' has no dtype");
  check_refused(stored_file(R"({"t":{"dtype":"U8","data_offsets":[0,0]}})"), Fault::missing_field,
                "'t' has no shape");
  check_refused(stored_file(R"({"t":{"dtype":"U8","shape":[]}})"), Fault::missing_field,
                "'t' has no data_offsets");
  check_refused(stored_file(R"({"t":{}})"), Fault::missing_field, "'t' has no dtype");
  check_refused(stored_file(R"({"t":{"dtype":"U8","x":[[[[]]]]}})"), Fault::unknown_field,
                "'t' has a field 'x'");
  for (const char* bad : {R"(["F32",[1],[0,4]])", "1", "null", "\"x\""})
    check_refused(stored_file("{\"t\":" + std::string(bad) + "}"), Fault::wrong_type,
                  "at byte 13: expected an object for 't'");
}

TEST_CASE("safetensors: each field is of its kind", "[FF31][FF32][FF35][FF36][FF42][FF45]") {
  for (const char* dtype : {R"({"F32":null})", "32", "null"})
    check_refused(stored_file(R"({"t":{"dtype":)" + std::string(dtype) + "}}"), Fault::wrong_type,
                  "expected the name of a dtype");
  for (const char* dtype : {"f32", "F33", "", "FLOAT", "F32\\u0000"})
    check_refused(stored_file("{" + entry("t", dtype, "[]", "[0,0]") + "}"), Fault::unknown_dtype,
                  "which the format does not know");
  for (const char* shape : {"1", "{}", "\"2\"", "[-1]", "[1.0]", "[1e1]", "[\"2\"]", "[true]",
                            "[null]", "[[1]]", "[-0]"})
    check_refused(stored_file(one_tensor(shape, "[0,4]"), 4), Fault::wrong_type);
  for (const char* offsets : {"[]", "[0]", "[0,4,4]", "{}", "\"04\"", "4", "[0,4.0]", "[0,\"4\"]"})
    check_refused(stored_file(one_tensor("[1]", offsets), 4), Fault::wrong_type);
  for (const char* size : {"18446744073709551616", "1000000000000000000000000000000"}) {
    const std::string list = "[" + std::string(size) + "]";
    check_refused(stored_file(one_tensor(list, "[0,4]"), 4), Fault::number_out_of_range);
    check_refused(stored_file(one_tensor("[1]", "[0," + list.substr(1)), 4),
                  Fault::number_out_of_range);
  }
  std::string ones = "[1";
  for (int i = 1; i < 100'000; ++i) ones += ",1";
  check_refused(stored_file(one_tensor(ones + "]", "[0,4]"), 4), Fault::rank_too_large);
  CHECK(stored_header(stored_file(one_tensor("[1,1,1,1,1,1,1,1]", "[0,4]"), 4)).tensors.size() ==
        1);
}

TEST_CASE("safetensors: names", "[FF58]") {
  const auto named = [](const std::string& name) {
    return stored_file("{" + entry(name, "U8", "[0]", "[0,0]") + "}");
  };
  for (const std::string& bad :
       {std::string(), std::string("\\u0000"), std::string("\\u001b[2J"), std::string("\\u007f"),
        std::string("a\\n"), std::string(1025, 'x')})
    check_refused(named(bad), Fault::bad_name, "1 to 1,024 bytes");
  for (const std::string& good : {std::string("../../etc/passwd"), std::string("🐦"),
                                  std::string("\u202Etxt"), std::string(1024, 'x')})
    CHECK(stored_header(named(good)).tensors.at(0).name == good);
  const auto twins = stored_file("{" + entry("\u00e9", "U8", "[0]", "[0,0]") + "," +
                                 entry("e\u0301", "U8", "[0]", "[0,0]") + "}");
  CHECK(stored_header(twins).tensors.size() == 2);  // names are bytes: normal forms are not applied
}

TEST_CASE("safetensors: brackets ten million deep cost one look", "[FF55]") {
  const std::string deep(10'000'000, '[');
  check_refused(stored_file(deep), Fault::invalid_json);
  check_refused(stored_file("{\"t\":" + deep), Fault::wrong_type);
  check_refused(stored_file("{\"__metadata__\":{\"a\":" + deep), Fault::invalid_metadata);
  check_refused(stored_file(R"({"t":{"shape":[)" + deep), Fault::wrong_type);
  check_refused(stored_file(R"({"t":{"x":)" + deep), Fault::unknown_field);
}

TEST_CASE("safetensors: much of what is allowed is read in its order, too much is refused",
          "[FF56]") {
  const std::string long_text(10'000'000, 'x');
  check_refused(stored_file("{" + entry(long_text, "U8", "[0]", "[0,0]") + "}"), Fault::bad_name);
  check_refused(stored_file(R"({"__metadata__":{"a":")" + long_text + "\"}}"),
                Fault::invalid_metadata, "more than 1 MB");
  std::string many = "{";
  for (int i = 0; i < 100'000; ++i) many += entry(std::to_string(i), "U8", "[0]", "[0,0]") + ",";
  many.back() = '}';
  CHECK(header_of(many).tensors.size() == 100'000);
  CHECK(stored_header(stored_file(many)).tensors.size() == 100'000);
}

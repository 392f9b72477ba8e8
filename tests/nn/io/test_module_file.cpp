// save() and load() of a module of one's own.
#include "nn/io/module_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "nn/io/files.h"
#include "nn/layers/layers.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/refuses.h"

using namespace tests;

namespace {

struct Twice {
  Linear a, b;
  void visit(auto&& f) const { f("a", a), f("a", b); }
};

struct Net {
  Linear in, out;
  Net(std::uint64_t seed, Dim hidden, Bias bias = Bias::with) : Net(Rng(seed), hidden, bias) {}
  void visit(auto&& f) const { f("in", in), f("out", out); }

 private:
  Net(Rng rng, Dim hidden, Bias bias) : in(2, hidden, rng), out(hidden, 1, rng, bias) {}
};

}  // namespace

TEST_CASE("what is saved is loaded, to the bit, and the same file is written again") {
  const testing::Folder folder;
  const std::string path = folder / "net.safetensors", again = folder / "again.safetensors";
  const Net net(1, 3), other(2, 3);
  save(net, path);
  CHECK_FALSE(same_bits(other.in.weight.value(), net.in.weight.value()));
  load(other, path);
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(same_bits(parameters(other)[i].value(), parameters(net)[i].value()));
  save(other, again);
  CHECK(read_file(again) == read_file(path));
}

TEST_CASE("what a killed writer has left is replaced, and not followed if it is a link") {
  const testing::Folder folder;
  const std::string path = folder / "net", other = folder / "other";
  save(Net(1, 3), other);
  const std::string before = read_file(other);
  const std::string temporary = path + ".fledge-new" + std::to_string(getpid());
  std::filesystem::create_symlink(other, temporary);
  save(Net(2, 4), path);
  CHECK(read_file(other) == before);
  CHECK_FALSE(std::filesystem::is_symlink(path));
  CHECK_FALSE(std::filesystem::is_symlink(temporary));
  CHECK_NOTHROW(load(Net(1, 4), path));
}

TEST_CASE("save() follows links, and touches no device, pipe or folder") {
  const testing::Folder folder;
  const std::string path = folder / "net", link = folder / "link", pipe = folder / "pipe";
  const Net net(1, 3), other(2, 3);
  save(other, path);
  std::filesystem::create_symlink("net", link);
  const auto own = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
  std::filesystem::permissions(path, own);
  save(net, link);
  CHECK(std::filesystem::status(path).permissions() == own);
  CHECK(std::filesystem::is_symlink(link));
  load(other, path);
  CHECK(same_bits(other.in.weight.value(), net.in.weight.value()));
  std::filesystem::remove(path);
  save(net, link);  // which leads to nothing now
  CHECK((std::filesystem::is_symlink(link) && std::filesystem::is_regular_file(path)));
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  for (const std::string& odd : {pipe, folder / ""})
    CHECK(refuses<WriteError>([&] { save(net, odd); }, odd, "no regular file"));
  CHECK(std::filesystem::is_fifo(pipe));
}

TEST_CASE("what load() would refuse is not saved, and a flipped bit is not loaded") {
  const testing::Folder folder;
  const std::string path = folder / "net";
  const Net net(1, 3);
  save(net, path);
  const std::string good = read_file(path);
  for (const Real lost : {Real(NAN), Real(-INFINITY), Real(1e39)}) {
    net.out.weight.write()[1] = lost;
    CHECK(refuses<ValueError>([&] { save(net, path); }, "'out.weight'", "finite: number 1 is not"));
    CHECK(read_file(path) == good);
  }
  for (const std::size_t at : {good.size() - 3, good.find("F32") + 1}) {
    std::string damaged = good;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    testing::write_file(path, damaged);
    CHECK(refuses<FormatError>([&] { load(Net(2, 3), path); }, "net'"));
  }
}

TEST_CASE("two parts of one name are refused before anything is trained") {
  Rng rng(1);
  const Twice twice{{1, 2, rng}, {1, 2, rng}};
  CHECK(refuses<ValueError>([&] { parameters(twice); }, "a name of its own", "'a.weight'"));
}

TEST_CASE("a file of another module is refused with the tensor's name, and changes nothing") {
  const testing::Folder folder;
  const std::string path = folder / "net.safetensors";
  save(Net(1, 3), path);
  const Net wide(2, 4), bare(3, 3, Bias::without);
  const Array before = wide.in.weight.value().clone();
  CHECK(refuses<FormatError>([&] { load(wide, path); }, "net.safetensors", "'in.weight'", "(2, 4)",
                             "(2, 3)"));
  CHECK(refuses<FormatError>([&] { load(bare, path); }, "net.safetensors", "'out.bias'",
                             "not in the model"));
  save(bare, path);
  CHECK(refuses<FormatError>([&] { load(Net(1, 3), path); }, "'out.bias'", "the file has none"));
  CHECK(same_bits(wide.in.weight.value(), before));
  CHECK(refuses<FileError>([&] { load(bare, folder / "none"); }, "none"));
  CHECK(refuses<WriteError>([&] { save(bare, folder / "none/net"); }, "none/net"));
}

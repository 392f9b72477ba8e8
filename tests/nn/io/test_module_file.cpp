// save() and load() of a module of one's own.
#include "nn/io/module_file.h"

#include <filesystem>

#include "engine/autograd.h"
#include "nn/io/files.h"
#include "nn/layers/layers.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/refuses.h"

using namespace tests;

namespace {

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
  std::filesystem::create_symlink(other, path + ".fledge-new");
  save(Net(2, 4), path);
  CHECK(read_file(other) == before);
  CHECK_FALSE(std::filesystem::is_symlink(path));
  CHECK_FALSE(std::filesystem::is_symlink(path + ".fledge-new"));
  CHECK_NOTHROW(load(Net(1, 4), path));
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
                             "not in the module"));
  save(bare, path);
  CHECK(refuses<FormatError>([&] { load(Net(1, 3), path); }, "'out.bias'", "no tensor"));
  CHECK(same_bits(wide.in.weight.value(), before));
  CHECK(refuses<FileError>([&] { load(bare, folder / "none"); }, "none"));
  CHECK(refuses<WriteError>([&] { save(bare, folder / "none/net"); }, "none/net"));
}

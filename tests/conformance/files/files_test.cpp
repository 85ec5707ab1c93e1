// The readers of .npy and .safetensors files: good files, and damaged ones, each of which gives one clear sentence.
#include "common/npy.hpp"
#include "common/safetensors.hpp"
#include <catch2/catch.hpp>
#include <cstring>
#include <unistd.h>

namespace {

using Catch::Matchers::Contains;

/// A file that lives as long as the object.
class temporary_file {
public:
  explicit temporary_file(const std::string &bytes)
      : path_(std::filesystem::temp_directory_path() / ("attune_files_test_" + std::to_string(getpid()))) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~temporary_file() { std::filesystem::remove(path_); }
  const std::filesystem::path &path() const { return path_; }

private:
  std::filesystem::path path_;
};

std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

std::string floats(const std::vector<float> &values) {
  std::string text(values.size() * sizeof(float), '\0');
  std::memcpy(text.data(), values.data(), text.size());
  return text;
}

std::string npy(const std::string &header, const std::string &data) {
  return std::string("\x93NUMPY\x01\x00", 8) + little_endian(header.size(), 2) + header + data;
}

std::string safetensors(const std::string &header, const std::string &data) { return little_endian(header.size(), 8) + header + data; }

const std::string six = floats({1, 2, 3, 4, 5, 6});
const std::string npy_header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";

auto read_npy(const std::string &bytes) { return examples::read_npy(temporary_file(bytes).path()); }

auto read_tensor(const std::string &bytes, const std::vector<std::size_t> &shape = {2, 3}) {
  const temporary_file file(bytes);
  return examples::safetensors_file(file.path()).read("w", shape);
}

std::string one_tensor(const std::string &type, const std::string &shape, const std::string &offsets) {
  return R"({"__metadata__":{"format":"pt"},"w":{"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

} // namespace

TEST_CASE("npy: a good file") {
  const auto array = read_npy(npy(npy_header, six));
  CHECK(array.shape == std::vector<std::size_t>{2, 3});
  CHECK(array.values == std::vector<float>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("npy: one axis, and no element") {
  CHECK(read_npy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }", six)).shape == std::vector<std::size_t>{6});
  CHECK(read_npy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }", "")).values.empty());
}

TEST_CASE("npy: damaged files") {
  const auto refused = [](const std::string &bytes, const char *why) { CHECK_THROWS_WITH(read_npy(bytes), Contains(why)); };
  refused("", "truncated: the magic string takes 6 bytes, and 0 are left");
  refused("PK\x03\x04 something else", "does not begin with the magic string");
  refused(std::string("\x93NUMPY\x09\x00", 8), "version 9.0 of the format is unknown");
  refused(std::string("\x93NUMPY\x01\x00\x76", 9), "truncated: the header's length");
  refused(npy(npy_header, "").substr(0, 40), "truncated: the header takes");
  refused(std::string("\x93NUMPY\x02\x00", 8) + little_endian(0xffffffff, 4), "the header says that it takes 4294967295 bytes");
  refused(npy(npy_header, six.substr(0, 23)), "truncated: the array takes 24 bytes, and 23 are left");
  refused(npy(npy_header, six + "x"), "1 bytes follow the array");
  refused(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", six), "elements are of type '<f8'; expected '<f4'");
  refused(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", six), "Fortran order");
  refused(npy("{'descr': '<f4', 'fortran_order': False, }", six), "does not say descr, fortran_order and shape");
  refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999, 99999999, 9), }", six), "more elements than a file can hold");
  refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': ('two', 3), }", six), "does not say descr, fortran_order and shape");
}

TEST_CASE("npy: an absent file is named") { CHECK_THROWS_WITH(examples::read_npy("absent.npy"), "absent.npy: cannot be opened for reading"); }

TEST_CASE("safetensors: a good file") {
  CHECK(read_tensor(safetensors(one_tensor("F32", "[2,3]", "[0,24]"), six)) == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(read_tensor(safetensors(one_tensor("F32", "[1]", "[8,12]"), six), {1}) == std::vector<float>{3});
}

TEST_CASE("safetensors: what is asked for must be there") {
  const auto refused = [](const std::string &header, const std::vector<std::size_t> &shape, const char *why) {
    CHECK_THROWS_WITH(read_tensor(safetensors(header, six), shape), Contains(why));
  };
  refused(R"({"v":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})", {2, 3}, "there is no tensor 'w' among its 1");
  refused(one_tensor("BF16", "[2,3]", "[0,12]"), {2, 3}, "tensor 'w' is of type BF16; expected F32");
  refused(one_tensor("F32", "[2,3]", "[0,24]"), {3, 2}, "tensor 'w' has shape [2, 3]; expected [3, 2]");
  refused(one_tensor("F32", "[2,3]", "[0,20]"), {2, 3}, "takes 20 bytes in the file; expected 24");
}

TEST_CASE("safetensors: damaged files") {
  const auto refused = [](const std::string &bytes, const char *why) { CHECK_THROWS_WITH(read_tensor(bytes), Contains(why)); };
  const std::string header = one_tensor("F32", "[2,3]", "[0,24]");
  refused("", "truncated: the header's length takes 8 bytes, and 0 are left");
  refused(little_endian(0xffffffffffffffff, 8) + header, "the header says that it takes 18446744073709551615 bytes");
  refused(little_endian(99'000'000, 8) + header, "truncated: the header takes 99000000 bytes");
  refused(safetensors("{\"w\": not json", six), "the header is not a JSON object");
  refused(safetensors("[1, 2]", six), "the header is not a JSON object");
  refused(safetensors(header, six.substr(0, 23)), "truncated: tensor 'w' ends at byte");
  refused(safetensors(one_tensor("F32", "[2,3]", "[24,0]"), six), "tensor 'w' ends before it begins");
  refused(safetensors(one_tensor("F32", "[2,3]", "[0]"), six), "tensor 'w' needs two data_offsets");
  refused(safetensors(one_tensor("F32", "\"2x3\"", "[0,24]"), six), "tensor 'w' needs dtype, shape and data_offsets");
  refused(safetensors(R"({"w":{"shape":[2,3],"data_offsets":[0,24]}})", six), "tensor 'w' needs dtype, shape and data_offsets");
  refused(safetensors(one_tensor("F32", "[2,3]", "[0,18446744073709551615]"), six), "truncated: tensor 'w'");
}

// Tensors that reach over more than 2^31 elements: each call against the same call on contiguous tensors, bit by bit. They lie in address
// space of which only the rows exist, so that a wrong offset is a fault, or a wrong number.
#include "shape_kernels_under_test.hpp"
#include "tests/support/target_under_test.hpp"
#include <cstring>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

using namespace attune;

namespace {

/// Address space, of which only the pages that are asked for exist.
class sparse_memory {
public:
  explicit sparse_memory(std::size_t bytes) : bytes_(bytes), start_(static_cast<char *>(mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    REQUIRE(static_cast<void *>(start_) != MAP_FAILED);
  }
  ~sparse_memory() { munmap(start_, bytes_); }
  sparse_memory(const sparse_memory &) = delete;
  sparse_memory &operator=(const sparse_memory &) = delete;

  char *data() const { return start_; }
  /// Bytes from here on, in pages that exist from now on.
  char *bytes(std::size_t first, std::size_t count) const {
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), begin = first / page * page;
    REQUIRE(mprotect(start_ + begin, first + count - begin, PROT_READ | PROT_WRITE) == 0);
    return start_ + first;
  }

private:
  std::size_t bytes_;
  char *start_;
};

/// A tensor of a checked call, copied to where its strides lead far apart: of one that is written, the outermost axis by nearly 2^31
/// elements, and the next by as much as fits in between; of one that is read, all axes by nearly that many, each by another number, so
/// that no two rows meet.
class far_copy {
public:
  explicit far_copy(const check_tensor &near) : near_(near) {
    const tensor_shape &shape = near.shape();
    ref_.element = shape.element, ref_.writable = shape.written, ref_.rank = shape.rank;
    constexpr std::int64_t most = std::int64_t{1} << 31;
    std::int64_t less = 64, stride = most - less, last = 0;
    for (int a = 0; a < shape.rank; ++a) {
      ref_.axes[a] = shape.axes[a].axis;
      ref_.extent[a] = near.extents()[a];
      ref_.stride[a] = a == shape.rank - 1 ? 1 : stride;
      last += (ref_.extent[a] - 1) * ref_.stride[a];
      less *= 64;
      if (a + 1 < shape.rank) stride = shape.written ? (stride - 64) / near.extents()[a + 1] : most - less;
    }
    reaches_over_ = last + 1;
    memory_ = std::make_unique<sparse_memory>(static_cast<std::size_t>(last + 1) * size_of(shape.element));
    near.for_each([&](const auto &at) {
      if (at.back() != 0) return;
      char *const row = memory_->bytes(byte_of(at), row_bytes());
      if (!shape.written) std::memcpy(row, near_row(at), row_bytes());
    });
    ref_.data = memory_->data();
  }

  const tensor_ref &ref() const { return ref_; }
  std::int64_t reaches_over() const { return reaches_over_; }
  /// Rows that differ from those of the contiguous tensor.
  int wrong_rows() const {
    int wrong = 0;
    near_.for_each([&](const auto &at) { wrong += at.back() == 0 && std::memcmp(memory_->data() + byte_of(at), near_row(at), row_bytes()) != 0; });
    return wrong;
  }

private:
  const check_tensor &near_;
  tensor_ref ref_;
  std::int64_t reaches_over_ = 0;
  std::unique_ptr<sparse_memory> memory_;

  std::size_t row_bytes() const { return static_cast<std::size_t>(near_.extents().back()) * size_of(ref_.element); }
  std::size_t byte_of(const std::vector<std::int64_t> &at) const {
    std::int64_t offset = 0;
    for (std::size_t a = 0; a < at.size(); ++a) offset += at[a] * ref_.stride[a];
    return static_cast<std::size_t>(offset) * size_of(ref_.element);
  }
  /// The tensor is contiguous along its last axis.
  const char *near_row(const std::vector<std::int64_t> &at) const {
    std::int64_t offset = 0;
    for (std::size_t a = 0; a < at.size(); ++a) offset += at[a] * near_.strides()[a];
    return static_cast<const char *>(near_.data()) + offset * static_cast<std::int64_t>(size_of(ref_.element));
  }
};

/// The call on contiguous tensors agrees with the reference, and the same call on far ones with it.
template <class Spec> void check_far(int queries, int keys) {
  check_case how;
  how.batch = 2, how.queries = queries, how.keys = keys;
  INFO(queries << " queries, " << keys << " keys");
  kernel_call<Spec> near(how);
  near.must_agree();
  const signature s = artefact<Spec>::info().call;
  std::vector<std::unique_ptr<far_copy>> copies;
  std::vector<tensor_ref> refs;
  for (int i = 0; i < s.tensor_count; ++i) {
    copies.push_back(std::make_unique<far_copy>(near.tensor(s.tensors[i].name)));
    refs.push_back(copies.back()->ref());
    if (s.tensors[i].rank > 2) CHECK(copies.back()->reaches_over() > std::int64_t{1} << 31);
  }
  const status ended = call(artefact<Spec>::info(), refs.data(), s.tensor_count, nullptr, 0, options_under_test());
  INFO(ended.message());
  REQUIRE(ended);
  for (int i = 0; i < s.tensor_count; ++i) {
    INFO(s.tensors[i].name);
    CHECK(copies[static_cast<std::size_t>(i)]->wrong_rows() == 0);
  }
}

} // namespace

TEMPLATE_TEST_CASE("tensors that reach over more than 2^31 elements", "", shapes::grouped, shapes::even, shapes::pages) {
  for (const int queries : {1, 40}) // decode and prefill, short and long
    for (const int keys : {37, 520}) check_far<TestType>(queries, keys);
}

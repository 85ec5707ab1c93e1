#include "runtime/cache.hpp"
#include "runtime/bind.hpp"
#include <algorithm>
#include <cmath>

namespace attune {
namespace {

/// Calls f with a value of the type that stores the element.
template <class F> void with_element(element_type e, F f) {
  switch (e) {
    case element_type::f32: return f(float());
    case element_type::f16: return f(f16_t());
    case element_type::bf16: return f(bf16_t());
    case element_type::int8: return f(std::int8_t());
    case element_type::e4m3: return f(f8_e4m3_t());
    case element_type::e5m2: return f(f8_e5m2_t());
    case element_type::boolean: case element_type::i32: return;
  }
}

template <class T> T stored_as(float x) { return static_cast<T>(x); }
template <> std::int8_t stored_as<std::int8_t>(float x) { return std::isnan(x) ? 0 : static_cast<std::int8_t>(std::clamp(std::nearbyint(x), -127.0f, 127.0f)); }

float largest_code(element_type e) { return e == element_type::int8 ? 127.0f : e == element_type::e4m3 ? 448.0f : e == element_type::e5m2 ? 57344.0f : 1.0f; }

/// max |x|; NaN if there is one.
template <class From> float largest(const From *row, std::int64_t count) {
  float most = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const float x = std::fabs(static_cast<float>(row[i]));
    if (!(x <= most)) most = x;
    if (std::isnan(x)) return x;
  }
  return most;
}

/// Everything that one append needs, bound and checked as a call's arguments are.
class appending {
public:
  status bind_all(const kv_cache &cache, const tensor_ref &new_key, const tensor_ref &new_value, const tensor_ref &new_lengths) {
    if (cache.key.element == element_type::int8 && (cache.key_scale.rank == 0 || cache.value_scale.rank == 0))
      return failure(error_code::missing_tensor, "append: int8 keys and values need scales. Pass key_scale and value_scale, for each head or for each key.");
    describe(cache, new_key, new_value, new_lengths);
    if (status s = bind(info_, given_, info_.call.tensor_count, nullptr, 0, c_); !s) return s;
    if (status s = check_lengths(); !s) return s;
    if (status s = check_scales(); !s) return s;
    if (status s = check_finite(); !s) return s;
    return is_paged(info_.n) ? check_pages() : status{};
  }

  void write() {
    for (std::int64_t b = 0; b < c_.batch; ++b)
      for (std::int64_t i = 0; i < count_of(b); ++i)
        for (std::int64_t h = 0; h < at(tensor_role::key).extent[1]; ++h)
          for (const pair_of_tensors &p : pairs) write_row(p, b, h, i);
    for (std::int64_t b = 0; b < c_.batch; ++b) length(b) += static_cast<std::int32_t>(count_of(b));
  }

private:
  struct pair_of_tensors {
    tensor_role stored, scale, added;
  };
  static constexpr pair_of_tensors pairs[] = {{tensor_role::key, tensor_role::key_scale, tensor_role::query}, {tensor_role::value, tensor_role::value_scale, tensor_role::output}};
  static constexpr tensor_role counts_role = tensor_role::input;

  artefact_info info_ = {"append", "", {}, {}, nullptr, 0};
  tensor_ref given_[9];
  bound_call c_;
  std::int64_t capacity_ = 0;

  const bound_tensor &at(tensor_role role) const { return c_.tensors[place_of(info_, role)]; }
  bool has(tensor_role role) const { return place_of(info_, role) >= 0; }

  void add(tensor_shape shape, const tensor_ref &r, bool written) {
    shape.written = written;
    for (int a = 0; a < shape.rank; ++a) shape.axes[a].extent = dynamic_extent;
    given_[info_.call.tensor_count] = r;
    info_.call.tensors[info_.call.tensor_count++] = shape;
  }
  void add_new(const char *name, tensor_role role, axis_name dim, const tensor_ref &r) {
    add({name, role, is_float(r.element) ? r.element : element_type::f32, false, true, 4, {{axis_name::batch}, {axis_name::kv_head}, {axis_name::query}, {dim}}}, r, false);
  }

  /// The signature of this append: what the cache's own tensors say it is.
  void describe(const kv_cache &cache, const tensor_ref &new_key, const tensor_ref &new_value, const tensor_ref &new_lengths) {
    numbers &n = info_.n;
    n.element = cache.key.element == element_type::boolean || cache.key.element == element_type::i32 ? element_type::f32 : cache.key.element;
    n.key_lengths = true;
    const bool paged = cache.page_table.rank > 0;
    n.cache.page_size = paged ? 1 : 0;
    for (int a = 0; a < cache.key.rank && paged; ++a)
      if (cache.key.axes[a] == axis_name::slot) n.cache.page_size = static_cast<int>(std::clamp<std::int64_t>(cache.key.extent[a], 1, INT32_MAX));
    for (int a = 0; a < cache.page_table.rank; ++a)
      if (cache.page_table.axes[a] == axis_name::sequence_page) capacity_ = cache.page_table.extent[a] * n.cache.page_size;
    const bool scaled = cache.key_scale.rank > 0;
    n.cache.scale = !scaled ? kv_scaling::off : cache.key_scale.rank == 1 ? kv_scaling::per_head : kv_scaling::per_token;
    add(kv_shape(n, "key", tensor_role::key, axis_name::head_dim), cache.key, true);
    add(kv_shape(n, "value", tensor_role::value, axis_name::value_dim), cache.value, true);
    add_new("new_key", pairs[0].added, axis_name::head_dim, new_key);
    add_new("new_value", pairs[1].added, axis_name::value_dim, new_value);
    if (scaled) {
      const bool written = n.cache.scale == kv_scaling::per_token;
      add(kv_scale_shape(n, "key_scale", tensor_role::key_scale), cache.key_scale, written);
      add(kv_scale_shape(n, "value_scale", tensor_role::value_scale), cache.value_scale, written);
    }
    if (is_paged(n)) add({"page_table", tensor_role::page_table, element_type::i32, false, false, 2, {{axis_name::batch}, {axis_name::sequence_page}}}, cache.page_table, false);
    if (new_lengths.rank > 0) add({"new_lengths", counts_role, element_type::i32, false, false, 1, {{axis_name::batch}}}, new_lengths, false);
    add({"key_lengths", tensor_role::key_lengths, element_type::i32, true, false, 1, {{axis_name::batch}}}, cache.key_lengths, true);
  }

  std::int32_t &length(std::int64_t b) const { return static_cast<std::int32_t *>(at(tensor_role::key_lengths).data)[b * at(tensor_role::key_lengths).stride[0]]; }
  std::int64_t count_of(std::int64_t b) const {
    return has(counts_role) ? static_cast<const std::int32_t *>(at(counts_role).data)[b * at(counts_role).stride[0]] : c_.query;
  }

  std::int64_t first_of(std::int64_t b) const { return c_.query - count_of(b); } ///< of the new keys, the first that counts

  status check_lengths() {
    if (!is_paged(info_.n)) capacity_ = c_.key;
    for (std::int64_t b = 0; b < c_.batch; ++b) {
      const long long more = count_of(b), held = length(b);
      if (more < 0 || more > c_.query)
        return failure(error_code::bad_lengths, "append: tensor new_lengths: batch %lld gets %lld keys, expected 0 to %lld (the new keys).", static_cast<long long>(b), more,
                       static_cast<long long>(c_.query));
      if (held + more > capacity_)
        return failure(error_code::bad_lengths, "append: batch %lld holds %lld keys and gets %lld more, but there is room for %lld. Give the cache more %s.", static_cast<long long>(b), held,
                       more, static_cast<long long>(capacity_), is_paged(info_.n) ? "pages" : "keys");
    }
    return {};
  }

  status check_scales() const {
    if (info_.n.cache.scale != kv_scaling::per_head) return {};
    for (const pair_of_tensors &p : pairs)
      for (std::int64_t h = 0; h < at(p.scale).extent[0]; ++h) {
        const float scale = *scale_at(p, 0, h, 0);
        if (!(scale > 0) || !std::isfinite(scale))
          return failure(error_code::bad_number, "append: tensor %s: kv_head %lld has the scale %g, expected a finite number above 0.", at(p.scale).shape->name,
                         static_cast<long long>(h), static_cast<double>(scale));
      }
    return {};
  }

  status check_finite() const {
    if (info_.n.element != element_type::int8 || info_.n.cache.scale != kv_scaling::per_head) return {};
    for (const pair_of_tensors &p : pairs)
      for (std::int64_t b = 0; b < c_.batch; ++b)
        for (std::int64_t h = 0; h < at(p.added).extent[1]; ++h)
          for (std::int64_t i = first_of(b); i < c_.query; ++i) {
            bool finite = true;
            with_float(at(p.added).shape->element, [&](auto from) { finite = std::isfinite(largest(row<decltype(from)>(at(p.added), b, h, i), at(p.added).extent[3])); });
            if (!finite)
              return failure(error_code::bad_number, "append: tensor %s: batch %lld, kv_head %lld, query %lld holds a number that is not finite, which int8 cannot store.",
                             at(p.added).shape->name, static_cast<long long>(b), static_cast<long long>(h), static_cast<long long>(i));
          }
    return {};
  }

  std::int64_t entry(std::int64_t b, std::int64_t p) const {
    const bound_tensor &table = at(tensor_role::page_table);
    return static_cast<const std::int32_t *>(table.data)[b * table.stride[0] + p * table.stride[1]];
  }
  std::int64_t first_page(std::int64_t b) const { return length(b) / info_.n.cache.page_size; }
  std::int64_t end_page(std::int64_t b) const { return count_of(b) == 0 ? first_page(b) : (length(b) + count_of(b) - 1) / info_.n.cache.page_size + 1; }

  /// The pages that will be written: inside the cache, and each for one batch.
  status check_pages() const {
    const long long pages = at(tensor_role::key).extent[0];
    for (std::int64_t b = 0; b < c_.batch; ++b)
      for (std::int64_t p = first_page(b); p < end_page(b); ++p) {
        const long long page = entry(b, p);
        if (page < 0 || page >= pages)
          return failure(error_code::bad_page, "append: tensor page_table: batch %lld, sequence_page %lld holds page %lld, expected 0 to %lld (the cache has %lld pages).",
                         static_cast<long long>(b), static_cast<long long>(p), page, pages - 1, pages);
        for (std::int64_t other = 0; other < b; ++other)
          for (std::int64_t q = first_page(other); q < end_page(other); ++q)
            if (entry(other, q) == page)
              return failure(error_code::overlap, "append: tensor page_table: page %lld would be written for batch %lld and for batch %lld. Give each a page of its own.", page,
                             static_cast<long long>(other), static_cast<long long>(b));
      }
    return {};
  }

  template <class T> static T *row(const bound_tensor &t, std::int64_t outer, std::int64_t head, std::int64_t place) {
    return static_cast<T *>(t.data) + outer * t.stride[0] + head * t.stride[1] + place * t.stride[2];
  }
  float *scale_at(const pair_of_tensors &p, std::int64_t outer, std::int64_t head, std::int64_t place) const {
    const bound_tensor &t = at(p.scale);
    if (info_.n.cache.scale == kv_scaling::per_head) return static_cast<float *>(t.data) + head * t.stride[0];
    return row<float>(t, outer, head, place);
  }

  void write_row(const pair_of_tensors &p, std::int64_t b, std::int64_t h, std::int64_t i) {
    const bound_tensor &stored = at(p.stored), &added = at(p.added);
    const std::int64_t position = length(b) + i, page_size = info_.n.cache.page_size;
    const std::int64_t outer = page_size > 0 ? entry(b, position / page_size) : b, place = page_size > 0 ? position % page_size : position;
    with_float(added.shape->element, [&](auto from) {
      const auto *x = row<decltype(from)>(added, b, h, first_of(b) + i);
      float scale = 1;
      if (info_.n.cache.scale == kv_scaling::per_token) *scale_at(p, outer, h, place) = scale = largest(x, added.extent[3]) / largest_code(info_.n.element);
      if (info_.n.cache.scale == kv_scaling::per_head) scale = *scale_at(p, outer, h, place);
      if (scale == 0) scale = 1; // a row of zeros
      with_element(info_.n.element, [&](auto to) {
        auto *y = row<decltype(to)>(stored, outer, h, place);
        for (std::int64_t d = 0; d < added.extent[3]; ++d) y[d] = stored_as<decltype(to)>(static_cast<float>(x[d]) / scale);
      });
    });
  }
};

} // namespace

status try_append(const kv_cache &cache, const any_tensor &new_key, const any_tensor &new_value, const any_tensor &new_lengths) noexcept {
  appending a;
  if (status s = a.bind_all(cache, new_key, new_value, new_lengths); !s) return s;
  a.write();
  return {};
}

} // namespace attune

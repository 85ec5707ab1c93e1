#include "runtime/dl_tensor.hpp"
#include "runtime/axis_order.hpp"

namespace attune {
namespace {

enum { signed_integer = 0, unsigned_integer = 1, floating = 2, bfloat = 4, boolean = 6, e4m3 = 10, e5m2 = 12 }; // type codes of DLPack 1.1

bool read_element(const attune_dl_tensor &t, element_type &e) {
  const int code = t.dtype.code, bits = t.dtype.bits;
  if (t.dtype.lanes != 1) return false;
  if (code == floating && bits == 32) e = element_type::f32;
  else if (code == floating && bits == 16) e = element_type::f16;
  else if (code == bfloat && bits == 16) e = element_type::bf16;
  else if (code == signed_integer && bits == 32) e = element_type::i32;
  else if (code == signed_integer && bits == 8) e = element_type::int8;
  else if (code == e4m3 && bits == 8) e = element_type::e4m3;
  else if (code == e5m2 && bits == 8) e = element_type::e5m2;
  else if ((code == unsigned_integer || code == boolean) && bits == 8) e = element_type::boolean;
  else return false;
  return true;
}

/// The element type of a DLTensor, of those that Attune does not take as well: "i64", or the codes where it has no short name.
std::string element_text(const attune_dl_tensor &t) {
  constexpr const char *letters[] = {"i", "u", "f", "", "bf", "complex"};
  const int code = t.dtype.code, bits = t.dtype.bits, lanes = t.dtype.lanes;
  const bool named = code < 6 && *letters[code];
  std::string text = named ? letters[code] + std::to_string(bits) : "DLPack type code " + std::to_string(code) + " with " + std::to_string(bits) + " bits";
  if (lanes != 1) text += " with " + std::to_string(lanes) + " lanes";
  return text;
}

} // namespace

status read_tensor(const char *owner, const tensor_shape &shape, const attune_dl_tensor &t, tensor_ref &r) {
  enum { host = 1, pinned = 3, managed = 13 };
  const int device = static_cast<int>(t.device.device_type);
  if (device != host && device != pinned && device != managed)
    return failure(error_code::unsupported_device, "%s: tensor %s is on device type %d. Pass it in the host's memory.", owner, shape.name, device);
  const bool is_wrong_byte = t.dtype.code == unsigned_integer && shape.element != element_type::boolean; // uint8 is for booleans alone
  if (!read_element(t, r.element) || is_wrong_byte)
    return failure(error_code::wrong_element, "%s: tensor %s: expected %s elements, got %s. Convert them to %s before the call.", owner, shape.name, name_of(shape.element),
                   element_text(t).c_str(), name_of(shape.element));
  const bool has_batch = shape.rank > 0 && shape.axes[0].axis == axis_name::batch;
  const int left_out = has_batch && t.ndim == shape.rank - 1 ? 1 : 0;
  if (t.ndim != shape.rank - left_out)
    return failure(error_code::wrong_axis, "%s: tensor %s: expected %d axes %s, got %d.%s", owner, shape.name, shape.rank, axes_text(shape).c_str(), static_cast<int>(t.ndim),
                   has_batch ? " Batch may be left out." : "");
  if (t.ndim > 0 && !t.shape) return failure(error_code::wrong_extent, "%s: tensor %s has no shape (NULL).", owner, shape.name);
  r.data = t.data ? static_cast<char *>(t.data) + t.byte_offset : nullptr;
  r.writable = true; // DLPack does not say
  r.rank = static_cast<int>(t.ndim);
  std::int64_t contiguous = 1;
  for (int i = r.rank - 1; i >= 0; --i) {
    r.axes[i] = shape.axes[i + left_out].axis;
    r.extent[i] = t.shape[i];
    r.stride[i] = t.strides ? t.strides[i] : contiguous;
    contiguous *= t.shape[i];
  }
  return {};
}

} // namespace attune

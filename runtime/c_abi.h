/* Attune's C ABI: any spec of the program's libraries by name, tensors as DLPack's DLTensor, by name, without copies.
 * C99 and C++. No function throws, prints or aborts; all are safe to call from several threads.
 *
 * Tensor names are the spec's: "query", "key", "value", "output" (or "hidden", "context", "weights", "output"), "lse",
 * "attention_weights", "scaled_scores", "capped_scores", "masked_scores", the names of its inputs, masks and what its properties bring
 * ("boolean_mask", "prefix_lengths", "query_documents", "query_offsets", "block_table", "alibi_slopes", "sinks" ...), "key_scale", "value_scale",
 * "page_table", "position_offsets", "cos_table", "sin_table", "key_lengths"; numbers: "scale", "softcap", "window", "window_right",
 * "sigmoid_bias". attune_spec_text lists those of a spec. Axes stand
 * in the order of the spec's layout: query, key, value and output as [batch, head, token, dim] (bhsd) or [batch, token,
 * head, dim] (bshd); all others as attune_spec_text lists them. The leading batch axis may be left out. Strides are in
 * elements, NULL means contiguous; byte_offset counts. Boolean masks are kDLBool or uint8. */
#ifndef ATTUNE_C_ABI_H
#define ATTUNE_C_ABI_H
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define ATTUNE_API __attribute__((visibility("default")))
#else
#define ATTUNE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* With dlpack.h included first, attune_dl_tensor is its DLTensor; otherwise a struct of the same layout. */
#ifdef DLPACK_DLPACK_H_
typedef DLTensor attune_dl_tensor;
#else
typedef struct {
  void *data;
  struct { int32_t device_type, device_id; } device;               /* 1: host memory */
  int32_t ndim;
  struct { uint8_t code, bits; uint16_t lanes; } dtype;            /* code 0 int, 1 uint, 2 float, 4 bfloat, 6 bool, 10 e4m3fn, 12 e5m2 */
  int64_t *shape, *strides;
  uint64_t byte_offset;
} attune_dl_tensor;
#endif

typedef struct attune_packed_weights attune_packed_weights;

typedef struct {
  const char *name;
  const attune_dl_tensor *tensor;
  const attune_packed_weights *weights; /* instead of `tensor` for the tensor "weights" */
} attune_named_tensor;

typedef struct {
  const char *name;
  double value;
} attune_named_number;

/* Zero-initialise, set size to sizeof(attune_options) (0 is an error), then what is wanted. A NULL pointer to it means all defaults. */
typedef struct {
  size_t size;
  const char *target;  /* NULL: the default target, or the best that runs here */
  int threads;         /* at most this many; 0: ATTUNE_THREADS, or as many as the process may use */
  void *pool_self;     /* a host's own threads: calls task(argument, i) once for each i < count, returns when all ended */
  void (*pool_run)(void *pool_self, int count, void (*task)(void *argument, int i), void *argument);
  void *memory_self;   /* a host's own allocator of 64-byte aligned blocks; release may be NULL */
  void *(*memory_allocate)(void *memory_self, size_t bytes);
  void (*memory_release)(void *memory_self, void *block);
  void *cuda_context, *cuda_stream;
} attune_options;

/* Runs a spec. Returns 0, or a code whose name attune_error_name gives; then `message` (may be NULL) holds what was wrong,
 * where, expected and got, and what to do, cut to message_size bytes with the final 0. On an error nothing was written,
 * unless generated code itself failed. */
ATTUNE_API int attune_call(const char *spec, const attune_named_tensor *tensors, size_t tensor_count, const attune_named_number *numbers,
                           size_t number_count, const attune_options *options, char *message, size_t message_size);

/* Writes new keys and values behind those that a cache holds, as the spec stores them, and raises "key_lengths": tensors "key", "value",
 * "key_lengths", as the spec has them "key_scale", "value_scale" (for each token: written; for each head: read) and "page_table", all as
 * in a call; "new_key", "new_value" f32, f16 or bf16 [batch, kv_head, token, dim] in the spec's layout; and, where batches get
 * different numbers of them, "new_lengths" i32 [batch]: how many of each, the last ones. Returns as attune_call; on an error nothing was
 * written. */
ATTUNE_API int attune_append(const char *spec, const attune_named_tensor *tensors, size_t count, char *message, size_t message_size);

/* Packs the weights of a spec's projections: "query_weight" [head, head_dim, model_dim], "key_weight", "value_weight"
 * [kv_head, dim, model_dim], "output_weight" [head, value_dim, model_dim], "query_bias" [head, head_dim], "key_bias",
 * "value_bias", "output_bias" [model_dim], as far as the spec has them; f32, f16 or bf16, any strides. A PyTorch Linear's
 * weight [heads * dim, model_dim] is the same memory as [head, dim, model_dim]; that of the output projection,
 * [model_dim, heads * value_dim], needs the strides {value_dim, 1, heads * value_dim}. Free the result with attune_free_weights. */
ATTUNE_API int attune_pack_weights(const char *spec, const attune_named_tensor *weights, size_t count, const attune_options *options,
                                   attune_packed_weights **packed, char *message, size_t message_size);
ATTUNE_API void attune_free_weights(attune_packed_weights *packed);

/* Partial results of one spec with log-sum-exp, over disjoint sets of keys, put together (runtime/merge.hpp has the formula): output
 * [batch, head, query, value_dim] in f32, f16 or bf16, lse [batch, head, query] in f32, with any strides. Each of the two results
 * may be the very tensor of a part; any other overlap is an error. */
typedef struct {
  const attune_dl_tensor *output, *lse;
} attune_merge_part;
ATTUNE_API int attune_merge(const attune_merge_part *parts, size_t count, const attune_dl_tensor *output, const attune_dl_tensor *lse, char *message,
                            size_t message_size);

ATTUNE_API const char *attune_error_name(int code);

/* The names of all specs, in `names` as far as capacity goes; returns how many there are. The texts live for ever. */
ATTUNE_API size_t attune_specs(const char **names, size_t capacity);

/* JSON, cut to size bytes with the final 0; each returns the bytes that the whole text takes with its final 0, or 0 if
 * there is no such spec.
 * attune_spec_text: the spec's hash, tensors (name, element, written, axes, extents; -1: known at the call), weights, numbers,
 * and variants (target, and its kernels in the order in which a call looks: max_queries and max_keys of the calls that take
 * it, null: any number; schedule).
 * attune_targets: of the spec (NULL: of all libraries), each target's name, in_build, runs_here and why_not. */
ATTUNE_API size_t attune_spec_text(const char *spec, char *text, size_t size);
ATTUNE_API size_t attune_targets(const char *spec, char *text, size_t size);

/* The process's default target; NULL: back to ATTUNE_TARGET, or the best that runs here. Returns 0 or a code; a target that is
 * known but cannot run here makes later calls fail. */
ATTUNE_API int attune_set_default_target(const char *target, char *message, size_t message_size);

ATTUNE_API size_t attune_workspace_bytes(void);
ATTUNE_API void attune_release_workspace(void);

#ifdef __cplusplus
}
#endif
#endif

/*
 * gnnmg.h - graph neural networks for every language that can call C.
 *
 * This header is the whole interface of libgnnmg and its manual; read it from the top. It is C99
 * and includes nothing but two headers of the C library.
 */
#ifndef GNNMG_H
#define GNNMG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @page header The header as a manual
 *
 * A program opens a data set, makes a model and trains it:
 *
 * @snippet node_classification.c whole program
 *
 * A training loop has three levels:
 * - gnnmg_trainer_run(): the library runs the loop;
 * - gnnmg_trainer_step(): the caller runs the loop, the library each step;
 * - gnnmg_loader_next(), gnnmg_model_forward(), gnnmg_model_backward(), gnnmg_comm_all_reduce(),
 *   gnnmg_optimizer_step(): the caller runs everything.
 *
 * @section names Names
 * A function is `gnnmg_<noun>_<verb>` or `gnnmg_<noun>_<property>`, a type `gnnmg_<noun>`, with
 * `_config` for settings, `_info` for facts, `_fn` for callbacks. Ids, counts and shapes are
 * `int64_t`, bytes `size_t`, flags `int32_t` 0 or 1, enumerations `int32_t`.
 *
 * @section handles Handles
 * A handle is a token, not an address: NULL, a freed handle, another kind or garbage gives
 * ::GNNMG_ERR_HANDLE. The caller frees every returned handle, in any order, on any thread, or all
 * with gnnmg_context_close(). An object lives as long as another needs it. A free never fails or
 * waits; it cancels the object's work. Freeing NULL or a stale handle does nothing.
 *
 * @section errors Errors
 * A ::gnnmg_status is 0 for success, positive for an answer (::GNNMG_END, ::GNNMG_PENDING),
 * negative for an error. After an error every output but `needed` is NULL or 0, and nothing has
 * changed. gnnmg_last_error() names the culprit (argument and position, file, setting, rank,
 * process or part), the value found and the value expected.
 *
 * `@return` lists statuses besides ::GNNMG_OK and these:
 * - every function: ::GNNMG_ERR_HANDLE, ::GNNMG_ERR_INVALID_ARGUMENT (a NULL output, a value out of
 *   range, objects of two contexts), ::GNNMG_ERR_BUSY, ::GNNMG_ERR_VERSION (a struct with fields
 *   unknown to the library), ::GNNMG_ERR_NO_MEMORY, ::GNNMG_ERR_FORKED, ::GNNMG_ERR_INTERNAL;
 * - ::GNNMG_ERR_NOT_FOUND: no such name, key, path, index or number, or an object without the
 *   features, labels, split or parts that the call needs;
 * - ::GNNMG_ERR_RANGE: an entry of an array that does not exist;
 * - with files: ::GNNMG_ERR_IO; when reading also ::GNNMG_ERR_FORMAT, ::GNNMG_ERR_CHECKSUM,
 *   ::GNNMG_ERR_NAN, ::GNNMG_ERR_RANGE;
 * - with callbacks: ::GNNMG_ERR_CALLBACK; with `timeout_ms`: ::GNNMG_PENDING,
 *   ::GNNMG_ERR_CANCELLED; on GPUs: ::GNNMG_ERR_DEVICE_LOST;
 * - with other processes or servers, also when parts of a graph are read: ::GNNMG_ERR_DEPENDENCY
 *   (no libgnnmg_grpc.so), ::GNNMG_ERR_INVALID_ARGUMENT (other machines could connect without a
 *   token, or with neither TLS nor `insecure`), ::GNNMG_ERR_AUTH (a token or certificate is
 *   missing, wrong, or readable by others), ::GNNMG_ERR_UNAVAILABLE (a server, address or port),
 *   ::GNNMG_ERR_TIMEOUT, ::GNNMG_ERR_PEER_LOST, ::GNNMG_ERR_PROTOCOL.
 *
 * @section structs Structs
 * The caller sets `struct_size`, the first field, to the struct's `sizeof`. 0 is the default of
 * every other config field, so `gnnmg_x_config config = {.struct_size = sizeof config};` is
 * complete; NULL means the same. Later versions only append fields. Unknown bytes must be 0. The
 * library keeps no pointer from a struct.
 *
 * @section named_settings Settings
 * `settings` sets fields of `config`, and many settings more, by name: words `name=value` with
 * blanks between them, such as "heads=8 negative_slope=0.1". A flag is 0 or 1, a choice a word in
 * lower case ("relu" for ::GNNMG_ACTIVATION_RELU), a list has commas ("10,10"); a value with blanks
 * is in double quotes. A text has at most 65 535 bytes. A setting given both by field and by name
 * is an error, as is one that has no effect beside the others, unless it has its default. Errors
 * list the names or values that exist; gnnmg_setting_get_info() and the page
 * [Settings](settings.md) describe all.
 *
 * @section parameters Parameters
 * These mean the same everywhere:
 * - `context`, `graph`, `dataset`, `model` and other nouns: a handle; as an output, a new one;
 * - `config`, `settings`: settings, or NULL; `info`, `metrics`: a struct that the function fills;
 * - `node_type`, `edge_type`: index of the type, 0 in graphs with one; `source_type`,
 *   `target_type`: node types at the ends of an edge type; `name`: of a tensor, type or split;
 * - `dtype`, `num_dims`, `shape`: type of an array's elements, number of dimensions (at most 4) and
 *   their sizes, rows first; `num_x`: number of entries of the array `x`;
 * - `index`, `position`, `layer`, `epoch`, `step`: from 0; functions that list return ::GNNMG_END
 *   after the last;
 * - `sources`, `targets`, `edge_ids`: source, target and id of each edge; ids count from 0;
 * - `indptr`, `indices`, `values`: rows of variable length, [rows + 1], [entries], [entries]: row r
 *   has entries indptr[r] to indptr[r+1] - 1. Of edges, rows are targets and entries sources. A
 *   sparse tensor has i64, i32 and f32; `num_columns` is the width of its dense form;
 * - `path`, `folder`: written whole or not at all. A file is replaced; a new folder must not exist;
 * - `token_file`: path of a secret of 32 to 1024 bytes, in a file of this user or root that nobody
 *   else may read (mode 0600); one of root may be readable by its group (0640 or 0440);
 * - `text`, `capacity`, `needed`: the function writes at most `capacity` bytes, with the final NUL,
 *   and sets `needed` to the size of the whole text;
 * - `function`, `user_data`, `release`: see Callbacks; `timeout_ms`: see Waiting.
 *
 * Texts are UTF-8 and end with NUL. A `const char**` output is borrowed from its object.
 *
 * @section tensors Tensors
 * A tensor is a handle of a contiguous, row-major array. Any number of calls may use one at once,
 * and it may be freed meanwhile. @ref tensor makes one of an array of the caller, or of a DLPack
 * tensor, which NumPy, PyTorch, JAX and others exchange without copying.
 * - `import` functions free the handle on success and keep the memory, which must not change. They
 *   copy edges, and any array whose tensor has no `release`.
 * - `export` functions return a tensor that keeps its memory alive, even when all other handles are
 *   freed. Shared data is read-only.
 * - Other functions use or copy an array during the call only.
 *
 * When nothing needs the caller's memory any more, the library calls its `release` or DLPack
 * deleter, on a host thread inside a call. Two threads must not write to the same elements. Tensors
 * of models and mini-batches on a GPU are in its memory, all others in main memory.
 *
 * @section threads Threads
 * Each function follows one of three rules:
 * - <b>(a)</b> at any time, on any thread: functions on contexts, tensors and statuses, and every
 *   free, cancel and stop;
 * - <b>(b)</b> together with other (b) calls: functions that only read their first handle, which is
 *   `const`;
 * - <b>(c)</b> alone: all others. Meanwhile (b) and (c) calls on the object give ::GNNMG_ERR_BUSY.
 *
 * `@threading` marks exceptions. A collision is an error, never a race. A trainer holds its model
 * from start until a wait reports the end of training.
 *
 * @section waiting Waiting
 * A function with `timeout_ms` waits at most that many milliseconds; -1 means until the configured
 * deadlines. Then it returns ::GNNMG_PENDING and the work goes on; a call with equal arguments
 * waits for it again. Until such a call has the result, other calls on the object can give
 * ::GNNMG_ERR_BUSY, which names the pending call and how to end it.
 *
 * @section callbacks Callbacks
 * Callbacks run on host threads inside a call that waits, or inside gnnmg_context_lend(). A
 * non-zero result or a C++ exception ends the work with ::GNNMG_ERR_CALLBACK. A callback may call
 * (a) and (b) functions, and (c) functions on objects that no running call holds; a call that waits
 * gives ::GNNMG_ERR_BUSY there.
 *
 * The library calls `release(user_data)`, unless NULL, once, when it no longer needs `user_data`,
 * even if the registration fails; also inside a free. If an object is freed during its work, the
 * next call with a handle of its context calls `release`.
 *
 * A callback must not leave by longjmp(), as errors of R, Lua and Ruby do; the guide has code for
 * these languages. Thread cancellation waits until the end of a call; pthread_exit() in a callback
 * ends the work as a failed callback.
 *
 * @section behavior Process
 * The library never prints, exits, raises a signal, installs a handler, or changes environment,
 * locale or working directory. gnnmg_log_next() returns its messages. In a forked child every call
 * gives ::GNNMG_ERR_FORKED. */

#ifndef GNNMG_API
#if defined(__GNUC__)
/** Marks the functions of this header; callers need not use the three macros. */
#define GNNMG_API __attribute__((visibility("default")))
#else
#define GNNMG_API
#endif
#endif

#ifndef GNNMG_MUST_USE
#if defined(__GNUC__)
/** Marks results that must not be ignored. */
#define GNNMG_MUST_USE __attribute__((warn_unused_result))
#else
#define GNNMG_MUST_USE
#endif
#endif

/** Begins the declaration of a function that returns a ::gnnmg_status. */
#define GNNMG_STATUS GNNMG_API GNNMG_MUST_USE gnnmg_status

/* ============================================================================================= */
/** @defgroup version Version */

#define GNNMG_VERSION_MAJOR 0 /**< Changes with the ABI. */
#define GNNMG_VERSION_MINOR 2 /**< Changes with the ABI before 1.0. */
#define GNNMG_VERSION_PATCH 0 /**< Changes with corrections. */
#define GNNMG_VERSION 200     /**< major * 10000 + minor * 100 + patch */

/** @return version of the library, as ::GNNMG_VERSION */
GNNMG_API int32_t gnnmg_version(void);

/* ============================================================================================= */
/** @defgroup status Status and errors */

/** 0 success, above 0 an answer, below 0 an error. */
typedef int32_t gnnmg_status;
enum {
  GNNMG_OK = 0,                    /**< Success. */
  GNNMG_END = 1,                   /**< The epoch, list or queue has ended. */
  GNNMG_PENDING = 2,               /**< Not finished; the same call waits again. */
  GNNMG_ERR_INVALID_ARGUMENT = -1, /**< An argument is wrong. */
  GNNMG_ERR_HANDLE = -2,           /**< No live handle of this kind. */
  GNNMG_ERR_BUSY = -3,             /**< Another call holds the object. */
  GNNMG_ERR_VERSION = -4,          /**< Other version of header, struct or file. */
  GNNMG_ERR_NOT_FOUND = -5,        /**< No such name, key, file, index or number. */
  GNNMG_ERR_IO = -6,               /**< Reading or writing failed; the text has errno. */
  GNNMG_ERR_FORMAT = -7,           /**< A file violates its format. */
  GNNMG_ERR_CHECKSUM = -8,         /**< A file has changed since it was written. */
  GNNMG_ERR_RANGE = -9,            /**< An id or value is out of range. */
  GNNMG_ERR_NAN = -10,             /**< Data is NaN or infinite. */
  GNNMG_ERR_DIVERGED = -11,        /**< The loss was not finite three times. */
  GNNMG_ERR_NO_MEMORY = -12,       /**< Not enough memory; the object stays usable. */
  GNNMG_ERR_DEPENDENCY = -13,      /**< A library or driver is missing or of another version. */
  GNNMG_ERR_UNSUPPORTED = -14,     /**< Not supported. */
  GNNMG_ERR_DEVICE_LOST = -15,     /**< A device has failed. */
  GNNMG_ERR_TIMEOUT = -16,         /**< A configured deadline passed. */
  GNNMG_ERR_PEER_LOST = -17,       /**< Another rank or server is lost. */
  GNNMG_ERR_ABORTED = -18,         /**< Another rank failed or stopped. */
  GNNMG_ERR_MISMATCH = -19,        /**< Ranks, or settings and stored data, do not match. */
  GNNMG_ERR_UNAVAILABLE = -20,     /**< A server, port or GPU is not available. */
  GNNMG_ERR_AUTH = -21,            /**< A token or certificate is refused, or a message was
                                        changed in transit. */
  GNNMG_ERR_PROTOCOL = -22,        /**< A peer sent an invalid message. */
  GNNMG_ERR_CANCELLED = -23,       /**< The caller canceled. */
  GNNMG_ERR_CALLBACK = -24,        /**< A callback returned non-zero. */
  GNNMG_ERR_FORKED = -25,          /**< The process is a forked child. */
  GNNMG_ERR_INTERNAL = -26         /**< A fault of the library; please report it. */
};

/** A thread's last error. */
typedef struct gnnmg_error_info {
  uint32_t struct_size;
  gnnmg_status status;  /**< ::GNNMG_OK without an error. */
  int32_t rank;         /**< The failed rank, or -1. */
  int32_t system_error; /**< errno of a failed system call, or 0. */
  char text[1024];      /**< Start of the text. */
} gnnmg_error_info;

/** Name of a status: "ERR_FORMAT" for ::GNNMG_ERR_FORMAT.
 * @return "unknown" for other numbers */
GNNMG_API const char* gnnmg_status_name(gnnmg_status status);

/** Text of this thread's last failed call.
 * @return one line, empty if none has failed; valid until the next failure */
GNNMG_API const char* gnnmg_last_error(void);

/** Facts about that call. */
GNNMG_STATUS gnnmg_last_error_info(gnnmg_error_info* info);

/** Releases the `user_data` of a callback. */
typedef void (*gnnmg_release_fn)(void* user_data);

/* ============================================================================================= */
/** @defgroup context Context
 * A context owns threads, a memory limit and messages, and shares nothing with others. Beyond the
 * limit a call fails with ::GNNMG_ERR_NO_MEMORY, which gives size and purpose of the request. */

/** Root of all other objects. */
typedef struct gnnmg_context gnnmg_context;

/** Settings of a context. */
typedef struct gnnmg_context_config {
  uint32_t struct_size;
  int32_t num_threads;  /**< Threads for reading, sampling and evaluation, with the caller's.
                             Default: one per core. */
  int64_t log_capacity; /**< Messages kept; new ones replace the oldest. Default 1024. */
  size_t memory_limit;  /**< Bytes of graphs, samples, mini-batches and results, without
                             LibTorch's. Default: no limit. */
} gnnmg_context_config;

/** Facts about a context. */
typedef struct gnnmg_context_info {
  uint32_t struct_size;
  int32_t num_threads;   /**< Threads, including the caller's. */
  int32_t num_cores;     /**< Cores of this process. */
  int32_t torch_version; /**< LibTorch's version, as ::GNNMG_VERSION. */
  size_t memory_limit;   /**< Bytes; 0: none. */
  size_t memory_used;    /**< Bytes in use. */
} gnnmg_context_info;

/** Makes a context.
 * @param header_version ::GNNMG_VERSION
 * @return ::GNNMG_ERR_VERSION if header and library differ in the minor version;
 *   ::GNNMG_ERR_DEPENDENCY if another LibTorch is loaded */
GNNMG_STATUS gnnmg_context_create(int32_t header_version, const gnnmg_context_config* config,
                                  gnnmg_context** context);

/** Frees the handle; gnnmg_context_lend() returns. */
GNNMG_API void gnnmg_context_free(gnnmg_context* context);

/** Frees the handle and all others made from the context, except tensors. */
GNNMG_API void gnnmg_context_close(gnnmg_context* context);

/** Facts about a context. */
GNNMG_STATUS gnnmg_context_get_info(const gnnmg_context* context, gnnmg_context_info* info);

/** Sets an option: a setting of the subject "context". */
GNNMG_STATUS gnnmg_context_set_option(gnnmg_context* context, const char* key, const char* value);

/** Value of an option. */
GNNMG_STATUS gnnmg_context_get_option(const gnnmg_context* context, const char* key, char* text,
                                      size_t capacity, size_t* needed);

/** A setting, in constant texts. */
typedef struct gnnmg_setting_info {
  uint32_t struct_size;
  int32_t is_field;          /**< 1: also a field of the config. */
  const char* name;          /**< "heads" */
  const char* type;          /**< "flag", "integer", "number", "choice", "text"; "integers",
                                  "choices" for lists. */
  const char* default_value; /**< "1" */
  const char* values;        /**< Range or choices: "1 to 64" */
  const char* help;          /**< Effect. */
} gnnmg_setting_info;

/** Lists the settings of a subject.
 * @param subject "context", "dataset", "split", "folds", "parts", "served", "sampler", "loader",
 *   "model", "norm", "model_file" (files of models and optimizers), "optimizer", "trainer",
 *   "predictor", or a generator of gnnmg_graph_generate() */
GNNMG_STATUS gnnmg_setting_get_info(const char* subject, int64_t index, gnnmg_setting_info* info);

/** Lends the calling thread for callbacks until the time is over (::GNNMG_OK) or the handle is
 * freed (::GNNMG_END). */
GNNMG_STATUS gnnmg_context_lend(gnnmg_context* context, int64_t timeout_ms);

/** Cancels running calls on data sets, model files and predictors, gnnmg_model_evaluate(),
 * gnnmg_model_embed(), gnnmg_comm_create() and gnnmg_context_lend(). */
GNNMG_API void gnnmg_context_cancel(gnnmg_context* context);

/** Severity of a message. */
typedef int32_t gnnmg_log_level;
enum {
  GNNMG_LOG_DEBUG = 0,   /**< Details. */
  GNNMG_LOG_INFO = 1,    /**< Normal progress. */
  GNNMG_LOG_WARNING = 2, /**< Possible mistake. */
  GNNMG_LOG_ERROR = 3    /**< Failure in the background. */
};

/** One message, without its text. */
typedef struct gnnmg_log_info {
  uint32_t struct_size;
  gnnmg_log_level level;  /**< Severity. */
  int64_t unix_time_ns;   /**< Nanoseconds since 1970 UTC. */
  int64_t dropped_before; /**< Messages lost before this one. */
} gnnmg_log_info;

/** Takes the oldest message if its text fits.
 * @return ::GNNMG_END without a message */
GNNMG_STATUS gnnmg_log_next(gnnmg_context* context, gnnmg_log_info* info, char* text,
                            size_t capacity, size_t* needed);

/* ============================================================================================= */
/** @defgroup device Devices
 * Models run on the CPU or on NVIDIA GPUs of compute capability 8.0 or higher, with a driver for
 * CUDA 13 and the plug-in `libgnnmg_cuda.so` in the library's folder. GPUs have the driver's
 * numbers (`CUDA_VISIBLE_DEVICES`). A failed GPU stays failed.
 *
 * A trainer uses GPUs by itself. A custom loop names one GPU in gnnmg_model_set_device() and in the
 * loader's config. Results are complete when a call returns; with a stream of the caller, a
 * `cudaStream_t` as a number, they are ready for later work in it. The stream must outlive model
 * and loader; 1 is CUDA's legacy stream, 2, the per-thread stream, is refused.
 *
 * An input tensor on a GPU must be complete before the call. Free an output tensor after all work
 * that reads it. */

/** Kind of a device, as in DLPack. */
typedef int32_t gnnmg_device_type;
enum {
  GNNMG_DEVICE_AUTO = 0, /**< GPUs if there are enough, else CPU. */
  GNNMG_DEVICE_CPU = 1,  /**< CPU and main memory. */
  GNNMG_DEVICE_CUDA = 2  /**< GPUs. */
};

/** Memory from which GPUs read the graph. */
typedef int32_t gnnmg_graph_placement;
enum {
  GNNMG_GRAPH_PLACEMENT_AUTO = 0,   /**< DEVICE up to 40 % of free GPU memory, else PINNED or
                                         HOST. */
  GNNMG_GRAPH_PLACEMENT_DEVICE = 1, /**< A copy in each GPU. */
  GNNMG_GRAPH_PLACEMENT_PINNED = 2, /**< One copy in pinned main memory. */
  GNNMG_GRAPH_PLACEMENT_HOST = 3    /**< Main memory; loader threads sample. */
};

/** Memory from which GPUs read rows of features. */
typedef int32_t gnnmg_feature_placement;
enum {
  GNNMG_FEATURE_PLACEMENT_AUTO = 0,   /**< DEVICE up to 60 % of free GPU memory, else CACHED,
                                           PINNED or HOST. */
  GNNMG_FEATURE_PLACEMENT_DEVICE = 1, /**< A copy in each GPU. */
  GNNMG_FEATURE_PLACEMENT_PINNED = 2, /**< One copy in pinned main memory. */
  GNNMG_FEATURE_PLACEMENT_CACHED = 3, /**< PINNED, with the hottest rows also in each GPU. */
  GNNMG_FEATURE_PLACEMENT_HOST = 4,   /**< Main memory; loader threads gather. */
  GNNMG_FEATURE_PLACEMENT_SPLIT = 5   /**< CACHED, with different rows on each GPU of a trainer;
                                           GPUs read each other. */
};

/** Facts about a GPU. */
typedef struct gnnmg_device_info {
  uint32_t struct_size;
  gnnmg_device_type device_type; /**< ::GNNMG_DEVICE_CUDA. */
  char name[128];                /**< "NVIDIA H100 80GB HBM3" */
  char bus_id[16];               /**< PCI address, equal in every process: "0000:19:00.0" */
  size_t total_memory;           /**< Bytes. */
  size_t free_memory;            /**< Bytes unused now. */
  int32_t capability_major;      /**< 9 of 9.0. */
  int32_t capability_minor;      /**< 0 of 9.0. */
  int32_t multiprocessors;       /**< Multiprocessors. */
  int32_t driver_version;        /**< Newest CUDA of the driver: 13000 is 13.0. */
  int32_t runtime_version;       /**< CUDA of the plug-in. */
  int32_t padding0;
} gnnmg_device_info;

/** Number of GPUs of this process.
 * @param why if there are none: the reason and the remedy; may be NULL */
GNNMG_STATUS gnnmg_context_num_devices(const gnnmg_context* context, int64_t* count,
                                       const char** why);

/** Facts about a GPU.
 * @return ::GNNMG_ERR_NOT_FOUND after the last */
GNNMG_STATUS gnnmg_context_get_device_info(const gnnmg_context* context, int64_t index,
                                           gnnmg_device_info* info);

/* ============================================================================================= */
/** @defgroup tensor Tensors
 * Arrays in memory; see section Tensors. */

/** An array in memory. */
typedef struct gnnmg_tensor gnnmg_tensor;
/* DLPack's tensor, of dlpack.h 1.0 and later. */
struct DLManagedTensorVersioned;

/** Type of the elements of an array. */
typedef int32_t gnnmg_dtype;
enum {
  GNNMG_DTYPE_F32 = 0,  /**< float */
  GNNMG_DTYPE_F64 = 1,  /**< double */
  GNNMG_DTYPE_F16 = 2,  /**< IEEE half */
  GNNMG_DTYPE_BF16 = 3, /**< bfloat16 */
  GNNMG_DTYPE_I64 = 4,  /**< int64_t */
  GNNMG_DTYPE_I32 = 5,  /**< int32_t */
  GNNMG_DTYPE_U8 = 6,   /**< uint8_t */
  GNNMG_DTYPE_BOOL = 7  /**< one byte, 0 or 1 */
};

/** Type, shape and memory of a tensor. */
typedef struct gnnmg_tensor_info {
  uint32_t struct_size;
  gnnmg_dtype dtype;    /**< Type of the elements. */
  int32_t device_type;  /**< DLPack's: 1 main memory, 2 a GPU. */
  int32_t device_index; /**< Device number. */
  int32_t num_dims;     /**< Entries of `shape`. */
  int32_t read_only;    /**< 1: do not write. */
  int64_t shape[4];     /**< Then zeros. */
  int64_t num_elements; /**< Product of the shape. */
  void* data;           /**< First element; on a GPU a device address. */
} gnnmg_tensor_info;

/** Wraps an array of the caller, without copying.
 * @param data first element, aligned to its type, valid until `release`; NULL: no elements
 * @param release called when nothing needs the array, also after an error; NULL: the array outlives
 *   the tensor */
GNNMG_STATUS gnnmg_tensor_create(void* data, gnnmg_dtype dtype, int32_t num_dims,
                                 const int64_t* shape, gnnmg_release_fn release, void* user_data,
                                 gnnmg_tensor** tensor);

/** Wraps a DLPack tensor, without copying, and owns it on success.
 * @param dlpack a contiguous tensor of a type in ::gnnmg_dtype, in main memory or on a GPU
 * @return ::GNNMG_ERR_UNSUPPORTED for other tensors */
GNNMG_STATUS gnnmg_tensor_from_dlpack(struct DLManagedTensorVersioned* dlpack,
                                      gnnmg_tensor** tensor);

/** Makes a DLPack tensor of the same memory, which lives until the handle is freed and the deleter
 * has been called.
 * @param dlpack owned by the caller; its flags say if it is read-only */
GNNMG_STATUS gnnmg_tensor_to_dlpack(const gnnmg_tensor* tensor,
                                    struct DLManagedTensorVersioned** dlpack);

/** Facts about a tensor. */
GNNMG_STATUS gnnmg_tensor_get_info(const gnnmg_tensor* tensor, gnnmg_tensor_info* info);

/** Copies the elements to a tensor of equal shape and type, on any device, and waits. */
GNNMG_STATUS gnnmg_tensor_copy(const gnnmg_context* context, const gnnmg_tensor* from,
                               gnnmg_tensor* to);

/** Frees the handle. */
GNNMG_API void gnnmg_tensor_free(gnnmg_tensor* tensor);

/* ============================================================================================= */
/** @defgroup graph Graph
 * A graph has node types, edge types, edges of each type, and named tensors on both. Messages flow
 * from source to target; the neighborhood of a node is its incoming edges. Functions without
 * `const` on the graph build it; once another object uses it, it never changes. Edges are
 * ::GNNMG_DTYPE_I64 or ::GNNMG_DTYPE_I32. Requesting a dense tensor as sparse, or the reverse, is
 * ::GNNMG_ERR_UNSUPPORTED. */

/** A graph. */
typedef struct gnnmg_graph gnnmg_graph;

/** Makes a graph without types. */
GNNMG_STATUS gnnmg_graph_create(const gnnmg_context* context, gnnmg_graph** graph);

/** Makes a graph of node type "node" and edge type "edge", with copied edges. */
GNNMG_STATUS gnnmg_graph_create_from_coo(const gnnmg_context* context, int64_t num_nodes,
                                         const void* sources, const void* targets,
                                         gnnmg_dtype dtype, int64_t num_edges, gnnmg_graph** graph);

/** Frees the handle. */
GNNMG_API void gnnmg_graph_free(gnnmg_graph* graph);

/** Adds a node type.
 * @param node_type its index; may be NULL */
GNNMG_STATUS gnnmg_graph_add_node_type(gnnmg_graph* graph, const char* name, int64_t num_nodes,
                                       int32_t* node_type);

/** Adds an edge type without edges.
 * @param name unique between these node types
 * @param edge_type its index; may be NULL */
GNNMG_STATUS gnnmg_graph_add_edge_type(gnnmg_graph* graph, int32_t source_type, const char* name,
                                       int32_t target_type, int32_t* edge_type);

/** Sets the edges of a type from a list; edge e of the list gets id e. For this and the next four,
 * gnnmg_util.h has `gnnmg_graph_set_...` with copied arrays.
 * @param sources i64 or i32 [num_edges]
 * @param targets as `sources` */
GNNMG_STATUS gnnmg_graph_import_coo(gnnmg_graph* graph, int32_t edge_type, gnnmg_tensor* sources,
                                    gnnmg_tensor* targets);

/** Sets the edges of a type from compressed sparse columns.
 * @param indptr i64
 * @param indices i32; or i64, which is copied to i32 if 31 bits are enough
 * @param edge_ids a permutation of 0 .. num_edges - 1, as `indices`; NULL: entry e is edge e */
GNNMG_STATUS gnnmg_graph_import_csc(gnnmg_graph* graph, int32_t edge_type, gnnmg_tensor* indptr,
                                    gnnmg_tensor* indices, gnnmg_tensor* edge_ids);

/** Sets or replaces a tensor on nodes: "x" are usually features, "y" labels.
 * @param tensor one row per node
 * @return ::GNNMG_ERR_UNSUPPORTED for a device or type */
GNNMG_STATUS gnnmg_graph_import_node_tensor(gnnmg_graph* graph, int32_t node_type, const char* name,
                                            gnnmg_tensor* tensor);

/** Sets or replaces a sparse tensor on nodes, which stays sparse up to a model's first layer. */
GNNMG_STATUS gnnmg_graph_import_node_csr(gnnmg_graph* graph, int32_t node_type, const char* name,
                                         int64_t num_columns, gnnmg_tensor* indptr,
                                         gnnmg_tensor* indices, gnnmg_tensor* values);

/** Sets or replaces a tensor on edges, which must be set.
 * @param tensor rows by edge id
 * @return ::GNNMG_ERR_UNSUPPORTED for a device or type */
GNNMG_STATUS gnnmg_graph_import_edge_tensor(gnnmg_graph* graph, int32_t edge_type, const char* name,
                                            gnnmg_tensor* tensor);

/** Operation on edges. A reverse edge copies the tensor rows of its edge, an added self-loop has
 * zeros; of equal edges the first keeps its rows. */
typedef int32_t gnnmg_transform;
enum {
  GNNMG_TRANSFORM_ADD_REVERSE_EDGES = 0,        /**< Appends (v, u) for each (u, v) with u != v,
                                                     in edge order. */
  GNNMG_TRANSFORM_TO_UNDIRECTED = 1,            /**< ADD_REVERSE_EDGES, then one of equal edges
                                                     stays. */
  GNNMG_TRANSFORM_COALESCE = 2,                 /**< Keeps the first of equal edges; sorts by
                                                     target, then source. */
  GNNMG_TRANSFORM_REMOVE_SELF_LOOPS = 3,        /**< Removes (v, v). */
  GNNMG_TRANSFORM_ADD_SELF_LOOPS = 4,           /**< Appends one (v, v) for each node. */
  GNNMG_TRANSFORM_ADD_REMAINING_SELF_LOOPS = 5, /**< Appends (v, v) to nodes without one. */
  GNNMG_TRANSFORM_REMOVE_EDGES = 6,             /**< Keeps only the nodes. */
  GNNMG_TRANSFORM_REVERSE_EDGES = 7             /**< Replaces (u, v) by (v, u), in the same
                                                     order. */
};

/** Makes a graph that shares unchanged tensors.
 * @param edge_type a type with equal source and target type */
GNNMG_STATUS gnnmg_graph_create_transformed(const gnnmg_graph* graph, gnnmg_transform transform,
                                            int32_t edge_type, gnnmg_graph** transformed);

/** Makes a graph in which every row of a node tensor is divided by its sum, unless that is 0.
 * @param name a dense f32 or sparse tensor, on each node type that has it */
GNNMG_STATUS gnnmg_graph_create_normalized(const gnnmg_graph* graph, const char* name,
                                           gnnmg_graph** normalized);

/** Generates a graph; equal settings give equal graphs.
 * - "planted": undirected, with classes of nodes; "x" f32 [nodes, num_features], a class center
 *   plus noise, and "y" i64 [nodes];
 * - "log_normal": log-normal in-degrees and communities, with "x" and "y";
 * - "rmat": R-MAT (Chakrabarti 2004);
 * - "erdos_renyi": uniformly drawn edges, with self-loops and duplicates.
 * @param generator also the subject of the settings */
GNNMG_STATUS gnnmg_graph_generate(const gnnmg_context* context, const char* generator,
                                  const char* settings, gnnmg_graph** graph);

/** Node types. */
GNNMG_STATUS gnnmg_graph_num_node_types(const gnnmg_graph* graph, int32_t* count);

/** Edge types. */
GNNMG_STATUS gnnmg_graph_num_edge_types(const gnnmg_graph* graph, int32_t* count);

/** Name of a node type. */
GNNMG_STATUS gnnmg_graph_node_type_name(const gnnmg_graph* graph, int32_t node_type,
                                        const char** name);

/** Name of an edge type. */
GNNMG_STATUS gnnmg_graph_edge_type_name(const gnnmg_graph* graph, int32_t edge_type,
                                        int32_t* source_type, const char** name,
                                        int32_t* target_type);

/** Nodes of a type. */
GNNMG_STATUS gnnmg_graph_num_nodes(const gnnmg_graph* graph, int32_t node_type, int64_t* count);

/** Edges of a type. */
GNNMG_STATUS gnnmg_graph_num_edges(const gnnmg_graph* graph, int32_t edge_type, int64_t* count);

/** Lists the tensors on a node type.
 * @param sparse 1: sparse */
GNNMG_STATUS gnnmg_graph_node_tensor_name(const gnnmg_graph* graph, int32_t node_type,
                                          int64_t index, const char** name, int32_t* sparse);

/** Lists the tensors on an edge type. */
GNNMG_STATUS gnnmg_graph_edge_tensor_name(const gnnmg_graph* graph, int32_t edge_type,
                                          int64_t index, const char** name);

/** Dense tensor on nodes [nodes, ...]. */
GNNMG_STATUS gnnmg_graph_export_node_tensor(const gnnmg_graph* graph, int32_t node_type,
                                            const char* name, gnnmg_tensor** tensor);

/** Sparse tensor on nodes. */
GNNMG_STATUS gnnmg_graph_export_node_csr(const gnnmg_graph* graph, int32_t node_type,
                                         const char* name, int64_t* num_columns,
                                         gnnmg_tensor** indptr, gnnmg_tensor** indices,
                                         gnnmg_tensor** values);

/** Tensor on edges [edges, ...], rows by edge id. */
GNNMG_STATUS gnnmg_graph_export_edge_tensor(const gnnmg_graph* graph, int32_t edge_type,
                                            const char* name, gnnmg_tensor** tensor);

/** Copies the edges of a type, ordered by id: i64 [edges]. */
GNNMG_STATUS gnnmg_graph_export_coo(const gnnmg_graph* graph, int32_t edge_type,
                                    gnnmg_tensor** sources, gnnmg_tensor** targets);

/** Edges of a type as stored.
 * @param indptr i64
 * @param indices i32 or i64
 * @param edge_ids i32 or i64; NULL when entry e is edge e */
GNNMG_STATUS gnnmg_graph_export_csc(const gnnmg_graph* graph, int32_t edge_type,
                                    gnnmg_tensor** indptr, gnnmg_tensor** indices,
                                    gnnmg_tensor** edge_ids);

/** Incoming edges of a node, in stored order.
 * @param sources may be NULL with `capacity` 0
 * @param edge_ids may be NULL
 * @param capacity entries of each array
 * @param needed number of incoming edges */
GNNMG_STATUS gnnmg_graph_get_in_edges(const gnnmg_graph* graph, int32_t edge_type, int64_t target,
                                      int64_t* sources, int64_t* edge_ids, int64_t capacity,
                                      int64_t* needed);

/* ============================================================================================= */
/** @defgroup dataset Data set
 * A data set is a graph with features, labels and splits. One split is chosen: the first, until one
 * is added. Many graphs lie side by side in one graph; labels, split ids and sample weights are
 * then those of graphs, else of nodes. */

/** A graph with labels and splits. */
typedef struct gnnmg_dataset gnnmg_dataset;

/** Meaning of the labels, for N nodes or graphs and T targets. */
typedef int32_t gnnmg_task;
enum {
  GNNMG_TASK_NONE = 0,       /**< No labels. */
  GNNMG_TASK_MULTICLASS = 1, /**< One class: i64 [N], -1 for none. */
  GNNMG_TASK_BINARY = 2,     /**< Yes or no: f32 [N, T], NaN for none. */
  GNNMG_TASK_REGRESSION = 3  /**< Numbers: f32 [N, T], NaN for none. */
};

/** Part of a split. */
typedef int32_t gnnmg_part;
enum {
  GNNMG_PART_TRAIN = 0,      /**< Training. */
  GNNMG_PART_VALIDATION = 1, /**< Selection of the best epoch. */
  GNNMG_PART_TEST = 2        /**< Measuring the result. */
};

/** Facts about a data set. */
typedef struct gnnmg_dataset_info {
  uint32_t struct_size;
  gnnmg_task task;     /**< Meaning of the labels. */
  int64_t num_graphs;  /**< Number of graphs. */
  int64_t num_nodes;   /**< Nodes of all graphs. */
  int64_t num_edges;   /**< Edges of all graphs. */
  int64_t feature_dim; /**< Columns of the features, or 0. */
  int64_t num_classes; /**< Classes or targets; 0 without labels. */
  int64_t num_splits;  /**< Number of splits. */
} gnnmg_dataset_info;

/** Sizes of one split. */
typedef struct gnnmg_split_info {
  uint32_t struct_size;
  int32_t index;          /**< Index among splits of this name. */
  int64_t num_train;      /**< Training ids. */
  int64_t num_validation; /**< Validation ids. */
  int64_t num_test;       /**< Test ids. */
} gnnmg_split_info;

/** Division of the nodes into parts. */
typedef int32_t gnnmg_parts_method;
enum {
  GNNMG_PARTS_METHOD_CLUSTER = 0, /**< Few edges between parts. */
  GNNMG_PARTS_METHOD_METIS = 1,   /**< METIS, if installed. While it runs, it handles SIGABRT and
                                       SIGTERM, and uses rand(). */
  GNNMG_PARTS_METHOD_RANGE = 2,   /**< Equal ranges of ids. */
  GNNMG_PARTS_METHOD_HASH = 3     /**< Hash of id and seed. */
};

/** Settings of gnnmg_dataset_save_parts(). */
typedef struct gnnmg_parts_config {
  uint32_t struct_size;
  int32_t num_parts;         /**< 1 to 65535. Default 2. */
  gnnmg_parts_method method; /**< Division of the nodes. */
  int32_t edge_ids;          /**< 1: store edge ids even if they equal positions. */
  uint64_t seed;             /**< Parts depend only on seed, data and settings. */
  size_t memory_limit;       /**< Bytes besides the data set. Default: no limit. */
} gnnmg_parts_config;

/** Facts about all parts of a data set. From `kept_rows` on: reads of data sets of
 * gnnmg_dataset_open_parts() and gnnmg_dataset_open_served(). */
typedef struct gnnmg_parts_info {
  uint32_t struct_size;
  int32_t num_parts;    /**< Parts. */
  int64_t num_nodes;    /**< Nodes of all parts. */
  int64_t num_edges;    /**< Edges of all parts. */
  int64_t cut_edges;    /**< Edges between two parts. */
  double cut;           /**< `cut_edges` / `num_edges`. */
  double node_balance;  /**< Nodes of the largest part / mean. */
  double edge_balance;  /**< Edges of the largest part / mean; an edge is in its target's part. */
  double train_balance; /**< Training ids of the largest part / mean. */
  int32_t own_parts;    /**< Parts of this process. */
  int32_t padding0;
  int64_t kept_rows;    /**< Cached rows of other parts. */
  int64_t own_rows;     /**< Rows read of own parts. */
  int64_t hit_rows;     /**< Rows read from the cache. */
  int64_t asked_rows;   /**< Rows requested. */
  int64_t questions;    /**< Requests, one per part and hop, and per MB of rows. */
  int64_t asked_bytes;  /**< Bytes of requests. */
  int64_t answer_bytes; /**< Bytes of answers. */
} gnnmg_parts_info;

/** Facts about one part. */
typedef struct gnnmg_part_info {
  uint32_t struct_size;
  int32_t hotness;    /**< 1: the last three fields are valid. */
  int64_t num_nodes;  /**< Nodes of the part. */
  int64_t num_edges;  /**< Edges into these nodes. */
  int64_t num_train;  /**< Training ids of the part. */
  int64_t cut_edges;  /**< Edges from other parts. */
  double batch_rows;  /**< Expected nodes of a mini-batch of its ids. */
  double remote_rows; /**< Expected rows from other parts. */
  double hit_rate;    /**< Share of `remote_rows` in the cache. */
} gnnmg_part_info;

/** Opens a folder or file in any supported format. Edge ids follow the file if the edges have
 * tensors; otherwise edges are numbered by target.
 * @param settings the format, and details that the files leave open
 * @return ::GNNMG_ERR_UNSUPPORTED */
GNNMG_STATUS gnnmg_dataset_open(const gnnmg_context* context, const char* path,
                                const char* settings, gnnmg_dataset** dataset, int64_t timeout_ms);

/** gnnmg_graph_generate(), gnnmg_dataset_create() and gnnmg_dataset_add_random_split() in one.
 * @param generator "planted" or "log_normal"
 * @param settings of the generator and of "split"; `seed` is for both */
GNNMG_STATUS gnnmg_dataset_generate(const gnnmg_context* context, const char* generator,
                                    const char* settings, gnnmg_dataset** dataset);

/** Makes a data set around a graph, without a split.
 * @param graph with one node type
 * @param features name of the tensor; NULL: none
 * @param labels name of the tensor; NULL: none
 * @param task ::GNNMG_TASK_NONE: integers are classes, floats regression. ::GNNMG_TASK_BINARY: any
 *   type with values 0, 1, and NaN or -1 for no label
 * @param num_classes 0: the largest label + 1
 * @return ::GNNMG_ERR_RANGE for a label outside the classes; ::GNNMG_ERR_NAN for a value that is
 *   not finite, in the features or an edge tensor that models read */
GNNMG_STATUS gnnmg_dataset_create(const gnnmg_graph* graph, const char* features,
                                  const char* labels, gnnmg_task task, int64_t num_classes,
                                  gnnmg_dataset** dataset);

/** gnnmg_dataset_create() with many graphs side by side in one graph.
 * @param graph with one node type and one edge type
 * @param graph_ptr first node of each graph, and the number of nodes, [num_graphs + 1]; a graph may
 *   be empty
 * @param features name of the tensor; NULL: none
 * @param labels one row per graph, [num_graphs] or [num_graphs, T]; NULL: none
 * @return as gnnmg_dataset_create(); ::GNNMG_ERR_RANGE also for an edge between two graphs */
GNNMG_STATUS gnnmg_dataset_create_graphs(const gnnmg_graph* graph, const int64_t* graph_ptr,
                                         int64_t num_graphs, const char* features,
                                         const gnnmg_tensor* labels, gnnmg_task task,
                                         int64_t num_classes, gnnmg_dataset** dataset);

/** Frees the handle. */
GNNMG_API void gnnmg_dataset_free(gnnmg_dataset* dataset);

/** Writes a folder of `.npy` files and `metadata.json`, with all splits; when it is opened, the
 * first is chosen. */
GNNMG_STATUS gnnmg_dataset_save(const gnnmg_dataset* dataset, const char* path, int64_t timeout_ms);

/** Writes a folder of parts: for each part the rows of its nodes as `.npy` files, and for each node
 * its part. Nodes keep their ids.
 *
 * After an interruption the same call continues, with the same result. ::GNNMG_PARTS_METHOD_CLUSTER
 * and ::GNNMG_PARTS_METHOD_METIS keep the nodes, edges and training ids of every part within
 * `node_slack`, `edge_slack` and `train_slack`, plus one row.
 * @param folder new, or begun or completed by an earlier call
 * @param given part of each node, in place of the method; NULL: none
 * @return ::GNNMG_ERR_MISMATCH if the folder was begun with other arguments or data;
 *   ::GNNMG_ERR_BUSY while another call writes it; ::GNNMG_ERR_DEPENDENCY without METIS;
 *   ::GNNMG_ERR_UNSUPPORTED for several types, or many graphs */
GNNMG_STATUS gnnmg_dataset_save_parts(const gnnmg_dataset* dataset, const char* folder,
                                      const int32_t* given, int64_t num_given,
                                      const gnnmg_parts_config* config, const char* settings,
                                      int64_t timeout_ms);

/** Facts about all parts. */
GNNMG_STATUS gnnmg_dataset_get_parts_info(const gnnmg_dataset* dataset, gnnmg_parts_info* info);

/** Facts about one part, and the expected effect of a cache of the most-read rows of other parts.
 * @param part its number
 * @param cache_rows rows in the cache
 * @return ::GNNMG_END after the last */
GNNMG_STATUS gnnmg_dataset_get_part_info(const gnnmg_dataset* dataset, int32_t part,
                                         int64_t cache_rows, gnnmg_part_info* info);

/** Part of each node: i32 [num_nodes]. */
GNNMG_STATUS gnnmg_dataset_export_book(const gnnmg_dataset* dataset, gnnmg_tensor** book);

/** Facts about a data set. */
GNNMG_STATUS gnnmg_dataset_get_info(const gnnmg_dataset* dataset, gnnmg_dataset_info* info);

/** Names of a data set, its feature tensor and its label tensor; empty: none. */
GNNMG_STATUS gnnmg_dataset_get_names(const gnnmg_dataset* dataset, const char** name,
                                     const char** features, const char** labels);

/** Graph of a data set.
 * @param index 0 */
GNNMG_STATUS gnnmg_dataset_get_graph(const gnnmg_dataset* dataset, int64_t index,
                                     gnnmg_graph** graph);

/** Lists the splits. */
GNNMG_STATUS gnnmg_dataset_get_split_info(const gnnmg_dataset* dataset, int64_t position,
                                          const char** name, gnnmg_split_info* info);

/** Makes a data set of the same data with another split chosen. Neither sees splits and weights
 * that the other gets later.
 * @param name NULL: that of the first
 * @param index among the splits of that name */
GNNMG_STATUS gnnmg_dataset_select_split(const gnnmg_dataset* dataset, const char* name,
                                        int32_t index, gnnmg_dataset** selected);

/** Adds a split and chooses it. Its index is the number of earlier splits of its name.
 * @param train ids in any order, each in at most one list
 * @return ::GNNMG_ERR_FORMAT for an id in two places */
GNNMG_STATUS gnnmg_dataset_add_split(gnnmg_dataset* dataset, const char* name, const int64_t* train,
                                     int64_t num_train, const int64_t* validation,
                                     int64_t num_validation, const int64_t* test, int64_t num_test);

/** Draws a split of the labeled nodes, adds and chooses it. */
GNNMG_STATUS gnnmg_dataset_add_random_split(gnnmg_dataset* dataset, const char* name,
                                            const char* settings);

/** Divides the labeled nodes or graphs into folds, with classes spread evenly, adds for each a
 * split that holds it out, and chooses the first.
 * @param name not in use */
GNNMG_STATUS gnnmg_dataset_add_folds(gnnmg_dataset* dataset, const char* name,
                                     const char* settings);

/** Labels, in the form of ::gnnmg_task. */
GNNMG_STATUS gnnmg_dataset_export_labels(const gnnmg_dataset* dataset, gnnmg_tensor** labels);

/** First node of each graph: i64 [graphs + 1].
 * @return ::GNNMG_ERR_NOT_FOUND if the data set is one graph */
GNNMG_STATUS gnnmg_dataset_export_graph_ptr(const gnnmg_dataset* dataset, gnnmg_tensor** graph_ptr);

/** Ids of one part of the chosen split, ascending: i64 [n]. */
GNNMG_STATUS gnnmg_dataset_export_split(const gnnmg_dataset* dataset, gnnmg_part part,
                                        gnnmg_tensor** ids);

/** Sets the weight of each class in losses of objects made later.
 *
 * A loss is the sum of weight times loss over the seeds, divided by the sum of the weights, exactly
 * over all mini-batches and ranks of a step. A seed's weight is that of its class times its own.
 * Other metrics count every node once. gnnmg_dataset_save() stores the weights.
 * @param weights one per class or target, 0 or 1e-12 to 1e12, not all 0; NULL: remove */
GNNMG_STATUS gnnmg_dataset_set_class_weights(gnnmg_dataset* dataset, const double* weights,
                                             int64_t num_weights);

/** Gives every class the same total weight in the training part: labeled training nodes / (classes
 * x training nodes of the class).
 * @return ::GNNMG_ERR_INVALID_ARGUMENT for a class without a training node */
GNNMG_STATUS gnnmg_dataset_balance_classes(gnnmg_dataset* dataset);

/** Sets the weight of each node in a loss.
 * @param weights f32 or f64 [num_nodes], in the range of class weights, copied; NULL: remove */
GNNMG_STATUS gnnmg_dataset_set_sample_weights(gnnmg_dataset* dataset, const gnnmg_tensor* weights);

/** Class weights: f64 [classes or targets]. */
GNNMG_STATUS gnnmg_dataset_export_class_weights(const gnnmg_dataset* dataset,
                                                gnnmg_tensor** weights);

/** Sample weights: f64 [num_nodes]. */
GNNMG_STATUS gnnmg_dataset_export_sample_weights(const gnnmg_dataset* dataset,
                                                 gnnmg_tensor** weights);

/* ============================================================================================= */
/** @defgroup sampler Sampler
 * A sampler draws the neighborhoods of seeds. Draws depend only on seed, epoch, mini-batch, hop and
 * node, not on the number of threads and ranks. */

/** A sampler. */
typedef struct gnnmg_sampler gnnmg_sampler;
/** Output of a custom sampler, in its callback. */
typedef struct gnnmg_sink gnnmg_sink;
/** One mini-batch. */
typedef struct gnnmg_batch gnnmg_batch;

/** Draws of a node's neighbors. */
typedef int32_t gnnmg_draw;
enum {
  GNNMG_DRAW_UNIFORM = 0,   /**< Each node draws exactly the fan-out. */
  GNNMG_DRAW_LABOR = 1,     /**< LABOR-0 (Balin 2023): a neighbor has one random number for all
                                 nodes of a hop, and is drawn if it is below fan-out / degree.
                                 Fewer distinct nodes; the fan-out is a mean. */
  GNNMG_DRAW_LABOR_ONCE = 2 /**< LABOR with one random number for all hops: fewer nodes still,
                                 but dependent hops. */
};

/** Settings of a sampler. */
typedef struct gnnmg_sampler_config {
  uint32_t struct_size;
  int32_t num_fanouts; /**< Hops, one per layer of the model, 1 to 16. Default: 2 with fan-out
                            10. */
  int64_t fanouts[16]; /**< Neighbors per node at each hop, from the seeds on; -1: all, 0: none.
                            All 0: 10 each. */
  int32_t replace;     /**< 1: draw with replacement. */
  gnnmg_draw draw;     /**< LABOR: not with `replace`; GPU steps are not captured. */
} gnnmg_sampler_config;

/** Request to a custom sampler: edges of one layer of a mini-batch. */
typedef struct gnnmg_layer_info {
  uint32_t struct_size;
  int32_t layer;  /**< 0 is next to the seeds. */
  uint64_t epoch; /**< Epoch, from 0. */
  uint64_t batch; /**< Number in the epoch. */
  uint64_t key;   /**< The built-in sampler's key of this hop. */
} gnnmg_layer_info;

/** Adds edges into the given targets to the sink. Layers are requested from the seeds outward.
 * @param targets all nodes found so far, each once
 * @return 0, or anything else to stop */
typedef int32_t (*gnnmg_layer_fn)(const gnnmg_layer_info* layer, const int64_t* targets,
                                  int64_t num_targets, gnnmg_sink* sink, void* user_data);

/** Makes a neighbor sampler. */
GNNMG_STATUS gnnmg_sampler_create(const gnnmg_graph* graph, const gnnmg_sampler_config* config,
                                  const char* settings, gnnmg_sampler** sampler);

/** Makes a sampler from a callback. The library numbers the nodes of its edges and builds the
 * blocks.
 * @param graph with one node type and one edge type
 * @param config only `num_fanouts`, the number of layers
 * @param settings only `edge_ids` and `transpose`
 * @param function called once per layer of each mini-batch, concurrently if several host threads
 *   wait or are lent */
GNNMG_STATUS gnnmg_sampler_create_custom(const gnnmg_graph* graph,
                                         const gnnmg_sampler_config* config, const char* settings,
                                         gnnmg_layer_fn function, void* user_data,
                                         gnnmg_release_fn release, gnnmg_sampler** sampler);

/** Makes a sampler of whole graphs, for a data set of many; config and settings as for
 * gnnmg_sampler_create_custom(). All layers share one block. */
GNNMG_STATUS gnnmg_sampler_create_graphs(const gnnmg_dataset* dataset,
                                         const gnnmg_sampler_config* config, const char* settings,
                                         gnnmg_sampler** sampler);

/** Frees the handle. */
GNNMG_API void gnnmg_sampler_free(gnnmg_sampler* sampler);

/** Number of layers of a sample. */
GNNMG_STATUS gnnmg_sampler_num_layers(const gnnmg_sampler* sampler, int32_t* count);

/** Samples neighborhoods on the calling thread.
 * @param dataset source of features and labels, on the sampler's graph; NULL: none
 * @param seeds node ids; a repeated seed gets its own row with equal draws
 * @param times NULL; reserved for temporal sampling
 * @param seed determines the draws, with `epoch` and `number` */
GNNMG_STATUS gnnmg_sampler_sample(const gnnmg_sampler* sampler, const gnnmg_dataset* dataset,
                                  const int64_t* seeds, int64_t num_seeds, const int64_t* times,
                                  uint64_t seed, uint64_t epoch, uint64_t number,
                                  gnnmg_batch** batch, int64_t timeout_ms);

/** Adds edges to the current callback's sample. After a wrong id the work ends with
 * ::GNNMG_ERR_CALLBACK.
 * @param targets among the callback's targets, in any order
 * @param edge_ids needed with the sampler's setting `edge_ids`, else ignored */
GNNMG_STATUS gnnmg_sink_add_edges(gnnmg_sink* sink, const int64_t* sources, const int64_t* targets,
                                  const int64_t* edge_ids, int64_t num_edges);

/** Draws incoming neighbors of each target into a sink, as the built-in sampler does with this key.
 * @param targets node ids
 * @param fanout neighbors per target; -1: all
 * @param replace 1: with replacement
 * @param key of ::gnnmg_layer_info, or any number
 * @threading (b) for the graph, (c) for the sink */
GNNMG_STATUS gnnmg_graph_sample_neighbors(const gnnmg_graph* graph, int32_t edge_type,
                                          const int64_t* targets, int64_t num_targets,
                                          int64_t fanout, int32_t replace, uint64_t key,
                                          gnnmg_sink* sink);

/* ============================================================================================= */
/** @defgroup loader Loader
 * A loader makes the mini-batches of an epoch by a plan that is the same on all ranks. Of a step's
 * `batches_per_step` mini-batches rank r gets numbers r, r + world_size, ..., or an empty one if
 * there is none. */

/** A loader, whose threads prefetch mini-batches. */
typedef struct gnnmg_loader gnnmg_loader;

/** Division of an epoch's ids among ranks. */
typedef int32_t gnnmg_plan;
enum {
  GNNMG_PLAN_GLOBAL = 0,              /**< One permutation; every id exactly once. */
  GNNMG_PLAN_DISTRIBUTED_SAMPLER = 1, /**< PyTorch's DistributedSampler, for comparison. */
  GNNMG_PLAN_CONTIGUOUS = 2,          /**< Slices as in DGL, for comparison. */
  GNNMG_PLAN_PARTS = 3                /**< Data sets in parts: ids of one part in each
                                           mini-batch, every id once. Set `batches_per_step` to
                                           the number of parts. */
};

/** Settings of a loader. */
typedef struct gnnmg_loader_config {
  uint32_t struct_size;
  gnnmg_part part;          /**< Part of the split. */
  int64_t batch_size;       /**< Seeds per mini-batch. Default 1024. */
  int64_t batches_per_step; /**< Mini-batches per step, all ranks together. Default `world_size`. */
  int32_t rank;             /**< Rank of this loader. */
  int32_t world_size;       /**< Ranks. Default 1. */
  uint64_t seed;            /**< Seed of order, draws and dropout. */
  gnnmg_plan plan;          /**< Division among ranks. */
  gnnmg_device_type device; /**< ::GNNMG_DEVICE_CUDA: mini-batches in GPU memory. */
  int32_t device_index;     /**< GPU number. */
  int32_t padding0;
  uint64_t stream; /**< CUDA stream of the caller; outlives loader and mini-batches. */
} gnnmg_loader_config;

/** Facts about a loader's epoch. */
typedef struct gnnmg_loader_info {
  uint32_t struct_size;
  int32_t padding0;
  int64_t num_seeds;        /**< Number of ids. */
  int64_t num_batches;      /**< Mini-batches of all ranks. */
  int64_t num_steps;        /**< Steps. */
  int64_t batches_per_step; /**< Mini-batches per step, all ranks together. */
  int64_t epoch;            /**< Next epoch, from 0. */
} gnnmg_loader_info;

/** Makes a loader for one part of the chosen split.
 * @param sampler on the data set's graph */
GNNMG_STATUS gnnmg_loader_create(const gnnmg_dataset* dataset, const gnnmg_sampler* sampler,
                                 const gnnmg_loader_config* config, const char* settings,
                                 gnnmg_loader** loader);

/** Makes a loader for given seeds.
 * @param dataset as for gnnmg_sampler_sample(), or NULL
 * @param seeds node ids, copied
 * @param times NULL
 * @param config without `part` */
GNNMG_STATUS gnnmg_loader_create_from_seeds(const gnnmg_dataset* dataset,
                                            const gnnmg_sampler* sampler, int32_t node_type,
                                            const int64_t* seeds, int64_t num_seeds,
                                            const int64_t* times, const gnnmg_loader_config* config,
                                            const char* settings, gnnmg_loader** loader);

/** Frees the handle. Mini-batches stay valid. */
GNNMG_API void gnnmg_loader_free(gnnmg_loader* loader);

/** Facts about the epoch of the next mini-batch. */
GNNMG_STATUS gnnmg_loader_get_info(const gnnmg_loader* loader, gnnmg_loader_info* info);

/** Moves to a step of an epoch, also after an error or gnnmg_loader_cancel(). */
GNNMG_STATUS gnnmg_loader_start(gnnmg_loader* loader, int64_t epoch, int64_t step);

/** Next mini-batch of this rank. After ::GNNMG_END the next epoch begins; the first is 0. An error
 * repeats until gnnmg_loader_start(). */
GNNMG_STATUS gnnmg_loader_next(gnnmg_loader* loader, gnnmg_batch** batch, int64_t timeout_ms);

/** Stops the threads; gnnmg_loader_next() gives ::GNNMG_ERR_CANCELLED until gnnmg_loader_start().
 */
GNNMG_API void gnnmg_loader_cancel(gnnmg_loader* loader);

/* ============================================================================================= */
/** @defgroup batch Batch
 * A mini-batch has a list of nodes that begins with the seeds (of graphs: with the nodes of one
 * graph after another), their features, the seeds' labels, and a block of edges per layer. Exported
 * tensors are read-only, on the loader's device. A missing part is ::GNNMG_ERR_NOT_FOUND; dense
 * features requested as sparse, or the reverse, are ::GNNMG_ERR_UNSUPPORTED. */

/** Facts about a mini-batch. */
typedef struct gnnmg_batch_info {
  uint32_t struct_size;
  int32_t num_layers;       /**< Blocks: the first reads the features, the last gives the seeds. */
  int64_t epoch;            /**< Epoch, from 0. */
  int64_t number;           /**< Number in the epoch's plan; -1: empty. */
  int64_t step;             /**< Step of the epoch. */
  int64_t num_seeds;        /**< 0: empty, but part of the step. */
  int64_t num_nodes;        /**< Nodes, including seeds. */
  int64_t num_edges;        /**< Distinct edges drawn. */
  int64_t feature_dim;      /**< Columns of the features, or 0. */
  int64_t step_seeds;       /**< Seeds of the step on all ranks. */
  double loss_weight;       /**< num_seeds / step_seeds. Means of mini-batches, each times this,
                                 add up to the step's mean. */
  double sample_seconds;    /**< Sampling. */
  double gather_seconds;    /**< Gathering features. */
  int32_t last_of_step;     /**< 1: this rank's last of the step: reduce and update. */
  int32_t sparse_features;  /**< 1: sparse features. */
  gnnmg_device_type device; /**< ::GNNMG_DEVICE_CPU or ::GNNMG_DEVICE_CUDA. */
  int32_t device_index;     /**< GPU number. */
} gnnmg_batch_info;

/** A block: the edges of one layer. */
typedef struct gnnmg_block_info {
  uint32_t struct_size;
  int32_t padding0;
  int64_t num_targets; /**< First nodes of the mini-batch. */
  int64_t num_sources; /**< First nodes of the mini-batch. */
  int64_t num_edges;   /**< Edges. */
} gnnmg_block_info;

/** Frees the handle. */
GNNMG_API void gnnmg_batch_free(gnnmg_batch* batch);

/** Facts about a mini-batch. */
GNNMG_STATUS gnnmg_batch_get_info(const gnnmg_batch* batch, gnnmg_batch_info* info);

/** Sizes of one block. */
GNNMG_STATUS gnnmg_batch_get_block_info(const gnnmg_batch* batch, int32_t layer, int32_t edge_type,
                                        gnnmg_block_info* info);

/** Seeds: i64 [num_seeds]. */
GNNMG_STATUS gnnmg_batch_export_seeds(const gnnmg_batch* batch, gnnmg_tensor** seeds);

/** First node of each seed, if seeds are graphs: i64 [num_seeds + 1]. */
GNNMG_STATUS gnnmg_batch_export_graph_ptr(const gnnmg_batch* batch, gnnmg_tensor** graph_ptr);

/** Nodes: the seeds, then those of each hop in order of first appearance: i64 [num_nodes]. */
GNNMG_STATUS gnnmg_batch_export_node_ids(const gnnmg_batch* batch, int32_t node_type,
                                         gnnmg_tensor** node_ids);

/** Dense features of the nodes: [num_nodes, feature_dim] in the data set's type. */
GNNMG_STATUS gnnmg_batch_export_features(const gnnmg_batch* batch, int32_t node_type,
                                         gnnmg_tensor** features);

/** Sparse features of the nodes. */
GNNMG_STATUS gnnmg_batch_export_sparse_features(const gnnmg_batch* batch, int32_t node_type,
                                                gnnmg_tensor** indptr, gnnmg_tensor** indices,
                                                gnnmg_tensor** values);

/** Labels of the seeds: i64 [num_seeds], or f32 [num_seeds, T]. */
GNNMG_STATUS gnnmg_batch_export_labels(const gnnmg_batch* batch, gnnmg_tensor** labels);

/** Weight of each label in a loss, f64 in the labels' shape: class weight times node weight; 1 if
 * none are set, 0 without a label. */
GNNMG_STATUS gnnmg_batch_export_weights(const gnnmg_batch* batch, gnnmg_tensor** weights);

/** Edges of one layer, as positions in the list of nodes.
 * @param indptr i32
 * @param indices i32
 * @param edge_ids i64 [num_edges]; NULL if the sampler stores none. May be NULL */
GNNMG_STATUS gnnmg_batch_export_block(const gnnmg_batch* batch, int32_t layer, int32_t edge_type,
                                      gnnmg_tensor** indptr, gnnmg_tensor** indices,
                                      gnnmg_tensor** edge_ids);

/* ============================================================================================= */
/** @defgroup metrics Metrics
 * Results of gnnmg_trainer_evaluate(), gnnmg_model_evaluate() and validations, exact for any number
 * of ranks. The two functions also give a confusion matrix: labeled rows by class and predicted
 * class, i64 [classes, classes], of at most 10 000 classes, or for binary targets i64 [targets, 2,
 * 2]. gnnmg_util.h has a class's precision, recall and F1. */

/** Results of an evaluation. Fields of other tasks are NaN, but accuracy and F1 of a regression 0.
 * Without labels all are NaN, counts 0. */
typedef struct gnnmg_metrics {
  uint32_t struct_size;
  gnnmg_task task;          /**< Task of the data set. */
  int64_t count;            /**< Labeled rows or targets. */
  int64_t correct;          /**< Correct predictions among `count`. */
  double loss;              /**< Mean loss. */
  double accuracy;          /**< correct / count. */
  double f1_micro;          /**< F1 over all decisions. */
  double f1_macro;          /**< Mean F1 of the classes that occur. */
  double roc_auc;           /**< Binary: mean over targets with both labels. */
  double average_precision; /**< Binary: mean over targets. */
  double rmse;              /**< Regression: root of the mean squared error. */
  double mae;               /**< Regression: mean absolute error. */
  double top_k_accuracy;    /**< Classes: share of rows whose class is among the `top_k` largest
                                 results, of equal ones the first. */
} gnnmg_metrics;

/* ============================================================================================= */
/** @defgroup model Model
 * A model has layers, and parameters under the keys of PyG or DGL. */

/** A model. */
typedef struct gnnmg_model gnnmg_model;

/** Architecture of a model. */
typedef int32_t gnnmg_architecture;
enum {
  GNNMG_ARCHITECTURE_SAGE = 0,        /**< GraphSAGE (Hamilton 2017). */
  GNNMG_ARCHITECTURE_GCN = 1,         /**< Graph convolutional network (Kipf 2017). */
  GNNMG_ARCHITECTURE_GAT = 2,         /**< Graph attention network (Velickovic 2018). */
  GNNMG_ARCHITECTURE_GATV2 = 3,       /**< Attention that depends on both ends (Brody 2022). */
  GNNMG_ARCHITECTURE_GIN = 4,         /**< Graph isomorphism network (Xu 2019). */
  GNNMG_ARCHITECTURE_GINE = 5,        /**< GIN with edge features (Hu 2020). */
  GNNMG_ARCHITECTURE_RGCN = 6,        /**< R-GCN: a linear map per edge type (Schlichtkrull
                                           2018). */
  GNNMG_ARCHITECTURE_TRANSFORMER = 7, /**< Graph transformer (Shi 2021). */
  GNNMG_ARCHITECTURE_PNA = 8,         /**< Principal neighborhood aggregation (Corso 2020). */
  GNNMG_ARCHITECTURE_GRAPHCONV = 9,   /**< A linear map for neighbors and one for the node
                                           (Morris 2019). */
  GNNMG_ARCHITECTURE_LAYERS = 10,     /**< Layers of gnnmg_model_add_conv() and others. */
  GNNMG_ARCHITECTURE_EDGE = 11        /**< EdgeConv: a network over both ends of each edge (Wang
                                           2019); in DGL only with the maximum. */
};

/** Source of layer definitions and tensor keys. */
typedef int32_t gnnmg_framework;
enum {
  GNNMG_FRAMEWORK_PYG = 0, /**< PyTorch Geometric: keys "convs.0.lin_l.weight", ... */
  GNNMG_FRAMEWORK_DGL = 1  /**< DGL: keys "layers.0.fc_neigh.weight", ... */
};

/** Aggregation of a node's neighbors. */
typedef int32_t gnnmg_aggregation;
enum {
  GNNMG_AGGREGATION_DEFAULT = 0, /**< Sum for GIN, GINE, GraphConv, DGL's R-GCN; max for
                                      EdgeConv; mean for GraphSAGE, PyG's R-GCN. */
  GNNMG_AGGREGATION_MEAN = 1,    /**< Mean. */
  GNNMG_AGGREGATION_MAX = 2,     /**< Maximum of each column; not in DGL's GraphSAGE. */
  GNNMG_AGGREGATION_SUM = 3,     /**< Not in DGL's GraphSAGE. */
  GNNMG_AGGREGATION_POOL = 4,    /**< DGL: maximum after a linear layer and ReLU. */
  GNNMG_AGGREGATION_LSTM = 5,    /**< GraphSAGE: a recurrent network over the neighbors in edge
                                      order. */
  GNNMG_AGGREGATION_GCN = 6      /**< DGL: mean of the neighbors and the node itself. */
};

/** Function between layers. */
typedef int32_t gnnmg_activation;
enum {
  GNNMG_ACTIVATION_RELU = 0,       /**< max(x, 0) */
  GNNMG_ACTIVATION_NONE = 1,       /**< x */
  GNNMG_ACTIVATION_ELU = 2,        /**< x, or exp(x) - 1 below 0 */
  GNNMG_ACTIVATION_LEAKY_RELU = 3, /**< x, or 0.01 x below 0 */
  GNNMG_ACTIVATION_GELU = 4,       /**< x times the normal distribution function */
  GNNMG_ACTIVATION_TANH = 5,       /**< tanh(x) */
  GNNMG_ACTIVATION_PRELU = 6,      /**< x, or a learned multiple of x below 0 */
  GNNMG_ACTIVATION_SILU = 7,       /**< x / (1 + exp(-x)) */
  GNNMG_ACTIVATION_SIGMOID = 8     /**< 1 / (1 + exp(-x)) */
};

/** Normalization between layers, and inside GIN, GINE and PyG's EdgeConv. "A graph" means each
 * graph of a mini-batch of graphs; in other mini-batches, and inside layers, all rows; in results
 * for all nodes, all nodes. */
typedef int32_t gnnmg_norm;
enum {
  GNNMG_NORM_NONE = 0,        /**< None. */
  GNNMG_NORM_BATCH = 1,       /**< Each column over the mini-batch. Training needs two rows. */
  GNNMG_NORM_LAYER = 2,       /**< Each row by itself. */
  GNNMG_NORM_LAYER_GRAPH = 3, /**< All entries of a graph together; default of PyG's LayerNorm. */
  GNNMG_NORM_GRAPH = 4,       /**< Each column over a graph, minus a learned share of its mean
                                   (Cai 2021). */
  GNNMG_NORM_INSTANCE = 5,    /**< Each column over a graph, without parameters. */
  GNNMG_NORM_PAIR = 6,        /**< Columns centered over a graph, then its rows scaled to a mean
                                   square length of `norm_scale` (Zhao 2020). */
  GNNMG_NORM_PAIR_ROWS = 7    /**< Columns centered over a graph, then each row scaled to the
                                   length `norm_scale`. */
};

/** Combines a graph's rows into one, before a final linear layer; 0 without nodes. */
typedef int32_t gnnmg_readout;
enum {
  GNNMG_READOUT_NONE = 0,      /**< One row per seed. */
  GNNMG_READOUT_SUM = 1,       /**< Sum. */
  GNNMG_READOUT_MEAN = 2,      /**< Mean. */
  GNNMG_READOUT_MAX = 3,       /**< Maximum of each column. */
  GNNMG_READOUT_ATTENTION = 4, /**< Sum weighted by a softmax over learned scores. */
  GNNMG_READOUT_SET2SET = 5,   /**< A recurrent network that reads the rows `readout_steps`
                                    times, twice as wide (Vinyals 2016). */
  GNNMG_READOUT_SORT = 6       /**< The `sort_rows` rows largest in the last column, concatenated
                                    and filled with zeros (Zhang 2018). */
};

/** Settings of a model. */
typedef struct gnnmg_model_config {
  uint32_t struct_size;
  gnnmg_architecture architecture; /**< Kind of model. */
  int64_t input_dim;               /**< Columns of the features. Default: the data set's. */
  int64_t hidden_dim;              /**< Columns between layers. Default 256. */
  int64_t output_dim;              /**< Columns of the result; -1: hidden_dim. Default: classes
                                        of the data set. */
  int32_t num_layers;              /**< Layers, as many as the sampler's, 1 to 10. Default 2. */
  gnnmg_aggregation aggregation;   /**< GraphSAGE, GIN, GINE, GraphConv, R-GCN, EdgeConv. */
  gnnmg_activation activation;     /**< Function between layers. */
  gnnmg_norm norm;                 /**< Normalization between layers. */
  gnnmg_readout readout;           /**< Batches of graphs only. */
  gnnmg_framework framework;       /**< Framework of the layers. */
  gnnmg_dtype dtype;               /**< ::GNNMG_DTYPE_F32 or ::GNNMG_DTYPE_F64. */
  int32_t heads;                   /**< GAT, GATv2, transformer: 1 to 64; divides hidden_dim
                                        unless `concat=0`. Default 1. */
  double dropout;                  /**< Share of hidden entries and attention weights that
                                        training drops, in [0, 1). */
  uint64_t seed;                   /**< Seed of the initial weights. */
} gnnmg_model_config;

/** Facts about a model. */
typedef struct gnnmg_model_info {
  uint32_t struct_size;
  gnnmg_architecture architecture; /**< Kind of model. */
  int32_t num_layers;              /**< Layers. */
  gnnmg_dtype dtype;               /**< Type of the parameters. */
  int64_t input_dim;               /**< Columns of the features. */
  int64_t hidden_dim;              /**< Columns between layers. */
  int64_t output_dim;              /**< Columns of the result. */
  int64_t num_parameters;          /**< Learned numbers. */
  int64_t num_tensors;             /**< Named tensors, including buffers. */
  gnnmg_device_type device;        /**< ::GNNMG_DEVICE_CPU or ::GNNMG_DEVICE_CUDA. */
  int32_t device_index;            /**< GPU number. */
} gnnmg_model_info;

/** Loss of a mini-batch. */
typedef int32_t gnnmg_loss;
enum {
  GNNMG_LOSS_AUTO = 0,                 /**< The task's: one of the next three. */
  GNNMG_LOSS_CROSS_ENTROPY = 1,        /**< Classes. */
  GNNMG_LOSS_BINARY_CROSS_ENTROPY = 2, /**< Binary targets, from logits. */
  GNNMG_LOSS_MEAN_SQUARED_ERROR = 3,   /**< Regression. */
  GNNMG_LOSS_MEAN_ABSOLUTE_ERROR = 4,  /**< Regression: torch's L1Loss. */
  GNNMG_LOSS_HUBER = 5,                /**< Regression: squared, linear above `huber_delta`. */
  GNNMG_LOSS_FOCAL = 6                 /**< Classes or binary targets: cross-entropy times
                                            (1-p)^`focal_gamma`, p the label's probability. */
};

/** Makes a model with initial weights.
 * @param dataset gives settings that the config leaves open; may be NULL */
GNNMG_STATUS gnnmg_model_create(const gnnmg_context* context, const gnnmg_dataset* dataset,
                                const gnnmg_model_config* config, const char* settings,
                                gnnmg_model** model);

/** Adds a convolution to a model of ::GNNMG_ARCHITECTURE_LAYERS. It must fit the layer before it.
 * @param name prefix of its keys, such as "conv1"; unique in the model
 * @param config of this layer: `output_dim` is the width of its rows, with concatenated heads;
 *   skip, jumping and readout do not apply; norms apply inside GIN, GINE and PyG's EdgeConv
 * @return ::GNNMG_ERR_BUSY after the model's first use */
GNNMG_STATUS gnnmg_model_add_conv(gnnmg_model* model, const char* name,
                                  const gnnmg_model_config* config, const char* settings);

/** Adds a linear layer, as gnnmg_model_add_conv().
 * @param output_dim width of its rows
 * @param bias 1: add one */
GNNMG_STATUS gnnmg_model_add_linear(gnnmg_model* model, const char* name, int64_t output_dim,
                                    int32_t bias);

/** Adds a norm, as gnnmg_model_add_conv().
 * @param name NULL for a norm without parameters and statistics
 * @param norm not ::GNNMG_NORM_NONE */
GNNMG_STATUS gnnmg_model_add_norm(gnnmg_model* model, const char* name, gnnmg_norm norm,
                                  const char* settings);

/** Adds an activation function, as gnnmg_model_add_conv().
 * @param name prefix of the key of ::GNNMG_ACTIVATION_PRELU's slope; else NULL */
GNNMG_STATUS gnnmg_model_add_activation(gnnmg_model* model, const char* name,
                                        gnnmg_activation activation);

/** Adds dropout, as gnnmg_model_add_conv().
 * @param rate share of entries that training drops, in [0, 1) */
GNNMG_STATUS gnnmg_model_add_dropout(gnnmg_model* model, double rate);

/** Adds a readout, as gnnmg_model_add_conv(): the next layers have one row per graph. At most one,
 * and no convolution after it.
 * @param name NULL for a readout without parameters
 * @param readout not ::GNNMG_READOUT_NONE
 * @param size steps of ::GNNMG_READOUT_SET2SET, rows of ::GNNMG_READOUT_SORT; 0: 3 steps, 30 rows
 */
GNNMG_STATUS gnnmg_model_add_readout(gnnmg_model* model, const char* name, gnnmg_readout readout,
                                     int32_t size);

/** Moves a model to a GPU or back to main memory. Tensors exported before keep their values; no
 * layer can be added afterwards.
 * @param index number of the GPU; 0 for the CPU
 * @param stream a CUDA stream of the caller; 0: one of the library
 * @return ::GNNMG_ERR_DEPENDENCY without a GPU, with the reason; ::GNNMG_ERR_BUSY while the model
 *   has an optimizer or a trainer; ::GNNMG_ERR_UNSUPPORTED for too old a GPU, or `stream` 2 */
GNNMG_STATUS gnnmg_model_set_device(gnnmg_model* model, gnnmg_device_type device, int32_t index,
                                    uint64_t stream);

/** Makes an independent model with equal weights on the same device. */
GNNMG_STATUS gnnmg_model_create_copy(const gnnmg_model* model, gnnmg_model** copy);

/** Frees the handle. */
GNNMG_API void gnnmg_model_free(gnnmg_model* model);

/** Facts about a model. */
GNNMG_STATUS gnnmg_model_get_info(const gnnmg_model* model, gnnmg_model_info* info);

/** Lists the keys of the tensors, parameters first.
 * @param trained 1: a parameter, even frozen; 0: a buffer, such as a running mean */
GNNMG_STATUS gnnmg_model_tensor_key(const gnnmg_model* model, int64_t index, const char** key,
                                    int32_t* trained);

/** A parameter or buffer, in the model's type; buffers may be i64. Exports share the model's
 * memory: use them while no call uses the model. */
GNNMG_STATUS gnnmg_model_export_tensor(const gnnmg_model* model, const char* key,
                                       gnnmg_tensor** tensor);

/** Copies values into a parameter or buffer.
 * @param values of its shape, in main memory or on a GPU */
GNNMG_STATUS gnnmg_model_set_tensor(gnnmg_model* model, const char* key,
                                    const gnnmg_tensor* values);

/** Freezes parameters, or trains them again. A frozen parameter has no gradient and no optimizer
 * state, and nothing changes it; running statistics still move. Copies, snapshots and checkpoints
 * stay frozen, files of weights do not. Tensors exported before no longer share memory.
 * @param pattern a key, with `*` for any characters: "convs.0.*"
 * @param trainable 0: freeze; 1: train
 * @return ::GNNMG_ERR_BUSY while the model has an optimizer or a trainer */
GNNMG_STATUS gnnmg_model_set_trainable(gnnmg_model* model, const char* pattern, int32_t trainable);

/** Gradient of a parameter that is not frozen. */
GNNMG_STATUS gnnmg_model_export_gradient(const gnnmg_model* model, const char* key,
                                         gnnmg_tensor** gradient);

/** All parameters as one array [num_parameters], frozen ones last. */
GNNMG_STATUS gnnmg_model_export_parameters(const gnnmg_model* model, gnnmg_tensor** parameters);

/** Gradients of the parameters that are not frozen, as one array for all-reduce. */
GNNMG_STATUS gnnmg_model_export_gradients(const gnnmg_model* model, gnnmg_tensor** gradients);

/** Result of the model for the seeds of a mini-batch.
 * @param batch with features and as many layers as the model, on its device
 * @param logits [num_seeds, output_dim], a copy on the same device */
GNNMG_STATUS gnnmg_model_infer(const gnnmg_model* model, const gnnmg_batch* batch,
                               gnnmg_tensor** logits);

/** gnnmg_model_infer() as a training pass: with dropout, and kept for gnnmg_model_backward().
 * @param logits may be NULL
 * @return ::GNNMG_ERR_UNSUPPORTED for a sample without `transpose` */
GNNMG_STATUS gnnmg_model_forward(gnnmg_model* model, const gnnmg_batch* batch,
                                 gnnmg_tensor** logits);

/** Adds the gradient of the loss of the last gnnmg_model_forward() to the model's gradients. That
 * loss is the weighted sum over the mini-batch's labeled seeds, divided by the sum of weights over
 * the whole step: the losses of a step's mini-batches add up to the step's mean.
 * @param value that loss; may be NULL
 * @return ::GNNMG_ERR_NOT_FOUND without a forward since the parameters changed */
GNNMG_STATUS gnnmg_model_backward(gnnmg_model* model, gnnmg_loss loss, double* value);

/** gnnmg_model_backward() for a loss of the caller.
 * @param gradient of that loss by the logits, [num_seeds, output_dim], in the model's type, on any
 *   device */
GNNMG_STATUS gnnmg_model_backward_from(gnnmg_model* model, const gnnmg_tensor* gradient);

/** Metrics of one part of the chosen split, with full neighborhoods.
 * @param top_k classes of `top_k_accuracy`; 0: 5
 * @param confusion may be NULL
 * @return ::GNNMG_ERR_INVALID_ARGUMENT for an empty part; ::GNNMG_ERR_UNSUPPORTED for a confusion
 *   matrix of a regression or of too many classes */
GNNMG_STATUS gnnmg_model_evaluate(const gnnmg_model* model, const gnnmg_dataset* dataset,
                                  gnnmg_part part, int32_t top_k, gnnmg_metrics* metrics,
                                  gnnmg_tensor** confusion, int64_t timeout_ms);

/** Result of the model for every node, or every graph if it has a readout, with full neighborhoods,
 * layer by layer.
 * @param path NULL, or a `.npy` file for the rows, which are then never all in memory
 * @param rows [nodes or graphs, output_dim]; NULL with a path */
GNNMG_STATUS gnnmg_model_embed(const gnnmg_model* model, const gnnmg_dataset* dataset,
                               int32_t node_type, const char* path, gnnmg_tensor** rows,
                               int64_t timeout_ms);

/** Writes all that gnnmg_model_open() needs: tensors under the keys of the model's framework, and
 * settings as JSON, which torch.load() ignores in a `.pth`. A folder gets `model.safetensors` or
 * `model.pth`, and `config.json` with the SHA-256 of the weights; it can be opened at any moment,
 * also while it is written again.
 * @param path a file; or an existing folder, or a path that ends with "/" */
GNNMG_STATUS gnnmg_model_save(const gnnmg_model* model, const char* path, const char* settings,
                              int64_t timeout_ms);

/** Makes a model from a file of gnnmg_model_save(), with the same bits; also from a checkpoint (the
 * weights trained last) or the `best.safetensors` in it.
 * @param path a file, or a folder with `model.safetensors` or `model.pth`
 * @return ::GNNMG_ERR_FORMAT for a file without settings, or settings that do not fit its tensors;
 *   ::GNNMG_ERR_VERSION for a setting of a later version; ::GNNMG_ERR_CHECKSUM or
 *   ::GNNMG_ERR_MISMATCH if `config.json` describes other weights; ::GNNMG_ERR_CANCELLED */
GNNMG_STATUS gnnmg_model_open(const gnnmg_context* context, const char* path, gnnmg_model** model);

/** Settings of a model, with values that were left to the data set.
 * @param config filled */
GNNMG_STATUS gnnmg_model_get_config(const gnnmg_model* model, gnnmg_model_config* config);

/** All settings of a model as the JSON of gnnmg_model_save(), with custom layers, and task and
 * classes of its data set.
 * @param settings borrowed */
GNNMG_STATUS gnnmg_model_get_settings(const gnnmg_model* model, const char** settings);

/** Reads the tensors of a file of PyG, DGL or gnnmg_model_save() under the keys of the model's
 * framework, all or nothing. Prefixes that all keys have, such as "module.", are ignored. Settings
 * that results depend on must equal the file's; if it has none, the log warns.
 * @param path as for gnnmg_model_open()
 * @return ::GNNMG_ERR_FORMAT for keys that are missing, unexpected or of another shape;
 *   ::GNNMG_ERR_MISMATCH for settings that differ; ::GNNMG_ERR_VERSION and ::GNNMG_ERR_CHECKSUM as
 *   gnnmg_model_open(); ::GNNMG_ERR_RANGE for a number beyond the model's type, or a variance or
 *   count below 0 */
GNNMG_STATUS gnnmg_model_load(gnnmg_model* model, const char* path, const char* settings,
                              int64_t timeout_ms);

/* ============================================================================================= */
/** @defgroup optimizer Optimizer
 * An optimizer updates a model in a custom loop. That of a trainer can only be saved and loaded. */

/** An optimizer of one model. */
typedef struct gnnmg_optimizer gnnmg_optimizer;

/** Kind of optimizer. */
typedef int32_t gnnmg_optimizer_kind;
enum {
  GNNMG_OPTIMIZER_ADAM = 0,    /**< Adam. */
  GNNMG_OPTIMIZER_ADAMW = 1,   /**< Adam with decoupled weight decay. */
  GNNMG_OPTIMIZER_SGD = 2,     /**< SGD. */
  GNNMG_OPTIMIZER_RMSPROP = 3, /**< RMSprop. */
  GNNMG_OPTIMIZER_ADAGRAD = 4  /**< Adagrad. */
};

/** Makes an optimizer of the model's parameters. */
GNNMG_STATUS gnnmg_optimizer_create(gnnmg_model* model, const char* settings,
                                    gnnmg_optimizer** optimizer);

/** Frees the handle. */
GNNMG_API void gnnmg_optimizer_free(gnnmg_optimizer* optimizer);

/** Updates the parameters from the gradients, sets these to 0, and moves the running statistics of
 * batch norms. Holds the model. */
GNNMG_STATUS gnnmg_optimizer_step(gnnmg_optimizer* optimizer);

/** Changes the learning rate. */
GNNMG_STATUS gnnmg_optimizer_set_learning_rate(gnnmg_optimizer* optimizer, double rate);

/** Learning rate. */
GNNMG_STATUS gnnmg_optimizer_learning_rate(const gnnmg_optimizer* optimizer, double* rate);

/** Writes the state in the form of PyTorch's optimizers, for the parameters of a file of
 * gnnmg_model_save() with the same settings.
 * @param path a `.pth`
 * @return ::GNNMG_ERR_UNSUPPORTED for a layer whose state cannot be converted to the other
 *   framework */
GNNMG_STATUS gnnmg_optimizer_save(const gnnmg_optimizer* optimizer, const char* path,
                                  const char* settings, int64_t timeout_ms);

/** Reads a state of gnnmg_optimizer_save() or `torch.save(optimizer.state_dict())`, also from a
 * file of several objects such as a Lightning checkpoint; all or nothing. Rate and settings stay.
 * @return ::GNNMG_ERR_FORMAT for missing, unexpected or misshapen entries; ::GNNMG_ERR_RANGE for a
 *   number of steps below 0; ::GNNMG_ERR_UNSUPPORTED if parameters have had different numbers of
 *   steps, or as gnnmg_optimizer_save() */
GNNMG_STATUS gnnmg_optimizer_load(gnnmg_optimizer* optimizer, const char* path,
                                  const char* settings, int64_t timeout_ms);

/* ============================================================================================= */
/** @defgroup comm Communicator
 * A communicator connects ranks; a handle is one rank's end. All ranks call the same operations in
 * the same order. Operations can return ::GNNMG_ERR_TIMEOUT, ::GNNMG_ERR_PEER_LOST,
 * ::GNNMG_ERR_ABORTED, and ::GNNMG_ERR_AUTH for a message changed in transit. After any failure but
 * ::GNNMG_ERR_INVALID_ARGUMENT and ::GNNMG_ERR_BUSY later calls give ::GNNMG_ERR_ABORTED with the
 * first cause. Values on GPUs pass through main memory; trainers use NCCL. */

/** One rank's end of a communicator. */
typedef struct gnnmg_comm gnnmg_comm;

/** Reduction of the ranks' values. */
typedef int32_t gnnmg_reduce;
enum {
  GNNMG_REDUCE_SUM = 0,  /**< Sum. */
  GNNMG_REDUCE_MEAN = 1, /**< Sum divided by the number of ranks; not for integers. */
  GNNMG_REDUCE_MIN = 2,  /**< Minimum. */
  GNNMG_REDUCE_MAX = 3   /**< Maximum. */
};

/** Settings of a communicator. */
typedef struct gnnmg_comm_config {
  uint32_t struct_size;
  int32_t padding0;
  int64_t deadline_ms;   /**< Limit of an operation; the shortest of all ranks applies. Default
                              30 000. */
  int64_t join_ms;       /**< Limit for joining, and for the start of a collective call. Default
                              300 000. */
  int64_t heartbeat_ms;  /**< Interval of signs of life, 10 to 600 000; process 0's applies.
                              Default 500. */
  int32_t port;          /**< Port of process 0. */
  int32_t process_rank;  /**< Number of this process. */
  int32_t num_processes; /**< 1 to 1024. Default 1. */
  int32_t padding1;
} gnnmg_comm_config;

/** Makes a communicator among threads of this process. A failure to connect is an error of the
 * first operation.
 * @param world_size ranks, 1 to 256
 * @param comms one handle per rank */
GNNMG_STATUS gnnmg_comm_create_group(const gnnmg_context* context, int32_t world_size,
                                     const gnnmg_comm_config* config, gnnmg_comm** comms);

/** Joins a job of processes, one rank each. Process 0 listens at `host` until all have joined. They
 * prove that they know the token, and compare version and number of processes.
 * @param host name or address of process 0's machine; NULL: "127.0.0.1"
 * @param network_interface interface with this process's address; NULL: the one on the route to
 *   process 0
 * @param token_file NULL: none, for loopback only
 * @param config NULL: a job of this process alone
 * @return ::GNNMG_ERR_MISMATCH, on every process, if versions, sizes or numbers conflict;
 *   ::GNNMG_ERR_AUTH also for a third party between two processes; ::GNNMG_ERR_ABORTED if process 0
 *   was canceled */
GNNMG_STATUS gnnmg_comm_create(const gnnmg_context* context, const char* host,
                               const char* network_interface, const char* token_file,
                               const gnnmg_comm_config* config, gnnmg_comm** comm,
                               int64_t timeout_ms);

/** gnnmg_comm_create() with the variables of torchrun, Open MPI or Slurm, GNNMG_TOKEN_FILE and
 * GNNMG_INTERFACE.
 * @param config only times
 * @return as gnnmg_comm_create(); ::GNNMG_ERR_INVALID_ARGUMENT for a variable;
 *   ::GNNMG_ERR_NOT_FOUND without a launcher */
GNNMG_STATUS gnnmg_comm_create_from_env(const gnnmg_context* context,
                                        const gnnmg_comm_config* config, gnnmg_comm** comm,
                                        int64_t timeout_ms);

/** Frees the handle; without gnnmg_comm_shutdown() the other ranks are aborted, unless a trainer
 * uses the job. */
GNNMG_API void gnnmg_comm_free(gnnmg_comm* comm);

/** Rank of this end.
 * @threading (a) */
GNNMG_STATUS gnnmg_comm_rank(const gnnmg_comm* comm, int32_t* rank);

/** Number of ranks.
 * @threading (a) */
GNNMG_STATUS gnnmg_comm_world_size(const gnnmg_comm* comm, int32_t* size);

/** Reduces the tensors of all ranks by element.
 * @param tensor same shape and type on all ranks, writable; not bool */
GNNMG_STATUS gnnmg_comm_all_reduce(gnnmg_comm* comm, gnnmg_tensor* tensor, gnnmg_reduce operation,
                                   int64_t timeout_ms);

/** Copies the tensor of one rank to all.
 * @param tensor same shape and type on all ranks, writable
 * @param root that rank */
GNNMG_STATUS gnnmg_comm_broadcast(gnnmg_comm* comm, gnnmg_tensor* tensor, int32_t root,
                                  int64_t timeout_ms);

/** Gives every rank the tensors of all ranks. Sizes may differ.
 * @param input tensor of this rank
 * @param outputs one writable tensor per rank, with shape and type of that rank's input */
GNNMG_STATUS gnnmg_comm_all_gather(gnnmg_comm* comm, const gnnmg_tensor* input,
                                   gnnmg_tensor* const* outputs, int64_t timeout_ms);

/** Sends one tensor to each rank and receives one from each. Sizes may differ.
 * @param inputs one tensor per rank
 * @param outputs one writable tensor per rank, with shape and type of its input there */
GNNMG_STATUS gnnmg_comm_all_to_all(gnnmg_comm* comm, const gnnmg_tensor* const* inputs,
                                   gnnmg_tensor* const* outputs, int64_t timeout_ms);

/** Waits until all ranks have called it. */
GNNMG_STATUS gnnmg_comm_barrier(gnnmg_comm* comm, int64_t timeout_ms);

/** Ends the running operation and the communicator, with the whole job of processes:
 * ::GNNMG_ERR_CANCELLED here, ::GNNMG_ERR_ABORTED on the others, which know of it when the call
 * returns. */
GNNMG_API void gnnmg_comm_cancel(gnnmg_comm* comm);

/** Ends the communicator in order, when all ranks have called it. Only a free may follow. */
GNNMG_STATUS gnnmg_comm_shutdown(gnnmg_comm* comm, int64_t timeout_ms);

/* ============================================================================================= */
/** @defgroup parts Graphs in parts
 * Processes and servers share parts of gnnmg_dataset_save_parts(). */

/** Source of the parts that other processes of a job have. */
typedef int32_t gnnmg_parts_reading;
enum {
  GNNMG_PARTS_READING_AUTO = 0,   /**< SHARED if every process finds all parts, else ASKED. */
  GNNMG_PARTS_READING_SHARED = 1, /**< The folder, which every process must find whole. */
  GNNMG_PARTS_READING_ASKED = 2   /**< The processes that have them. Processes that find the same
                                       parts divide these. */
};

/** Settings of requests for parts elsewhere. gnnmg_dataset_open_served() ignores `reading` and
 * `port`. */
typedef struct gnnmg_served_config {
  uint32_t struct_size;
  int32_t max_in_flight;       /**< Concurrent requests to each part, 1 to 1024. Default 8. */
  int64_t deadline_ms;         /**< Limit of a request. Default 10000. */
  size_t cache_bytes;          /**< Cache of the hottest rows of other parts. Default: for a
                                    tenth of all rows. */
  gnnmg_parts_reading reading; /**< Source of other parts; equal on all processes. */
  int32_t insecure;            /**< 1: connect to other machines without TLS, with a warning. */
  int32_t port;                /**< Port of this process's server. Default: a free one. */
  int32_t padding0;
} gnnmg_served_config;

/** Opens this process's share of a graph in parts; collective in a job of several processes.
 *
 * A process has the parts whose folders `part-0000`, ... it finds. If every process finds all, they
 * divide the parts and read other rows from the folder. Otherwise each serves its parts until all
 * have freed their data sets or the job ends: call gnnmg_comm_shutdown() after the last read.
 * Connections to other machines need the job's token, and TLS (the context's options
 * `tls_certificate`, `tls_key`, `tls_authority`) or `insecure`.
 *
 * Results have the same bits for any number of parts and processes. Transforms, saving, exported
 * edges, outgoing edges, and exact results of models with norms over the rows of all edges are
 * ::GNNMG_ERR_UNSUPPORTED.
 * @param comm job of the processes; NULL: this process has all parts
 * @param folder of gnnmg_dataset_save_parts(), or of gnnmg_dataset_save(): part 0 of 1
 * @return in a job: ::GNNMG_ERR_MISMATCH for a part that no process has, or folders of different
 *   data; ::GNNMG_ERR_ABORTED */
GNNMG_STATUS gnnmg_dataset_open_parts(const gnnmg_context* context, const gnnmg_comm* comm,
                                      const char* folder, const gnnmg_served_config* config,
                                      gnnmg_dataset** dataset, int64_t timeout_ms);

/** gnnmg_dataset_open_parts() from graph servers, which may be restarted or replaced during an
 * epoch. Labels, splits and weights are copied.
 * @param addresses "graph-0:7300,graph-1:7300", or a name with several addresses
 * @param token_file NULL: servers require none
 * @return ::GNNMG_ERR_MISMATCH if servers have different data; ::GNNMG_ERR_PROTOCOL for a server
 *   without TLS */
GNNMG_STATUS gnnmg_dataset_open_served(const gnnmg_context* context, const char* addresses,
                                       const char* token_file, const gnnmg_served_config* config,
                                       const char* settings, gnnmg_dataset** dataset,
                                       int64_t timeout_ms);

/* ============================================================================================= */
/** @defgroup trainer Trainer
 * A trainer runs the whole loop over ranks: order, sampling, gradients, updates, evaluation,
 * keeping the best weights. Each rank has a thread, a replica of the model and a loader; the ranks
 * of a process share graph and features. Ranks on GPUs exchange by NCCL.
 *
 * With a communicator among processes, the trainers of all train one model; ranks are numbered by
 * process. Start, run, step, evaluate, embed, save and load are then collective: all processes make
 * the same calls in the same order, for one trainer of a communicator at a time. The first compares
 * data and settings (::GNNMG_ERR_MISMATCH) and takes weights and position from process 0, which
 * alone writes records and checkpoints. A failure on one process is ::GNNMG_ERR_ABORTED on the
 * others, a lost one ::GNNMG_ERR_PEER_LOST, a late one ::GNNMG_ERR_TIMEOUT. Unless a process is
 * lost, the same call on all processes then continues. Processes that see the same GPUs divide
 * them; all have GPUs, or none. */

/** A trainer. */
typedef struct gnnmg_trainer gnnmg_trainer;

/** Settings of a trainer. */
typedef struct gnnmg_trainer_config {
  uint32_t struct_size;
  int32_t num_ranks;              /**< Ranks of this process, one thread each. Default: one per
                                       GPU of its share, or one. */
  int64_t num_epochs;             /**< Passes over the training part. Default 10. */
  int64_t batch_size;             /**< Seeds per mini-batch. Default 1024. */
  int64_t batches_per_step;       /**< Mini-batches per step, all ranks together: equal numbers
                                       give equal steps on any number of ranks. Default: one per
                                       rank. */
  gnnmg_loss loss;                /**< Loss function. */
  gnnmg_optimizer_kind optimizer; /**< Optimizer. */
  double learning_rate;           /**< Default 0.01. */
  double weight_decay;            /**< Or L2 penalty. */
  double clip_norm;               /**< Maximum 2-norm of all gradients. Default: none. */
  uint64_t seed;                  /**< Seed of order, draws and dropout. */
  gnnmg_plan plan;                /**< Division among ranks. */
  gnnmg_device_type device;       /**< ::GNNMG_DEVICE_AUTO: GPUs if there are enough for all
                                       ranks, else the CPU; the log says why. */
  int64_t early_stop_patience;    /**< Validations without improvement before the end. Default:
                                       no limit. */
  int32_t deterministic;          /**< 1: with equal `batches_per_step`, the same bits for any
                                       number of ranks and threads, also after a resume, on one
                                       kind of CPU or GPU. */
  int32_t padding0;
} gnnmg_trainer_config;

/** Upper bound of a training's bytes on a GPU, from fan-outs and degrees. */
typedef struct gnnmg_memory_info {
  uint32_t struct_size;
  int32_t fits;                              /**< 1: `total_bytes` is at most `gpu_bytes`. */
  size_t gpu_bytes;                          /**< Memory of the GPU: as given, or free. */
  size_t total_bytes;                        /**< Sum, with the larger of step and evaluation. */
  size_t graph_bytes;                        /**< Graph. */
  size_t feature_bytes;                      /**< Feature rows, all or cached. */
  size_t sampler_bytes;                      /**< Buffers of samplers and mini-batches. */
  size_t row_bytes;                          /**< Gathered rows. */
  size_t step_bytes;                         /**< Forward and backward passes. */
  size_t evaluation_bytes;                   /**< Validation between epochs. */
  size_t parameter_bytes;                    /**< Weights, gradients, last valid weights. */
  size_t optimizer_bytes;                    /**< Optimizer state. */
  size_t communication_bytes;                /**< Data for other ranks, and NCCL's buffers. */
  size_t capture_bytes;                      /**< Padded shapes; 0: mini-batches are not padded. */
  size_t reserve_bytes;                      /**< Reserve for libraries: 1 GiB of a given GPU, up
                                                  to 256 MiB of free memory. */
  size_t pinned_bytes;                       /**< Pinned main memory, once per process. */
  int64_t num_cached;                        /**< Cached rows. */
  gnnmg_graph_placement graph_placement;     /**< Not AUTO. */
  gnnmg_feature_placement feature_placement; /**< Not AUTO. */
  int32_t bounded;                           /**< 0: without steps, as mini-batches of a custom
                                                  sampler have no bound; 1: complete. */
  int32_t padding;
} gnnmg_memory_info;

/** State of a trainer. */
typedef int32_t gnnmg_trainer_state;
enum {
  GNNMG_TRAINER_STATE_IDLE = 0,     /**< Not started, or stopped. */
  GNNMG_TRAINER_STATE_RUNNING = 1,  /**< Running. */
  GNNMG_TRAINER_STATE_STOPPING = 2, /**< Stopping after the step. */
  GNNMG_TRAINER_STATE_FINISHED = 3, /**< Finished all epochs. */
  GNNMG_TRAINER_STATE_FAILED = 4    /**< Ended with an error. */
};

/** Times of a rank's steps, in seconds. Last in its structs, so that it can grow. */
typedef struct gnnmg_times {
  double total;     /**< Everything but validation. */
  double wait;      /**< Waiting for mini-batches. */
  double sample;    /**< Sampling, on all loader threads. */
  double gather;    /**< Gathering, on all loader threads. */
  double compute;   /**< Passes. */
  double reduce;    /**< All-reduces, including waits. */
  double optimizer; /**< Updates. */
  double peer_wait; /**< Waiting for slower ranks in all-reduces. */
} gnnmg_times;

/** Progress of training. */
typedef struct gnnmg_progress_info {
  uint32_t struct_size;
  gnnmg_trainer_state state; /**< State. */
  int64_t epoch;             /**< Epoch, from 0. */
  int64_t num_epochs;        /**< Epochs. */
  int64_t step;              /**< Steps done in the epoch. */
  int64_t num_steps;         /**< Steps of the epoch. */
  int64_t seeds_done;        /**< Seeds done, all ranks together. */
  double loss;               /**< Mean of the epoch so far. */
  double accuracy;           /**< Mean of the epoch so far, as trained. */
  double seeds_per_second;   /**< Speed, all ranks together. */
  double elapsed_seconds;    /**< Time since the start. */
  double validation;         /**< Last validation, by `best_by`. */
  double best_validation;    /**< Best validation, by `best_by`. */
  int64_t best_epoch;        /**< Epoch of the best validation, or -1. */
  int32_t evaluating;        /**< 1: a validation is running. */
  int32_t has_validation;    /**< 1: the three validation fields are valid. */
  gnnmg_device_type device;  /**< Device of the ranks. */
  int32_t num_ranks;         /**< Ranks of this process. */
  gnnmg_times times;         /**< Times of this process's first rank, in the epoch so far. */
} gnnmg_progress_info;

/** Times of one rank, and traffic of its GPU. */
typedef struct gnnmg_rank_info {
  uint32_t struct_size;
  int32_t rank;   /**< Number in the job. */
  int32_t device; /**< GPU number; -1: the CPU. */
  int32_t padding;
  int64_t epoch;          /**< Epoch, from 0. */
  int64_t num_steps;      /**< Complete steps. */
  int64_t bus_bytes;      /**< Bytes that its GPU read over the bus: mini-batches and feature
                               rows, no edges of a pinned graph. */
  int64_t num_rows;       /**< Rows gathered by its GPU, known at the end of the epoch. */
  int64_t num_rows_there; /**< Rows from the GPU's own memory. */
  double idle_seconds;    /**< Idle time of the GPU's training queue, or of the rank's thread:
                               `total` - `compute` - `reduce` - `optimizer`. */
  gnnmg_times times;      /**< Times in the epoch so far. */
} gnnmg_rank_info;

/** Results of an epoch. */
typedef struct gnnmg_epoch_info {
  uint32_t struct_size;
  int32_t best;                    /**< 1: the best validation so far. */
  int64_t epoch;                   /**< Epoch, from 0. */
  int64_t num_epochs;              /**< Epochs. */
  int64_t num_steps;               /**< Steps. */
  double train_loss;               /**< Mean loss, as trained. */
  double train_accuracy;           /**< Mean accuracy, as trained. */
  double learning_rate;            /**< Rate of the last step. */
  const gnnmg_metrics* validation; /**< Metrics, valid until the callback returns; NULL: none. */
  double evaluation_seconds;       /**< Time of the validation. */
  double seeds_per_second;         /**< Speed, all ranks together. */
  double mean_busy_seconds;        /**< Time without all-reduces, mean over all ranks. */
  double most_busy_seconds;        /**< Time without all-reduces, slowest rank. */
  int32_t slowest_rank;            /**< Slowest rank. */
  gnnmg_device_type device;        /**< Device of the ranks. */
  int32_t num_ranks;               /**< Ranks of this process. */
  int32_t padding0;
  gnnmg_times times; /**< Times of this process's first rank. */
} gnnmg_epoch_info;

/** Called after each epoch, on every process that has registered one.
 * @return 0, or anything else to end training */
typedef int32_t (*gnnmg_epoch_fn)(const gnnmg_epoch_info* epoch, void* user_data);

/** A mini-batch for a ::gnnmg_loss_fn. Arrays are in main memory, row by row, for the call. */
typedef struct gnnmg_loss_batch {
  uint32_t struct_size;
  gnnmg_dtype dtype;      /**< f32 or f64. */
  int64_t num_rows;       /**< Seeds: nodes or graphs. */
  int64_t num_columns;    /**< Outputs of the model. */
  const int64_t* seeds;   /**< Ids of the seeds, [num_rows]. */
  const void* logits;     /**< [num_rows, num_columns] */
  const int64_t* classes; /**< [num_rows], -1 for none; NULL for other tasks. */
  const void* targets;    /**< Labels of other tasks, [num_rows, num_columns], NaN for none. */
  const double* weights;  /**< Weights of the labels, in the same shape; 0 without a label. */
  void* gradient;         /**< [num_rows, num_columns], zeros: add the gradient of `loss`. */
  double loss;            /**< Set this to the sum of the weighted losses. */
  double weight;          /**< Preset to the sum of `weights`; may be changed. `loss` and
                               `gradient` are divided by its sum over a step's mini-batches. */
} gnnmg_loss_batch;

/** A loss of the caller; see gnnmg_trainer_set_loss().
 * @return 0, or anything else to end training */
typedef int32_t (*gnnmg_loss_fn)(gnnmg_loss_batch* batch, void* user_data);

/** Format of a trainer's record. */
typedef int32_t gnnmg_record;
enum {
  GNNMG_RECORD_JSON_LINES = 1, /**< File with a JSON object per epoch. */
  GNNMG_RECORD_TENSORBOARD = 2 /**< Folder for an event file of TensorBoard. */
};

/** Makes a trainer.
 * @param model in main memory; from GPUs its weights come back after each epoch, before `on_epoch`,
 *   at checkpoints and at the end of a call
 * @param dataset with features, labels and a split
 * @param sampler on its graph; NULL: fan-out 10 a layer, or whole graphs
 * @param comm of gnnmg_comm_create() or gnnmg_comm_create_from_env(); NULL: this process alone
 * @return ::GNNMG_ERR_DEPENDENCY without GPUs, with the reason; ::GNNMG_ERR_UNSUPPORTED for a
 *   communicator among threads
 * @threading (c) for the model, (b) for the others */
GNNMG_STATUS gnnmg_trainer_create(gnnmg_model* model, const gnnmg_dataset* dataset,
                                  const gnnmg_sampler* sampler, const gnnmg_comm* comm,
                                  const gnnmg_trainer_config* config, const char* settings,
                                  gnnmg_trainer** trainer);

/** Frees the handle. */
GNNMG_API void gnnmg_trainer_free(gnnmg_trainer* trainer);

/** Records the results of each epoch, from the next start on.
 * @param path the file or folder; NULL: stop */
GNNMG_STATUS gnnmg_trainer_set_record(gnnmg_trainer* trainer, gnnmg_record record,
                                      const char* path);

/** Settings of gnnmg_trainer_set_checkpoints(). */
typedef struct gnnmg_checkpoint_config {
  uint32_t struct_size;
  int32_t keep;         /**< Newest checkpoints to keep, besides the best. Default 3. */
  int64_t every_steps;  /**< Steps between checkpoints. */
  double every_seconds; /**< Seconds between checkpoints. */
} gnnmg_checkpoint_config;

/** Writes checkpoints, from the next start on: after the given steps or seconds, else after each
 * epoch, and at the end. Training pauses only for a copy in memory; a failed write is an error of
 * the next step.
 *
 * A checkpoint is a folder; `latest` and `best` beside the checkpoints name one each. The folder of
 * checkpoints belongs to the training that began it: gnnmg_trainer_load() continues it, another
 * start is ::GNNMG_ERR_MISMATCH.
 * @param folder made by the first write; NULL: no more checkpoints */
GNNMG_STATUS gnnmg_trainer_set_checkpoints(gnnmg_trainer* trainer, const char* folder,
                                           const gnnmg_checkpoint_config* config);

/** Writes a checkpoint now, between two steps.
 * @return ::GNNMG_ERR_NAN if a weight is not finite */
GNNMG_STATUS gnnmg_trainer_save(gnnmg_trainer* trainer, const char* path, int64_t timeout_ms);

/** Continues from a checkpoint, also in the middle of an epoch; all or nothing. On the same number
 * of ranks the bits are the same, on another the mini-batches. Data, sampler, model, and settings
 * of the plan (seed, batch size, order, loss, kind of optimizer, `best_by`) must equal the saved
 * ones; rates, schedule, epochs and ranks are the trainer's.
 * @param path a checkpoint, or a folder of them: the newest complete one is used
 * @return ::GNNMG_ERR_CHECKSUM if none is complete; ::GNNMG_ERR_MISMATCH; ::GNNMG_ERR_VERSION */
GNNMG_STATUS gnnmg_trainer_load(gnnmg_trainer* trainer, const char* path, int64_t timeout_ms);

/** Optimizer of the trainer. Saving and loading it are then collective, between two steps; the
 * caller loads the weights that belong to a state.
 * @threading (a) */
GNNMG_STATUS gnnmg_trainer_get_optimizer(const gnnmg_trainer* trainer, gnnmg_optimizer** optimizer);

/** Replaces the loss of training, not of evaluations, by a function, called once a mini-batch, one
 * call at a time, on a thread that waits. All processes set one, or none.
 * @param trainer a trainer on the CPU that has not worked yet
 * @param function NULL: the setting `loss`
 * @return ::GNNMG_ERR_BUSY after the first work; ::GNNMG_ERR_UNSUPPORTED on GPUs */
GNNMG_STATUS gnnmg_trainer_set_loss(gnnmg_trainer* trainer, gnnmg_loss_fn function, void* user_data,
                                    gnnmg_release_fn release);

/** Sets the learning rate of all ranks, in place of config and schedule, from the next epoch or
 * gnnmg_trainer_step() on; also in `on_epoch`. Checkpoints keep it. Different rates on processes
 * end in ::GNNMG_ERR_MISMATCH.
 * @threading (a) */
GNNMG_STATUS gnnmg_trainer_set_learning_rate(gnnmg_trainer* trainer, double rate);

/** Starts the ranks on the remaining epochs and returns.
 * @param on_epoch called after each epoch, or NULL */
GNNMG_STATUS gnnmg_trainer_start(gnnmg_trainer* trainer, gnnmg_epoch_fn on_epoch, void* user_data,
                                 gnnmg_release_fn release);

/** Waits for the end of training and runs its callbacks. After an error the model has the weights
 * of the last step of the first rank, or those last read from its lost GPU.
 * @return ::GNNMG_OK, also after gnnmg_trainer_stop(); ::GNNMG_ERR_DIVERGED; ::GNNMG_ERR_TIMEOUT;
 *   ::GNNMG_ERR_PEER_LOST; ::GNNMG_ERR_NO_MEMORY if a GPU is too small; ::GNNMG_ERR_UNSUPPORTED for
 *   an impossible placement */
GNNMG_STATUS gnnmg_trainer_wait(gnnmg_trainer* trainer, int64_t timeout_ms);

/** gnnmg_trainer_start(), then gnnmg_trainer_wait().
 * @param on_epoch called after each epoch, or NULL */
GNNMG_STATUS gnnmg_trainer_run(gnnmg_trainer* trainer, gnnmg_epoch_fn on_epoch, void* user_data,
                               gnnmg_release_fn release);

/** Stops training in order: all ranks end after the same step, waits return ::GNNMG_OK, another
 * start continues. */
GNNMG_API void gnnmg_trainer_stop(gnnmg_trainer* trainer);

/** Ends the work immediately: ::GNNMG_ERR_CANCELLED here, ::GNNMG_ERR_ABORTED on other processes.
 * Another start continues from the last step. */
GNNMG_API void gnnmg_trainer_cancel(gnnmg_trainer* trainer);

/** Runs one step on all ranks, and the validation if one is due.
 * @param loss exact loss of the step; may be NULL
 * @return ::GNNMG_END after the last step of the last epoch; errors as gnnmg_trainer_wait() */
GNNMG_STATUS gnnmg_trainer_step(gnnmg_trainer* trainer, double* loss, int64_t timeout_ms);

/** Metrics of one part of the split, by all ranks; the same on all processes.
 * @param confusion may be NULL
 * @return as gnnmg_model_evaluate() and gnnmg_trainer_wait() */
GNNMG_STATUS gnnmg_trainer_evaluate(gnnmg_trainer* trainer, gnnmg_part part, gnnmg_metrics* metrics,
                                    gnnmg_tensor** confusion, int64_t timeout_ms);

/** gnnmg_model_embed() by all ranks. Every process gets all rows; process 0 writes the file. With
 * `deterministic` the bits are the same for any number of ranks.
 * @return errors as gnnmg_trainer_wait() */
GNNMG_STATUS gnnmg_trainer_embed(gnnmg_trainer* trainer, int32_t node_type, const char* path,
                                 gnnmg_tensor** rows, int64_t timeout_ms);

/** Upper bound of the training's memory on a GPU, even without one. Ranks on GPUs reserve it when
 * they begin, or end with ::GNNMG_ERR_NO_MEMORY, listing these parts.
 * @param gpu_bytes total memory of the GPU; 0: free memory of the first rank's
 * @return ::GNNMG_ERR_NOT_FOUND on the CPU with `gpu_bytes` 0 */
GNNMG_STATUS gnnmg_trainer_get_memory_info(const gnnmg_trainer* trainer, size_t gpu_bytes,
                                           gnnmg_memory_info* info);

/** Progress of a training.
 * @threading (a) */
GNNMG_STATUS gnnmg_trainer_progress(const gnnmg_trainer* trainer, gnnmg_progress_info* info);

/** Facts about a rank of this process in the running epoch, or in the previous one until its first
 * step is complete.
 * @return ::GNNMG_ERR_NOT_FOUND after the last
 * @threading (a) */
GNNMG_STATUS gnnmg_trainer_get_rank_info(const gnnmg_trainer* trainer, int64_t index,
                                         gnnmg_rank_info* info);

/** Model of the trainer.
 * @threading (a) */
GNNMG_STATUS gnnmg_trainer_get_model(const gnnmg_trainer* trainer, gnnmg_model** model);

/** Copies the model as of the last complete step, also during training and in a callback; from GPUs
 * with the weights that came back last. With the setting `average` the copy has the averaged
 * weights; after the last epoch, those that the trainer leaves (`keep_best`).
 * @return ::GNNMG_ERR_BUSY while something else changes the model
 * @threading (a) */
GNNMG_STATUS gnnmg_trainer_snapshot(const gnnmg_trainer* trainer, gnnmg_model** model);

/* ============================================================================================= */
/** @defgroup predictor Predictor
 * A predictor uses a trained model from any number of threads. */

/** A copy of a model's weights over a data set. */
typedef struct gnnmg_predictor gnnmg_predictor;

/** Kind of result, in the model's type unless said otherwise. */
typedef int32_t gnnmg_output;
enum {
  GNNMG_OUTPUT_LOGITS = 0,        /**< Result of the model, or numbers of a regression: [num_ids,
                                       output_dim]. */
  GNNMG_OUTPUT_PROBABILITIES = 1, /**< One a class, with sum 1, or one a target: [num_ids,
                                       output_dim]. */
  GNNMG_OUTPUT_CLASSES = 2,       /**< Most likely class, i64 [num_ids]; for binary targets 0 or
                                       1, i64 [num_ids, output_dim]. */
  GNNMG_OUTPUT_EMBEDDINGS = 3     /**< Rows before the layer that gives the result: [num_ids,
                                       embedding_dim]. */
};

/** Facts about a predictor. */
typedef struct gnnmg_predictor_info {
  uint32_t struct_size;
  gnnmg_dtype dtype;     /**< Type of logits, probabilities and embeddings. */
  gnnmg_task task;       /**< Task of the data set. */
  int32_t exact;         /**< 1: whole neighborhoods; 0: drawn. */
  int64_t num_ids;       /**< Nodes, or graphs. */
  int64_t output_dim;    /**< Columns of logits and probabilities. */
  int64_t classes_dim;   /**< Columns of classes, or 0. */
  int64_t embedding_dim; /**< Columns of embeddings, or 0. */
  int64_t num_calls;     /**< Answered calls. */
  int64_t num_rows;      /**< Ids of answered calls. */
  double p50_seconds;    /**< Median time of a call, within 13 %. */
  double p99_seconds;    /**< 99th percentile, within 13 %. */
} gnnmg_predictor_info;

/** Makes a predictor. Without the setting `fanouts` it takes whole neighborhoods, and its results
 * are those of gnnmg_model_embed() up to rounding; with it, the bits of gnnmg_model_infer() on
 * gnnmg_sampler_sample() with these fan-outs, this seed, epoch 0 and number 0. If a norm takes all
 * nodes together, this call computes all results.
 * @param model on any device
 * @param dataset with the model's features; labels are not needed. Ids are its graphs if the model
 *   has a readout, else its nodes
 * @return ::GNNMG_ERR_BUSY while a trainer holds the model (use gnnmg_trainer_snapshot());
 *   ::GNNMG_ERR_UNSUPPORTED for a graph of several types; ::GNNMG_ERR_PEER_LOST */
GNNMG_STATUS gnnmg_predictor_create(const gnnmg_model* model, const gnnmg_dataset* dataset,
                                    const char* settings, gnnmg_predictor** predictor);

/** Results for nodes or graphs, on the calling thread; a call of little work starts no other
 * threads. For all nodes gnnmg_model_embed() is faster.
 * @param ids in any order, with repetitions
 * @param out one row per id, without gaps; may be NULL with `capacity` 0 to learn `needed`
 * @param capacity bytes of `out`; too few are ::GNNMG_ERR_INVALID_ARGUMENT
 * @param needed bytes of the result; may be NULL
 * @return ::GNNMG_ERR_UNSUPPORTED for an output that model or task does not have;
 *   ::GNNMG_ERR_CANCELLED; ::GNNMG_ERR_UNAVAILABLE for parts elsewhere */
GNNMG_STATUS gnnmg_predictor_run(const gnnmg_predictor* predictor, const int64_t* ids,
                                 int64_t num_ids, gnnmg_output output, void* out, size_t capacity,
                                 size_t* needed);

/** Facts about a predictor.
 * @threading (a) */
GNNMG_STATUS gnnmg_predictor_get_info(const gnnmg_predictor* predictor, gnnmg_predictor_info* info);

/** Frees the handle. Running calls are answered. */
GNNMG_API void gnnmg_predictor_free(gnnmg_predictor* predictor);

/** @defgroup server Graph server
 * A graph server gives parts of a graph to trainers on other machines, and keeps no state of them.
 * The program gnnmg-server is one without LibTorch. */

/** A server of parts. */
typedef struct gnnmg_server gnnmg_server;

/** Settings of a server. */
typedef struct gnnmg_server_config {
  uint32_t struct_size;
  int32_t threads;  /**< Threads that answer. Default: one per core. */
  int32_t insecure; /**< 1: listen to other machines without TLS, with a warning. */
  int32_t padding0;
  int64_t drain_ms; /**< Time for running requests at a shutdown. Default 30 000. */
} gnnmg_server_config;

/** Facts about a server; counts are since its start. */
typedef struct gnnmg_server_info {
  uint32_t struct_size;
  int32_t port;           /**< 0: not listening. */
  int32_t num_parts;      /**< Parts of the data. */
  int32_t num_served;     /**< Served parts. */
  int64_t num_clients;    /**< Clients with a request in the last minute. */
  int64_t num_questions;  /**< Requests running or waiting. */
  int64_t num_reads;      /**< Answered requests. */
  int64_t received_bytes; /**< Bytes of answered requests. */
  int64_t sent_bytes;     /**< Bytes of the answers. */
  int64_t num_refused;    /**< Requests refused for lack of the token. */
  int64_t num_busy;       /**< Requests postponed: the client had too many. */
  double p50_seconds;     /**< Median time of an answer, within 13 %. */
  double p99_seconds;     /**< 99th percentile, within 13 %. */
} gnnmg_server_info;

/** Opens parts for serving. Edges and sparse features are read into memory; dense rows on demand,
 * and kept while half of the machine's memory is free.
 * @param folder as for gnnmg_dataset_open_parts()
 * @param parts numbers of the parts to serve; NULL: all
 * @param address to listen at: "10.0.0.7:7300", "[::]:7300"; port 0: any
 * @param token_file for clients too; NULL: none, for loopback only */
GNNMG_STATUS gnnmg_server_create(const gnnmg_context* context, const char* folder,
                                 const int32_t* parts, int64_t num_parts, const char* address,
                                 const char* token_file, const gnnmg_server_config* config,
                                 gnnmg_server** server, int64_t timeout_ms);

/** Makes server and clients authenticate each other by certificates, in PEM files that
 * gnnmg_server_start() reads.
 * @param certificate the server's
 * @param key its key
 * @param authority signer of the clients' certificates
 * @return ::GNNMG_ERR_BUSY after the start
 * @threading (b) */
GNNMG_STATUS gnnmg_server_set_tls(gnnmg_server* server, const char* certificate, const char* key,
                                  const char* authority);

/** Begins to listen. Threads of the server answer.
 * @return ::GNNMG_ERR_BUSY after the start
 * @threading (b) */
GNNMG_STATUS gnnmg_server_start(gnnmg_server* server);

/** Facts about a server.
 * @threading (a) */
GNNMG_STATUS gnnmg_server_get_info(const gnnmg_server* server, gnnmg_server_info* info);

/** Ends the server for ever: refuses new requests and answers the running ones.
 * @return ::GNNMG_ERR_TIMEOUT if requests were aborted after `drain_ms`
 * @threading (b) */
GNNMG_STATUS gnnmg_server_shutdown(gnnmg_server* server, int64_t timeout_ms);

/** Frees the handle; without gnnmg_server_shutdown() running requests are aborted. */
GNNMG_API void gnnmg_server_free(gnnmg_server* server);

#ifdef __cplusplus
}
#endif

#endif /* GNNMG_H */

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
 * A program opens a data set, creates a sampler and a model, and trains:
 *
 * @snippet node_classification.c whole program
 *
 * The training loop can be used at three levels, each built on the next:
 * - gnnmg_trainer_run(): the library runs the whole loop;
 * - gnnmg_trainer_step(): the caller writes the loop, the library runs each step;
 * - gnnmg_loader_next(), gnnmg_model_forward(), gnnmg_model_backward(), gnnmg_comm_all_reduce(),
 *   gnnmg_optimizer_step(): the caller writes everything.
 *
 * @section names Names
 * A function is `gnnmg_<noun>_<verb>`, or `gnnmg_<noun>_<property>` (gnnmg_graph_num_nodes()). A
 * type is `gnnmg_<noun>`, with `_config` for settings, `_info` for facts, `_fn` for callbacks. Ids,
 * counts and shapes are `int64_t`, sizes in bytes `size_t`, flags `int32_t` 0 or 1, enumerations
 * `int32_t` with named constants.
 *
 * @section handles Handles
 * A handle is a token, not an address; the library looks it up and never follows it. NULL, a freed
 * handle, a handle of another kind, and garbage all give ::GNNMG_ERR_HANDLE. An object lives as
 * long as any object needs it: a loader keeps its sampler, a sampler its graph. Handles may
 * therefore be freed in any order and from any thread, for example by a garbage collector. Freeing
 * NULL or a stale handle does nothing. A free never fails and never waits; freeing a running
 * trainer, loader or communicator cancels its work. A `get` function that returns a handle makes a
 * new token, which the caller frees separately.
 *
 * @section errors Errors
 * A function that can fail returns a ::gnnmg_status: 0 is success, a positive value an answer
 * (::GNNMG_END, ::GNNMG_PENDING), a negative value an error. On failure every output is NULL or 0,
 * no change remains, and there is nothing to clean up. gnnmg_last_error() returns one line that
 * names the argument, file or array, the expected value and the value found.
 *
 * Any function can return these errors; they are not repeated below:
 * - ::GNNMG_ERR_HANDLE;
 * - ::GNNMG_ERR_INVALID_ARGUMENT: a NULL output, a value out of range, objects of two contexts;
 * - ::GNNMG_ERR_BUSY: see Threads;
 * - ::GNNMG_ERR_VERSION: a struct has fields that this library does not know;
 * - ::GNNMG_ERR_NO_MEMORY, ::GNNMG_ERR_FORKED, ::GNNMG_ERR_INTERNAL.
 *
 * @section structs Structs
 * Every struct begins with `struct_size`, its size when the caller was compiled. To make a config,
 * call `gnnmg_x_config_init(&config, sizeof config)`, which fills in the defaults, then set fields.
 * A NULL config means the defaults. For an info struct, set `struct_size` before the call. Later
 * versions append fields and never move one; 0 in a field means the behavior before the field
 * existed. Bytes that the library does not know must be 0. The library keeps no pointer from a
 * struct; texts and long lists are separate arguments and are copied.
 *
 * @section texts Texts
 * All texts are UTF-8 and end with NUL. A `const char **` output is borrowed and lives as long as
 * the object that it came from. A function with `text, capacity, needed` writes at most `capacity`
 * bytes, NUL included, and sets `needed` to the size of the whole text in bytes.
 *
 * @section tensors Tensors
 * Arrays are passed as DLPack 1.x tensors (`struct DLManagedTensorVersioned`), which NumPy,
 * PyTorch, JAX and others exchange without copying; @ref tensor tells how to make and read them in
 * plain C.
 * - An `import` function takes ownership of the tensor on success; on failure the caller still owns
 *   it. The library calls its deleter later, on a host thread that is inside a call.
 * - An `export` function returns a tensor that keeps its memory alive, even after every handle is
 *   freed. Pass it to another library or to gnnmg_tensor_free(). Shared data is marked read-only.
 * - Any other function reads or fills the tensor during the call only; the caller keeps it.
 *
 * Tensors are contiguous and row-major, with at most 4 dimensions. They are in main memory; tensors
 * of models and mini-batches on a GPU are in GPU memory (see @ref device). gnnmg_tensor_copy()
 * copies between the two. `import` functions and tensors of data sets accept main memory only.
 *
 * @section threads Threads
 * Each function follows one of three rules:
 * - <b>(a)</b> at any time, from any thread, even while other calls use the object;
 * - <b>(b)</b> concurrently with other (b) calls on the object: its handle is `const`;
 * - <b>(c)</b> exclusively: during the call, (b) and (c) calls on the object give ::GNNMG_ERR_BUSY.
 *
 * A collision is an error, never a race. A call holds every object that it uses; a trainer holds
 * its model from its start until a wait reports its end. ::GNNMG_ERR_BUSY applies to the object,
 * through any of its handles. Any thread may use any handle.
 *
 * @section waiting Waiting
 * Every wait has a deadline. A function whose last parameter is `timeout_ms` waits at most that
 * many milliseconds for its result; -1 means until the configured deadlines, and a lower number is
 * ::GNNMG_ERR_INVALID_ARGUMENT. If the time is over, it returns ::GNNMG_PENDING: the work
 * continues, and a call with equal arguments waits for it again. Until then every other (c) call on
 * the object gives ::GNNMG_ERR_BUSY.
 *
 * @section callbacks Callbacks
 * A callback gets the `user_data` of its registration. The library calls `release(user_data)`, if
 * given, exactly once when it no longer needs `user_data`, even if the registration fails. Both run
 * only on host threads that are inside a call: a callback inside a call that waits
 * (gnnmg_trainer_wait() and similar, or gnnmg_context_lend()), a release also inside a free. If a
 * trainer or loader is freed during its work, the next call that takes a handle of the same
 * context, or makes a context, runs its releases. A callback that returns non-zero stops the work
 * with ::GNNMG_ERR_CALLBACK. A callback may call (a) and (b) functions, and (c) functions on
 * objects that no running call holds; a function that waits returns ::GNNMG_ERR_BUSY there.
 *
 * A callback must return. It must not leave by longjmp() or by an error of a language that uses
 * longjmp() (R, Lua, Ruby): catch the error inside, store it, return non-zero, and raise it after
 * the call has returned. The guide has the code for each language. If a callback leaves anyway, its
 * object stays held, and functions that wait give ::GNNMG_ERR_CALLBACK on that thread from then on.
 * A C++ exception from a callback is ::GNNMG_ERR_CALLBACK too; the library drops an exception from
 * a release or deleter, with a warning in the log.
 *
 * Thread cancellation (pthread_cancel()) takes effect after a call, not inside it or its callbacks.
 * A callback, release or deleter may end its thread by pthread_exit(): the call never returns, as
 * if its result were ::GNNMG_PENDING, and the work of the callback ends with ::GNNMG_ERR_CALLBACK,
 * which a wait on another thread reports.
 *
 * @section behaviour Process
 * The library never prints, exits, raises a signal, installs a handler, or changes the environment,
 * the locale or the working directory. gnnmg_log_next() returns its messages. After a fork every
 * call in the child gives ::GNNMG_ERR_FORKED.
 */

#ifndef GNNMG_API
#if defined(__GNUC__)
/** Marks the functions of this header; callers need not use it. */
#define GNNMG_API __attribute__((visibility("default")))
#else
#define GNNMG_API
#endif
#endif

#ifndef GNNMG_MUST_USE
#if defined(__GNUC__)
/** Marks functions whose result must not be ignored; callers need not use it. */
#define GNNMG_MUST_USE __attribute__((warn_unused_result))
#else
#define GNNMG_MUST_USE
#endif
#endif

/* ============================================================================================= */
/** @defgroup version Version
 * A program can compare the version of the header that it was compiled with to the version of the
 * library that it runs with. */
/** @{ */

#define GNNMG_VERSION_MAJOR 0 /**< Changes with the ABI. */
#define GNNMG_VERSION_MINOR 1 /**< Changes with the ABI before 1.0. */
#define GNNMG_VERSION_PATCH 0 /**< Changes with corrections. */
#define GNNMG_VERSION 100     /**< Version of this header: major * 10000 + minor * 100 + patch. */

/**
 * @brief Version of the library at run time, in the form of ::GNNMG_VERSION.
 * @snippet context.c version
 * @return major * 10000 + minor * 100 + patch
 * @threading (a)
 * @since 0.1
 */
GNNMG_API int32_t gnnmg_version(void);

/** @} */

/* ============================================================================================= */
/** @defgroup status Status and errors
 * Every function that can fail returns a status. A status below 0 is an error; gnnmg_last_error()
 * returns one line with its cause, the expected value and the remedy. */
/** @{ */

/** Result of a function: 0 success, above 0 an answer, below 0 an error. */
typedef int32_t gnnmg_status;

/** Values of ::gnnmg_status. Each error calls for a different reaction of the caller. */
enum {
  GNNMG_OK = 0,                    /**< Success. */
  GNNMG_END = 1,                   /**< The epoch, list or queue has ended. */
  GNNMG_PENDING = 2,               /**< Not finished; the same call waits again. */
  GNNMG_ERR_INVALID_ARGUMENT = -1, /**< An argument is wrong; the text says which. */
  GNNMG_ERR_HANDLE = -2,           /**< NULL, freed, of another kind, or not a handle. */
  GNNMG_ERR_BUSY = -3,             /**< Another call holds the object. */
  GNNMG_ERR_VERSION = -4,          /**< Header or struct newer than the library. */
  GNNMG_ERR_NOT_FOUND = -5,        /**< No such file, name, key or index. */
  GNNMG_ERR_IO = -6,               /**< The system failed to read or write; the text has errno. */
  GNNMG_ERR_FORMAT = -7,           /**< A file does not have the expected format. */
  GNNMG_ERR_CHECKSUM = -8,         /**< A file has changed since it was written. */
  GNNMG_ERR_RANGE = -9,            /**< An id or number is out of range. */
  GNNMG_ERR_NAN = -10,             /**< Data is NaN or infinite. */
  GNNMG_ERR_DIVERGED = -11,        /**< The loss was not finite three times. */
  GNNMG_ERR_NO_MEMORY = -12,       /**< Not enough memory; the object stays usable. */
  GNNMG_ERR_DEPENDENCY = -13,      /**< LibTorch or a driver is missing or has a wrong version. */
  GNNMG_ERR_UNSUPPORTED = -14,     /**< The library does not support this. */
  GNNMG_ERR_DEVICE_LOST = -15,     /**< A device has failed and stays failed. */
  GNNMG_ERR_TIMEOUT = -16,         /**< A deadline of the configuration passed. */
  GNNMG_ERR_PEER_LOST = -17,       /**< Another rank is lost; the text names it. */
  GNNMG_ERR_ABORTED = -18,         /**< Another rank failed or stopped; the text has the cause. */
  GNNMG_ERR_MISMATCH = -19,        /**< Ranks, or settings and stored data, do not match. */
  GNNMG_ERR_UNAVAILABLE = -20,     /**< A server did not answer or refused; a GPU is in use. */
  GNNMG_ERR_AUTH = -21,            /**< A token is missing, wrong, or readable by others; or a
                                        message between processes of a job was changed in
                                        transit. */
  GNNMG_ERR_PROTOCOL = -22,        /**< A peer sent an invalid message. */
  GNNMG_ERR_CANCELLED = -23,       /**< The caller canceled the work. */
  GNNMG_ERR_CALLBACK = -24,        /**< A callback returned non-zero. */
  GNNMG_ERR_FORKED = -25,          /**< This process is a fork of the one that used the library. */
  GNNMG_ERR_INTERNAL = -26         /**< Internal error of the library; please report the text. */
};

/** Facts about the last error of the calling thread; see gnnmg_last_error_info(). */
typedef struct gnnmg_error_info {
  uint32_t struct_size; /**< sizeof of this struct, set by the caller. */
  gnnmg_status status;  /**< Status of the failed call; ::GNNMG_OK if none failed yet. */
  int32_t rank;         /**< The failed rank, or -1. */
  int32_t system_error; /**< errno of a failed system call, or 0. */
  char text[1024];      /**< Start of gnnmg_last_error(), cut between characters. */
} gnnmg_error_info;

/**
 * @brief Name of a status: "ERR_FORMAT" for ::GNNMG_ERR_FORMAT and so on.
 * @snippet context.c errors
 * @param[in] status any number
 * @return a text, never NULL and always valid; "unknown" for other numbers
 * @threading (a)
 * @since 0.1
 */
GNNMG_API const char* gnnmg_status_name(gnnmg_status status);

/**
 * @brief Text of the last failed call of this thread: one line.
 * @snippet context.c errors
 * @return never NULL; empty if no call of this thread has failed; valid until the next failure on
 *   this thread. Calls that succeed do not change it.
 * @threading (a)
 * @since 0.1
 */
GNNMG_API const char* gnnmg_last_error(void);

/**
 * @brief All facts about the last error of this thread.
 * @snippet context.c errors
 * @param[in,out] info filled; `struct_size` set by the caller
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_last_error_info(gnnmg_error_info* info);

/**
 * @brief Releases the `user_data` of a callback. Called exactly once.
 * @param[in] user_data as registered
 */
typedef void (*gnnmg_release_fn)(void* user_data);

/** @} */

/* ============================================================================================= */
/** @defgroup context Context
 * A context owns threads, memory limit, options and messages. Contexts share nothing, and objects
 * of two contexts cannot be combined. A call that would exceed the memory limit fails with
 * ::GNNMG_ERR_NO_MEMORY and a text with the size and purpose of the request. The call changes
 * nothing; it can succeed after other objects are freed. */
/** @{ */

/** @brief Root of all other objects. */
typedef struct gnnmg_context gnnmg_context;

/** Settings of a context. */
typedef struct gnnmg_context_config {
  uint32_t struct_size; /**< sizeof of this struct. */
  int32_t num_threads;  /**< Threads for reading, sampling and evaluation, including the calling
                             thread. Default 0: one per core of this process. */
  int64_t log_capacity; /**< Messages that the queue holds; a new message replaces the oldest.
                             Default 1024. */
  size_t memory_limit;  /**< Bytes for the context's graphs, samples, mini-batches and result rows
                             together, without the parameters and products of LibTorch. Default 0:
                             no limit. */
} gnnmg_context_config;

/** Facts about a context. */
typedef struct gnnmg_context_info {
  uint32_t struct_size;  /**< sizeof of this struct, set by the caller. */
  int32_t num_threads;   /**< Threads in use, including the calling thread. */
  int32_t num_cores;     /**< Cores that this process may use. */
  int32_t torch_version; /**< Version of LibTorch in the form of ::GNNMG_VERSION. */
  size_t memory_limit;   /**< Configured limit in bytes; 0: no limit. */
  size_t memory_used;    /**< Bytes of the limit in use. */
} gnnmg_context_info;

/**
 * @brief Fills a config with the defaults.
 * @snippet context.c create
 * @param[out] config zeroed over `struct_size` bytes, then filled
 * @param[in] struct_size sizeof *config
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_context_config_init(gnnmg_context_config* config,
                                                                size_t struct_size);

/**
 * @brief Makes a context.
 * @snippet context.c create
 * @param[in] header_version ::GNNMG_VERSION
 * @param[in] config settings, or NULL
 * @param[out] context the new handle
 * @return ::GNNMG_OK; ::GNNMG_ERR_VERSION if header and library differ in the minor version;
 *   ::GNNMG_ERR_DEPENDENCY if the process has loaded a LibTorch that the library was not built for:
 *   the text has both versions and the path
 * @threading (a)
 * @owns the caller frees `context`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_context_create(int32_t header_version,
                                                           const gnnmg_context_config* config,
                                                           gnnmg_context** context);

/**
 * @brief Frees the handle. The context lives as long as objects made from it; calls of
 *   gnnmg_context_lend() return.
 * @snippet context.c free
 * @param[in] context a handle, or NULL
 * @threading (a)
 * @since 0.1
 */
GNNMG_API void gnnmg_context_free(gnnmg_context* context);

/**
 * @brief Facts about a context.
 * @snippet context.c info
 * @param[in] context a context
 * @param[in,out] info filled
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_context_get_info(const gnnmg_context* context,
                                                             gnnmg_context_info* info);

/**
 * @brief Sets a rarely used option; gnnmg_option_info() lists all options.
 * @snippet context.c set option
 * @param[in] context a context
 * @param[in] key the option's name
 * @param[in] value the value as text
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND for an unknown key
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_context_set_option(gnnmg_context* context,
                                                               const char* key, const char* value);

/**
 * @brief Value of an option.
 * @snippet context.c options
 * @param[in] context a context
 * @param[in] key the option's name
 * @param[out] text receives the value; may be NULL when `capacity` is 0
 * @param[in] capacity size of `text`, bytes
 * @param[out] needed size of the whole value, bytes
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND for an unknown key
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_context_get_option(const gnnmg_context* context,
                                                               const char* key, char* text,
                                                               size_t capacity, size_t* needed);

/**
 * @brief Lists the options of gnnmg_context_set_option(), one per call.
 * @snippet context.c options
 * @param[in] index 0, 1, ... until ::GNNMG_END
 * @param[out] key name of the option; a constant
 * @param[out] help effect, values and default of the option; a constant
 * @return ::GNNMG_OK; ::GNNMG_END past the last
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_option_info(int64_t index, const char** key,
                                                        const char** help);

/**
 * @brief Lends the calling thread for callbacks, so that several threads can run custom samplers.
 * @snippet weighted_sampler.c lend
 * @param[in] context a context
 * @param[in] timeout_ms milliseconds; -1: until the context's handle is freed or
 *   gnnmg_context_cancel() is called
 * @return ::GNNMG_OK after the time is over; ::GNNMG_END after the handle was freed;
 *   ::GNNMG_ERR_CANCELLED after gnnmg_context_cancel()
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_context_lend(gnnmg_context* context,
                                                         int64_t timeout_ms);

/**
 * @brief Cancels the work of the context itself: opening and saving of data sets,
 *   gnnmg_model_open(), gnnmg_model_evaluate(), gnnmg_model_embed(), gnnmg_model_embed_to_file(),
 *   gnnmg_predictor_create(), gnnmg_predictor_run(), gnnmg_comm_create(),
 *   gnnmg_comm_create_from_env() and gnnmg_context_lend(). These calls end with
 *   ::GNNMG_ERR_CANCELLED. Processes that this process was joining keep waiting for another
 *   process; if this is process 0, they get ::GNNMG_ERR_ABORTED. Later calls are not affected.
 * @snippet embeddings.c give up
 * @param[in] context a handle; a stale handle is ignored
 * @threading (a)
 * @since 0.1
 */
GNNMG_API void gnnmg_context_cancel(gnnmg_context* context);

/** Severity of a message. */
typedef int32_t gnnmg_log_level;

/** Values of ::gnnmg_log_level. */
enum {
  GNNMG_LOG_DEBUG = 0,   /**< Details for finding a fault. */
  GNNMG_LOG_INFO = 1,    /**< Normal progress. */
  GNNMG_LOG_WARNING = 2, /**< Possible mistake. */
  GNNMG_LOG_ERROR = 3    /**< Failure in the background. */
};

/** One message; gnnmg_log_next() returns its text separately. */
typedef struct gnnmg_log_info {
  uint32_t struct_size;   /**< sizeof of this struct, set by the caller. */
  gnnmg_log_level level;  /**< Severity. */
  int64_t unix_time_ns;   /**< Time, nanoseconds since 1970 UTC. */
  int64_t dropped_before; /**< Messages lost before this one because the queue was full. */
} gnnmg_log_info;

/**
 * @brief Takes the oldest message from the queue.
 * @snippet context.c messages
 * @param[in] context a context
 * @param[in,out] info filled
 * @param[out] text receives the message; may be NULL when `capacity` is 0
 * @param[in] capacity size of `text`, bytes; a message that does not fit stays in the queue
 * @param[out] needed size of the whole message, bytes
 * @return ::GNNMG_OK; ::GNNMG_END if the queue is empty
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_log_next(gnnmg_context* context, gnnmg_log_info* info,
                                                     char* text, size_t capacity, size_t* needed);

/** @} */

/* ============================================================================================= */
/** @defgroup device Devices
 * Models run on the CPU or on NVIDIA GPUs with compute capability 8.0 or higher. GPUs need a driver
 * for CUDA 13 and the plug-in `libgnnmg_cuda.so`. The library looks for the plug-in in its own
 * folder when the process makes its first context; a machine without a driver needs neither.
 * Devices have the numbers that the driver shows to this process (`CUDA_VISIBLE_DEVICES`). A device
 * that has failed stays failed: ::GNNMG_ERR_DEVICE_LOST.
 *
 * A trainer uses GPUs automatically. A custom loop moves the model to a GPU with
 * gnnmg_model_set_device() and sets the same GPU in the loader's config. Exported tensors of both
 * are DLPack tensors of type kDLCUDA.
 *
 * <b>Streams.</b> A model or loader works in a CUDA stream of the library, or in a stream of the
 * caller.
 * - In the library's stream, results are complete when the call returns: any stream may read them.
 * - The caller's stream is a `cudaStream_t` as a number. 1 is CUDA's legacy stream; 2, the
 *   per-thread stream, is refused because backward passes run on threads of LibTorch. Calls return
 *   earlier, and their results are ready for later work in that stream.
 * - The caller's stream must outlive the model or loader. LibTorch keeps freed memory for later
 *   work in the stream, so make one stream and reuse it. If its allocator uses expandable segments,
 *   it may wait for the stream when it releases memory: the stream must then exist until the
 *   program ends.
 *
 * The library keeps the order between a model and a mini-batch. An input tensor on a GPU must be
 * complete when the call begins and is read until the call returns. Free an output tensor after all
 * work that reads it is complete. Each call restores the thread's device and LibTorch stream.
 *
 * When the program ends, the library cancels work on GPUs and waits for it for at most two seconds,
 * before CUDA's libraries end. After that, in static objects of the program, freeing an object on a
 * GPU does nothing, and using one gives ::GNNMG_ERR_CANCELLED. */
/** @{ */

/** Kind of a device, with DLPack's numbers. */
typedef int32_t gnnmg_device_type;

/** Values of ::gnnmg_device_type. */
enum {
  GNNMG_DEVICE_AUTO = 0, /**< GPUs if there are enough of them, else the CPU. */
  GNNMG_DEVICE_CPU = 1,  /**< CPU and main memory. */
  GNNMG_DEVICE_CUDA = 2  /**< GPUs, each with its own memory. */
};

/** Memory from which GPUs read the graph. */
typedef int32_t gnnmg_graph_placement;

/** Values of ::gnnmg_graph_placement. */
enum {
  GNNMG_GRAPH_PLACEMENT_AUTO = 0,   /**< DEVICE if the graph takes at most 40 % of the free GPU
                                         memory, else PINNED, else HOST. */
  GNNMG_GRAPH_PLACEMENT_DEVICE = 1, /**< A copy in the memory of each GPU. */
  GNNMG_GRAPH_PLACEMENT_PINNED = 2, /**< One copy in pinned main memory; GPUs sample from it. */
  GNNMG_GRAPH_PLACEMENT_HOST = 3    /**< Main memory; the loader's threads sample. Custom samplers
                                         and whole graphs need this. */
};

/** Memory from which GPUs read rows of features. */
typedef int32_t gnnmg_feature_placement;

/** Values of ::gnnmg_feature_placement. */
enum {
  GNNMG_FEATURE_PLACEMENT_AUTO = 0,   /**< DEVICE if the features take at most 60 % of the free GPU
                                           memory, else CACHED, PINNED or HOST. */
  GNNMG_FEATURE_PLACEMENT_DEVICE = 1, /**< A copy in the memory of each GPU. */
  GNNMG_FEATURE_PLACEMENT_PINNED = 2, /**< One copy in pinned main memory; GPUs read it. */
  GNNMG_FEATURE_PLACEMENT_CACHED = 3, /**< PINNED, with the hottest rows also in the memory of each
                                           GPU; not for custom samplers or whole graphs. */
  GNNMG_FEATURE_PLACEMENT_HOST = 4,   /**< Main memory; the loader's threads gather. Sparse rows and
                                           rows of a mapped file need this. */
  GNNMG_FEATURE_PLACEMENT_SPLIT = 5   /**< CACHED, with different rows on each GPU of a trainer in
                                           this process. The GPUs read each other's memory, so two
                                           GPUs cache twice as many rows. ::GNNMG_ERR_UNSUPPORTED
                                           for one GPU, or if two of the GPUs cannot read each
                                           other's memory. */
};

/** Storage type of feature rows for GPUs; reads convert them back.
 */
typedef int32_t gnnmg_feature_form;

/** Values of ::gnnmg_feature_form. */
enum {
  GNNMG_FEATURE_FORM_AS_GIVEN = 0, /**< Type of the data set. */
  GNNMG_FEATURE_FORM_F16 = 1,      /**< IEEE half, rounded to nearest even. */
  GNNMG_FEATURE_FORM_BF16 = 2,     /**< bfloat16, rounded to nearest even. */
  GNNMG_FEATURE_FORM_INT8 = 3      /**< One byte per element and one scale per row. */
};

/** Criterion by which a cache selects rows. */
typedef int32_t gnnmg_hotness;

/** Values of ::gnnmg_hotness. */
enum {
  GNNMG_HOTNESS_PROBABILITY = 0, /**< Probability of being in a mini-batch, computed from training
                                      ids and fan-outs. */
  GNNMG_HOTNESS_DEGREE = 1,      /**< Number of edges that leave the node. */
  GNNMG_HOTNESS_COUNTING = 2     /**< Count in the first mini-batches, sampled when training begins
                                      or a loader is made. */
};

/** Facts about a GPU. */
typedef struct gnnmg_device_info {
  uint32_t struct_size;          /**< sizeof of this struct, set by the caller. */
  gnnmg_device_type device_type; /**< ::GNNMG_DEVICE_CUDA. */
  char name[128];                /**< Product name: "NVIDIA H100 80GB HBM3". */
  char bus_id[16];               /**< PCI address, equal in every process: "0000:19:00.0". */
  size_t total_memory;           /**< Memory of the GPU, bytes. */
  size_t free_memory;            /**< Memory that no program uses now, bytes. */
  int32_t capability_major;      /**< Major compute capability: 9 of 9.0. */
  int32_t capability_minor;      /**< Minor compute capability: 0 of 9.0. */
  int32_t multiprocessors;       /**< Number of multiprocessors. */
  int32_t driver_version;        /**< Newest CUDA version that the driver supports: 13000
                                      is 13.0. */
  int32_t runtime_version;       /**< CUDA version of the plug-in, in the same form. */
  int32_t padding0;              /**< Always 0. */
} gnnmg_device_info;

/**
 * @brief Number of GPUs that this process sees. None is not an error: `why` then names the missing
 *   driver, plug-in or GPU, and the remedy.
 * @snippet gpu.c devices
 * @param[in] context a context
 * @param[out] count number of GPUs
 * @param[out] why one line, empty if there are GPUs; lives as long as the context; the pointer may
 *   be NULL
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_context_num_devices(const gnnmg_context* context,
                                                                int64_t* count, const char** why);

/**
 * @brief Facts about a GPU, with its current free memory.
 * @snippet gpu.c devices
 * @param[in] context a context
 * @param[in] index number of the GPU, from 0
 * @param[in,out] info filled
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND for an unknown number: the text lists the GPUs or says
 *   why there are none; ::GNNMG_ERR_DEVICE_LOST
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_context_get_device_info(const gnnmg_context* context,
                                                                    int64_t index,
                                                                    gnnmg_device_info* info);

/** @} */

/* ============================================================================================= */
/** @defgroup tensor Tensors in plain C
 * A DLPack tensor is memory with a type, a shape and a deleter. A program with its own dlpack.h
 * does not need these functions; others wrap and read arrays with them. Tensors are addresses, not
 * handles: the library cannot detect a wrong one. */
/** @{ */

/** DLPack's tensor, declared in dlpack.h (version 1.0 and later). */
struct DLManagedTensorVersioned;

/** Type of the elements of an array. */
typedef int32_t gnnmg_dtype;

/** Values of ::gnnmg_dtype. */
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
  uint32_t struct_size; /**< sizeof of this struct, set by the caller. */
  gnnmg_dtype dtype;    /**< Type of the elements. */
  int32_t device_type;  /**< DLPack's number: 1 is main memory, 2 a GPU. */
  int32_t device_index; /**< Number of the device. */
  int32_t num_dims;     /**< Entries of `shape`. */
  int32_t read_only;    /**< 1: the memory is shared; do not write to it. */
  int64_t shape[4];     /**< Size of each dimension, rows first; unused entries are 0. */
  int64_t num_elements; /**< Product of the shape. */
  void* data;           /**< First element; lives as long as the tensor. For a tensor on a GPU, a
                             device address that the host must not follow. */
} gnnmg_tensor_info;

/**
 * @brief Wraps an array of the caller as a contiguous tensor, without copying.
 * @snippet zero_copy.c wrap
 * @param[in] data the first element; may be NULL when there are none
 * @param[in] dtype type of the elements
 * @param[in] num_dims entries of `shape`, 0 to 4
 * @param[in] shape sizes, rows first; may be NULL when `num_dims` is 0
 * @param[in] release called with `user_data` when the tensor is deleted, or NULL
 * @param[in] user_data for `release`
 * @param[out] tensor the tensor; `data` must live as long as it does
 * @return ::GNNMG_OK
 * @threading (a)
 * @owns the caller passes `tensor` to a function that takes it, or frees it with
 *   gnnmg_tensor_free()
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_tensor_create(void* data, gnnmg_dtype dtype,
                                                          int32_t num_dims, const int64_t* shape,
                                                          gnnmg_release_fn release, void* user_data,
                                                          struct DLManagedTensorVersioned** tensor);

/**
 * @brief Facts about a tensor.
 * @snippet zero_copy.c export
 * @param[in] tensor a tensor in main memory or on a GPU, contiguous, of a type in ::gnnmg_dtype
 * @param[in,out] info filled
 * @return ::GNNMG_OK; ::GNNMG_ERR_UNSUPPORTED for other tensors
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status
gnnmg_tensor_get_info(const struct DLManagedTensorVersioned* tensor, gnnmg_tensor_info* info);

/**
 * @brief Copies the elements of one tensor to another and waits. Each may be in main memory or on a
 *   GPU.
 * @snippet gpu.c copy
 * @param[in] context owner of the GPUs
 * @param[in] from a tensor
 * @param[in] to a writable tensor of the same shape and type
 * @return ::GNNMG_OK; ::GNNMG_ERR_INVALID_ARGUMENT for another shape or type, or a read-only `to`;
 *   ::GNNMG_ERR_NOT_FOUND for an unknown GPU; ::GNNMG_ERR_DEVICE_LOST
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_tensor_copy(const gnnmg_context* context,
                                                        const struct DLManagedTensorVersioned* from,
                                                        struct DLManagedTensorVersioned* to);

/**
 * @brief Calls the tensor's deleter. Not for tensors that the caller no longer owns.
 * @snippet zero_copy.c export
 * @param[in] tensor a tensor of the caller, or NULL
 * @threading (a)
 * @since 0.1
 */
GNNMG_API void gnnmg_tensor_free(struct DLManagedTensorVersioned* tensor);

/** @} */

/* ============================================================================================= */
/** @defgroup graph Graph
 * A graph has node types, edge types, edges of each edge type, and named tensors on both. Edges
 * lead from a source to a target, messages flow along them, and the neighborhood of a node is its
 * incoming edges. Functions that take a graph without `const` build it; once another object (a
 * sampler, a data set, a transform) uses the graph, it never changes again. */
/** @{ */

/** @brief A graph. */
typedef struct gnnmg_graph gnnmg_graph;

/**
 * @brief Makes a graph without types; add them next.
 * @snippet typed_graph.c build
 * @param[in] context a context
 * @param[out] graph the new handle
 * @return ::GNNMG_OK
 * @threading (a)
 * @owns the caller frees `graph`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_create(const gnnmg_context* context,
                                                         gnnmg_graph** graph);

/**
 * @brief Makes a graph with one node type "node" and one edge type "edge" from a list of edges.
 *   Tensors may be added later.
 * @snippet graph_from_arrays.c graph from edges
 * @param[in] context a context
 * @param[in] num_nodes number of nodes
 * @param[in] sources source of each edge, [num_edges], copied
 * @param[in] targets target of each edge, [num_edges], copied
 * @param[in] dtype type of both: ::GNNMG_DTYPE_I64 or ::GNNMG_DTYPE_I32
 * @param[in] num_edges number of edges
 * @param[out] graph the new handle
 * @return ::GNNMG_OK; ::GNNMG_ERR_RANGE naming the first id outside [0, num_nodes)
 * @threading (a)
 * @owns the caller frees `graph`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_create_from_coo(
    const gnnmg_context* context, int64_t num_nodes, const void* sources, const void* targets,
    gnnmg_dtype dtype, int64_t num_edges, gnnmg_graph** graph);

/**
 * @brief gnnmg_graph_create_from_coo() from compressed sparse columns: for each target node, the
 *   sources of its edges.
 * @snippet transforms.c from columns
 * @param[in] context a context
 * @param[in] num_nodes number of nodes
 * @param[in] indptr first entry of each target, [num_nodes + 1], copied
 * @param[in] indices source of each edge, [num_edges], copied
 * @param[in] dtype type of `indices`: ::GNNMG_DTYPE_I64 or ::GNNMG_DTYPE_I32
 * @param[in] num_edges number of edges, the last entry of `indptr`
 * @param[out] graph the new handle
 * @return ::GNNMG_OK; ::GNNMG_ERR_RANGE naming the array and position of a decreasing pointer or an
 *   id out of range
 * @threading (a)
 * @owns the caller frees `graph`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_create_from_csc(
    const gnnmg_context* context, int64_t num_nodes, const int64_t* indptr, const void* indices,
    gnnmg_dtype dtype, int64_t num_edges, gnnmg_graph** graph);

/**
 * @brief Frees the handle.
 * @snippet graph_from_arrays.c free
 * @param[in] graph a handle, or NULL
 * @threading (a)
 * @since 0.1
 */
GNNMG_API void gnnmg_graph_free(gnnmg_graph* graph);

/**
 * @brief Adds a node type.
 * @snippet typed_graph.c build
 * @param[in] graph a graph that no other object has taken yet
 * @param[in] name not empty, not used yet
 * @param[in] num_nodes number of nodes of this type
 * @param[out] node_type index of the type, from 0; may be NULL
 * @return ::GNNMG_OK
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_add_node_type(gnnmg_graph* graph,
                                                                const char* name, int64_t num_nodes,
                                                                int32_t* node_type);

/**
 * @brief Adds an edge type without edges.
 * @snippet typed_graph.c build
 * @param[in] graph a graph that no other object has taken yet
 * @param[in] source_type index of the node type of the sources
 * @param[in] name not empty; unique among edge types between the same two node types
 * @param[in] target_type index of the node type of the targets
 * @param[out] edge_type index of the type, from 0; may be NULL
 * @return ::GNNMG_OK
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_add_edge_type(gnnmg_graph* graph,
                                                                int32_t source_type,
                                                                const char* name,
                                                                int32_t target_type,
                                                                int32_t* edge_type);

/**
 * @brief Sets the edges of a type from a list; edge e of the list gets the edge id e.
 * @snippet typed_graph.c lists
 * @param[in] graph a graph that no other object has taken yet
 * @param[in] edge_type index of the edge type
 * @param[in] sources source of each edge, [num_edges], copied
 * @param[in] targets target of each edge, [num_edges], copied
 * @param[in] dtype type of both: ::GNNMG_DTYPE_I64 or ::GNNMG_DTYPE_I32
 * @param[in] num_edges number of edges
 * @return ::GNNMG_OK; ::GNNMG_ERR_RANGE naming the first id out of range
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_set_coo(gnnmg_graph* graph, int32_t edge_type,
                                                          const void* sources, const void* targets,
                                                          gnnmg_dtype dtype, int64_t num_edges);

/**
 * @brief Sets the edges of a type from compressed sparse columns.
 * @snippet typed_graph.c columns
 * @param[in] graph a graph that no other object has taken yet
 * @param[in] edge_type index of the edge type
 * @param[in] indptr first entry of each target, [number of targets + 1], copied
 * @param[in] indices source of each edge, [num_edges], copied
 * @param[in] edge_ids a permutation of 0 .. num_edges - 1, [num_edges], copied; NULL: entry e is
 *   edge e
 * @param[in] dtype type of `indices` and `edge_ids`: ::GNNMG_DTYPE_I64 or ::GNNMG_DTYPE_I32
 * @param[in] num_edges number of edges
 * @return ::GNNMG_OK; ::GNNMG_ERR_RANGE naming array and position
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_set_csc(gnnmg_graph* graph, int32_t edge_type,
                                                          const int64_t* indptr,
                                                          const void* indices, const void* edge_ids,
                                                          gnnmg_dtype dtype, int64_t num_edges);

/**
 * @brief gnnmg_graph_set_coo() with tensors. The library copies them and calls their deleters.
 * @snippet zero_copy.c import edges
 * @param[in] graph a graph that no other object has taken yet
 * @param[in] edge_type index of the edge type
 * @param[in] sources i64 or i32 [num_edges]
 * @param[in] targets type and shape of `sources`
 * @return ::GNNMG_OK; ::GNNMG_ERR_RANGE naming the first id out of range
 * @threading (c)
 * @owns the library takes both tensors on success
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_import_coo(
    gnnmg_graph* graph, int32_t edge_type, struct DLManagedTensorVersioned* sources,
    struct DLManagedTensorVersioned* targets);

/**
 * @brief gnnmg_graph_set_csc() with tensors, whose memory the graph shares if it can.
 * @snippet zero_copy.c import edges
 * @param[in] graph a graph that no other object has taken yet
 * @param[in] edge_type index of the edge type
 * @param[in] indptr i64 [number of targets + 1]
 * @param[in] indices i64 or i32 [num_edges]; i32 is shared, i64 only if 31 bits are not enough
 * @param[in] edge_ids i64 or i32 [num_edges], or NULL: entry e is edge e
 * @return ::GNNMG_OK; ::GNNMG_ERR_RANGE naming array and position
 * @threading (c)
 * @owns the library takes the tensors on success; do not change their memory afterwards
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_import_csc(
    gnnmg_graph* graph, int32_t edge_type, struct DLManagedTensorVersioned* indptr,
    struct DLManagedTensorVersioned* indices, struct DLManagedTensorVersioned* edge_ids);

/**
 * @brief Sets a named tensor on the nodes of a type; replaces a tensor of the same name.
 * @snippet graph_from_arrays.c graph from edges
 * @param[in] graph a graph that no other object has taken yet
 * @param[in] node_type index of the node type
 * @param[in] name not empty; data sets read features from "x" and labels from "y" by default
 * @param[in] data elements, row by row, copied
 * @param[in] dtype type of the elements
 * @param[in] num_dims entries of `shape`, 1 to 4
 * @param[in] shape size of each dimension; shape[0] is the number of nodes
 * @return ::GNNMG_OK; ::GNNMG_ERR_RANGE naming the first bool that is not 0 or 1
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_set_node_tensor(
    gnnmg_graph* graph, int32_t node_type, const char* name, const void* data, gnnmg_dtype dtype,
    int32_t num_dims, const int64_t* shape);

/**
 * @brief gnnmg_graph_set_node_tensor() without copying.
 * @snippet zero_copy.c import tensors
 * @param[in] graph a graph that no other object has taken yet
 * @param[in] node_type index of the node type
 * @param[in] name not empty
 * @param[in] tensor [number of nodes, ...]
 * @return ::GNNMG_OK; ::GNNMG_ERR_UNSUPPORTED for an unsupported device, type or layout
 * @threading (c)
 * @owns the library takes the tensor on success; do not change its memory afterwards
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status
gnnmg_graph_import_node_tensor(gnnmg_graph* graph, int32_t node_type, const char* name,
                               struct DLManagedTensorVersioned* tensor);

/**
 * @brief Sets a sparse tensor on the nodes of a type: row r has the entries indptr[r] to
 *   indptr[r+1] - 1. The tensor stays sparse up to the first layer of a model.
 * @snippet bag_of_words.c set
 * @param[in] graph a graph that no other object has taken yet
 * @param[in] node_type index of the node type
 * @param[in] name not empty
 * @param[in] num_columns width of the dense form
 * @param[in] indptr first entry of each row, [number of nodes + 1], copied
 * @param[in] indices column of each entry, [num_entries], copied
 * @param[in] values f32 [num_entries], copied
 * @param[in] num_entries number of stored entries
 * @return ::GNNMG_OK; ::GNNMG_ERR_RANGE naming array and position
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_set_node_csr(
    gnnmg_graph* graph, int32_t node_type, const char* name, int64_t num_columns,
    const int64_t* indptr, const int32_t* indices, const float* values, int64_t num_entries);

/**
 * @brief gnnmg_graph_set_node_csr() without copying.
 * @snippet zero_copy.c import tensors
 * @param[in] graph a graph that no other object has taken yet
 * @param[in] node_type index of the node type
 * @param[in] name not empty
 * @param[in] num_columns width of the dense form
 * @param[in] indptr i64 [number of nodes + 1]
 * @param[in] indices i32 [num_entries]
 * @param[in] values f32 [num_entries]
 * @return ::GNNMG_OK; ::GNNMG_ERR_RANGE naming array and position
 * @threading (c)
 * @owns the library takes the tensors on success; do not change their memory afterwards
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_import_node_csr(
    gnnmg_graph* graph, int32_t node_type, const char* name, int64_t num_columns,
    struct DLManagedTensorVersioned* indptr, struct DLManagedTensorVersioned* indices,
    struct DLManagedTensorVersioned* values);

/**
 * @brief Sets a named tensor on the edges of a type, rows by edge id.
 * @snippet typed_graph.c tensors
 * @param[in] graph a graph that no other object has taken yet
 * @param[in] edge_type index of the edge type; its edges must be set
 * @param[in] name not empty
 * @param[in] data elements, row by row, copied
 * @param[in] dtype type of the elements
 * @param[in] num_dims entries of `shape`, 1 to 4
 * @param[in] shape size of each dimension; shape[0] is the number of edges
 * @return ::GNNMG_OK; ::GNNMG_ERR_RANGE naming the first bool that is not 0 or 1
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_set_edge_tensor(
    gnnmg_graph* graph, int32_t edge_type, const char* name, const void* data, gnnmg_dtype dtype,
    int32_t num_dims, const int64_t* shape);

/**
 * @brief gnnmg_graph_set_edge_tensor() without copying.
 * @snippet zero_copy.c import tensors
 * @param[in] graph a graph that no other object has taken yet
 * @param[in] edge_type index of the edge type; its edges must be set
 * @param[in] name not empty
 * @param[in] tensor [number of edges, ...]
 * @return ::GNNMG_OK; ::GNNMG_ERR_UNSUPPORTED for an unsupported device, type or layout
 * @threading (c)
 * @owns the library takes the tensor on success; do not change its memory afterwards
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status
gnnmg_graph_import_edge_tensor(gnnmg_graph* graph, int32_t edge_type, const char* name,
                               struct DLManagedTensorVersioned* tensor);

/** Operation of gnnmg_graph_create_transformed(). */
typedef int32_t gnnmg_transform;

/** Values of ::gnnmg_transform. A reverse edge gets the tensor rows of its edge, an added self-loop
 * gets zeros, and of equal edges the first keeps its rows. */
enum {
  GNNMG_TRANSFORM_ADD_REVERSE_EDGES = 0, /**< Appends (v, u) for each (u, v) with u != v, in edge
                                              order; keeps duplicates. */
  GNNMG_TRANSFORM_TO_UNDIRECTED = 1,     /**< Adds reverse edges, then keeps one of equal edges. */
  GNNMG_TRANSFORM_COALESCE = 2,          /**< Keeps the first of equal edges, sorted by target, then
                                              source. */
  GNNMG_TRANSFORM_REMOVE_SELF_LOOPS = 3, /**< Removes (v, v). */
  GNNMG_TRANSFORM_ADD_SELF_LOOPS = 4,    /**< Appends one (v, v) for each node. */
  GNNMG_TRANSFORM_ADD_REMAINING_SELF_LOOPS = 5, /**< Appends (v, v) to nodes that have none. */
  GNNMG_TRANSFORM_REMOVE_EDGES = 6, /**< Keeps the nodes and no edges: a model then learns from
                                         features only. */
  GNNMG_TRANSFORM_REVERSE_EDGES = 7 /**< Replaces (u, v) by (v, u), in the same order: messages flow
                                         the other way. */
};

/**
 * @brief Makes a new graph from another; both share the tensors that do not change.
 * @snippet transforms.c transform
 * @param[in] graph the original graph
 * @param[in] transform the operation
 * @param[in] edge_type index of the edge type, with equal source and target types; 0 for graphs
 *   with one; ignored by ::GNNMG_TRANSFORM_REMOVE_EDGES
 * @param[out] transformed the new handle
 * @return ::GNNMG_OK
 * @threading (b)
 * @owns the caller frees `transformed`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_create_transformed(const gnnmg_graph* graph,
                                                                     gnnmg_transform transform,
                                                                     int32_t edge_type,
                                                                     gnnmg_graph** transformed);

/**
 * @brief Makes a new graph that divides every row of a node tensor by its sum (rows with sum 0
 *   stay).
 * @snippet transforms.c normalize
 * @param[in] graph a graph
 * @param[in] name a dense f32 node tensor or a sparse one; of each node type that has it
 * @param[out] normalized the new handle
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND if there is no such tensor
 * @threading (b)
 * @owns the caller frees `normalized`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_create_normalized(const gnnmg_graph* graph,
                                                                    const char* name,
                                                                    gnnmg_graph** normalized);

/** Settings of gnnmg_graph_create_planted_partition(). */
typedef struct gnnmg_planted_partition_config {
  uint32_t struct_size;     /**< sizeof of this struct. */
  int32_t num_classes;      /**< Number of classes, of equal size. Default 10. */
  int64_t num_nodes;        /**< Number of nodes. Default 50 000. */
  double mean_degree;       /**< Directed edges per node; each edge exists in both directions.
                                 Default 16. */
  double intra_probability; /**< Probability that an edge joins two nodes of one class.
                                 Default 0.5. */
  double centre_scale;      /**< Standard deviation of the coordinates of a class center.
                                 Default 0.15. */
  double noise;             /**< Standard deviation of a feature around its center. Default 1. */
  double label_noise;       /**< Share of labels replaced by another class. Default 0.05. */
  uint64_t seed;            /**< The graph depends only on seed and settings. Default 1. */
  int32_t num_features;     /**< Columns of the features. Default 64. */
  int32_t padding0;         /**< Must be 0. */
} gnnmg_planted_partition_config;

/**
 * @brief Fills a config with the defaults.
 * @snippet generators.c planted partition
 * @param[out] config zeroed over `struct_size` bytes, then filled
 * @param[in] struct_size sizeof *config
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status
gnnmg_planted_partition_config_init(gnnmg_planted_partition_config* config, size_t struct_size);

/**
 * @brief Generates an undirected graph with classes of nodes, with node tensors "x" f32 [nodes,
 *   num_features] (a class center plus noise) and "y" i64 [nodes]. With the defaults the best
 *   possible accuracy is about 0.391 from a node's own features, 0.740 with neighbors one hop away,
 *   0.909 with two hops, 0.935 with any number.
 * @snippet generators.c planted partition
 * @param[in] context a context
 * @param[in] config settings, or NULL
 * @param[out] graph the new handle
 * @return ::GNNMG_OK
 * @threading (a)
 * @owns the caller frees `graph`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_create_planted_partition(
    const gnnmg_context* context, const gnnmg_planted_partition_config* config,
    gnnmg_graph** graph);

/** Settings of gnnmg_graph_create_log_normal(). */
typedef struct gnnmg_log_normal_config {
  uint32_t struct_size; /**< sizeof of this struct. */
  int32_t num_features; /**< Columns of the features; 0: no features. Default 100. */
  int32_t num_classes;  /**< Number of classes; 0: no labels and no communities. Default 47. */
  int32_t padding0;     /**< Must be 0. */
  int64_t num_nodes;    /**< Number of nodes. Default 2 449 029. */
  double mean_degree;   /**< Mean number of incoming edges; no node has more than num_nodes / 20.
                             Default 50.5. */
  double sigma;         /**< Standard deviation of the logarithm of the degrees. Default 1.45. */
  double zipf;          /**< Exponent of the community sizes. Default 0.8. */
  double homophily;     /**< Probability that an edge comes from the target's community.
                             Default 0.5. */
  double centre_scale;  /**< Scale of a class center; features are center plus N(0, 1).
                             Default 0.1. */
  double label_noise;   /**< Share of labels replaced at random. Default 0.05. */
  uint64_t seed;        /**< The graph depends only on seed and settings. Default 1. */
} gnnmg_log_normal_config;

/**
 * @brief Fills a config with the defaults, which resemble a graph of products bought together.
 * @snippet generators.c log normal
 * @param[out] config zeroed over `struct_size` bytes, then filled
 * @param[in] struct_size sizeof *config
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_log_normal_config_init(gnnmg_log_normal_config* config,
                                                                   size_t struct_size);

/**
 * @brief Generates a graph with log-normal in-degrees and communities, and node tensors "x" f32 and
 *   "y" i64 if the config asks for them.
 * @snippet generators.c log normal
 * @param[in] context a context
 * @param[in] config settings, or NULL
 * @param[out] graph the new handle
 * @return ::GNNMG_OK
 * @threading (a)
 * @owns the caller frees `graph`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_create_log_normal(
    const gnnmg_context* context, const gnnmg_log_normal_config* config, gnnmg_graph** graph);

/** Settings of gnnmg_graph_create_rmat(). */
typedef struct gnnmg_rmat_config {
  uint32_t struct_size; /**< sizeof of this struct. */
  int32_t scale;        /**< The graph has 2^scale nodes. Default 16. */
  int64_t num_edges;    /**< Number of directed edges. Default 2^20. */
  double a;             /**< Probability of the quadrant (0, 0). Default 0.57. */
  double b;             /**< Probability of the quadrant (0, 1). Default 0.19. */
  double c;             /**< Probability of the quadrant (1, 0); (1, 1) has the rest.
                             Default 0.19. */
  uint64_t seed;        /**< The graph depends only on seed and settings. Default 1. */
} gnnmg_rmat_config;

/**
 * @brief Fills a config with the defaults.
 * @snippet generators.c rmat
 * @param[out] config zeroed over `struct_size` bytes, then filled
 * @param[in] struct_size sizeof *config
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_rmat_config_init(gnnmg_rmat_config* config,
                                                             size_t struct_size);

/**
 * @brief Generates an R-MAT graph (Chakrabarti, Zhan, Faloutsos 2004), without tensors.
 * @snippet generators.c rmat
 * @param[in] context a context
 * @param[in] config settings, or NULL
 * @param[out] graph the new handle
 * @return ::GNNMG_OK
 * @threading (a)
 * @owns the caller frees `graph`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_create_rmat(const gnnmg_context* context,
                                                              const gnnmg_rmat_config* config,
                                                              gnnmg_graph** graph);

/** Settings of gnnmg_graph_create_erdos_renyi(). */
typedef struct gnnmg_erdos_renyi_config {
  uint32_t struct_size; /**< sizeof of this struct. */
  int32_t padding0;     /**< Must be 0. */
  int64_t num_nodes;    /**< Number of nodes. Default 10 000. */
  int64_t num_edges;    /**< Number of directed edges. Default 100 000. */
  uint64_t seed;        /**< The graph depends only on seed and settings. Default 1. */
} gnnmg_erdos_renyi_config;

/**
 * @brief Fills a config with the defaults.
 * @snippet generators.c erdos renyi
 * @param[out] config zeroed over `struct_size` bytes, then filled
 * @param[in] struct_size sizeof *config
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status
gnnmg_erdos_renyi_config_init(gnnmg_erdos_renyi_config* config, size_t struct_size);

/**
 * @brief Generates a graph with uniformly drawn edges, including self-loops and duplicates, without
 *   tensors.
 * @snippet generators.c erdos renyi
 * @param[in] context a context
 * @param[in] config settings, or NULL
 * @param[out] graph the new handle
 * @return ::GNNMG_OK
 * @threading (a)
 * @owns the caller frees `graph`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_create_erdos_renyi(
    const gnnmg_context* context, const gnnmg_erdos_renyi_config* config, gnnmg_graph** graph);

/**
 * @brief Number of node types.
 * @snippet typed_graph.c describe
 * @param[in] graph a graph
 * @param[out] count the number
 * @return ::GNNMG_OK
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_num_node_types(const gnnmg_graph* graph,
                                                                 int32_t* count);

/**
 * @brief Number of edge types.
 * @snippet typed_graph.c describe
 * @param[in] graph a graph
 * @param[out] count the number
 * @return ::GNNMG_OK
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_num_edge_types(const gnnmg_graph* graph,
                                                                 int32_t* count);

/**
 * @brief Name of a node type.
 * @snippet typed_graph.c describe
 * @param[in] graph a graph
 * @param[in] node_type its index
 * @param[out] name borrowed from the graph
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND for an unknown index
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_node_type_name(const gnnmg_graph* graph,
                                                                 int32_t node_type,
                                                                 const char** name);

/**
 * @brief Name, source type and target type of an edge type.
 * @snippet typed_graph.c describe
 * @param[in] graph a graph
 * @param[in] edge_type its index
 * @param[out] source_type index of the node type of the sources
 * @param[out] name borrowed from the graph
 * @param[out] target_type index of the node type of the targets
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND for an unknown index
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_edge_type_name(const gnnmg_graph* graph,
                                                                 int32_t edge_type,
                                                                 int32_t* source_type,
                                                                 const char** name,
                                                                 int32_t* target_type);

/**
 * @brief Number of nodes of a type.
 * @snippet typed_graph.c describe
 * @param[in] graph a graph
 * @param[in] node_type index of the node type; 0 for graphs with one
 * @param[out] count the number
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND for an unknown index
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_num_nodes(const gnnmg_graph* graph,
                                                            int32_t node_type, int64_t* count);

/**
 * @brief Number of edges of a type.
 * @snippet typed_graph.c describe
 * @param[in] graph a graph
 * @param[in] edge_type index of the edge type; 0 for graphs with one
 * @param[out] count the number
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND for an unknown index
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_num_edges(const gnnmg_graph* graph,
                                                            int32_t edge_type, int64_t* count);

/**
 * @brief Lists the tensors on a node type, one per call.
 * @snippet typed_graph.c describe
 * @param[in] graph a graph
 * @param[in] node_type index of the node type
 * @param[in] index 0, 1, ... until ::GNNMG_END
 * @param[out] name borrowed from the graph
 * @param[out] sparse 1: the tensor is sparse
 * @return ::GNNMG_OK; ::GNNMG_END past the last; ::GNNMG_ERR_NOT_FOUND for an unknown type
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_node_tensor_name(const gnnmg_graph* graph,
                                                                   int32_t node_type, int64_t index,
                                                                   const char** name,
                                                                   int32_t* sparse);

/**
 * @brief Lists the tensors on an edge type, one per call.
 * @snippet typed_graph.c describe
 * @param[in] graph a graph
 * @param[in] edge_type index of the edge type
 * @param[in] index 0, 1, ... until ::GNNMG_END
 * @param[out] name borrowed from the graph
 * @return ::GNNMG_OK; ::GNNMG_END past the last; ::GNNMG_ERR_NOT_FOUND for an unknown type
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_edge_tensor_name(const gnnmg_graph* graph,
                                                                   int32_t edge_type, int64_t index,
                                                                   const char** name);

/**
 * @brief Dense tensor on nodes, without copying.
 * @snippet zero_copy.c export
 * @param[in] graph a graph
 * @param[in] node_type index of the node type
 * @param[in] name of the tensor
 * @param[out] tensor [number of nodes, ...], read-only
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND if there is none; ::GNNMG_ERR_UNSUPPORTED if it is
 *   sparse
 * @threading (b)
 * @owns the caller frees `tensor`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status
gnnmg_graph_export_node_tensor(const gnnmg_graph* graph, int32_t node_type, const char* name,
                               struct DLManagedTensorVersioned** tensor);

/**
 * @brief Sparse tensor on nodes, without copying.
 * @snippet bag_of_words.c get
 * @param[in] graph a graph
 * @param[in] node_type index of the node type
 * @param[in] name of the tensor
 * @param[out] num_columns width of the dense form
 * @param[out] indptr i64 [number of nodes + 1], read-only
 * @param[out] indices i32 [entries], read-only
 * @param[out] values f32 [entries], read-only
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND if there is none; ::GNNMG_ERR_UNSUPPORTED if it is
 *   dense
 * @threading (b)
 * @owns the caller frees the tensors
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_export_node_csr(
    const gnnmg_graph* graph, int32_t node_type, const char* name, int64_t* num_columns,
    struct DLManagedTensorVersioned** indptr, struct DLManagedTensorVersioned** indices,
    struct DLManagedTensorVersioned** values);

/**
 * @brief Tensor on edges, rows by edge id, without copying.
 * @snippet typed_graph.c neighbours
 * @param[in] graph a graph
 * @param[in] edge_type index of the edge type
 * @param[in] name of the tensor
 * @param[out] tensor [number of edges, ...], read-only
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND if there is none
 * @threading (b)
 * @owns the caller frees `tensor`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status
gnnmg_graph_export_edge_tensor(const gnnmg_graph* graph, int32_t edge_type, const char* name,
                               struct DLManagedTensorVersioned** tensor);

/**
 * @brief Edges of a type as a list in the order of their ids.
 * @snippet transforms.c edges
 * @param[in] graph a graph
 * @param[in] edge_type index of the edge type
 * @param[out] sources i64 [number of edges]
 * @param[out] targets i64 [number of edges]
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND for an unknown type
 * @threading (b)
 * @owns the caller frees the tensors, which are copies
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_export_coo(
    const gnnmg_graph* graph, int32_t edge_type, struct DLManagedTensorVersioned** sources,
    struct DLManagedTensorVersioned** targets);

/**
 * @brief Edges of a type as stored: for each target, the sources of its incoming edges.
 * @snippet transforms.c columns
 * @param[in] graph a graph
 * @param[in] edge_type index of the edge type
 * @param[out] indptr i64 [number of targets + 1], read-only
 * @param[out] indices i32 or i64 [number of edges], read-only
 * @param[out] edge_ids i32 or i64 [number of edges], read-only; NULL when entry e is edge e
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND for an unknown type
 * @threading (b)
 * @owns the caller frees the tensors
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_export_csc(
    const gnnmg_graph* graph, int32_t edge_type, struct DLManagedTensorVersioned** indptr,
    struct DLManagedTensorVersioned** indices, struct DLManagedTensorVersioned** edge_ids);

/**
 * @brief Incoming edges of one node, in stored order.
 * @snippet typed_graph.c neighbours
 * @param[in] graph a graph
 * @param[in] edge_type index of the edge type
 * @param[in] target the node
 * @param[out] sources receives the source of each edge; may be NULL if `capacity` is 0
 * @param[out] edge_ids receives the id of each edge; may be NULL
 * @param[in] capacity size of each array, entries
 * @param[out] needed number of incoming edges; only the first `capacity` are written
 * @return ::GNNMG_OK; ::GNNMG_ERR_RANGE if there is no such node
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_get_in_edges(const gnnmg_graph* graph,
                                                               int32_t edge_type, int64_t target,
                                                               int64_t* sources, int64_t* edge_ids,
                                                               int64_t capacity, int64_t* needed);

/** @} */

/* ============================================================================================= */
/** @defgroup dataset Data set
 * A data set is a graph with features, labels and splits, opened from files in any supported format
 * or made around a graph of the caller. It has any number of splits, each with a name and an index;
 * objects made from the data set use the split that is chosen at that time.
 *
 * A data set of many graphs is one graph too, in which the graphs are side by side. Its labels, ids
 * of splits and sample weights belong to graphs; those of other data sets belong to nodes.
 */
/** @{ */

/** @brief A graph with labels and splits. */
typedef struct gnnmg_dataset gnnmg_dataset;

/** Meaning of the labels. */
typedef int32_t gnnmg_task;

/** Values of ::gnnmg_task. */
enum {
  GNNMG_TASK_NONE = 0,       /**< No labels. */
  GNNMG_TASK_MULTICLASS = 1, /**< One class per node or graph: i64 [N], -1 for no label. */
  GNNMG_TASK_BINARY = 2,     /**< Yes or no, for one or more targets: f32 [N, T], NaN for no
                                  label. */
  GNNMG_TASK_REGRESSION = 3  /**< Numbers: f32 [N, T], NaN for no label. */
};

/** Part of a split. */
typedef int32_t gnnmg_split;

/** Values of ::gnnmg_split. */
enum {
  GNNMG_SPLIT_TRAIN = 1,      /**< Ids to train on. */
  GNNMG_SPLIT_VALIDATION = 2, /**< Ids that select the best epoch. */
  GNNMG_SPLIT_TEST = 3        /**< Ids that measure the result. */
};

/** Format of a data set on disk. */
typedef int32_t gnnmg_format;

/** Values of ::gnnmg_format. */
enum {
  GNNMG_FORMAT_AUTO = 0,          /**< Detected from the files. */
  GNNMG_FORMAT_GNNMG = 1,         /**< Folder that gnnmg_dataset_save() writes. */
  GNNMG_FORMAT_PLANETOID = 2,     /**< Folder of `ind.NAME.*` (Cora, CiteSeer, PubMed). */
  GNNMG_FORMAT_PLAIN = 3,         /**< Folder of `edges.npy`, or `triples.npy` for a knowledge
                                       graph, and `labels.npy`, `split_*.npy`, ... */
  GNNMG_FORMAT_SHCHUR = 4,        /**< One `.npz` with `adj_*` and `attr_*` (Amazon, Coauthor). */
  GNNMG_FORMAT_HETEROPHILOUS = 5, /**< One `.npz` with `node_features`, `edges`, masks. */
  GNNMG_FORMAT_OGB = 6,           /**< Folder of an OGB node property data set. */
  GNNMG_FORMAT_EDGES = 7,         /**< Text with one edge per line, also gzipped. */
  GNNMG_FORMAT_GIN = 8,           /**< Many graphs in one text, in the format of GIN and DGCNN. */
  GNNMG_FORMAT_TU = 9,            /**< Many graphs: `NAME_A.txt`, `NAME_graph_indicator.txt`, ... */
  GNNMG_FORMAT_PACKED = 10, /**< Many graphs: one `.npz` with `node_ptr`, `edge_ptr`, `edges`. */
  GNNMG_FORMAT_MATRIX_MARKET = 11, /**< Text that begins with `%%MatrixMarket`, also gzipped. */
  GNNMG_FORMAT_METIS = 12,         /**< Text of a METIS graph, also gzipped. */
  GNNMG_FORMAT_PARTS = 13,         /**< Folder of parts that gnnmg_dataset_save_parts() writes. */
  GNNMG_FORMAT_GEOM_GCN = 14       /**< Folder of Geom-GCN's two texts `out1_*.txt`. */
};

/** Settings of gnnmg_dataset_open(). */
typedef struct gnnmg_dataset_config {
  uint32_t struct_size;   /**< sizeof of this struct. */
  gnnmg_format format;    /**< Default ::GNNMG_FORMAT_AUTO. */
  int32_t undirected;     /**< 1: add the reverse of every edge and drop duplicates, for Planetoid
                               and Shchur also self-loops; for a knowledge graph add the reverse
                               edges as separate relations and drop nothing. 0: edges as listed. -1:
                               as the format defines. Default -1. */
  int32_t sum_duplicates; /**< 1: add up repeated entries of sparse features. Default 0. */
  int32_t map_files;      /**< 1: map the files of the library's own format; 0: read them.
                               Default 1. */
  int32_t check_finite;   /**< 1: refuse node features, edge features and edge weights that are NaN,
                               infinite or beyond f32. Default 1. */
  int32_t separator;      /**< Edge lists: character between columns. Default 0: detected. */
  int32_t header_lines;   /**< Edge lists: number of lines to skip; -1: use a first line that names
                               the columns, and read one that counts nodes and edges as counts.
                               Default -1. */
  int32_t source_column;  /**< Edge lists: column of the sources, from 0. With source_column 0 and
                               target_column 1, a header that names the ends overrides both.
                               Default 0. */
  int32_t target_column;  /**< Edge lists: column of the targets, from 0. Default 1. */
  int32_t relabel;        /**< Edge lists. 1: accept names and ids of any size, and number them in
                               order of appearance. The node tensor "original_id", i64 [N], has the
                               ids; "original_name", u8 [N, W], has the names, each followed by at
                               least one 0. Default 0. */
  int32_t round_values;   /**< 1: round integer features to the nearest f32; 0: refuse integers that
                               are not exact. Sparse f64 features are always rounded. Default 0. */
  int64_t num_nodes;      /**< Edge lists: number of nodes; -1: the largest id + 1. Default -1. */
  int32_t degree_features; /**< Texts of many graphs. 1: features are the one-hot degrees of nodes;
                                -1: the one-hot tags; 0: the attributes, in TU Dortmund's format
                                together with the tags, or without attributes the tags, unless all
                                are equal. Default 0. */
  int32_t padding0;        /**< Must be 0. */
  gnnmg_task task;         /**< Meaning of the labels. ::GNNMG_TASK_NONE: inferred from format
                                and values; one column of 0 and 1 becomes two classes (two
                                logits), with ::GNNMG_TASK_BINARY one target (one logit), as in
                                OGB's examples. The library's own format stores its task.
                                Default ::GNNMG_TASK_NONE. */
  int32_t padding1;        /**< Must be 0. */
} gnnmg_dataset_config;

/** Facts about a data set. */
typedef struct gnnmg_dataset_info {
  uint32_t struct_size; /**< sizeof of this struct, set by the caller. */
  gnnmg_task task;      /**< Meaning of the labels. */
  int64_t num_graphs;   /**< Number of graphs. */
  int64_t num_nodes;    /**< Nodes of all graphs. */
  int64_t num_edges;    /**< Edges of all graphs. */
  int64_t feature_dim;  /**< Columns of the features; 0: none. */
  int64_t num_classes;  /**< Classes, or targets of other tasks; 0 without labels. */
  int64_t num_splits;   /**< Splits of all names together. */
} gnnmg_dataset_info;

/** Facts about one split. */
typedef struct gnnmg_split_info {
  uint32_t struct_size;   /**< sizeof of this struct, set by the caller. */
  int32_t index;          /**< Index among the splits of the same name. */
  int64_t num_train;      /**< Number of training ids. */
  int64_t num_validation; /**< Number of validation ids. */
  int64_t num_test;       /**< Number of test ids. */
} gnnmg_split_info;

/** Method that divides nodes into parts. */
typedef int32_t gnnmg_parts_method;

/** Values of ::gnnmg_parts_method. */
enum {
  GNNMG_PARTS_METHOD_CLUSTER = 0, /**< Few edges between parts: finds clusters, divides the graph
                                       of clusters, moves nodes. Memory: 26 bytes per node and
                                       0.3 GB. */
  GNNMG_PARTS_METHOD_METIS = 1,   /**< METIS on the whole graph; METIS must be installed. About 120
                                       bytes per edge. METIS handles SIGABRT and SIGTERM itself
                                       while it runs, and uses rand(). */
  GNNMG_PARTS_METHOD_RANGE = 2,   /**< Equal ranges of ids. */
  GNNMG_PARTS_METHOD_HASH = 3     /**< Hash of id and seed. */
};

/** Settings of gnnmg_dataset_save_parts(). 0 is the default in every field: `{sizeof config}` is
 * complete. */
typedef struct gnnmg_parts_config {
  uint32_t struct_size;      /**< sizeof of this struct. */
  int32_t num_parts;         /**< Number of parts, 1 to 65535. Default 2. */
  gnnmg_parts_method method; /**< Default ::GNNMG_PARTS_METHOD_CLUSTER. */
  int32_t edge_ids;    /**< 1: store the id of each edge even if ids equal positions. Default 0. */
  uint64_t seed;       /**< The parts depend only on seed, data and settings. Default 0. */
  size_t memory_limit; /**< Bytes for dividing, in addition to the data set; with less memory
                            ::GNNMG_PARTS_METHOD_CLUSTER keeps fewer edges between clusters.
                            Default 0: as many as the method needs. */
} gnnmg_parts_config;

/** Facts about all parts of a data set. The fields after `own_parts` are 0 unless the data set was
 * opened by gnnmg_dataset_open_parts() or gnnmg_dataset_open_served(). */
typedef struct gnnmg_parts_info {
  uint32_t struct_size; /**< sizeof of this struct, set by the caller. */
  int32_t num_parts;    /**< Number of parts. */
  int64_t num_nodes;    /**< Nodes of all parts. */
  int64_t num_edges;    /**< Edges of all parts. */
  int64_t cut_edges;    /**< Edges between two parts. */
  double cut;           /**< Share of all edges that `cut_edges` are, 0 to 1. */
  double node_balance;  /**< Nodes of the largest part, divided by the mean. */
  double edge_balance;  /**< Edges of the largest part, divided by the mean; an edge belongs to the
                             part of its target. */
  double train_balance; /**< Training ids of the largest part, divided by the mean. */
  int32_t own_parts;    /**< Parts that this process has: its share after
                             gnnmg_dataset_open_parts(), 0 after gnnmg_dataset_open_served(), else
                             all. */
  int32_t padding0;     /**< Always 0. */
  int64_t kept_rows;    /**< Cached feature rows of other parts. */
  int64_t own_rows;     /**< Rows of own parts read so far. */
  int64_t hit_rows;     /**< Rows of other parts read from the cache so far. */
  int64_t asked_rows;   /**< Rows of other parts requested so far. */
  int64_t questions;    /**< Requests to other parts so far: one per part and hop, and one per MB of
                             rows. */
  int64_t asked_bytes;  /**< Bytes of requests so far. */
  int64_t answer_bytes; /**< Bytes of answers so far. */
} gnnmg_parts_info;

/** Facts about one part of a data set. */
typedef struct gnnmg_part_info {
  uint32_t struct_size; /**< sizeof of this struct, set by the caller. */
  int32_t hotness;      /**< 1: hotness was stored; the last three fields are valid. */
  int64_t num_nodes;    /**< Nodes of the part. */
  int64_t num_edges;    /**< Edges into these nodes. */
  int64_t num_train;    /**< Training ids of the part. */
  int64_t cut_edges;    /**< Edges from other parts into these nodes. */
  double batch_rows;    /**< Expected nodes of a mini-batch whose seeds are training ids of the
                             part. */
  double remote_rows;   /**< Expected rows of such a mini-batch from other parts. */
  double hit_rate;      /**< Share of `remote_rows` that the cache would have, 0 to 1. */
} gnnmg_part_info;

/** Settings of gnnmg_dataset_add_random_split(). */
typedef struct gnnmg_split_config {
  uint32_t struct_size;         /**< sizeof of this struct. */
  int32_t numpy_legacy;         /**< 1: use the order of NumPy's `RandomState(seed).permutation`, to
                                     reproduce splits made with NumPy. Default 0. */
  double train_fraction;        /**< Share of the labeled nodes, rounded down. Default 0.6. */
  double validation_fraction;   /**< Share of the labeled nodes, rounded down; test gets the rest.
                                     Default 0.2. */
  int64_t train_per_class;      /**< Above 0: training nodes of each class, in place of
                                     `train_fraction`. Default 0. */
  int64_t validation_per_class; /**< Validation nodes of each class, with `train_per_class`.
                                     Default 0. */
  uint64_t seed;                /**< The split depends only on seed, labels and settings.
                                     Default 0. */
} gnnmg_split_config;

/** Settings of gnnmg_dataset_add_folds(). */
typedef struct gnnmg_folds_config {
  uint32_t struct_size; /**< sizeof of this struct. */
  int32_t num_folds;    /**< Number of folds, 2 to 100. Default 10. */
  gnnmg_split held_out; /**< Part that holds fold k in split k: ::GNNMG_SPLIT_VALIDATION or
                             ::GNNMG_SPLIT_TEST. The split trains on the other folds.
                             Default ::GNNMG_SPLIT_VALIDATION. */
  int32_t numpy_legacy; /**< 1: make the folds of scikit-learn's `StratifiedKFold(num_folds,
                             shuffle=True, random_state=seed)`. Default 0. */
  uint64_t seed;        /**< The folds depend only on seed, labels and settings. Default 0. */
} gnnmg_folds_config;

/**
 * @brief Fills a config with the defaults.
 * @snippet edge_list.c open
 * @param[out] config zeroed over `struct_size` bytes, then filled
 * @param[in] struct_size sizeof *config
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_dataset_config_init(gnnmg_dataset_config* config,
                                                                size_t struct_size);

/**
 * @brief Fills a config with the defaults.
 * @snippet graph_batches.c folds
 * @param[out] config zeroed over `struct_size` bytes, then filled
 * @param[in] struct_size sizeof *config
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_folds_config_init(gnnmg_folds_config* config,
                                                              size_t struct_size);

/**
 * @brief Fills a config with the defaults.
 * @snippet splits.c random
 * @param[out] config zeroed over `struct_size` bytes, then filled
 * @param[in] struct_size sizeof *config
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_split_config_init(gnnmg_split_config* config,
                                                              size_t struct_size);

/**
 * @brief Opens a folder or file in any supported format.
 * @snippet node_classification.c open
 * @param[in] context a context
 * @param[in] path the folder or file
 * @param[in] config settings, or NULL
 * @param[out] dataset the new handle
 * @param[in] timeout_ms milliseconds; -1: until done
 * @return ::GNNMG_OK; ::GNNMG_PENDING; ::GNNMG_ERR_NOT_FOUND; ::GNNMG_ERR_IO; ::GNNMG_ERR_FORMAT;
 *   ::GNNMG_ERR_CHECKSUM; ::GNNMG_ERR_RANGE; ::GNNMG_ERR_NAN; ::GNNMG_ERR_UNSUPPORTED;
 *   ::GNNMG_ERR_CANCELLED
 * @threading (a)
 * @owns the caller frees `dataset`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_dataset_open(const gnnmg_context* context,
                                                         const char* path,
                                                         const gnnmg_dataset_config* config,
                                                         gnnmg_dataset** dataset,
                                                         int64_t timeout_ms);

/**
 * @brief Makes a data set around a graph, without a split.
 * @snippet graph_from_arrays.c data set
 * @snippet multi_label.c labels
 * @param[in] graph a graph with one node type; afterwards it cannot change
 * @param[in] features name of the feature tensor on nodes; NULL: none
 * @param[in] labels name of the label tensor on nodes; NULL: none
 * @param[in] task meaning of the labels; ::GNNMG_TASK_NONE: integers are classes, floats
 *   regression. ::GNNMG_TASK_BINARY takes labels of any type with values 0, 1, and NaN or -1 for no
 *   label
 * @param[in] num_classes number of classes; 0: the largest label + 1
 * @param[out] dataset the new handle
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND if the graph lacks a tensor; ::GNNMG_ERR_RANGE naming
 *   the first label outside the classes; ::GNNMG_ERR_NAN naming the first value that is not finite
 *   in the features, or in an edge tensor that models read as features or weights
 * @threading (b)
 * @owns the caller frees `dataset`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_dataset_create(const gnnmg_graph* graph,
                                                           const char* features, const char* labels,
                                                           gnnmg_task task, int64_t num_classes,
                                                           gnnmg_dataset** dataset);

/**
 * @brief Makes a data set of many graphs side by side in one graph, without a split.
 * @snippet graph_batches.c data set
 * @param[in] graph a graph with one node type and one edge type; afterwards it cannot change
 * @param[in] graph_ptr first node of each graph, [num_graphs + 1]: from 0 to the number of nodes,
 *   never decreasing; a graph may have no nodes, and no edge may leave its graph
 * @param[in] num_graphs number of graphs
 * @param[in] features name of the feature tensor on nodes; NULL: none
 * @param[in] labels one row per graph, [num_graphs] or [num_graphs, T], read during the call; NULL:
 *   none
 * @param[in] task as for gnnmg_dataset_create()
 * @param[in] num_classes number of classes; 0: the largest label + 1
 * @param[out] dataset the new handle
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND if the graph lacks a tensor; ::GNNMG_ERR_RANGE naming
 *   the first edge that leaves its graph, or the first label outside the classes; ::GNNMG_ERR_NAN
 *   as gnnmg_dataset_create()
 * @threading (b)
 * @owns the caller frees `dataset`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status
gnnmg_dataset_create_graphs(const gnnmg_graph* graph, const int64_t* graph_ptr, int64_t num_graphs,
                            const char* features, const struct DLManagedTensorVersioned* labels,
                            gnnmg_task task, int64_t num_classes, gnnmg_dataset** dataset);

/**
 * @brief Frees the handle.
 * @snippet graph_from_arrays.c free
 * @param[in] dataset a handle, or NULL
 * @threading (a)
 * @since 0.1
 */
GNNMG_API void gnnmg_dataset_free(gnnmg_dataset* dataset);

/**
 * @brief Writes the data set as a folder of `.npy` files and a `metadata.json`, whole or not at
 *   all.
 * @snippet edge_list.c save
 * @param[in] dataset a data set
 * @param[in] path the folder, which must not exist
 * @param[in] timeout_ms milliseconds; -1: until done
 * @return ::GNNMG_OK; ::GNNMG_PENDING; ::GNNMG_ERR_IO; ::GNNMG_ERR_CANCELLED
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_dataset_save(const gnnmg_dataset* dataset,
                                                         const char* path, int64_t timeout_ms);

/**
 * @brief Writes the data set as a folder of parts: for each part the rows of its nodes as `.npy`
 *   files, and for each node its part. Nodes keep their ids.
 *
 * After an interruption the folder is incomplete; a call with the same arguments continues, and the
 * result has the same bytes. The log reports each step. With ::GNNMG_PARTS_METHOD_CLUSTER and
 * ::GNNMG_PARTS_METHOD_METIS no part has more nodes, edges, and training ids of the chosen split
 * than the slack allows, plus one row.
 *
 * `settings` has words `name=value`, separated by blanks:
 * - `node_slack`, `edge_slack`, `train_slack`: largest part divided by the mean, for nodes, edges
 *   and training ids. 1 to 1000. Default 1.05, 1.1, 1.05.
 * - `passes`, `refine_passes`: maximum passes of clustering and of moves. Default 5, 4.
 * - `fanouts`: neighbors per hop, separated by commas, of the mini-batches that define the hotness
 *   of nodes; -1: all; `none`: store no hotness. Each part stores the hotness of all nodes, 4 bytes
 *   per node. Default 10,10 for up to 64 parts, else none.
 * - `batch_size`: seeds per mini-batch. Default 1024.
 *
 * @snippet partition.c save
 * @param[in] dataset a data set with one node type and one edge type
 * @param[in] folder a new folder, or one that an earlier call began or completed
 * @param[in] given part of each node, [num_nodes], each below `num_parts`; replaces the method.
 *   NULL: none
 * @param[in] num_given number of nodes, or 0
 * @param[in] config settings, or NULL
 * @param[in] settings further settings, or NULL
 * @param[in] timeout_ms milliseconds; -1: until done
 * @return ::GNNMG_OK, also for a complete folder of the same arguments; ::GNNMG_PENDING;
 *   ::GNNMG_ERR_MISMATCH if the folder was begun with other arguments or data; ::GNNMG_ERR_BUSY
 *   while another call writes the folder; ::GNNMG_ERR_DEPENDENCY without METIS;
 *   ::GNNMG_ERR_UNSUPPORTED for several types, or many graphs; ::GNNMG_ERR_NO_MEMORY;
 *   ::GNNMG_ERR_IO; ::GNNMG_ERR_CANCELLED
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_dataset_save_parts(
    const gnnmg_dataset* dataset, const char* folder, const int32_t* given, int64_t num_given,
    const gnnmg_parts_config* config, const char* settings, int64_t timeout_ms);

/**
 * @brief Facts about the parts of a data set opened from a folder of parts.
 * @snippet partition.c facts
 * @param[in] dataset a data set
 * @param[in,out] info filled
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND if the data set has no parts
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_dataset_get_parts_info(const gnnmg_dataset* dataset,
                                                                   gnnmg_parts_info* info);

/**
 * @brief Facts about one part, and the expected effect of a cache of rows of other parts.
 * @snippet partition.c part
 * @param[in] dataset a data set opened from a folder of parts
 * @param[in] part number of the part, from 0
 * @param[in] cache_rows rows of other parts in the cache: those read most often
 * @param[in,out] info filled; the traffic is read from the part's file of hotness
 * @return ::GNNMG_OK; ::GNNMG_END after the last part; ::GNNMG_ERR_NOT_FOUND if the data set has no
 *   parts; ::GNNMG_ERR_IO; ::GNNMG_ERR_CHECKSUM
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_dataset_get_part_info(const gnnmg_dataset* dataset,
                                                                  int32_t part, int64_t cache_rows,
                                                                  gnnmg_part_info* info);

/**
 * @brief Part of each node.
 * @snippet partition.c book
 * @param[in] dataset a data set opened from a folder of parts
 * @param[out] book i32 [num_nodes], read-only
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND if the data set has no parts
 * @threading (b)
 * @owns the caller frees `book`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status
gnnmg_dataset_export_book(const gnnmg_dataset* dataset, struct DLManagedTensorVersioned** book);

/**
 * @brief Facts about a data set.
 * @snippet edge_list.c describe
 * @param[in] dataset a data set
 * @param[in,out] info filled
 * @return ::GNNMG_OK
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_dataset_get_info(const gnnmg_dataset* dataset,
                                                             gnnmg_dataset_info* info);

/**
 * @brief Names of a data set, its features and its labels.
 * @snippet edge_list.c describe
 * @param[in] dataset a data set
 * @param[out] name of the data set, borrowed
 * @param[out] features name of the feature tensor on nodes, borrowed; empty: none
 * @param[out] labels name of the label tensor on nodes, borrowed; empty: none
 * @return ::GNNMG_OK
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_dataset_get_names(const gnnmg_dataset* dataset,
                                                              const char** name,
                                                              const char** features,
                                                              const char** labels);

/**
 * @brief Graph of a data set; many graphs are side by side in one.
 * @snippet node_classification.c open
 * @param[in] dataset a data set
 * @param[in] index 0
 * @param[out] graph a new handle
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND for another index
 * @threading (b)
 * @owns the caller frees `graph`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_dataset_get_graph(const gnnmg_dataset* dataset,
                                                              int64_t index, gnnmg_graph** graph);

/**
 * @brief Lists the splits of a data set, one per call.
 * @snippet splits.c list
 * @param[in] dataset a data set
 * @param[in] position 0, 1, ... until ::GNNMG_END
 * @param[out] name borrowed from the data set
 * @param[in,out] info filled
 * @return ::GNNMG_OK; ::GNNMG_END past the last
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_dataset_get_split_info(const gnnmg_dataset* dataset,
                                                                   int64_t position,
                                                                   const char** name,
                                                                   gnnmg_split_info* info);

/**
 * @brief Chooses the split for objects made from the data set from now on. The first split is
 *   chosen at first.
 * @snippet splits.c read
 * @param[in] dataset a data set
 * @param[in] name of the split; NULL: name of the first split
 * @param[in] index among the splits of that name
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND: the text lists the splits
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_dataset_set_split(gnnmg_dataset* dataset,
                                                              const char* name, int32_t index);

/**
 * @brief Adds a split and chooses it. Its index is the previous number of splits of that name.
 * @snippet splits.c given
 * @param[in] dataset a data set
 * @param[in] name of the split, not empty
 * @param[in] train ids in any order, each in at most one list, [num_train]
 * @param[in] num_train number of training ids
 * @param[in] validation as `train`, [num_validation]
 * @param[in] num_validation number of validation ids
 * @param[in] test as `train`, [num_test]
 * @param[in] num_test number of test ids
 * @return ::GNNMG_OK; ::GNNMG_ERR_RANGE naming list and position of an id that does not exist;
 *   ::GNNMG_ERR_FORMAT for an id in two places
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_dataset_add_split(
    gnnmg_dataset* dataset, const char* name, const int64_t* train, int64_t num_train,
    const int64_t* validation, int64_t num_validation, const int64_t* test, int64_t num_test);

/**
 * @brief Draws a split of the labeled nodes, adds it and chooses it.
 * @snippet splits.c random
 * @param[in] dataset a data set with labels
 * @param[in] name of the split, not empty
 * @param[in] config settings, or NULL
 * @return ::GNNMG_OK
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_dataset_add_random_split(
    gnnmg_dataset* dataset, const char* name, const gnnmg_split_config* config);

/**
 * @brief Divides the labeled nodes or graphs into folds, with classes spread evenly, and adds a
 *   split for each fold, with index 0, 1, ...: split k holds out fold k and trains on the others.
 *   Chooses the first.
 * @snippet graph_batches.c folds
 * @param[in] dataset a data set
 * @param[in] name of the splits, not empty and not in use
 * @param[in] config settings, or NULL
 * @return ::GNNMG_OK
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_dataset_add_folds(gnnmg_dataset* dataset,
                                                              const char* name,
                                                              const gnnmg_folds_config* config);

/**
 * @brief Labels of a data set.
 * @snippet graph_batches.c labels
 * @param[in] dataset a data set with labels
 * @param[out] labels classes i64 [n], -1 for no label, or f32 [n, T], NaN for no label; read-only
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND if there are none
 * @threading (b)
 * @owns the caller frees `labels`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status
gnnmg_dataset_export_labels(const gnnmg_dataset* dataset, struct DLManagedTensorVersioned** labels);

/**
 * @brief First node of each graph in a data set of many graphs.
 * @snippet graph_batches.c labels
 * @param[in] dataset a data set of many graphs
 * @param[out] graph_ptr i64 [graphs + 1], read-only
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND if it is one graph
 * @threading (b)
 * @owns the caller frees `graph_ptr`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_dataset_export_graph_ptr(
    const gnnmg_dataset* dataset, struct DLManagedTensorVersioned** graph_ptr);

/**
 * @brief Ids of one part of the chosen split, ascending.
 * @snippet splits.c read
 * @param[in] dataset a data set
 * @param[in] part the part
 * @param[out] ids i64 [n], read-only
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND if there is no split
 * @threading (b)
 * @owns the caller frees `ids`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_dataset_export_split(
    const gnnmg_dataset* dataset, gnnmg_split part, struct DLManagedTensorVersioned** ids);

/**
 * @brief Sets the weight of each class in a loss.
 *
 * A loss is the sum of weight times loss over the seeds, divided by the sum of the weights. The
 * weight of a seed is the weight of its class times its own (gnnmg_dataset_set_sample_weights()).
 * Over several mini-batches and ranks the two sums are exact. The weights apply to training, to
 * gnnmg_model_backward() and to the loss of an evaluation; other metrics count every node once.
 *
 * Objects made from the data set from now on use the weights, and gnnmg_dataset_save() stores them.
 * A trainer refuses a training part whose weights are all 0; for any other part whose weights are
 * all 0, the loss of an evaluation is NaN.
 * @snippet rare_class.c weights
 * @param[in] dataset a data set whose labels are classes or binary targets
 * @param[in] weights one per class or target, [num_weights], each 0 or 1e-12 to 1e12, not all 0;
 *   NULL: remove the weights
 * @param[in] num_weights number of classes or targets; 0 with NULL
 * @return ::GNNMG_OK; ::GNNMG_ERR_INVALID_ARGUMENT naming count or position
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_dataset_set_class_weights(gnnmg_dataset* dataset,
                                                                      const double* weights,
                                                                      int64_t num_weights);

/**
 * @brief Sets class weights that give every class the same total weight in the training part of the
 *   chosen split: labeled training nodes / (classes x training nodes of the class).
 * @snippet rare_class.c balance
 * @param[in] dataset a data set whose labels are classes, with a split
 * @return ::GNNMG_OK; ::GNNMG_ERR_INVALID_ARGUMENT naming a class without a training node;
 *   ::GNNMG_ERR_NOT_FOUND if there is no split
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_dataset_balance_classes(gnnmg_dataset* dataset);

/**
 * @brief Sets the weight of each node in a loss; see gnnmg_dataset_set_class_weights().
 * @snippet rare_class.c weights
 * @param[in] dataset a data set with labels
 * @param[in] weights f32 or f64 [num_nodes], each 0 or 1e-12 to 1e12, not all 0, copied; NULL:
 *   remove the weights
 * @return ::GNNMG_OK; ::GNNMG_ERR_INVALID_ARGUMENT naming shape or position;
 *   ::GNNMG_ERR_UNSUPPORTED for a tensor that is not contiguous
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_dataset_set_sample_weights(
    gnnmg_dataset* dataset, const struct DLManagedTensorVersioned* weights);

/**
 * @brief Class weights of a data set.
 * @snippet rare_class.c balance
 * @param[in] dataset a data set
 * @param[out] weights f64 [classes or targets], read-only
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND if none are set
 * @threading (b)
 * @owns the caller frees `weights`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_dataset_export_class_weights(
    const gnnmg_dataset* dataset, struct DLManagedTensorVersioned** weights);

/**
 * @brief Sample weights of a data set.
 * @snippet rare_class.c batch
 * @param[in] dataset a data set
 * @param[out] weights f64 [num_nodes], read-only
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND if none are set
 * @threading (b)
 * @owns the caller frees `weights`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_dataset_export_sample_weights(
    const gnnmg_dataset* dataset, struct DLManagedTensorVersioned** weights);

/** @} */

/* ============================================================================================= */
/** @defgroup sampler Sampler
 * A sampler draws the neighborhood of a mini-batch's seeds. The draws for a node depend only on
 * (seed, epoch, mini-batch, hop, node), so a mini-batch is the same for any number of threads and
 * ranks. */
/** @{ */

/** @brief A sampler of neighborhoods. */
typedef struct gnnmg_sampler gnnmg_sampler;
/** @brief Output of a custom sampler; valid until the callback returns. */
typedef struct gnnmg_sink gnnmg_sink;
/** @brief One mini-batch. */
typedef struct gnnmg_batch gnnmg_batch;

/** Nodes that are expanded at a hop. */
typedef int32_t gnnmg_expansion;

/** Values of ::gnnmg_expansion. */
enum {
  GNNMG_EXPANSION_ONCE = 0,       /**< Nodes first met at the previous hop. All layers share one set
                                       of edges, trimmed to the needs of each layer. PyG's rule. */
  GNNMG_EXPANSION_EVERY_LAYER = 1 /**< All nodes met so far, drawn anew for each layer. DGL's
                                       rule. */
};

/** Method that draws the neighbors of a node. */
typedef int32_t gnnmg_draw;

/** Values of ::gnnmg_draw. */
enum {
  GNNMG_DRAW_UNIFORM = 0,   /**< Each node draws independently, exactly as many as the fan-out. */
  GNNMG_DRAW_LABOR = 1,     /**< LABOR-0 (Balin and Catalyurek, NeurIPS 2023): each neighbor has one
                                 random number for all nodes of a hop and is kept if that is below
                                 fan-out / degree. Each neighbor has the same probability as with
                                 ::GNNMG_DRAW_UNIFORM, and the fan-out is the mean number per node.
                                 A mini-batch has fewer distinct nodes, so there is less to read and
                                 compute. */
  GNNMG_DRAW_LABOR_ONCE = 2 /**< LABOR with one random number for all hops of a mini-batch: still
                                 fewer nodes, but the hops depend on each other. */
};

/** Settings of a sampler. */
typedef struct gnnmg_sampler_config {
  uint32_t struct_size;      /**< sizeof of this struct. */
  int32_t num_fanouts;       /**< Number of hops, one per layer of the model, 1 to 16. Default 2. */
  int64_t fanouts[16];       /**< Neighbors per node at each hop, beginning next to the seeds; -1:
                                  all, 0: none. Default 10, 10. */
  gnnmg_expansion expansion; /**< Default ::GNNMG_EXPANSION_ONCE. */
  int32_t fanouts_reversed;  /**< 1: the list begins at the far end, as in DGL. Default 0. */
  int32_t replace;           /**< 1: draw with replacement. Default 0. */
  int32_t outgoing;          /**< 1: follow edges from source to target. For custom loops; degrees
                                  that a model takes from the graph still count incoming edges. A
                                  trainer refuses it because it evaluates along incoming edges; use
                                  ::GNNMG_TRANSFORM_REVERSE_EDGES instead. Default 0. */
  int32_t edge_ids;          /**< 1: blocks have edge ids; 0: blocks have edge ids only if the edges
                                  have tensors that models may read, and never from a custom
                                  sampler. Default 0. */
  int32_t transpose;         /**< 1: blocks have the data that backward passes need. Default 1. */
  int32_t edge_type;         /**< Index of the edge type to follow. Default 0. */
  gnnmg_draw draw; /**< LABOR cannot be combined with `replace`. With LABOR a GPU measures the
                        size of each hop, and its steps are not captured.
                        Default ::GNNMG_DRAW_UNIFORM. */
} gnnmg_sampler_config;

/** Request to a custom sampler: the edges of one layer of one mini-batch. */
typedef struct gnnmg_layer_info {
  uint32_t struct_size; /**< sizeof of this struct in the library. */
  int32_t layer;        /**< Layer; 0 is next to the seeds. */
  uint64_t epoch;       /**< Epoch, from 0. */
  uint64_t batch;       /**< Number of the mini-batch in the epoch. */
  uint64_t key;         /**< Random key of this hop, equal to that of the built-in sampler. */
} gnnmg_layer_info;

/**
 * @brief Custom sampler: adds edges into the given targets to the sink. The library requests layers
 *   from the seeds outward; the targets of a layer are all nodes found so far.
 * @param[in] layer the request
 * @param[in] targets node ids, each once, [num_targets]
 * @param[in] num_targets number of targets
 * @param[in] sink receives edges by gnnmg_sink_add_edges() and gnnmg_graph_sample_neighbors()
 * @param[in] user_data as registered
 * @return 0, or anything else to stop the work
 */
typedef int32_t (*gnnmg_layer_fn)(const gnnmg_layer_info* layer, const int64_t* targets,
                                  int64_t num_targets, gnnmg_sink* sink, void* user_data);

/**
 * @brief Fills a config with the defaults.
 * @snippet node_classification.c sampler
 * @param[out] config zeroed over `struct_size` bytes, then filled
 * @param[in] struct_size sizeof *config
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_sampler_config_init(gnnmg_sampler_config* config,
                                                                size_t struct_size);

/**
 * @brief Makes a neighbor sampler.
 * @snippet node_classification.c sampler
 * @param[in] graph a graph; afterwards it cannot change
 * @param[in] config settings, or NULL
 * @param[out] sampler the new handle
 * @return ::GNNMG_OK
 * @threading (b)
 * @owns the caller frees `sampler`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_sampler_create(const gnnmg_graph* graph,
                                                           const gnnmg_sampler_config* config,
                                                           gnnmg_sampler** sampler);

/**
 * @brief Makes a sampler from a callback. The library numbers the nodes of its edges and builds the
 *   blocks.
 * @snippet custom_sampler.c create
 * @param[in] graph a graph with one node type and one edge type; afterwards it cannot change
 * @param[in] config NULL, or settings; only `num_fanouts` (the number of layers), `edge_ids` and
 *   `transpose` are used
 * @param[in] function called once per layer of each mini-batch, concurrently if several host
 *   threads wait or are lent
 * @param[in] user_data for `function`
 * @param[in] release called with `user_data` at the end, or NULL
 * @param[out] sampler the new handle
 * @return ::GNNMG_OK
 * @threading (b)
 * @owns the caller frees `sampler`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_sampler_create_custom(
    const gnnmg_graph* graph, const gnnmg_sampler_config* config, gnnmg_layer_fn function,
    void* user_data, gnnmg_release_fn release, gnnmg_sampler** sampler);

/**
 * @brief Makes a sampler whose seeds are graphs of a data set of many graphs: a mini-batch has all
 *   nodes and edges of its graphs, side by side. All layers share one block, whose targets and
 *   sources are all nodes.
 * @snippet graph_batches.c sampler
 * @param[in] dataset a data set of many graphs
 * @param[in] config NULL, or settings; only `num_fanouts` (the number of layers), `edge_ids` and
 *   `transpose` are used
 * @param[out] sampler the new handle
 * @return ::GNNMG_OK; ::GNNMG_ERR_INVALID_ARGUMENT if the data set is one graph
 * @threading (b)
 * @owns the caller frees `sampler`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_sampler_create_graphs(
    const gnnmg_dataset* dataset, const gnnmg_sampler_config* config, gnnmg_sampler** sampler);

/**
 * @brief Frees the handle.
 * @snippet graph_from_arrays.c free
 * @param[in] sampler a handle, or NULL
 * @threading (a)
 * @since 0.1
 */
GNNMG_API void gnnmg_sampler_free(gnnmg_sampler* sampler);

/**
 * @brief Number of layers of a sample.
 * @snippet mini_batches.c layers
 * @param[in] sampler a sampler
 * @param[out] count the number
 * @return ::GNNMG_OK
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_sampler_num_layers(const gnnmg_sampler* sampler,
                                                               int32_t* count);

/**
 * @brief Samples the neighborhood of given seeds on the calling thread.
 * @snippet bag_of_words.c sample
 * @param[in] sampler a sampler
 * @param[in] dataset source of features and labels, on the sampler's graph; NULL: none
 * @param[in] seeds node ids, [num_seeds]; a repeated seed gets its own row with equal draws
 * @param[in] num_seeds number of seeds
 * @param[in] seed of the draws
 * @param[in] epoch of the draws
 * @param[in] number of the mini-batch, for the draws
 * @param[out] batch the new handle
 * @param[in] timeout_ms milliseconds; -1: no limit. This version samples on the calling thread and
 *   never returns ::GNNMG_PENDING
 * @return ::GNNMG_OK; ::GNNMG_ERR_RANGE naming a seed that is not a node; ::GNNMG_ERR_CALLBACK
 * @threading (b)
 * @owns the caller frees `batch`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_sampler_sample(const gnnmg_sampler* sampler,
                                                           const gnnmg_dataset* dataset,
                                                           const int64_t* seeds, int64_t num_seeds,
                                                           uint64_t seed, uint64_t epoch,
                                                           uint64_t number, gnnmg_batch** batch,
                                                           int64_t timeout_ms);

/**
 * @brief Adds edges to the sample of the current callback.
 * @snippet weighted_sampler.c callback
 * @param[in] sink sink of the callback; stale after the callback returns
 * @param[in] sources node ids, [num_edges]
 * @param[in] targets target of each edge, among the callback's targets, in any order, [num_edges]
 * @param[in] edge_ids ids of the edges, [num_edges]; required if the sampler's config has
 *   `edge_ids`, ignored otherwise; NULL: unknown
 * @param[in] num_edges number of edges
 * @return ::GNNMG_OK. The library checks the edges after the callback returns: a wrong id ends the
 *   work with ::GNNMG_ERR_CALLBACK and names layer, edge and node
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_sink_add_edges(gnnmg_sink* sink, const int64_t* sources,
                                                           const int64_t* targets,
                                                           const int64_t* edge_ids,
                                                           int64_t num_edges);

/**
 * @brief Draws incoming neighbors of each target into a sink, equal in choice and order to the
 *   draws of the built-in sampler with this key.
 * @snippet custom_sampler.c callback
 * @param[in] graph a graph
 * @param[in] edge_type index of the edge type; 0 for graphs with one
 * @param[in] targets node ids, [num_targets]
 * @param[in] num_targets number of `targets`
 * @param[in] fanout neighbors per target; -1: all
 * @param[in] replace 1: with replacement
 * @param[in] key `key` of the callback's ::gnnmg_layer_info, or any number
 * @param[in] sink sink of the callback
 * @return ::GNNMG_OK; ::GNNMG_ERR_RANGE naming a target that is not a node; for a graph in parts
 *   also ::GNNMG_ERR_UNAVAILABLE, ::GNNMG_ERR_TIMEOUT or ::GNNMG_ERR_PROTOCOL, naming the part.
 *   Parts saved without edge ids give no edge ids.
 * @threading (b) for the graph, (c) for the sink
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_graph_sample_neighbors(
    const gnnmg_graph* graph, int32_t edge_type, const int64_t* targets, int64_t num_targets,
    int64_t fanout, int32_t replace, uint64_t key, gnnmg_sink* sink);

/** @} */

/* ============================================================================================= */
/** @defgroup loader Loader
 * A loader makes the mini-batches of an epoch by a plan that all ranks compute alike: seeds, their
 * order, and their division into mini-batches. A step is `batches_per_step` mini-batches; of these,
 * rank r gets numbers r, r + world_size, ..., at least one per step, which may be empty. */
/** @{ */

/** @brief Mini-batches of an epoch, prefetched by the loader's threads. */
typedef struct gnnmg_loader gnnmg_loader;

/** Method that divides an epoch's ids among ranks. */
typedef int32_t gnnmg_partition;

/** Values of ::gnnmg_partition. */
enum {
  GNNMG_PARTITION_GLOBAL = 0,              /**< One permutation; every id exactly once. */
  GNNMG_PARTITION_DISTRIBUTED_SAMPLER = 1, /**< Rule of PyTorch's DistributedSampler, for
                                                comparison. */
  GNNMG_PARTITION_CONTIGUOUS = 2,          /**< Slices as in DGL, for comparison. */
  GNNMG_PARTITION_PARTS = 3 /**< Ids divided by parts, for data sets in parts: every id exactly
                                 once, and all ids of a mini-batch from one part. Each part permutes
                                 and divides its own ids, and the mini-batches of all parts are
                                 spread evenly over the epoch. The mini-batches are the same for any
                                 number of ranks and processes; ranks first take those of their
                                 process's parts. Set `batches_per_step` to the number of parts. */
};

/** Settings of a loader. */
typedef struct gnnmg_loader_config {
  uint32_t struct_size;      /**< sizeof of this struct. */
  gnnmg_split part;          /**< Part of the split. Default ::GNNMG_SPLIT_TRAIN. */
  int64_t batch_size;        /**< Seeds per mini-batch. Default 1024. */
  int64_t batches_per_step;  /**< Mini-batches per step, all ranks together. Default 0:
                                  `world_size`. */
  int32_t rank;              /**< Rank that this loader serves. Default 0. */
  int32_t world_size;        /**< Number of ranks. Default 1. */
  gnnmg_partition partition; /**< Default ::GNNMG_PARTITION_GLOBAL. */
  int32_t shuffle;           /**< 1: new order in each epoch. Default 1. */
  int32_t drop_last;         /**< 1: drop the last mini-batch if it is short. Default 0. */
  int32_t num_threads;       /**< Threads that make mini-batches; 0: gnnmg_loader_next() makes them.
                                  Default 1. */
  int32_t prefetch;          /**< Mini-batches made in advance. Default 2. */
  int32_t gather;            /**< 1: with features, if the data set has any. Default 1. */
  uint64_t seed;             /**< Seed of order, draws and dropout. Default 0. */
  int64_t batch_nodes;       /**< Maximum nodes of a mini-batch whose seeds are graphs: it takes the
                                  next graphs up to this many nodes and at most `batch_size` graphs;
                                  a larger graph is a mini-batch alone. Epochs then differ in the
                                  number of mini-batches. Needs ::GNNMG_PARTITION_GLOBAL without
                                  `drop_last`. Default 0: no limit. */
  gnnmg_device_type device;  /**< Memory of mini-batches: ::GNNMG_DEVICE_CUDA is a GPU, any other
                                  main memory. Default ::GNNMG_DEVICE_AUTO. */
  int32_t device_index;      /**< Number of the GPU. Default 0. */
  gnnmg_graph_placement graph_placement;     /**< GPU only. Default ::GNNMG_GRAPH_PLACEMENT_AUTO. */
  gnnmg_feature_placement feature_placement; /**< GPU only.
                                                  Default ::GNNMG_FEATURE_PLACEMENT_AUTO. */
  gnnmg_feature_form feature_form;           /**< GPU only.
                                                  Default ::GNNMG_FEATURE_FORM_AS_GIVEN. */
  gnnmg_hotness hotness;                     /**< GPU only. Default ::GNNMG_HOTNESS_PROBABILITY. */
  size_t cache_bytes; /**< Bytes of GPU memory for cached rows. Default 0: 30 % of the memory that
                           the graph leaves free. */
  int32_t gather_multiprocessors; /**< Multiprocessors of the GPU that may read rows in main memory
                                       at a time. Default 0: one eighth of them. */
  int32_t padding0;               /**< Must be 0. */
  uint64_t stream;                /**< CUDA stream of the caller on that GPU; must outlive loader
                                       and mini-batches. Exported tensors are ready for later work
                                       in the stream. Default 0: exported tensors are ready
                                       immediately. */
} gnnmg_loader_config;

/** Facts about a loader's epoch. */
typedef struct gnnmg_loader_info {
  uint32_t struct_size;     /**< sizeof of this struct, set by the caller. */
  int32_t padding0;         /**< Always 0. */
  int64_t num_seeds;        /**< Ids of the loader. */
  int64_t num_batches;      /**< Mini-batches of the epoch, all ranks together. */
  int64_t num_steps;        /**< Steps of the epoch. */
  int64_t batches_per_step; /**< Mini-batches per step, all ranks together. */
  int64_t epoch;            /**< Epoch of the next mini-batch. */
} gnnmg_loader_info;

/**
 * @brief Fills a config with the defaults.
 * @snippet own_loop.c loader
 * @param[out] config zeroed over `struct_size` bytes, then filled
 * @param[in] struct_size sizeof *config
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_loader_config_init(gnnmg_loader_config* config,
                                                               size_t struct_size);

/**
 * @brief Makes a loader for one part of the chosen split.
 * @snippet own_loop.c loader
 * @param[in] dataset a data set with a split
 * @param[in] sampler a sampler on the data set's graph
 * @param[in] config settings, or NULL
 * @param[out] loader the new handle
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND if the data set has no split
 * @threading (b)
 * @owns the caller frees `loader`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_loader_create(const gnnmg_dataset* dataset,
                                                          const gnnmg_sampler* sampler,
                                                          const gnnmg_loader_config* config,
                                                          gnnmg_loader** loader);

/**
 * @brief Makes a loader for given seeds.
 * @snippet mini_batches.c from seeds
 * @param[in] sampler a sampler
 * @param[in] dataset source of features and labels, on the sampler's graph; NULL: none
 * @param[in] seeds node ids, [num_seeds], copied
 * @param[in] num_seeds number of `seeds`
 * @param[in] config settings, or NULL; `part` is ignored
 * @param[out] loader the new handle
 * @return ::GNNMG_OK; ::GNNMG_ERR_RANGE naming a seed that is not a node
 * @threading (b)
 * @owns the caller frees `loader`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_loader_create_from_seeds(
    const gnnmg_sampler* sampler, const gnnmg_dataset* dataset, const int64_t* seeds,
    int64_t num_seeds, const gnnmg_loader_config* config, gnnmg_loader** loader);

/**
 * @brief Frees the handle; a waiting gnnmg_loader_next() ends with ::GNNMG_ERR_CANCELLED.
 *   Mini-batches stay valid.
 * @snippet own_loop.c end
 * @param[in] loader a handle, or NULL
 * @threading (a)
 * @since 0.1
 */
GNNMG_API void gnnmg_loader_free(gnnmg_loader* loader);

/**
 * @brief Facts about the epoch of the next mini-batch.
 * @snippet mini_batches.c plan
 * @param[in] loader a loader
 * @param[in,out] info filled
 * @return ::GNNMG_OK
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_loader_get_info(const gnnmg_loader* loader,
                                                            gnnmg_loader_info* info);

/**
 * @brief Moves to a step of an epoch and drops prefetched mini-batches. Also restarts the loader
 *   after an error or gnnmg_loader_cancel().
 * @snippet mini_batches.c start
 * @param[in] loader a loader
 * @param[in] epoch the epoch, from 0
 * @param[in] step the step, from 0, at most the number of steps
 * @return ::GNNMG_OK
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_loader_start(gnnmg_loader* loader, int64_t epoch,
                                                         int64_t step);

/**
 * @brief Next mini-batch of this rank, in plan order. The first call begins epoch 0. Each epoch
 *   ends with one ::GNNMG_END; the next call begins the next epoch.
 * @snippet own_loop.c loop
 * @param[in] loader a loader
 * @param[out] batch the new handle
 * @param[in] timeout_ms milliseconds; -1: no limit
 * @return ::GNNMG_OK; ::GNNMG_END; ::GNNMG_PENDING; ::GNNMG_ERR_CALLBACK; ::GNNMG_ERR_IO;
 *   ::GNNMG_ERR_CANCELLED. An error repeats until gnnmg_loader_start()
 * @threading (c)
 * @owns the caller frees `batch`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_loader_next(gnnmg_loader* loader, gnnmg_batch** batch,
                                                        int64_t timeout_ms);

/**
 * @brief Stops the loader's threads; gnnmg_loader_next() gives ::GNNMG_ERR_CANCELLED until
 *   gnnmg_loader_start().
 * @snippet mini_batches.c cancel
 * @param[in] loader a handle; a stale handle is ignored
 * @threading (a)
 * @since 0.1
 */
GNNMG_API void gnnmg_loader_cancel(gnnmg_loader* loader);

/** @} */

/* ============================================================================================= */
/** @defgroup batch Batch
 * A mini-batch has a list of nodes, their features, the labels of the seeds, and one block of edges
 * per layer. The list begins with the seeds; if seeds are graphs, it has the nodes of one graph
 * after another. All data is exported as read-only tensors without copying; a tensor keeps the
 * mini-batch and may outlive its handle. All tensors of a loader for a GPU are on that GPU: seeds,
 * labels, their weights and graph pointers are copied from the host, and features that the GPU
 * reads in place from a table of all rows are copied too. */
/** @{ */

/** Facts about a mini-batch. */
typedef struct gnnmg_batch_info {
  uint32_t struct_size;     /**< sizeof of this struct, set by the caller. */
  int32_t num_layers;       /**< Blocks; block 0 reads the features, the last gives the seeds. */
  int64_t epoch;            /**< Epoch, from 0. */
  int64_t number;           /**< Number in the epoch's plan; -1: empty. */
  int64_t step;             /**< Step of the epoch. */
  int64_t num_seeds;        /**< Seeds; 0: empty, but its rank takes part in the step. */
  int64_t num_nodes;        /**< Nodes, including seeds. */
  int64_t num_edges;        /**< Distinct edges drawn. */
  int64_t feature_dim;      /**< Columns of the features; 0: none. */
  int64_t step_seeds;       /**< Seeds of the step, all ranks together. */
  double loss_weight;       /**< num_seeds / step_seeds: a mean over seeds times this, summed over
                                 the mini-batches of all ranks, is the exact mean of the step. */
  double sample_seconds;    /**< Time of sampling, seconds. */
  double gather_seconds;    /**< Time of gathering features, seconds. */
  int32_t last_of_step;     /**< 1: last mini-batch of this rank in its step: reduce and update. */
  int32_t sparse_features;  /**< 1: the features are sparse. */
  gnnmg_device_type device; /**< ::GNNMG_DEVICE_CPU or ::GNNMG_DEVICE_CUDA. */
  int32_t device_index;     /**< Number of the GPU. */
} gnnmg_batch_info;

/** Sizes of a block: the edges of one layer. */
typedef struct gnnmg_block_info {
  uint32_t struct_size; /**< sizeof of this struct, set by the caller. */
  int32_t padding0;     /**< Always 0. */
  int64_t num_targets;  /**< Targets: the first nodes of the mini-batch. */
  int64_t num_sources;  /**< Sources: the first nodes of the mini-batch. */
  int64_t num_edges;    /**< Edges. */
} gnnmg_block_info;

/**
 * @brief Frees the handle.
 * @snippet own_loop.c loop
 * @param[in] batch a handle, or NULL
 * @threading (a)
 * @since 0.1
 */
GNNMG_API void gnnmg_batch_free(gnnmg_batch* batch);

/**
 * @brief Facts about a mini-batch.
 * @snippet mini_batches.c batch
 * @param[in] batch a mini-batch
 * @param[in,out] info filled
 * @return ::GNNMG_OK
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_batch_get_info(const gnnmg_batch* batch,
                                                           gnnmg_batch_info* info);

/**
 * @brief Sizes of one block.
 * @snippet mini_batches.c blocks
 * @param[in] batch a mini-batch
 * @param[in] layer 0 to num_layers - 1
 * @param[in,out] info filled
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND for an unknown layer
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_batch_get_block_info(const gnnmg_batch* batch,
                                                                 int32_t layer,
                                                                 gnnmg_block_info* info);

/**
 * @brief Seeds of a mini-batch.
 * @snippet mini_batches.c batch
 * @param[in] batch a mini-batch
 * @param[out] seeds i64 [num_seeds], read-only
 * @return ::GNNMG_OK
 * @threading (b)
 * @owns the caller frees `seeds`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status
gnnmg_batch_export_seeds(const gnnmg_batch* batch, struct DLManagedTensorVersioned** seeds);

/**
 * @brief First node of each seed, if seeds are graphs.
 * @snippet graph_batches.c batch
 * @param[in] batch a mini-batch of graphs
 * @param[out] graph_ptr i64 [num_seeds + 1], read-only
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND if the seeds are nodes
 * @threading (b)
 * @owns the caller frees `graph_ptr`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status
gnnmg_batch_export_graph_ptr(const gnnmg_batch* batch, struct DLManagedTensorVersioned** graph_ptr);

/**
 * @brief Nodes of a mini-batch: the seeds, then the nodes of each hop in order of first appearance.
 * @snippet mini_batches.c batch
 * @param[in] batch a mini-batch
 * @param[out] node_ids i64 [num_nodes], read-only
 * @return ::GNNMG_OK
 * @threading (b)
 * @owns the caller frees `node_ids`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status
gnnmg_batch_export_node_ids(const gnnmg_batch* batch, struct DLManagedTensorVersioned** node_ids);

/**
 * @brief Features of the nodes.
 * @snippet mini_batches.c batch
 * @param[in] batch a mini-batch
 * @param[out] features [num_nodes, feature_dim] in the data set's type, read-only; rows in another
 *   ::gnnmg_feature_form are converted back
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND without features; ::GNNMG_ERR_UNSUPPORTED if they are
 *   sparse
 * @threading (b)
 * @owns the caller frees `features`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status
gnnmg_batch_export_features(const gnnmg_batch* batch, struct DLManagedTensorVersioned** features);

/**
 * @brief Sparse features of the nodes.
 * @snippet bag_of_words.c features
 * @param[in] batch a mini-batch
 * @param[out] indptr i64 [num_nodes + 1], read-only
 * @param[out] indices i32 [entries], read-only
 * @param[out] values f32 [entries], read-only
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND without features; ::GNNMG_ERR_UNSUPPORTED if they are
 *   dense
 * @threading (b)
 * @owns the caller frees the tensors
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_batch_export_sparse_features(
    const gnnmg_batch* batch, struct DLManagedTensorVersioned** indptr,
    struct DLManagedTensorVersioned** indices, struct DLManagedTensorVersioned** values);

/**
 * @brief Labels of the seeds.
 * @snippet mini_batches.c batch
 * @param[in] batch a mini-batch
 * @param[out] labels i64 [num_seeds] of classes, or f32 [num_seeds, targets]; read-only
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND without labels
 * @threading (b)
 * @owns the caller frees `labels`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status
gnnmg_batch_export_labels(const gnnmg_batch* batch, struct DLManagedTensorVersioned** labels);

/**
 * @brief Weight of each label of the seeds in a loss: weight of class times weight of node, 1 if
 *   none are set, 0 without a label.
 * @snippet rare_class.c batch
 * @param[in] batch a mini-batch
 * @param[out] weights f64, the shape of the labels; read-only
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND without labels
 * @threading (b)
 * @owns the caller frees `weights`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status
gnnmg_batch_export_weights(const gnnmg_batch* batch, struct DLManagedTensorVersioned** weights);

/**
 * @brief Edges of one layer: row t has the sources of target t, indices[indptr[t]] to
 *   indices[indptr[t+1] - 1], as positions in the list of nodes.
 * @snippet bag_of_words.c edges
 * @param[in] batch a mini-batch
 * @param[in] layer 0 to num_layers - 1
 * @param[out] indptr i32 [num_targets + 1], read-only
 * @param[out] indices i32 [num_edges], read-only
 * @param[out] edge_ids i64 [num_edges], read-only; NULL if the sampler stores none. The pointer
 *   itself may be NULL
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND for an unknown layer
 * @threading (b)
 * @owns the caller frees the tensors
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_batch_export_block(
    const gnnmg_batch* batch, int32_t layer, struct DLManagedTensorVersioned** indptr,
    struct DLManagedTensorVersioned** indices, struct DLManagedTensorVersioned** edge_ids);

/** @} */

/* ============================================================================================= */
/** @defgroup metrics Metrics
 * Results of an evaluation of one part of the split, filled by gnnmg_trainer_evaluate() and
 * gnnmg_model_evaluate(). */
/** @{ */

/** Exact results of an evaluation; the task determines which fields are valid. */
typedef struct gnnmg_metrics {
  uint32_t struct_size;     /**< sizeof of this struct, set by the caller. */
  gnnmg_task task;          /**< Task of the data set. */
  int64_t count;            /**< Labeled rows, or labeled targets. */
  int64_t correct;          /**< Correct predictions among `count`; 0 for regression. */
  double loss;              /**< Mean loss. */
  double accuracy;          /**< correct / count; 0 for regression, NaN without labels. */
  double f1_micro;          /**< F1 over all decisions; NaN without labels. */
  double f1_macro;          /**< Mean F1 of the classes; NaN without labels. */
  double roc_auc;           /**< Binary tasks: mean over targets; NaN if one class is missing. */
  double average_precision; /**< Binary tasks: mean over targets. */
  double rmse;              /**< Regression: root of the mean squared error. */
  double mae;               /**< Regression: mean absolute error. */
} gnnmg_metrics;

/** Metric that selects the best epoch. */
typedef int32_t gnnmg_metric;

/** Values of ::gnnmg_metric. */
enum {
  GNNMG_METRIC_ACCURACY = 0,          /**< Higher is better. */
  GNNMG_METRIC_LOSS = 1,              /**< Lower is better. */
  GNNMG_METRIC_ROC_AUC = 2,           /**< Higher is better. */
  GNNMG_METRIC_F1_MACRO = 3,          /**< Higher is better. */
  GNNMG_METRIC_F1_MICRO = 4,          /**< Higher is better. */
  GNNMG_METRIC_AVERAGE_PRECISION = 5, /**< Higher is better. */
  GNNMG_METRIC_RMSE = 6,              /**< Lower is better. */
  GNNMG_METRIC_MAE = 7                /**< Lower is better. */
};

/** @} */

/* ============================================================================================= */
/** @defgroup model Model
 * A model has layers and parameters. All parameters are in one flat array and all gradients in
 * another, so that ranks exchange a single tensor. Each parameter is a slice of the array, with
 * PyG's key for it. */
/** @{ */

/** @brief A model. */
typedef struct gnnmg_model gnnmg_model;

/** Architecture of a model. */
typedef int32_t gnnmg_architecture;

/** Values of ::gnnmg_architecture. */
enum {
  GNNMG_MODEL_SAGE = 1,  /**< GraphSAGE (Hamilton, Ying, Leskovec 2017), as in PyG. */
  GNNMG_MODEL_GCN = 2,   /**< Graph convolutional network (Kipf, Welling 2017). */
  GNNMG_MODEL_GAT = 3,   /**< Graph attention network (Velickovic and others 2018). */
  GNNMG_MODEL_GATV2 = 4, /**< Graph attention that depends on both ends (Brody and others 2022). */
  GNNMG_MODEL_GIN = 5,   /**< Graph isomorphism network (Xu and others 2019). */
  GNNMG_MODEL_GINE = 6,  /**< GIN with edge features (Hu and others 2020). */
  GNNMG_MODEL_RGCN = 7,  /**< R-GCN: one linear map per edge type (Schlichtkrull and others
                              2018). */
  GNNMG_MODEL_TRANSFORMER = 8, /**< Graph transformer (Shi and others 2021), with edge features. */
  GNNMG_MODEL_PNA = 9,         /**< Principal neighborhood aggregation (Corso and others 2020), with
                                    edge features. */
  GNNMG_MODEL_GRAPHCONV = 10, /**< One linear map for the neighbors and one for the node (Morris and
                                   others 2019). */
  GNNMG_MODEL_LAYERS = 11,    /**< Custom layers, added one by one with gnnmg_model_add_conv() and
                                   similar functions. */
  GNNMG_MODEL_EDGE = 12       /**< EdgeConv: a network over both ends of each edge (Wang and others
                                   2019). With ::GNNMG_FRAMEWORK_DGL only the maximum as
                                   aggregation. */
};

/** Reduction of the messages into a node, for PNA. */
typedef int32_t gnnmg_pna_reduction;

/** Values of ::gnnmg_pna_reduction. */
enum {
  GNNMG_PNA_REDUCTION_MEAN = 1,     /**< Mean. */
  GNNMG_PNA_REDUCTION_MIN = 2,      /**< Minimum of each column. */
  GNNMG_PNA_REDUCTION_MAX = 3,      /**< Maximum of each column. */
  GNNMG_PNA_REDUCTION_SUM = 4,      /**< Sum. */
  GNNMG_PNA_REDUCTION_VARIANCE = 5, /**< Variance. */
  GNNMG_PNA_REDUCTION_DEVIATION = 6 /**< Standard deviation. */
};

/** Factor of PNA's reductions. d is the number of edges into the node; mean d and mean log are
 * means over the training graph. */
typedef int32_t gnnmg_pna_scaler;

/** Values of ::gnnmg_pna_scaler. */
enum {
  GNNMG_PNA_SCALER_IDENTITY = 1,      /**< 1 */
  GNNMG_PNA_SCALER_AMPLIFICATION = 2, /**< log(d + 1) / mean log */
  GNNMG_PNA_SCALER_ATTENUATION = 3,   /**< mean log / log(d + 1), d at least 1 */
  GNNMG_PNA_SCALER_LINEAR = 4,        /**< d / mean d */
  GNNMG_PNA_SCALER_INVERSE_LINEAR = 5 /**< mean d / d, d at least 1 */
};

/** Framework whose layer definitions and tensor keys the model follows. */
typedef int32_t gnnmg_framework;

/** Values of ::gnnmg_framework. */
enum {
  GNNMG_FRAMEWORK_PYG = 0, /**< PyTorch Geometric: keys "convs.0.lin_l.weight", ... */
  GNNMG_FRAMEWORK_DGL = 1  /**< DGL: keys "layers.0.fc_neigh.weight", ... Layers add no
                                self-loops, degrees are those of the block, and a tied maximum
                                has one winner. */
};

/** Input of the first layer. Without features, `input_dim` is the number of nodes, the data set
 * needs no features, and the model accepts only graphs of that size. */
typedef int32_t gnnmg_input;

/** Values of ::gnnmg_input. */
enum {
  GNNMG_INPUT_FEATURES = 0,  /**< Features of the nodes. */
  GNNMG_INPUT_EMBEDDING = 1, /**< A learned row of `hidden_dim` columns for each node:
                                  "embedding.weight". Also for ::GNNMG_MODEL_LAYERS. */
  GNNMG_INPUT_NODES = 2      /**< PyG's R-GCN: the node itself, as if the features were the unit
                                  matrix. Each relation's matrix has one row of weights per node. */
};

/** Normalization of GCN's sum over the neighbors. PyG's GCN has BOTH, and without `self_loops` also
 * NONE. */
typedef int32_t gnnmg_degree_norm;

/** Values of ::gnnmg_degree_norm. */
enum {
  GNNMG_DEGREE_NORM_BOTH = 0,  /**< Divides each row by the roots of the degrees of both ends. */
  GNNMG_DEGREE_NORM_RIGHT = 1, /**< DGL: divides by the target's degree: the mean. */
  GNNMG_DEGREE_NORM_LEFT = 2,  /**< DGL: divides each row by its source's degree. */
  GNNMG_DEGREE_NORM_NONE = 3   /**< Plain sum. */
};

/** Aggregation of a node's neighbors. */
typedef int32_t gnnmg_aggregation;

/** Values of ::gnnmg_aggregation. */
enum {
  GNNMG_AGGREGATION_DEFAULT = -1, /**< Default of the layer: sum for GIN, GINE, GraphConv and DGL's
                                       R-GCN, max for EdgeConv, mean for GraphSAGE and R-GCN. Not 0,
                                       which is the mean. */
  GNNMG_AGGREGATION_MEAN = 0,     /**< Mean. */
  GNNMG_AGGREGATION_MAX = 1,      /**< Maximum of each column; not for DGL's GraphSAGE. */
  GNNMG_AGGREGATION_SUM = 2,      /**< Sum; not for DGL's GraphSAGE. */
  GNNMG_AGGREGATION_POOL = 3,     /**< DGL: maximum after a linear layer and ReLU. */
  GNNMG_AGGREGATION_LSTM = 4, /**< GraphSAGE: a recurrent network over the neighbors in edge order.
                                   PyG's continues with rows of zeros up to the largest in-degree of
                                   the mini-batch, or of the graph for results of all nodes. */
  GNNMG_AGGREGATION_GCN = 5   /**< DGL: mean of the neighbors and the node itself. */
};

/** Activation function between layers. */
typedef int32_t gnnmg_activation;

/** Values of ::gnnmg_activation. */
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

/** Normalization between layers, and between the linear layers inside GIN, GINE and PyG's EdgeConv
 * (over rows of edges). "A graph" is each graph of a batch of graphs. Otherwise, and always inside
 * layers, it is all rows at hand: those of the mini-batch in training, all rows in results for all
 * nodes. EdgeConv has norms over graphs only with a readout. */
typedef int32_t gnnmg_norm;

/** Values of ::gnnmg_norm. */
enum {
  GNNMG_NORM_NONE = 0,  /**< None. */
  GNNMG_NORM_BATCH = 1, /**< Each column over the mini-batch. Training needs at least two rows; the
                             text of ::GNNMG_ERR_INVALID_ARGUMENT says how to get them. */
  GNNMG_NORM_LAYER = 2, /**< Each row independently. */
  GNNMG_NORM_LAYER_GRAPH = 3, /**< All entries of a graph together; default of PyG's LayerNorm. */
  GNNMG_NORM_GRAPH = 4,    /**< Each column over a graph, minus a learned share of its mean (Cai and
                                others 2021). */
  GNNMG_NORM_INSTANCE = 5, /**< Each column over a graph, without parameters. */
  GNNMG_NORM_PAIR = 6,     /**< Columns centered over a graph, then all rows of the graph scaled to
                                a mean square length of `norm_scale` (Zhao, Akoglu 2020). */
  GNNMG_NORM_PAIR_ROWS = 7 /**< Columns centered over a graph, then each row scaled to the length
                                `norm_scale`. */
};

/** Selects whether a norm ends with a learned weight and bias per column. */
typedef int32_t gnnmg_norm_affine;

/** Values of ::gnnmg_norm_affine. */
enum {
  GNNMG_NORM_AFFINE_DEFAULT = 0, /**< Yes for batch and layer norms, no for instance norm. */
  GNNMG_NORM_AFFINE_ON = 1,      /**< Yes. */
  GNNMG_NORM_AFFINE_OFF = 2      /**< No. */
};

/** Edge features of the self-loops that attention adds, computed from the other edges into the
 * node; 0 without such edges. */
typedef int32_t gnnmg_loop_fill;

/** Values of ::gnnmg_loop_fill. */
enum {
  GNNMG_LOOP_FILL_MEAN = 0,    /**< Mean of each column. */
  GNNMG_LOOP_FILL_SUM = 1,     /**< Sum of each column. */
  GNNMG_LOOP_FILL_MAX = 2,     /**< Maximum of each column. */
  GNNMG_LOOP_FILL_MIN = 3,     /**< Minimum of each column. */
  GNNMG_LOOP_FILL_CONSTANT = 4 /**< `loop_value` in every column. */
};

/** Connections around a layer. */
typedef int32_t gnnmg_skip;

/** Values of ::gnnmg_skip. */
enum {
  GNNMG_SKIP_NONE = 0,    /**< None. */
  GNNMG_SKIP_LINEAR = 1,  /**< Adds a linear map of each layer's input to its output; a linear layer
                               gives the result. */
  GNNMG_SKIP_RESIDUAL = 2 /**< Residual blocks that begin with the norm, between linear layers. */
};

/** Combination of the layers' outputs. Except for NONE, norm, activation and dropout follow every
 * layer, and a linear layer gives the result. */
typedef int32_t gnnmg_jumping;

/** Values of ::gnnmg_jumping. */
enum {
  GNNMG_JUMPING_NONE = 0,  /**< The last layer gives the result. */
  GNNMG_JUMPING_LAST = 1,  /**< Output of the last layer. */
  GNNMG_JUMPING_CAT = 2,   /**< Outputs of all layers, concatenated. */
  GNNMG_JUMPING_MAX = 3,   /**< Maximum over all layers, entry by entry. */
  GNNMG_JUMPING_LSTM = 4,  /**< Sum of the outputs, weighted by attention; a bidirectional recurrent
                                network over the layers computes the scores. */
  GNNMG_JUMPING_SCORES = 5 /**< GIN: sum of readouts of the features and of every layer's output,
                                each after its own linear layer. Needs a readout. */
};

/** Combination of a graph's node rows into one row of the result. It reads the input of the final
 * linear layer, or, without one, the output of the last layer. A graph without nodes gives 0. */
typedef int32_t gnnmg_readout;

/** Values of ::gnnmg_readout. */
enum {
  GNNMG_READOUT_NONE = 0,      /**< The result has one row per seed. */
  GNNMG_READOUT_SUM = 1,       /**< Sum. */
  GNNMG_READOUT_MEAN = 2,      /**< Mean. */
  GNNMG_READOUT_MAX = 3,       /**< Maximum of each column. */
  GNNMG_READOUT_ATTENTION = 4, /**< Sum weighted by a softmax over scores; a linear layer computes
                                    the score of each row. */
  GNNMG_READOUT_SET2SET = 5,   /**< A recurrent network that reads the rows `readout_steps` times
                                    (Vinyals and others 2016); the result is twice as wide. */
  GNNMG_READOUT_SORT = 6       /**< Concatenates the `sort_rows` rows that are largest in the last
                                    column, in that order, with zeros if there are fewer (Zhang and
                                    others 2018). */
};

/** Distribution of the initial weights. */
typedef int32_t gnnmg_weight_init;

/** Values of ::gnnmg_weight_init. */
enum {
  GNNMG_WEIGHT_INIT_PYG = 0, /**< Default of each layer in PyG, or in DGL for DGL's layers: uniform
                                  within 1 / sqrt(fan in); GCN and attention Glorot, biases 0. */
  GNNMG_WEIGHT_INIT_GLOROT = 1, /**< Glorot uniform, biases 0. */
  GNNMG_WEIGHT_INIT_DGL = 2     /**< Default of each layer in DGL: Glorot uniform with gain sqrt 2;
                                     attention Glorot normal; GCN with gain 1, biases 0. */
};

/** Settings of a model. A field that names architectures, a norm or a readout applies only to
 * these; for others the field must have its default. If a range begins above 0, 0 also means the
 * default, except for `num_layers` and `hidden_dim`. */
typedef struct gnnmg_model_config {
  uint32_t struct_size;            /**< sizeof of this struct. */
  gnnmg_architecture architecture; /**< Default ::GNNMG_MODEL_SAGE. */
  int64_t input_dim;               /**< Columns of the features, or the number of nodes if `input`
                                        is not the features. Default 0: from the data set. */
  int64_t hidden_dim;              /**< Columns between layers, above 0. Default 256. */
  int64_t output_dim;              /**< Columns of the result; -1: the last layer is like the
                                        others, hidden_dim wide, as PyG's model classes without
                                        `out_channels`. Default 0: classes of the data set. */
  int32_t num_layers;              /**< Number of layers, equal to the sampler's, 1 to 10.
                                        Default 2. */
  gnnmg_aggregation aggregation;   /**< GraphSAGE, GIN, GINE, GraphConv, R-GCN, EdgeConv.
                                        Default ::GNNMG_AGGREGATION_DEFAULT. */
  gnnmg_activation activation;     /**< Default ::GNNMG_ACTIVATION_RELU. */
  gnnmg_norm norm;                 /**< Default ::GNNMG_NORM_NONE. */
  gnnmg_skip skip;                 /**< Default ::GNNMG_SKIP_NONE. */
  gnnmg_weight_init weight_init;   /**< Default ::GNNMG_WEIGHT_INIT_PYG. */
  int32_t bias;                    /**< 1: layers add a bias. Default 1. */
  int32_t root_weight;  /**< GraphSAGE, R-GCN, transformer. 1: a layer also maps the node's own row.
                             Default 1. */
  int32_t normalize;    /**< GraphSAGE. 1: scale each output row of a layer to unit length.
                             Default 0. */
  int32_t project;      /**< GraphSAGE. 1: first apply a linear map and ReLU to the sources.
                             Default 0. */
  int32_t act_first;    /**< 1: activation before norm. Default 0. */
  gnnmg_dtype dtype;    /**< ::GNNMG_DTYPE_F32 or ::GNNMG_DTYPE_F64. Default ::GNNMG_DTYPE_F32. */
  double dropout;       /**< Share of hidden entries and of attention weights that training sets to
                             0, in [0, 1). Default 0. */
  double input_dropout; /**< Share of features that training sets to 0, in [0, 1). Default 0. */
  uint64_t seed;        /**< Seed of the initial weights. Default 0. */
  gnnmg_jumping jumping; /**< Default ::GNNMG_JUMPING_NONE. */
  int32_t heads;         /**< GAT, GATv2, transformer: 1 to 64; must divide hidden_dim with
                              `concat`. Default 1. */
  int32_t concat; /**< GAT, GATv2, transformer. 1: concatenate the heads; 0: take their mean. The
                       layer that gives the result takes the mean. Default 1. */
  int32_t self_loops;    /**< GCN, GAT, GATv2. 1: one self-loop per node replaces those of the
                              graph. Default 1. */
  int32_t residual;      /**< GAT, GATv2. 1: add a linear map of the node's own row. Default 0. */
  int32_t block_degrees; /**< GCN. 0: degrees of the whole graph, so that the sampled edges stand
                              for all; 1: degrees of the block, as PyG on a sampled graph.
                              Default 0. */
  int32_t train_eps;     /**< GIN, GINE. 1: learn the weight of the node's own row. Default 0. */
  int32_t reserved;      /**< Must be 0. */
  double negative_slope; /**< GAT, GATv2: slope of the leaky function below 0. Default 0.2. */
  double eps;            /**< GIN, GINE: weight of the node's own row, minus 1. Default 0. */
  gnnmg_readout readout; /**< Batches of graphs only. Default ::GNNMG_READOUT_NONE. */
  gnnmg_framework framework; /**< Default ::GNNMG_FRAMEWORK_PYG. */
  double output_dropout;     /**< Share of the final linear layer's input, or with
                                  ::GNNMG_JUMPING_SCORES of each score, that training sets to 0.
                                  Default 0. */
  double norm_scale;         /**< ::GNNMG_NORM_PAIR, ::GNNMG_NORM_PAIR_ROWS: above 0; -1: number of
                                  columns, as PyG's model classes use if given only the name.
                                  Default 1. */
  int32_t mlp_layers; /**< GIN, GINE, EdgeConv: linear layers of their networks, 1 to 8; -1: DGL's
                           GIN without `apply_func`, with rows of equal width. Default 2. */
  int32_t reserved2;  /**< Must be 0. */
  int64_t edge_dim;   /**< GINE, GAT, GATv2, transformer, PNA: columns of edge features; -1: from
                           the data set. Edge features are the first of the edge tensors
                           "edge_attr", "x" and "feat". Default 0: none, but for GINE from the data
                           set. */
  int64_t num_relations; /**< R-GCN: number of edge types. The types are the first integer tensor of
                              the edge tensors "edge_type", "type" and "edge_label". Default 0: from
                              the data set. */
  int32_t num_bases;  /**< R-GCN: number of basis matrices, whose weighted sums are the matrices of
                           the types. Default 0: one matrix per type. */
  int32_t num_blocks; /**< R-GCN: blocks of block-diagonal matrices. Default 0: full matrices. */
  int32_t edge_weights;  /**< GCN, GraphConv, and DGL's GraphSAGE, GCN, GAT, GIN and R-GCN. 1:
                              weight edges by the edge tensor "edge_weight", or else "weight".
                              Default 0. */
  int32_t improved;      /**< PyG's GCN with edge weights. 1: added self-loops have weight 2.
                              Default 0. */
  int32_t beta;          /**< Transformer. 1: a gate mixes in the node's own row. Default 0. */
  int32_t towers;        /**< PNA: number of parallel networks, each for its share of the output, 1
                              to 64. Default 1. */
  int32_t divide_input;  /**< PNA. 1: each tower reads only its share of the columns. Default 0. */
  int32_t readout_steps; /**< ::GNNMG_READOUT_SET2SET: 1 to 100. Default 3. */
  int32_t sort_rows;     /**< ::GNNMG_READOUT_SORT: 1 to 10000. Default 30. */
  int32_t reserved3;     /**< Must be 0. */
  double average_degree; /**< PNA: mean number of edges into a node. Default 0: from the data
                              set. */
  double average_log_degree; /**< PNA: mean of log(number of edges into a node + 1). Default 0: from
                                  the data set. */
  gnnmg_pna_reduction reductions[8]; /**< PNA: reductions, up to the first 0; all 0: mean, min, max,
                                          deviation. PyG's GraphSAGE: concatenates these reductions,
                                          in place of `aggregation`. Default 0. */
  gnnmg_pna_scaler scalers[8];       /**< PNA: scalers, up to the first 0. Default 0: identity,
                                          amplification, attenuation. */
  int32_t node_vocabulary[16];       /**< Categories of each feature column, up to the first 0:
                                          the features are integers, and the layers read the sum
                                          of the learned rows of all columns, hidden_dim wide.
                                          Default 0. */
  int32_t edge_vocabulary[16];       /**< Categories of each column of edge features, as
                                          `node_vocabulary`; the layers read edge_dim columns.
                                          Default 0. */
  gnnmg_input input;                 /**< Default ::GNNMG_INPUT_FEATURES. */
  int32_t reserved4;                 /**< Must be 0. */
  double edge_dropout; /**< Share of edges that training drops in each layer, as if not sampled, in
                            [0, 1). Default 0. */
  double node_dropout; /**< Share of nodes whose edges training drops in all layers, in [0, 1).
                            Default 0. */
  int32_t pre_layers;  /**< PNA: linear layers before the reductions, with ReLU between them, 1
                            to 8. Default 1. */
  int32_t post_layers; /**< PNA: linear layers after the reductions, with ReLU between them, 1 to 8.
                            Default 1. */
  gnnmg_degree_norm degree_norm; /**< GCN. Default ::GNNMG_DEGREE_NORM_BOTH. */
  int32_t share_weights;         /**< GATv2. 1: one linear map for both ends of an edge.
                                      Default 0. */
  double loop_value;             /**< Value for ::GNNMG_LOOP_FILL_CONSTANT. Default 0. */
  gnnmg_loop_fill loop_fill;     /**< PyG's GAT and GATv2 with edge features and `self_loops`.
                                      Default ::GNNMG_LOOP_FILL_MEAN. */
  int32_t plain_edges;           /**< GINE. 1: no linear map of edge features, which must have as
                                      many columns as the rows of every layer. Default 0. */
  int32_t inner_norm;            /**< 1: DGL's R-GCN normalizes each row of its sums, and DGL's
                                      EdgeConv applies batch norm to the rows of edges.
                                      Default 0. */
  int32_t train_norm;   /**< PNA. 1: learn average_degree and average_log_degree. Default 0. */
  double norm_epsilon;  /**< Norms: added below the root, above 0. Default 1e-5. */
  double norm_momentum; /**< ::GNNMG_NORM_BATCH: weight of new statistics in the running ones, above
                             0 and at most 1; -1: plain mean over all. Default 0.1. */
  gnnmg_norm_affine norm_affine; /**< Batch, layer and instance norms.
                                      Default ::GNNMG_NORM_AFFINE_DEFAULT. */
  int32_t output_heads;          /**< GAT, GATv2, transformer: heads of the layer that gives the
                                      result, which takes their mean, 0 to 64. Default 0: as
                                      `heads`. */
} gnnmg_model_config;

/** Settings of gnnmg_model_add_norm(). A field that does not apply to the norm must have its
 * default. 0 also means the default. */
typedef struct gnnmg_norm_config {
  uint32_t struct_size;     /**< sizeof of this struct. */
  gnnmg_norm_affine affine; /**< Batch, layer and instance norms.
                                 Default ::GNNMG_NORM_AFFINE_DEFAULT. */
  double scale;    /**< ::GNNMG_NORM_PAIR, ::GNNMG_NORM_PAIR_ROWS: above 0; -1: number of columns.
                        Default 1. */
  double epsilon;  /**< Added below the root, above 0. Default 1e-5. */
  double momentum; /**< ::GNNMG_NORM_BATCH: weight of new statistics in the running ones, above 0
                        and at most 1; -1: plain mean over all. Default 0.1. */
} gnnmg_norm_config;

/** Facts about a model. */
typedef struct gnnmg_model_info {
  uint32_t struct_size;            /**< sizeof of this struct, set by the caller. */
  gnnmg_architecture architecture; /**< Kind of model. */
  int32_t num_layers;              /**< Number of layers. */
  gnnmg_dtype dtype;               /**< Type of the parameters. */
  int64_t input_dim;               /**< Columns of the features. */
  int64_t hidden_dim;              /**< Columns between layers. */
  int64_t output_dim;              /**< Columns of the result. */
  int64_t num_parameters;          /**< Learned numbers. */
  int64_t num_tensors;             /**< Named tensors, including buffers. */
  gnnmg_device_type device;        /**< ::GNNMG_DEVICE_CPU or ::GNNMG_DEVICE_CUDA. */
  int32_t device_index;            /**< Number of the GPU. */
} gnnmg_model_info;

/** Loss function of a mini-batch. */
typedef int32_t gnnmg_loss;

/** Values of ::gnnmg_loss. */
enum {
  GNNMG_LOSS_AUTO = 0,                 /**< Loss of the task: one of the next three. */
  GNNMG_LOSS_CROSS_ENTROPY = 1,        /**< Classes. */
  GNNMG_LOSS_BINARY_CROSS_ENTROPY = 2, /**< Binary targets, from logits. */
  GNNMG_LOSS_MEAN_SQUARED_ERROR = 3,   /**< Regression. */
  GNNMG_LOSS_MEAN_ABSOLUTE_ERROR = 4,  /**< Regression: torch's L1Loss. */
  GNNMG_LOSS_HUBER = 5,                /**< Regression: squared, and linear above `huber_delta`. */
  GNNMG_LOSS_FOCAL = 6                 /**< Classes or binary targets: cross-entropy times
                                            (1 - p)^`focal_gamma`, p the label's probability. */
};

/** File format of weights. */
typedef int32_t gnnmg_model_format;

/** Values of ::gnnmg_model_format. */
enum {
  GNNMG_MODEL_FORMAT_AUTO = 0,        /**< Loading: detected from the first bytes; saving: `.pth` or
                                           `.pt` at the end of the path mean PTH, any other end
                                           SAFETENSORS. */
  GNNMG_MODEL_FORMAT_SAFETENSORS = 1, /**< safetensors. */
  GNNMG_MODEL_FORMAT_PTH = 2          /**< State dict as `torch.save` writes it. */
};

/** Settings of gnnmg_model_save(), gnnmg_model_load(), gnnmg_optimizer_save(),
 * gnnmg_optimizer_load(), gnnmg_trainer_save_optimizer() and gnnmg_trainer_load_optimizer(). A file
 * of an optimizer is always `.pth`, numbers its parameters and ignores `first_layer`. */
typedef struct gnnmg_model_file_config {
  uint32_t struct_size;      /**< sizeof of this struct. */
  gnnmg_model_format format; /**< Default ::GNNMG_MODEL_FORMAT_AUTO. */
  int32_t other_framework;   /**< 1: the file has the layers of the other framework, PyG or DGL.
                                  ::GNNMG_ERR_UNSUPPORTED names a layer without a counterpart; a
                                  warning in the log names settings that equal results need. Loading
                                  recognizes files of gnnmg_model_save() by itself. Default 0. */
  char first_layer[36];      /**< Saving: name of the first layer, such as "conv1", in place of
                                  "convs.0" or "layers.0"; later layers count up. Loading recognizes
                                  such names. NUL-terminated. Default "". */
  char dict[64];             /**< Loading: path of the tensors to read: the dict of a `.pth` with
                                  several dicts, "model" or "averages.model"; the first part of the
                                  keys of any file, "student" for "student.weight"; the state of an
                                  optimizer. NUL-terminated. Default "": the whole file, or its only
                                  dict. */
  int32_t torch_modules;     /**< Saving. 1: write the networks of GIN, GINE and EdgeConv as torch's
                                  Sequential ("convs.0.nn.0", "convs.0.nn.2") or as one Linear
                                  ("convs.0.nn"), in place of PyG's MLP, and batch norms as torch's
                                  BatchNorm1d, without "module.". Loading recognizes all of these,
                                  except for an optimizer, whose numbers follow the order of the
                                  modules. Default 0. */
  int32_t loaded_names;      /**< Saving. 1: use the keys of the file that the weights were last
                                  loaded from, without prefixes of wrappers such as "module." or
                                  "_orig_mod.", so that the original class can load the file
                                  strictly. Not with `torch_modules` or `first_layer`;
                                  `other_framework` must be as at loading. For an optimizer,
                                  parameters have the order of that file, if it is a `.pth`.
                                  ::GNNMG_ERR_INVALID_ARGUMENT if no weights were loaded;
                                  ::GNNMG_ERR_UNSUPPORTED naming a tensor of the file that the model
                                  does not have. Default 0. */
  int32_t partial;  /**< Loading weights. 1: read the tensors whose keys and shapes fit, and
                         leave the others of the model as they are. A warning in the log
                         lists the keys that are missing, unexpected, or of another shape,
                         and the settings that differ. ::GNNMG_ERR_FORMAT if no tensor
                         fits. Not with `other_framework`. Default 0. */
  int32_t padding0; /**< Must be 0. */
} gnnmg_model_file_config;

/**
 * @brief Fills a config with the defaults.
 * @snippet node_classification.c model
 * @param[out] config zeroed over `struct_size` bytes, then filled
 * @param[in] struct_size sizeof *config
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_config_init(gnnmg_model_config* config,
                                                              size_t struct_size);

/**
 * @brief Fills a config with the defaults.
 * @snippet own_layers.c layers
 * @param[out] config zeroed over `struct_size` bytes, then filled
 * @param[in] struct_size sizeof *config
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_norm_config_init(gnnmg_norm_config* config,
                                                             size_t struct_size);

/**
 * @brief Fills a config with the defaults.
 * @snippet weights.c save
 * @param[out] config zeroed over `struct_size` bytes, then filled
 * @param[in] struct_size sizeof *config
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_file_config_init(gnnmg_model_file_config* config,
                                                                   size_t struct_size);

/**
 * @brief Makes a model with initial weights.
 * @snippet node_classification.c model
 * @snippet weights.c without data
 * @snippet architectures.c architecture
 * @snippet knowledge_graph.c model
 * @param[in] context a context
 * @param[in] dataset source of the settings that the config takes from the data set; may be NULL if
 *   there are none
 * @param[in] config settings, or NULL
 * @param[out] model the new handle
 * @return ::GNNMG_OK
 * @threading (b)
 * @owns the caller frees `model`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_create(const gnnmg_context* context,
                                                         const gnnmg_dataset* dataset,
                                                         const gnnmg_model_config* config,
                                                         gnnmg_model** model);

/**
 * @brief Adds a convolution to a model of ::GNNMG_MODEL_LAYERS. Layers can be added until the first
 *   use of the model; each must fit the layer before it.
 * @snippet own_layers.c layers
 * @param[in] model a model of ::GNNMG_MODEL_LAYERS, not used yet
 * @param[in] name prefix of its keys, such as "conv1"; unique in the model
 * @param[in] config settings of this one layer: `output_dim` is the width of its rows, including
 *   concatenated heads; no skip, jumping or readout; norm, norm settings and `act_first` apply
 *   inside the networks of GIN, GINE and PyG's EdgeConv
 * @return ::GNNMG_OK; ::GNNMG_ERR_INVALID_ARGUMENT naming the layer and the mismatch: the layer is
 *   not added; ::GNNMG_ERR_BUSY after the first use of the model
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_add_conv(gnnmg_model* model, const char* name,
                                                           const gnnmg_model_config* config);

/**
 * @brief Adds a linear layer; see gnnmg_model_add_conv().
 * @snippet own_layers.c layers
 * @param[in] model a model of ::GNNMG_MODEL_LAYERS, not used yet
 * @param[in] name prefix of its keys
 * @param[in] output_dim columns of its rows
 * @param[in] bias 1: add a bias
 * @return ::GNNMG_OK; ::GNNMG_ERR_INVALID_ARGUMENT; ::GNNMG_ERR_BUSY
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_add_linear(gnnmg_model* model, const char* name,
                                                             int64_t output_dim, int32_t bias);

/**
 * @brief Adds a norm; see gnnmg_model_add_conv().
 * @snippet own_layers.c layers
 * @param[in] model a model of ::GNNMG_MODEL_LAYERS, not used yet
 * @param[in] name prefix of its keys; NULL for a norm without parameters and running statistics
 * @param[in] norm any but ::GNNMG_NORM_NONE
 * @param[in] config settings, or NULL
 * @return ::GNNMG_OK; ::GNNMG_ERR_INVALID_ARGUMENT; ::GNNMG_ERR_BUSY
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_add_norm(gnnmg_model* model, const char* name,
                                                           gnnmg_norm norm,
                                                           const gnnmg_norm_config* config);

/**
 * @brief Adds an activation function; see gnnmg_model_add_conv().
 * @snippet own_layers.c layers
 * @param[in] model a model of ::GNNMG_MODEL_LAYERS, not used yet
 * @param[in] name prefix of the key of ::GNNMG_ACTIVATION_PRELU's slope; NULL for other functions
 * @param[in] activation the function
 * @return ::GNNMG_OK; ::GNNMG_ERR_INVALID_ARGUMENT; ::GNNMG_ERR_BUSY
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_add_activation(gnnmg_model* model,
                                                                 const char* name,
                                                                 gnnmg_activation activation);

/**
 * @brief Adds dropout, which acts in training only; see gnnmg_model_add_conv().
 * @snippet own_layers.c layers
 * @param[in] model a model of ::GNNMG_MODEL_LAYERS, not used yet
 * @param[in] rate share of entries that are set to 0, in [0, 1)
 * @return ::GNNMG_OK; ::GNNMG_ERR_INVALID_ARGUMENT; ::GNNMG_ERR_BUSY
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_add_dropout(gnnmg_model* model, double rate);

/**
 * @brief Adds a readout: the next layers have one row per graph of the batch; see
 *   gnnmg_model_add_conv(). A model has at most one readout, and no convolution after it.
 * @snippet own_layers.c readout
 * @param[in] model a model of ::GNNMG_MODEL_LAYERS, not used yet
 * @param[in] name prefix of its keys; NULL for a readout without parameters
 * @param[in] readout any but ::GNNMG_READOUT_NONE
 * @param[in] size steps of ::GNNMG_READOUT_SET2SET, rows of ::GNNMG_READOUT_SORT; 0: 3 steps, 30
 *   rows
 * @return ::GNNMG_OK; ::GNNMG_ERR_INVALID_ARGUMENT; ::GNNMG_ERR_BUSY
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_add_readout(gnnmg_model* model, const char* name,
                                                              gnnmg_readout readout, int32_t size);

/**
 * @brief Moves a model to a GPU, or back to main memory: weights, buffers and gradients. Tensors
 *   exported before keep their memory and values. Passes, evaluation and updates then run there;
 *   files do not change. No layer can be added afterwards.
 *
 * Optimizers and trainers use the model's memory: move the model before they are made or after they
 * are freed. A trainer takes a model in main memory and makes replicas on its GPUs itself.
 * @snippet own_loop.c device
 * @param[in] model a model
 * @param[in] device ::GNNMG_DEVICE_CUDA or ::GNNMG_DEVICE_CPU
 * @param[in] index number of the GPU; 0 for the CPU
 * @param[in] stream a CUDA stream of the caller on that GPU, which must outlive the model: calls
 *   return when their work is in the stream (see @ref device). 0: a stream of the library, and
 *   calls return when their work is complete; 0 for the CPU
 * @return ::GNNMG_OK; ::GNNMG_ERR_DEPENDENCY without a GPU, with the reason; ::GNNMG_ERR_NOT_FOUND
 *   for an unknown number; ::GNNMG_ERR_BUSY while the model has an optimizer or a trainer;
 *   ::GNNMG_ERR_UNSUPPORTED for a GPU that is too old, or `stream` 2; ::GNNMG_ERR_DEVICE_LOST
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_set_device(gnnmg_model* model,
                                                             gnnmg_device_type device,
                                                             int32_t index, uint64_t stream);

/**
 * @brief Makes an independent model with equal weights on the same device. On a GPU it works in a
 *   stream of the library.
 * @snippet own_loop.c replicas
 * @param[in] model the model to copy
 * @param[out] copy the new handle
 * @return ::GNNMG_OK
 * @threading (b)
 * @owns the caller frees `copy`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_create_copy(const gnnmg_model* model,
                                                              gnnmg_model** copy);

/**
 * @brief Frees the handle.
 * @snippet graph_from_arrays.c free
 * @param[in] model a handle, or NULL
 * @threading (a)
 * @since 0.1
 */
GNNMG_API void gnnmg_model_free(gnnmg_model* model);

/**
 * @brief Facts about a model.
 * @snippet weights.c summary
 * @param[in] model a model
 * @param[in,out] info filled
 * @return ::GNNMG_OK
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_get_info(const gnnmg_model* model,
                                                           gnnmg_model_info* info);

/**
 * @brief Lists the keys of the model's tensors, parameters first, one per call.
 * @snippet weights.c summary
 * @param[in] model a model
 * @param[in] index 0, 1, ... until ::GNNMG_END
 * @param[out] key borrowed from the model, such as "convs.0.lin_l.weight"
 * @param[out] trained 1: a parameter; 0: a buffer, such as a running mean
 * @return ::GNNMG_OK; ::GNNMG_END past the last
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_tensor_key(const gnnmg_model* model,
                                                             int64_t index, const char** key,
                                                             int32_t* trained);

/**
 * @brief One parameter or buffer, sharing memory with the model: read or write it only while no
 *   call uses the model.
 * @snippet weights.c summary
 * @param[in] model a model
 * @param[in] key of the tensor
 * @param[out] tensor in the model's type; buffers may be i64
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND: the text lists the keys
 * @threading (b)
 * @owns the caller frees `tensor`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_export_tensor(
    const gnnmg_model* model, const char* key, struct DLManagedTensorVersioned** tensor);

/**
 * @brief Copies values into one parameter or buffer.
 * @snippet weights.c set tensor
 * @param[in] model a model
 * @param[in] key of the tensor
 * @param[in] values of the same shape, in main memory or on a GPU; read during the call
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND; ::GNNMG_ERR_INVALID_ARGUMENT for another shape or type
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_set_tensor(
    gnnmg_model* model, const char* key, const struct DLManagedTensorVersioned* values);

/**
 * @brief Freezes parameters, or lets them be trained again. A frozen parameter has no gradient and
 *   no optimizer state, and no update or weight decay changes it. Copies, snapshots and checkpoints
 *   keep it, files of weights do not. Running statistics of batch norms still move.
 *
 * The call moves the parameters: tensors that were exported before no longer share memory with the
 * model. Freeze before optimizers and trainers are made.
 * @snippet fine_tune.c freeze
 * @param[in] model a model
 * @param[in] pattern a key, in which `*` stands for any characters: "convs.0.*"
 * @param[in] trainable 0: freeze; 1: train
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND if no parameter matches: the text lists the keys;
 *   ::GNNMG_ERR_BUSY while the model has an optimizer or a trainer
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_set_trainable(gnnmg_model* model,
                                                                const char* pattern,
                                                                int32_t trainable);

/**
 * @brief Gradient of one parameter, sharing memory with the model.
 * @snippet custom_loss.c gradient
 * @param[in] model a model
 * @param[in] key of a parameter
 * @param[out] gradient shape of the parameter; 0 if no gradient reached it
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND, also for buffers and frozen parameters
 * @threading (b)
 * @owns the caller frees `gradient`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_export_gradient(
    const gnnmg_model* model, const char* key, struct DLManagedTensorVersioned** gradient);

/**
 * @brief All parameters as one array, sharing memory with the model, frozen ones last.
 * @snippet weights.c parameters
 * @param[in] model a model
 * @param[out] parameters [num_parameters]
 * @return ::GNNMG_OK
 * @threading (b)
 * @owns the caller frees `parameters`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_export_parameters(
    const gnnmg_model* model, struct DLManagedTensorVersioned** parameters);

/**
 * @brief All gradients as one array for all-reduce, sharing memory with the model.
 * @snippet own_loop.c gradients
 * @param[in] model a model
 * @param[out] gradients [num_parameters], without those of frozen parameters
 * @return ::GNNMG_OK
 * @threading (b)
 * @owns the caller frees `gradients`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status
gnnmg_model_export_gradients(const gnnmg_model* model, struct DLManagedTensorVersioned** gradients);

/**
 * @brief Result of the model for the seeds of a mini-batch.
 * @snippet own_loop.c loop
 * @param[in] model a model with as many layers as the mini-batch has
 * @param[in] batch a mini-batch with features, on the model's device; an empty one gives an empty
 *   result
 * @param[in] training 1: apply dropout and keep the pass for gnnmg_model_backward()
 * @param[out] logits [num_seeds, output_dim], a copy on the same device; the pointer may be NULL
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND if the mini-batch has no features;
 *   ::GNNMG_ERR_INVALID_ARGUMENT if mini-batch and model are on different devices;
 *   ::GNNMG_ERR_DEVICE_LOST; ::GNNMG_ERR_UNSUPPORTED for training on a sample without `transpose`
 * @threading (c)
 * @owns the caller frees `logits`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_forward(gnnmg_model* model,
                                                          const gnnmg_batch* batch,
                                                          int32_t training,
                                                          struct DLManagedTensorVersioned** logits);

/**
 * @brief Adds the gradient of the loss of the last training forward to the model's gradients. The
 *   loss is the sum over the labeled seeds (or targets) of the mini-batch, divided by the number of
 *   labeled seeds of the whole step; with weights, both are weighted
 *   (gnnmg_dataset_set_class_weights()). Summed over the mini-batches of a step on all ranks, it is
 *   the step's mean, equal to that of gnnmg_trainer_step().
 * @snippet own_loop.c loop
 * @param[in] model a model after gnnmg_model_forward() with `training` on a mini-batch with labels
 * @param[in] loss the loss function
 * @param[out] value the mini-batch's share of the step's loss; the pointer may be NULL
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND without labels, or without a forward since the last
 *   change of the parameters (by an optimizer, a trainer, or the caller)
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_backward(gnnmg_model* model, gnnmg_loss loss,
                                                           double* value);

/**
 * @brief gnnmg_model_backward() for a loss of the caller.
 * @snippet custom_loss.c own loss
 * @param[in] model a model after gnnmg_model_forward() with `training`
 * @param[in] gradient gradient of that loss with respect to the logits, [num_seeds, output_dim], in
 *   the model's type, in main memory or on a GPU; read during the call
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND without a forward since the last change of the
 *   parameters
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status
gnnmg_model_backward_from(gnnmg_model* model, const struct DLManagedTensorVersioned* gradient);

/**
 * @brief Exact metrics of one part of the split, with full neighborhoods.
 * @snippet own_loop.c evaluate
 * @param[in] model a model
 * @param[in] dataset a data set with features, labels and a split
 * @param[in] part the part
 * @param[in,out] metrics filled
 * @param[in] timeout_ms milliseconds; -1: until done
 * @return ::GNNMG_OK; ::GNNMG_PENDING; ::GNNMG_ERR_INVALID_ARGUMENT if the part is empty;
 *   ::GNNMG_ERR_NOT_FOUND if the data set has no split, labels or features; ::GNNMG_ERR_CANCELLED
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_evaluate(gnnmg_model* model,
                                                           const gnnmg_dataset* dataset,
                                                           gnnmg_split part, gnnmg_metrics* metrics,
                                                           int64_t timeout_ms);

/**
 * @brief Result of the model for every node, with full neighborhoods, computed layer by layer; with
 *   a readout, for every graph of a data set of many graphs.
 * @snippet embeddings.c model
 * @param[in] model a model
 * @param[in] dataset a data set with features
 * @param[out] rows [number of nodes or graphs, output_dim]
 * @param[in] timeout_ms milliseconds; -1: until done
 * @return ::GNNMG_OK; ::GNNMG_PENDING; ::GNNMG_ERR_NOT_FOUND if the data set has no features;
 *   ::GNNMG_ERR_CANCELLED
 * @threading (c)
 * @owns the caller frees `rows`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_embed(gnnmg_model* model,
                                                        const gnnmg_dataset* dataset,
                                                        struct DLManagedTensorVersioned** rows,
                                                        int64_t timeout_ms);

/**
 * @brief gnnmg_model_embed() directly into a `.npy` file, written whole or not at all. The rows of
 *   the last layer are written as they are computed and are never in memory together.
 * @snippet embeddings.c model
 * @param[in] model a model
 * @param[in] dataset a data set with features
 * @param[in] path the file, replaced if it exists: [number of nodes or graphs, output_dim] in the
 *   model's type
 * @param[in] timeout_ms milliseconds; -1: until done
 * @return ::GNNMG_OK; ::GNNMG_PENDING; ::GNNMG_ERR_NOT_FOUND if the data set has no features;
 *   ::GNNMG_ERR_IO; ::GNNMG_ERR_CANCELLED
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_embed_to_file(gnnmg_model* model,
                                                                const gnnmg_dataset* dataset,
                                                                const char* path,
                                                                int64_t timeout_ms);

/**
 * @brief Writes parameters and buffers under the keys of the model's framework, and all settings of
 *   the model, so that gnnmg_model_open() needs nothing else. A file is written whole or not at
 *   all.
 *
 * The settings are JSON in the metadata of a safetensors file, or in a record of a `.pth`, which
 * torch.load() ignores. Into a folder the function writes `model.safetensors`, or `model.pth` if
 * the config says so, and `config.json` with the same settings and the SHA-256 of the weights. A
 * folder that is written to again opens at any moment, also in other processes; a `config.json` of
 * another program is ::GNNMG_ERR_INVALID_ARGUMENT.
 * @snippet weights.c save
 * @param[in] model a model
 * @param[in] path the file, replaced if it is there; or a folder: one that exists, or a path that
 *   ends with "/"
 * @param[in] config settings, or NULL
 * @param[in] timeout_ms milliseconds; -1: until done
 * @return ::GNNMG_OK; ::GNNMG_PENDING; ::GNNMG_ERR_IO; ::GNNMG_ERR_NOT_FOUND if the folder does not
 *   exist
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_save(gnnmg_model* model, const char* path,
                                                       const gnnmg_model_file_config* config,
                                                       int64_t timeout_ms);

/**
 * @brief Makes a model from a file of gnnmg_model_save() alone: architecture, widths and all other
 *   settings come from the file. The model computes the same bits as the one that was saved.
 *
 * Also opens the folder of a checkpoint (gnnmg_trainer_save()), with the weights that were trained
 * last, and the file `best.safetensors` in it.
 * @snippet weights.c open
 * @param[in] context a context
 * @param[in] path a file, or a folder with `model.safetensors` or `model.pth`
 * @param[out] model the new handle
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND; ::GNNMG_ERR_IO; ::GNNMG_ERR_FORMAT for a file without
 *   settings, naming its first keys, and for settings that fit no model or not the tensors;
 *   ::GNNMG_ERR_VERSION for a setting that this library does not know, naming it and the version
 *   that wrote the file; ::GNNMG_ERR_CHECKSUM for weights that are not those that `config.json`
 *   describes; ::GNNMG_ERR_MISMATCH for a `config.json` that describes another model than its
 *   weights do; ::GNNMG_ERR_NAN and ::GNNMG_ERR_RANGE as in gnnmg_model_load();
 *   ::GNNMG_ERR_CANCELLED after gnnmg_context_cancel()
 * @threading (b)
 * @owns the caller frees `model`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_open(const gnnmg_context* context,
                                                       const char* path, gnnmg_model** model);

/**
 * @brief Gives the settings of a model. gnnmg_model_create() makes an equal model from them, if it
 *   is not of the caller's own layers, which the struct does not list.
 * @snippet weights.c config
 * @param[in] model a model
 * @param[in,out] config filled; fields that were left to the data set have its values
 * @return ::GNNMG_OK
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_get_config(const gnnmg_model* model,
                                                             gnnmg_model_config* config);

/**
 * @brief Gives all settings of a model as JSON, as gnnmg_model_save() writes them: also the
 *   caller's own layers, and the task and number of classes of the data set that the model was made
 *   for or first trained on.
 * @snippet weights.c settings
 * @param[in] model a model
 * @param[out] settings borrowed from the model
 * @return ::GNNMG_OK
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_get_settings(const gnnmg_model* model,
                                                               const char** settings);

/**
 * @brief Reads parameters and buffers under the keys of the model's framework. All or nothing: an
 *   error lists every key that is missing, unexpected, or of another shape, or names the first
 *   invalid number. If all keys have an extra prefix, it is ignored, and so are counters beside
 *   them; the log says so.
 *
 * A file of gnnmg_model_save() has the settings of its model: those that results depend on must be
 * equal to those of `model`. Dropout, initial weights and the type of the parameters may differ.
 * For a file without settings, or of the other framework's model, a warning in the log says that
 * settings without tensors were not checked.
 * @snippet weights.c load
 * @param[in] model a model
 * @param[in] path the file, or a folder with `model.safetensors` or `model.pth`
 * @param[in] config settings, or NULL
 * @param[in] timeout_ms milliseconds; -1: until done
 * @return ::GNNMG_OK; ::GNNMG_PENDING; ::GNNMG_ERR_NOT_FOUND; ::GNNMG_ERR_IO; ::GNNMG_ERR_FORMAT;
 *   ::GNNMG_ERR_MISMATCH listing the settings that differ, with both values; ::GNNMG_ERR_VERSION
 * and
 *   ::GNNMG_ERR_CHECKSUM as in gnnmg_model_open(); ::GNNMG_ERR_NAN for a number that is not finite;
 *   ::GNNMG_ERR_RANGE for a number beyond the model's type, or a variance or count below 0
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_model_load(gnnmg_model* model, const char* path,
                                                       const gnnmg_model_file_config* config,
                                                       int64_t timeout_ms);

/** @} */

/* ============================================================================================= */
/** @defgroup optimizer Optimizer
 * An optimizer turns gradients into updates in custom loops; a trainer makes its own optimizer. */
/** @{ */

/** @brief An optimizer of one model. */
typedef struct gnnmg_optimizer gnnmg_optimizer;

/** Kind of optimizer. */
typedef int32_t gnnmg_optimizer_kind;

/** Values of ::gnnmg_optimizer_kind. */
enum {
  GNNMG_OPTIMIZER_ADAM = 0,    /**< Adam. */
  GNNMG_OPTIMIZER_ADAMW = 1,   /**< Adam with decoupled weight decay. */
  GNNMG_OPTIMIZER_SGD = 2,     /**< Stochastic gradient descent. */
  GNNMG_OPTIMIZER_RMSPROP = 3, /**< RMSprop. */
  GNNMG_OPTIMIZER_ADAGRAD = 4  /**< Adagrad. */
};

/** Settings of an optimizer. */
typedef struct gnnmg_optimizer_config {
  uint32_t struct_size;      /**< sizeof of this struct. */
  gnnmg_optimizer_kind kind; /**< Default ::GNNMG_OPTIMIZER_ADAM. */
  double learning_rate;      /**< At least 0. Default 0.01. */
  double weight_decay;       /**< Default 0. */
  double beta1;              /**< Adam: decay of the mean. Default 0.9. */
  double beta2;              /**< Adam: decay of the square. Default 0.999. */
  double epsilon;            /**< Not SGD: added to the root. Default 1e-8. */
  double momentum;           /**< SGD, RMSprop. Default 0. */
  double dampening;          /**< SGD. Default 0. */
  double clip_norm; /**< Maximum 2-norm of all gradients together; larger gradients are scaled down.
                         Default 0: no limit. */
  int32_t amsgrad;  /**< Adam. 1: keep the largest square. Default 0. */
  int32_t nesterov; /**< SGD. 1: Nesterov momentum. Default 0. */
  int32_t weight_decay_layers; /**< Number of first convolutions to whose parameters weight_decay
                                    applies. Default 0: all parameters. */
  int32_t centered; /**< RMSprop. 1: divide by the deviation of the gradient, in place of the root
                         of its mean square. Default 0. */
  double alpha;     /**< RMSprop: decay of the square, 0 to 1. Default 0.99. */
} gnnmg_optimizer_config;

/**
 * @brief Fills a config with the defaults.
 * @snippet custom_loss.c optimizer
 * @param[out] config zeroed over `struct_size` bytes, then filled
 * @param[in] struct_size sizeof *config
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_optimizer_config_init(gnnmg_optimizer_config* config,
                                                                  size_t struct_size);

/**
 * @brief Makes an optimizer of a model's parameters.
 * @snippet custom_loss.c optimizer
 * @param[in] model a model
 * @param[in] config settings, or NULL
 * @param[out] optimizer the new handle
 * @return ::GNNMG_OK
 * @threading (c)
 * @owns the caller frees `optimizer`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_optimizer_create(gnnmg_model* model,
                                                             const gnnmg_optimizer_config* config,
                                                             gnnmg_optimizer** optimizer);

/**
 * @brief Frees the handle.
 * @snippet own_loop.c end
 * @param[in] optimizer a handle, or NULL
 * @threading (a)
 * @since 0.1
 */
GNNMG_API void gnnmg_optimizer_free(gnnmg_optimizer* optimizer);

/**
 * @brief Updates the parameters from the gradients, then sets the gradients to 0. Running
 *   statistics of batch norm include the mini-batches of this model since the last update.
 * @snippet own_loop.c loop
 * @param[in] optimizer an optimizer; the call also holds its model
 * @return ::GNNMG_OK
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_optimizer_step(gnnmg_optimizer* optimizer);

/**
 * @brief Changes the learning rate.
 * @snippet custom_loss.c rate
 * @param[in] optimizer an optimizer
 * @param[in] rate at least 0
 * @return ::GNNMG_OK
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_optimizer_set_learning_rate(gnnmg_optimizer* optimizer,
                                                                        double rate);

/**
 * @brief Current learning rate.
 * @snippet custom_loss.c rate
 * @param[in] optimizer an optimizer
 * @param[out] rate the rate
 * @return ::GNNMG_OK
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status
gnnmg_optimizer_learning_rate(const gnnmg_optimizer* optimizer, double* rate);

/**
 * @brief Writes the state of the optimizer, such as Adam's moments, as the state dict of PyTorch's
 *   optimizer of the same kind, whole or not at all. Numbers and shapes of its parameters are those
 *   of the file that gnnmg_model_save() writes with the same config.
 * @snippet custom_loss.c state
 * @param[in] optimizer an optimizer
 * @param[in] path the file, a `.pth`, replaced if it exists
 * @param[in] config settings, or NULL
 * @param[in] timeout_ms milliseconds; -1: until done
 * @return ::GNNMG_OK; ::GNNMG_ERR_IO; ::GNNMG_ERR_NOT_FOUND if the folder does not exist;
 *   ::GNNMG_ERR_UNSUPPORTED naming a layer whose state cannot be converted, because the other
 *   framework's weights are sums, means or differences of several
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_optimizer_save(const gnnmg_optimizer* optimizer,
                                                           const char* path,
                                                           const gnnmg_model_file_config* config,
                                                           int64_t timeout_ms);

/**
 * @brief Reads a state dict written by gnnmg_optimizer_save() or by
 *   `torch.save(optimizer.state_dict())`, alone in a file or as the only one in a file of several
 *   objects, `{"model": ..., "optimizer": ...}` or a Lightning checkpoint. The optimizer keeps its
 *   rate and settings. All or nothing.
 * @snippet custom_loss.c state
 * @param[in] optimizer an optimizer of the same kind, of an equal model
 * @param[in] path the file
 * @param[in] config settings, or NULL
 * @param[in] timeout_ms milliseconds; -1: until done
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND; ::GNNMG_ERR_IO; ::GNNMG_ERR_FORMAT listing missing,
 *   unexpected and misshapen entries; ::GNNMG_ERR_NAN for a number that is not finite;
 *   ::GNNMG_ERR_RANGE for a number of steps below 0; ::GNNMG_ERR_UNSUPPORTED if the parameters have
 *   different numbers of steps, or as gnnmg_optimizer_save()
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_optimizer_load(gnnmg_optimizer* optimizer,
                                                           const char* path,
                                                           const gnnmg_model_file_config* config,
                                                           int64_t timeout_ms);

/** @} */

/* ============================================================================================= */
/** @defgroup comm Communicator
 * A communicator connects ranks; one handle is one rank's end. All ranks call the same operations
 * in the same order. A call copies its data when it starts and writes results only on success, so a
 * canceled call never writes to the caller's memory later. After any failure except
 * ::GNNMG_ERR_INVALID_ARGUMENT and ::GNNMG_ERR_BUSY the communicator is unusable: every later call
 * gives ::GNNMG_ERR_ABORTED with the first cause. Tensors may be on GPUs; their values then pass
 * through main memory. Trainers use NCCL instead. */
/** @{ */

/** @brief One rank's end of a communicator. */
typedef struct gnnmg_comm gnnmg_comm;

/** Reduction of the ranks' values. */
typedef int32_t gnnmg_reduce;

/** Values of ::gnnmg_reduce. */
enum {
  GNNMG_REDUCE_SUM = 0,  /**< Sum. */
  GNNMG_REDUCE_MEAN = 1, /**< Sum divided by the number of ranks; not for integers. */
  GNNMG_REDUCE_MIN = 2,  /**< Minimum. */
  GNNMG_REDUCE_MAX = 3   /**< Maximum. */
};

/** Settings of a communicator. */
typedef struct gnnmg_comm_config {
  uint32_t struct_size;  /**< sizeof of this struct. */
  int32_t padding0;      /**< Must be 0. */
  int64_t deadline_ms;   /**< Time limit of an operation, milliseconds; after it the operation fails
                              with ::GNNMG_ERR_TIMEOUT. If ranks have different limits, the shortest
                              applies. Default 30 000. */
  int64_t join_ms;       /**< Time that processes wait for each other to join and to begin a
                              collective call of a trainer, milliseconds. Default 300 000. */
  int64_t heartbeat_ms;  /**< Interval between signs of life of a process, milliseconds, 10 to
                              600 000. Timeout errors name processes with three missing signs first.
                              All processes use the value of process 0. Default 500. */
  int32_t port;          /**< gnnmg_comm_create() with several processes: port of process 0.
                              Default 0. */
  int32_t process_rank;  /**< gnnmg_comm_create(): number of this process. Default 0. */
  int32_t num_processes; /**< gnnmg_comm_create(): number of processes, 1 to 1024. Default 1. */
  int32_t padding1;      /**< Must be 0. */
} gnnmg_comm_config;

/**
 * @brief Fills a config with the defaults.
 * @snippet collectives.c group
 * @param[out] config zeroed over `struct_size` bytes, then filled
 * @param[in] struct_size sizeof *config
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_comm_config_init(gnnmg_comm_config* config,
                                                             size_t struct_size);

/**
 * @brief Makes a communicator among threads of this process, for custom loops: one handle per rank,
 *   each for one thread. The ranks connect in the background; if that fails, the first operation
 *   reports it.
 * @snippet own_loop.c comms
 * @param[in] context a context
 * @param[in] world_size number of ranks, 1 to 256
 * @param[in] config settings, or NULL
 * @param[out] comms receives one handle per rank, [world_size]
 * @return ::GNNMG_OK
 * @threading (a)
 * @owns the caller frees each of `comms`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_comm_create_group(const gnnmg_context* context,
                                                              int32_t world_size,
                                                              const gnnmg_comm_config* config,
                                                              gnnmg_comm** comms);

/**
 * @brief Joins a job of several processes, with one rank per process. Connects to process 0 at its
 *   host and port, proves that it knows the job's token, and compares version and number of
 *   processes. Process 0 listens at `host` until all processes have joined, and for ten more
 *   seconds to refuse surplus processes.
 *
 * A loopback address needs no token. Any other address makes the processes reachable from other
 * machines, and all of them need the same token. With a token, a name that means 127.0.1.1 on its
 * own machine counts as such an address too: process 0 then listens at all of its addresses.
 * @snippet peers.c join
 * @param[in] context a context
 * @param[in] host name or address of process 0's machine; NULL: "127.0.0.1"
 * @param[in] network_interface interface whose address this process uses; NULL: the one on the
 *   route to process 0
 * @param[in] token_file path of the job's secret, 32 to 1024 bytes in a file of mode 0600; NULL:
 *   none
 * @param[in] config port, process_rank, num_processes and times; NULL: a job of this process alone
 * @param[out] comm the communicator; rank and size count processes
 * @param[in] timeout_ms milliseconds; -1: config.join_ms only
 * @return ::GNNMG_OK; ::GNNMG_PENDING; ::GNNMG_ERR_TIMEOUT naming the missing processes;
 *   ::GNNMG_ERR_MISMATCH, on every process, if versions, sizes or numbers conflict;
 *   ::GNNMG_ERR_AUTH for a missing, wrong or readable token, or if a third party is between two
 *   processes; ::GNNMG_ERR_UNAVAILABLE if the address is not available; ::GNNMG_ERR_CANCELLED after
 *   gnnmg_context_cancel(); ::GNNMG_ERR_ABORTED after gnnmg_context_cancel() on process 0
 * @threading (b)
 * @owns the caller calls gnnmg_comm_shutdown(), then frees `comm`; without the shutdown the other
 *   processes are aborted
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_comm_create(
    const gnnmg_context* context, const char* host, const char* network_interface,
    const char* token_file, const gnnmg_comm_config* config, gnnmg_comm** comm, int64_t timeout_ms);

/**
 * @brief gnnmg_comm_create() for a job started by a launcher, with settings from the environment.
 *
 * The first launcher found counts; GNNMG_TOKEN_FILE and GNNMG_INTERFACE are always read.
 * - torchrun: RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT and related variables; with
 *   TORCHELASTIC_USE_AGENT_STORE the address of process 0 comes from the agent's store;
 * - Open MPI;
 * - Slurm.
 * @snippet processes.c join
 * @param[in] context a context
 * @param[in] config times, or NULL; port, process_rank and num_processes are ignored
 * @param[out] comm the communicator; rank and size count processes
 * @param[in] timeout_ms milliseconds; -1: config.join_ms only
 * @return as gnnmg_comm_create(); ::GNNMG_ERR_INVALID_ARGUMENT naming a variable, its value and the
 *   expected value; ::GNNMG_ERR_NOT_FOUND if no launcher has set its variables
 * @threading (b)
 * @owns the caller calls gnnmg_comm_shutdown(), then frees `comm`; without the shutdown the other
 *   processes are aborted
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_comm_create_from_env(const gnnmg_context* context,
                                                                 const gnnmg_comm_config* config,
                                                                 gnnmg_comm** comm,
                                                                 int64_t timeout_ms);

/**
 * @brief Frees the handle. Without an earlier gnnmg_comm_shutdown() this is an abort: waiting calls
 *   of the other ranks end with ::GNNMG_ERR_ABORTED. A job of processes continues while a trainer
 *   uses it; freeing its last handle returns after the other processes have been notified.
 * @snippet peers.c leave
 * @param[in] comm a handle, or NULL
 * @threading (a)
 * @since 0.1
 */
GNNMG_API void gnnmg_comm_free(gnnmg_comm* comm);

/**
 * @brief Rank of this end.
 * @snippet processes.c join
 * @param[in] comm a communicator
 * @param[out] rank 0 to world size - 1
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_comm_rank(const gnnmg_comm* comm, int32_t* rank);

/**
 * @brief Number of ranks of a communicator.
 * @snippet processes.c join
 * @param[in] comm a communicator
 * @param[out] size the number
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_comm_world_size(const gnnmg_comm* comm, int32_t* size);

/**
 * @brief Reduces the tensors of all ranks, element by element; every rank gets the same result.
 * @snippet own_loop.c loop
 * @param[in] comm a communicator
 * @param[in,out] tensor same shape and type on all ranks, writable; not bool
 * @param[in] operation the reduction
 * @param[in] timeout_ms milliseconds; -1: the configured deadline only
 * @return ::GNNMG_OK; ::GNNMG_PENDING; ::GNNMG_ERR_TIMEOUT naming the missing ranks;
 *   ::GNNMG_ERR_PEER_LOST; ::GNNMG_ERR_AUTH if a message was changed in transit;
 *   ::GNNMG_ERR_ABORTED; ::GNNMG_ERR_CANCELLED
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_comm_all_reduce(gnnmg_comm* comm,
                                                            struct DLManagedTensorVersioned* tensor,
                                                            gnnmg_reduce operation,
                                                            int64_t timeout_ms);

/**
 * @brief Copies the tensor of one rank to all ranks.
 * @snippet collectives.c broadcast
 * @param[in] comm a communicator
 * @param[in,out] tensor same shape and type on all ranks, writable
 * @param[in] root rank of the source
 * @param[in] timeout_ms milliseconds; -1: the configured deadline only
 * @return as gnnmg_comm_all_reduce()
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_comm_broadcast(gnnmg_comm* comm,
                                                           struct DLManagedTensorVersioned* tensor,
                                                           int32_t root, int64_t timeout_ms);

/**
 * @brief Gives every rank the tensors of all ranks. Sizes may differ between ranks.
 * @snippet collectives.c all gather
 * @param[in] comm a communicator
 * @param[in] input tensor of this rank
 * @param[in] outputs one tensor per rank, [world size], writable, with shape and type of that
 *   rank's input
 * @param[in] timeout_ms milliseconds; -1: the configured deadline only
 * @return as gnnmg_comm_all_reduce()
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status
gnnmg_comm_all_gather(gnnmg_comm* comm, const struct DLManagedTensorVersioned* input,
                      struct DLManagedTensorVersioned* const* outputs, int64_t timeout_ms);

/**
 * @brief Sends one tensor to each rank and receives one from each. Sizes may differ.
 * @snippet collectives.c all to all
 * @param[in] comm a communicator
 * @param[in] inputs tensor for each rank, [world size]
 * @param[in] outputs tensor from each rank, [world size], writable, with shape and type of its
 *   input there
 * @param[in] timeout_ms milliseconds; -1: the configured deadline only
 * @return as gnnmg_comm_all_reduce()
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status
gnnmg_comm_all_to_all(gnnmg_comm* comm, const struct DLManagedTensorVersioned* const* inputs,
                      struct DLManagedTensorVersioned* const* outputs, int64_t timeout_ms);

/**
 * @brief Returns after all ranks have called it.
 * @snippet collectives.c barrier
 * @param[in] comm a communicator
 * @param[in] timeout_ms milliseconds; -1: the configured deadline only
 * @return as gnnmg_comm_all_reduce()
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_comm_barrier(gnnmg_comm* comm, int64_t timeout_ms);

/**
 * @brief Ends the running operation with ::GNNMG_ERR_CANCELLED on this rank and ::GNNMG_ERR_ABORTED
 *   on the others, whose text names this rank. The communicator becomes unusable, and among
 *   processes the whole job with its trainers. Returns after the other ranks have been notified.
 * @snippet collectives.c cancel
 * @param[in] comm a handle; a stale handle is ignored
 * @threading (a)
 * @since 0.1
 */
GNNMG_API void gnnmg_comm_cancel(gnnmg_comm* comm);

/**
 * @brief Ends the communicator in order: waits until all ranks have called it. Afterwards only
 *   gnnmg_comm_free() is allowed, and the program may exit immediately: process 0 of a job also
 *   waits until the others know of the end.
 * @snippet peers.c leave
 * @param[in] comm a communicator
 * @param[in] timeout_ms milliseconds; -1: the configured deadline only
 * @return as gnnmg_comm_all_reduce()
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_comm_shutdown(gnnmg_comm* comm, int64_t timeout_ms);

/** @} */

/* ============================================================================================= */
/** @defgroup parts Graphs in parts
 * Processes and servers open the parts that gnnmg_dataset_save_parts() wrote. */
/** @{ */

/** Source of the parts that other processes of a job have. */
typedef int32_t gnnmg_parts_reading;

/** Values of ::gnnmg_parts_reading. */
enum {
  GNNMG_PARTS_READING_AUTO = 0,   /**< Default: the folder, if every process finds all parts in its
                                       folder; else the processes that have them. */
  GNNMG_PARTS_READING_SHARED = 1, /**< The folder. ::GNNMG_ERR_MISMATCH if a process does not find
                                       all parts. */
  GNNMG_PARTS_READING_ASKED = 2   /**< The processes that have them. Processes that find the same
                                       parts, such as those of one machine, divide them, so the
                                       memory of a process has only the edges of its own parts. */
};

/** Settings of requests for parts that this process does not have. 0 is the default in every field:
 * `{sizeof config}` is complete. The fields after `cache_bytes` apply to gnnmg_dataset_open_parts()
 * in a job of several processes. */
typedef struct gnnmg_served_config {
  uint32_t struct_size;  /**< sizeof of this struct. */
  int32_t max_in_flight; /**< Concurrent requests for rows to each part, 1 to 1024. Default 8. */
  int64_t deadline_ms;   /**< Time limit of one request, milliseconds. Default 10000. */
  size_t cache_bytes; /**< Bytes of cached feature rows of other parts; the cache has the rows that
                           mini-batches read most, by the hotness stored with the parts. Default 0:
                           one tenth of the rows of all nodes. */
  gnnmg_parts_reading reading; /**< Source of the parts of other processes; equal on all. Default
                                    ::GNNMG_PARTS_READING_AUTO. */
  int32_t insecure; /**< 1: processes connect to other machines without TLS, with a warning in the
                         log. Default 0. */
  int32_t port;     /**< Port of this process's server. Default 0: a free one. */
  int32_t padding0; /**< 0. */
} gnnmg_served_config;

/**
 * @brief Fills a config with the defaults.
 * @snippet partition.c share
 * @param[out] config filled
 * @param[in] struct_size sizeof *config
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_served_config_init(gnnmg_served_config* config,
                                                               size_t struct_size);

/**
 * @brief Opens this process's share of a graph in parts.
 *
 * In a job of several processes the call is collective: all processes open their share, or none
 * does and each gets the reason. A process has the parts whose folders `part-0000`, `part-0001`,
 * ... it finds; the other files must be in every process's folder.
 * - If every process finds all parts, process p of P has every P-th part from part p on, and reads
 *   rows of other parts from the folder as well. The edges of all parts and sparse features are in
 *   its memory.
 * - Otherwise each process has the parts that it finds, serves them to the others as a graph server
 *   does (gnnmg_server_create()), and requests the rest. The edges of its own parts are in its
 *   memory. This needs the plug-in libgnnmg_grpc.so. Several processes may have the same part.
 *
 * The log says which of the two was chosen; `config.reading` selects one. Only processes of the job
 * can use the servers. Connections to other machines need the job's token, and TLS or
 * `config.insecure`. TLS takes the context's options `tls_certificate`, `tls_key` and
 * `tls_authority`; the certificate of a process has the name of its machine.
 *
 * A process serves its parts while its data set exists, or a loader, sampler or trainer made from
 * it. After that it serves until all processes have freed theirs, the job has ended, or the
 * `deadline_ms` of its communicator have passed: call gnnmg_comm_shutdown() in every process after
 * its last read. A read whose process is lost gives ::GNNMG_ERR_PEER_LOST, as all calls of the job
 * do; a read without an answer within `config.deadline_ms` gives ::GNNMG_ERR_TIMEOUT, naming part
 * and process.
 *
 * Sampling, gathering and training see the whole data set. With equal settings, mini-batches have
 * the same bits for any number of parts and processes, and so have the weights of a deterministic
 * trainer. With ::GNNMG_PARTITION_PARTS each process works mainly on its own parts. Every process
 * has labels, splits and weights.
 *
 * Dense features stay on disk; edges and sparse features are in memory, and their checksums are
 * verified when they are read.
 *
 * Exact evaluation and results for all nodes have the bits of the whole graph. They are computed
 * layer by layer, one chunk of nodes at a time; each rank keeps the rows of its chunks and requests
 * the source rows of edges into them. Edge tensors need a sampler with edge ids, the default if
 * edges have tensors.
 *
 * The log says how many rows of other parts are cached and how often they are expected to be read.
 * These give ::GNNMG_ERR_UNSUPPORTED because they need the whole graph:
 * - transforms, saving, exported edges, outgoing edges;
 * - exact results of models with norms over the rows of all edges, or weights of single nodes
 *   (::GNNMG_EVALUATION_SAMPLED works).
 *
 * @snippet partition.c share
 * @param[in] context a context
 * @param[in] comm job of the processes that share the parts; NULL, or a job of one process: this
 *   process has all parts
 * @param[in] folder folder that gnnmg_dataset_save_parts() wrote, or gnnmg_dataset_save(): part 0
 *   of 1
 * @param[in] config settings, or NULL
 * @param[out] dataset the new handle
 * @param[in] timeout_ms milliseconds; -1: until done
 * @return ::GNNMG_OK; ::GNNMG_PENDING; ::GNNMG_ERR_NOT_FOUND for a missing or empty folder;
 *   ::GNNMG_ERR_FORMAT or ::GNNMG_ERR_CHECKSUM naming the file, or the actual content of the
 *   folder; ::GNNMG_ERR_NO_MEMORY; ::GNNMG_ERR_IO; ::GNNMG_ERR_CANCELLED. In a job of several
 *   processes also ::GNNMG_ERR_MISMATCH for a part that no process has, or for folders of different
 *   data, naming parts and processes; ::GNNMG_ERR_DEPENDENCY without the plug-in or gRPC;
 *   ::GNNMG_ERR_AUTH for a certificate that the other processes would not accept;
 *   ::GNNMG_ERR_INVALID_ARGUMENT for other machines without TLS; ::GNNMG_ERR_UNAVAILABLE for a port
 *   in use; ::GNNMG_ERR_TIMEOUT naming the processes that did not call within the communicator's
 *   `join_ms`; ::GNNMG_ERR_PEER_LOST; ::GNNMG_ERR_ABORTED
 * @threading (b)
 * @owns the caller frees `dataset`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_dataset_open_parts(
    const gnnmg_context* context, const gnnmg_comm* comm, const char* folder,
    const gnnmg_served_config* config, gnnmg_dataset** dataset, int64_t timeout_ms);

/**
 * @brief Opens the data set of graph servers (gnnmg_server_create(), or the program gnnmg-server);
 *   needs no local folder. Servers store no state of clients: clients may come and go, and a server
 *   may be restarted or replaced during an epoch.
 *
 * The data set behaves as gnnmg_dataset_open_parts() describes, with all rows remote: mini-batches
 * and weights have the same bits. Labels, splits and weights are copied into this process. The
 * first call loads the plug-in libgnnmg_grpc.so.
 *
 * `settings` has words `name=value`, separated by blanks:
 * - `patience_ms`: time to wait for a part whose servers are all down, milliseconds. Default 0:
 *   three attempts, about one second.
 * - `hedge_ms`: time after which another server of the part gets the request too, milliseconds.
 *   Default 0: never.
 * - `meet_ms`: time at the beginning for every part to have a server, milliseconds. Default 60000.
 * - `tls_certificate`, `tls_key`, `tls_authority`: PEM files of the client's certificate, its key,
 *   and the certificate that signed the servers' certificates. Default: no TLS.
 * - `insecure`: 1: connect to other machines even without TLS. Default: `config.insecure`.
 *
 * @snippet server.c served
 * @param[in] context a context
 * @param[in] addresses "graph-0:7300,graph-1:7300", or a name with several addresses
 * @param[in] token_file path of the servers' token; NULL: the servers require none
 * @param[in] config settings, or NULL
 * @param[in] settings further settings, or NULL
 * @param[out] dataset the new handle
 * @param[in] timeout_ms milliseconds; -1: until done
 * @return ::GNNMG_OK; ::GNNMG_PENDING; ::GNNMG_ERR_DEPENDENCY without the plug-in or gRPC;
 *   ::GNNMG_ERR_UNAVAILABLE or ::GNNMG_ERR_TIMEOUT naming the parts without a server;
 *   ::GNNMG_ERR_MISMATCH if servers have different data; ::GNNMG_ERR_AUTH for a wrong token, a
 *   certificate of this process that has expired or has another key, or a certificate of a server
 *   that is not accepted; ::GNNMG_ERR_PROTOCOL for a server without TLS, if there are certificates;
 *   ::GNNMG_ERR_INVALID_ARGUMENT for a server on another machine without TLS;
 *   ::GNNMG_ERR_NOT_FOUND, ::GNNMG_ERR_FORMAT or ::GNNMG_ERR_IO naming the token file or a TLS
 *   file; ::GNNMG_ERR_NO_MEMORY; ::GNNMG_ERR_CANCELLED
 * @threading (b)
 * @owns the caller frees `dataset`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status
gnnmg_dataset_open_served(const gnnmg_context* context, const char* addresses,
                          const char* token_file, const gnnmg_served_config* config,
                          const char* settings, gnnmg_dataset** dataset, int64_t timeout_ms);

/** @} */

/* ============================================================================================= */
/** @defgroup trainer Trainer
 * A trainer runs the whole loop over one or many ranks: order, sampling, gradients, updates,
 * evaluation, and keeping the best weights. Each rank has its own thread, model replica and loader;
 * all ranks of a process share one graph and one feature table. */
/** @{ */

/** @brief A trainer. */
typedef struct gnnmg_trainer gnnmg_trainer;

/** Change of the learning rate from epoch to epoch. */
typedef int32_t gnnmg_schedule;

/** Values of ::gnnmg_schedule. */
enum {
  GNNMG_SCHEDULE_CONSTANT = 0, /**< No change. */
  GNNMG_SCHEDULE_COSINE = 1,   /**< Half a cosine, down to `schedule_minimum`. */
  GNNMG_SCHEDULE_STEP = 2,     /**< Multiply by `schedule_factor` every `schedule_step_epochs`. */
  GNNMG_SCHEDULE_PLATEAU = 3   /**< Multiply by `schedule_factor` when validation stops
                                    improving. */
};

/** Neighborhoods of an evaluation. */
typedef int32_t gnnmg_evaluation;

/** Values of ::gnnmg_evaluation. */
enum {
  GNNMG_EVALUATION_FULL = 0,   /**< All neighbors, layer by layer over the graph. */
  GNNMG_EVALUATION_SAMPLED = 1 /**< Neighborhoods drawn by the training sampler. */
};

/** Mean that is the loss of a step. */
typedef int32_t gnnmg_loss_average;

/** Values of ::gnnmg_loss_average. */
enum {
  GNNMG_LOSS_AVERAGE_EXACT = 0, /**< Mean over all seeds of the step: independent of the number of
                                     ranks. */
  GNNMG_LOSS_AVERAGE_RANKS = 1  /**< Mean of the ranks' means, as PyTorch's DDP, for comparison. */
};

/** Capture of training steps on GPUs as CUDA graphs, which are then replayed. If the steps can be
 * captured and memory suffices, mini-batches are padded to a few shapes; with or without capture
 * such steps have the same bits, and their times the same meaning. Other steps are neither captured
 * nor padded, and the log says why. */
typedef int32_t gnnmg_capture;

/** Values of ::gnnmg_capture. */
enum {
  GNNMG_CAPTURE_AUTO = 0,    /**< Captures if possible; as ::GNNMG_CAPTURE_OFF if the driver
                                  refuses. */
  GNNMG_CAPTURE_OFF = 1,     /**< No capture: kernel after kernel over the same shapes, with the
                                  same bits. */
  GNNMG_CAPTURE_ON = 2,      /**< Captures, or fails: training on GPUs without capture is
                                  ::GNNMG_ERR_UNSUPPORTED with the reason. */
  GNNMG_CAPTURE_UNPADDED = 3 /**< No capture and no padding: kernel after kernel with the least
                                  memory; results are equal up to rounding. */
};

/** Precision of matrix products in forward and backward passes of f32 models. TF32 applies to all
 * products. BF16 applies to products of SAGE, GCN, GIN, GAT and similar layers; small products of
 * R-GCN, PNA, LSTMs and readouts, and all weights, gradients, sums over neighbors and evaluations
 * stay in the model's type. */
typedef int32_t gnnmg_precision;

/** Values of ::gnnmg_precision. */
enum {
  GNNMG_PRECISION_FLOAT32 = 0, /**< Type of the model. LibTorch's TF32 is off in the process while
                                    such a trainer uses GPUs, and restored afterwards. */
  GNNMG_PRECISION_TF32 = 1, /**< TF32: factors have 10 bits of mantissa on GPUs; as FLOAT32 on the
                                 CPU. While such a trainer works, TF32 applies to all products of
                                 LibTorch on GPUs in the process, and a step of another trainer
                                 without TF32 on GPUs is ::GNNMG_ERR_UNSUPPORTED. */
  GNNMG_PRECISION_BF16 = 2  /**< Factors are rounded to bf16; sums within a product are f32, a
                                 setting of LibTorch for the whole process while such a trainer
                                 uses GPUs. Results are f32 on CPUs and rounded to bf16 on GPUs.
                                 Faster only on CPUs with AMX or AVX-512's bf16 instructions. */
};

/** Settings of a trainer. Rates and schedules are the same on all ranks. */
typedef struct gnnmg_trainer_config {
  uint32_t struct_size;            /**< sizeof of this struct. */
  int32_t num_ranks;               /**< Ranks in this process, one thread each. Default 0: one per
                                        entry of `devices`, else one per GPU of this process's share
                                        (its part of the GPUs that it sees, if other processes of
                                        the job see them too), else one on the CPU. */
  int64_t num_epochs;              /**< Passes over the training part. Default 10. */
  int64_t batch_size;              /**< Seeds per mini-batch. Default 1024. */
  int64_t batches_per_step;        /**< Mini-batches per step, all ranks together. The same number
                                        gives the same steps for any number of ranks. Default 0: one
                                        per rank. */
  uint64_t seed;                   /**< Seed of order, draws and dropout. Default 0. */
  gnnmg_partition partition;       /**< Default ::GNNMG_PARTITION_GLOBAL. */
  gnnmg_loss_average loss_average; /**< Default ::GNNMG_LOSS_AVERAGE_EXACT. */
  int32_t shuffle;                 /**< 1: new order in each epoch. Default 1. */
  int32_t drop_last;               /**< 1: drop the last mini-batch if it is short. Default 0. */
  gnnmg_loss loss;                 /**< Default ::GNNMG_LOSS_AUTO. */
  gnnmg_optimizer_kind optimizer;  /**< Default ::GNNMG_OPTIMIZER_ADAM. */
  double learning_rate;            /**< At least 0. Default 0.01. */
  double weight_decay;             /**< Default 0. */
  double beta1;                    /**< Adam: decay of the mean. Default 0.9. */
  double beta2;                    /**< Adam: decay of the square. Default 0.999. */
  double epsilon;                  /**< Not SGD: added to the root. Default 1e-8. */
  double momentum;                 /**< SGD, RMSprop. Default 0. */
  double dampening;                /**< SGD. Default 0. */
  double clip_norm;                /**< Maximum 2-norm of all gradients together. Default 0: no
                                        limit. */
  int32_t amsgrad;                 /**< Adam. 1: keep the largest square. Default 0. */
  int32_t nesterov;                /**< SGD. 1: Nesterov momentum. Default 0. */
  gnnmg_schedule schedule;         /**< Default ::GNNMG_SCHEDULE_CONSTANT. */
  gnnmg_evaluation evaluation;     /**< Default ::GNNMG_EVALUATION_FULL. */
  int64_t warmup_epochs;           /**< Epochs in which the rate rises from 0. Default 0. */
  double schedule_minimum;         /**< Minimum factor of the learning rate. Default 0. */
  double schedule_factor;          /**< Step and plateau: factor of the learning rate.
                                        Default 0.5. */
  int64_t schedule_step_epochs;    /**< Step: epochs between changes of the rate. Default 50. */
  int64_t schedule_patience;       /**< Plateau: reduce the rate at this many epochs in a row
                                        without improvement (PyTorch's `patience` + 1).
                                        Default 10. */
  int64_t evaluate_every;          /**< Epochs between validations; 0: never. Default 1. */
  int64_t eval_batch_size;         /**< Nodes per chunk of an evaluation. Default 4096. */
  gnnmg_metric best_by;            /**< Default ::GNNMG_METRIC_ACCURACY. */
  int32_t keep_best;               /**< 1: the model ends with the weights of the best validation.
                                        Default 1. */
  int64_t early_stop_patience; /**< Validations in a row without improvement before training ends.
                                    Default 0: no early stop. */
  int32_t loader_threads;      /**< Loader threads per rank; 0: the rank's own thread samples.
                                    Default 1. */
  int32_t prefetch;            /**< Mini-batches made in advance per rank. Default 2. */
  int32_t torch_threads;       /**< LibTorch threads per rank. Default 0: the cores of the process
                                    (or OMP_NUM_THREADS, if lower) divided by the ranks on this
                                    machine. */
  int32_t padding0;            /**< Must be 0. */
  int64_t deadline_ms;         /**< Time that ranks wait for each other, and each rank for its GPU,
                                    milliseconds. Default 30 000. */
  int64_t stall_limit_ms;      /**< Time that a callback may make the ranks wait, milliseconds.
                                    Default 600 000. */
  int32_t deterministic;       /**< 1: strict mode. With equal `batches_per_step`, weights and
                                    metrics have the same bits for any number of ranks and threads,
                                    and after a resume on another number of ranks, on one kind of
                                    CPU or GPU. Ranks gather the gradients of all mini-batches of a
                                    step and add them in plan order: each rank needs memory for one
                                    gradient per rank, and receives one gradient per mini-batch
                                    instead of a sum. LibTorch's operators use one thread per rank;
                                    `torch_threads` then applies to the library's own loops. Not
                                    with ::GNNMG_LOSS_AVERAGE_RANKS. Default 0. */
  int32_t sync_batch_norm;     /**< 1: batch norm takes its statistics from all mini-batches of a
                                    step on all ranks, and updates the running statistics once per
                                    step. A rank then processes its mini-batches of a step together
                                    and keeps them in memory; each batch norm adds two small
                                    all-reduces. No effect on models without batch norm. Not with
                                    `deterministic`. Default 0. */
  int64_t batch_nodes;         /**< Data sets of many graphs: maximum nodes of a mini-batch, in
                                    addition to `batch_size`; see ::gnnmg_loader_config. Default 0:
                                    no limit. */
  int32_t weight_decay_layers; /**< See ::gnnmg_optimizer_config. Default 0. */
  int32_t padding1;            /**< Must be 0. */
  gnnmg_device_type device; /**< Device of the ranks. ::GNNMG_DEVICE_AUTO: one GPU per rank if the
                                 shares of all processes have enough GPUs, else the CPU; the log
                                 says which and why. ::GNNMG_DEVICE_CUDA: an error for too few GPUs.
                                 Default ::GNNMG_DEVICE_AUTO. */
  int32_t num_devices;      /**< Number of entries of `devices`, one per rank. Default 0: the GPUs
                                 of this process's share, from the first. */
  int32_t devices[16];      /**< Numbers of GPUs, each once: rank r uses the r-th. */
  gnnmg_graph_placement graph_placement;     /**< GPU only. Default ::GNNMG_GRAPH_PLACEMENT_AUTO. */
  gnnmg_feature_placement feature_placement; /**< GPU only.
                                                  Default ::GNNMG_FEATURE_PLACEMENT_AUTO. */
  gnnmg_feature_form feature_form;           /**< GPU only.
                                                  Default ::GNNMG_FEATURE_FORM_AS_GIVEN. */
  gnnmg_hotness hotness;                     /**< GPU only. Default ::GNNMG_HOTNESS_PROBABILITY. */
  size_t cache_bytes;                        /**< Bytes of each GPU's memory for cached rows.
                                                  Default 0: 30 % of the memory that the graph
                                                  leaves free. */
  int32_t gather_multiprocessors; /**< Multiprocessors of a GPU that may read rows in main memory
                                       while the others compute. Default 0: one eighth of them. */
  gnnmg_capture capture;          /**< GPU only. Except for ::GNNMG_CAPTURE_UNPADDED, steps need
                                       more memory: they use a few shapes, the largest bounded by
                                       the fan-outs. The host starts a pass after it knows the size
                                       of the mini-batch, and sees the results of a step during the
                                       next one. Default ::GNNMG_CAPTURE_AUTO. */
  gnnmg_precision precision;      /**< Precision of matrix products.
                                       Default ::GNNMG_PRECISION_FLOAT32. */
  int32_t centered;               /**< RMSprop. 1: divide by the deviation of the gradient.
                                       Default 0. */
  double alpha;                   /**< RMSprop: decay of the square, 0 to 1. Default 0.99. */
  double label_smoothing;         /**< Cross-entropy: share of each label that is spread over all
                                       classes, below 1. Default 0. */
  double huber_delta;             /**< Huber loss. Above 0. Default 1. */
  double focal_gamma;             /**< Focal loss. Default 2. */
} gnnmg_trainer_config;

/** Upper bound of the GPU memory of a training, part by part, computed from the fan-outs and the
 * degrees of the graph; see gnnmg_trainer_get_memory_info(). */
typedef struct gnnmg_memory_info {
  uint32_t struct_size;       /**< sizeof of this struct, set by the caller. */
  int32_t fits;               /**< 1: `total_bytes` is at most `gpu_bytes`. */
  size_t gpu_bytes;           /**< Memory of the GPU: as given, or the free memory. */
  size_t total_bytes;         /**< Sum of the parts, with the larger of step and evaluation. */
  size_t graph_bytes;         /**< The graph. */
  size_t feature_bytes;       /**< All feature rows, or the cached rows and their index. */
  size_t sampler_bytes;       /**< Buffers of samplers with mini-batches, or copies of
                                   mini-batches. */
  size_t row_bytes;           /**< Gathered rows of mini-batches; 0 if the first layer reads a table
                                   of all rows. */
  size_t step_bytes;          /**< Forward and backward passes. */
  size_t evaluation_bytes;    /**< Validation between epochs; 0: none. */
  size_t parameter_bytes;     /**< Weights, gradients, and the last valid weights. */
  size_t optimizer_bytes;     /**< State of the optimizer. */
  size_t communication_bytes; /**< Data exchanged with other ranks, and NCCL's buffers. */
  size_t capture_bytes;       /**< Additional memory of steps over padded shapes, captured or not;
                                   0: mini-batches are not padded, possibly because padded ones
                                   would not fit. */
  size_t reserve_bytes;       /**< Reserve for libraries and others: 1 GiB of a GPU of a given size,
                                   including the driver; up to 256 MiB of free memory. */
  size_t pinned_bytes;        /**< Pinned main memory, once per process. */
  int64_t num_cached;         /**< Number of cached rows. */
  gnnmg_graph_placement graph_placement;     /**< Placement of the graph, with AUTO resolved. */
  gnnmg_feature_placement feature_placement; /**< Placement of the features, with AUTO resolved. */
  int32_t bounded; /**< 1: complete; 0: without mini-batches and steps, because the size of a custom
                        sampler's mini-batches is unknown. */
  int32_t padding; /**< Always 0. */
} gnnmg_memory_info;

/** State of a trainer. */
typedef int32_t gnnmg_trainer_state;

/** Values of ::gnnmg_trainer_state. */
enum {
  GNNMG_TRAINER_IDLE = 0,     /**< Not started, or stopped. */
  GNNMG_TRAINER_RUNNING = 1,  /**< Running. */
  GNNMG_TRAINER_STOPPING = 2, /**< Stopping after the current step. */
  GNNMG_TRAINER_FINISHED = 3, /**< Finished all epochs. */
  GNNMG_TRAINER_FAILED = 4    /**< Ended with an error. */
};

/** Progress of training; see gnnmg_trainer_progress().
 *
 * Times of steps on GPUs:
 * - Steps over padded shapes (::gnnmg_capture), captured or not: the GPU measures. It samples and
 *   gathers in other queues than the one that trains. The training queue waits for mini-batches,
 *   computes, reduces and updates, and is idle for the rest of `seconds`. With one rank and one
 *   mini-batch per step the update is part of `compute_seconds`. Waiting for slower ranks is part
 *   of `reduce_seconds`; `peer_wait_seconds` is 0. `seconds` includes the time between steps, such
 *   as a checkpoint.
 * - Steps without padding: the host measures, and waits for the GPU after the passes and in the
 *   exchange. The rest of an update during the next step is part of `compute_seconds`, and so is a
 *   wait for a mini-batch while the GPU still computes. `seconds` excludes the time between steps.
 * - Gaps between kernels belong to the phase that they are in.
 * - If the GPU measures no times, `compute_seconds` is all of `seconds`. */
typedef struct gnnmg_progress_info {
  uint32_t struct_size;      /**< sizeof of this struct, set by the caller. */
  gnnmg_trainer_state state; /**< State of the trainer. */
  int64_t epoch;             /**< Epoch, from 0. */
  int64_t num_epochs;        /**< Configured number of epochs. */
  int64_t step;              /**< Steps done in the epoch. */
  int64_t num_steps;         /**< Steps of the epoch. */
  int64_t seeds_done;        /**< Seeds of the epoch done on all ranks. */
  double loss;               /**< Mean loss over the epoch so far. */
  double accuracy;           /**< Mean accuracy over the epoch so far, on the mini-batches as
                                  trained. */
  double seeds_per_second;   /**< Speed in the epoch so far. */
  double elapsed_seconds;    /**< Time since the start, seconds. */
  double validation;         /**< Result of the last validation, by `best_by`. */
  double best_validation;    /**< Result of the best validation, by `best_by`. */
  int64_t best_epoch;        /**< Epoch of the best validation, or -1. */
  int32_t evaluating;        /**< 1: a validation is running. */
  int32_t has_validation;    /**< 1: `validation`, `best_validation` and `best_epoch` are valid. */
  double seconds;            /**< Time of the epoch so far without validation, on this process's
                                  first rank. */
  double wait_seconds;       /**< Waiting for mini-batches. */
  double sample_seconds;     /**< Sampling, sum over the rank's loader threads. */
  double gather_seconds;     /**< Gathering features, sum over the rank's loader threads. */
  double compute_seconds;    /**< Forward and backward passes. */
  double reduce_seconds;     /**< All-reduces, including waiting for other ranks. */
  double optimizer_seconds;  /**< Updates. */
  double peer_wait_seconds;  /**< Waiting for slower ranks in all-reduces. */
  gnnmg_device_type device;  /**< Device of this process's ranks; gnnmg_trainer_get_rank_info() has
                                  the number of each GPU. */
  int32_t num_ranks;         /**< Ranks of this process. */
} gnnmg_progress_info;

/** Times of one rank, and bytes that its GPU read over the bus; see gnnmg_trainer_get_rank_info().
 * Times are defined as in ::gnnmg_progress_info. */
typedef struct gnnmg_rank_info {
  uint32_t struct_size;     /**< sizeof of this struct, set by the caller. */
  int32_t rank;             /**< Number of the rank in the whole job. */
  int32_t device;           /**< Number of its GPU; -1: the CPU. */
  int32_t padding;          /**< Always 0. */
  int64_t epoch;            /**< Epoch of these numbers, from 0. */
  int64_t num_steps;        /**< Completed steps of the epoch. */
  double seconds;           /**< Time of the epoch so far. */
  double wait_seconds;      /**< Waiting for mini-batches. */
  double sample_seconds;    /**< Sampling, sum over the rank's loader threads. */
  double gather_seconds;    /**< Gathering features, sum over the rank's loader threads. */
  double compute_seconds;   /**< Forward and backward passes, until the GPU has finished. */
  double reduce_seconds;    /**< All-reduces, including waiting for other ranks. */
  double optimizer_seconds; /**< Updates. */
  double peer_wait_seconds; /**< Waiting for slower ranks in all-reduces. */
  int64_t bus_bytes;        /**< Bytes that its GPU read over the bus: copies of mini-batches, and
                                 feature rows in main memory (rows of gathers are added at the end
                                 of the epoch). Without the edges of a pinned graph. */
  int64_t num_rows;       /**< Rows that gathers of its GPU read, known at the end of the epoch. */
  int64_t num_rows_there; /**< Rows among `num_rows` that were on the GPU: hits of a cache. */
  double idle_seconds;    /**< `seconds` minus `compute_seconds`, `reduce_seconds` and
                               `optimizer_seconds`, at least 0: idle time of the GPU's training
                               queue, or of the rank's thread on the CPU. Includes `wait_seconds`,
                               not `peer_wait_seconds`. 0 if the GPU measures no times. */
} gnnmg_rank_info;

/** Results of an epoch. */
typedef struct gnnmg_epoch_info {
  uint32_t struct_size;                /**< sizeof of this struct in the library. */
  int32_t evaluated;                   /**< 1: the `validation_` fields are valid. */
  int64_t epoch;                       /**< Epoch, from 0. */
  int64_t num_epochs;                  /**< Configured number of epochs. */
  int64_t num_steps;                   /**< Steps of the epoch. */
  double train_loss;                   /**< Mean loss over the mini-batches as trained. */
  double train_accuracy;               /**< Mean accuracy over the mini-batches as trained. */
  double learning_rate;                /**< Learning rate of the epoch. */
  int64_t validation_count;            /**< Labeled rows or targets. The `validation_` fields are
                                            those of ::gnnmg_metrics. */
  int64_t validation_correct;          /**< Correct predictions. */
  double validation_loss;              /**< Mean loss. */
  double validation_accuracy;          /**< Accuracy. */
  double validation_f1_micro;          /**< F1 over all decisions. */
  double validation_f1_macro;          /**< Mean of the classes' F1. */
  double validation_roc_auc;           /**< ROC-AUC. */
  double validation_average_precision; /**< Average precision. */
  double validation_rmse;              /**< Root of the mean squared error. */
  double validation_mae;               /**< Mean absolute error. */
  double seconds;                      /**< Time of the epoch without its validation. */
  double evaluation_seconds;           /**< Time of its validation. */
  double seeds_per_second;             /**< Speed, all ranks together. */
  double wait_seconds;                 /**< Waiting for mini-batches, on this process's first rank,
                                            as the next five. */
  double sample_seconds;               /**< Sampling, sum over the rank's loader threads. */
  double gather_seconds;               /**< Gathering features, sum over the rank's loader
                                            threads. */
  double compute_seconds;              /**< Forward and backward passes. */
  double reduce_seconds;               /**< All-reduces, including waiting for other ranks. */
  double optimizer_seconds;            /**< Updates. */
  double mean_busy_seconds;            /**< Time of the epoch without all-reduces, mean over all
                                            ranks. */
  double most_busy_seconds;            /**< Time of the epoch without all-reduces, on the slowest
                                            rank. */
  int32_t best;                        /**< 1: the best validation so far. */
  int32_t slowest_rank;                /**< Rank with `most_busy_seconds`. */
  double peer_wait_seconds;            /**< Part of `reduce_seconds` that waited for slower ranks,
                                            without waits in synchronized batch norm. */
  gnnmg_device_type device;            /**< Device of this process's ranks. */
  int32_t num_ranks;                   /**< Ranks of this process. */
} gnnmg_epoch_info;

/**
 * @brief Called after each epoch, on every process that has registered one.
 * @param[in] epoch results of the epoch
 * @param[in] user_data as registered
 * @return 0, or anything else to end training with ::GNNMG_ERR_CALLBACK
 */
typedef int32_t (*gnnmg_epoch_fn)(const gnnmg_epoch_info* epoch, void* user_data);

/** A mini-batch in a call of ::gnnmg_loss_fn. Arrays are in main memory, row by row, and live for
 * the call. */
typedef struct gnnmg_loss_batch {
  uint32_t struct_size;   /**< sizeof of this struct. */
  gnnmg_dtype dtype;      /**< Type of `logits`, `targets` and `gradient`: f32 or f64. */
  int64_t num_rows;       /**< Seeds: nodes or graphs. */
  int64_t num_columns;    /**< Outputs of the model. */
  const int64_t* seeds;   /**< Ids of the seeds, [num_rows]. */
  const void* logits;     /**< [num_rows, num_columns] */
  const int64_t* classes; /**< Labels, [num_rows], -1 for none; NULL for other tasks. */
  const void* targets;    /**< Labels of other tasks, [num_rows, num_columns], NaN for none. */
  const double* weights;  /**< Weights of the labels, in their shape; 0 without a label, 1 in a data
                               set without weights. */
  void* gradient;         /**< [num_rows, num_columns], 0 before the call. The function adds
                               the gradient of `loss` with respect to the logits. */
  double loss;            /**< Sum of the weighted losses of the rows, which the function sets. */
  double weight;          /**< Divisor of `loss` and `gradient`, added up over all mini-batches of a
                               step on all ranks. The sum of `weights` before the call. */
} gnnmg_loss_batch;

/**
 * @brief A loss of the caller; see gnnmg_trainer_set_loss().
 * @param[in,out] batch a mini-batch; the function sets `gradient` and `loss`
 * @param[in] user_data as registered
 * @return 0, or anything else to end training with ::GNNMG_ERR_CALLBACK
 */
typedef int32_t (*gnnmg_loss_fn)(gnnmg_loss_batch* batch, void* user_data);

/** Format of a trainer's record. */
typedef int32_t gnnmg_record;

/** Values of ::gnnmg_record. */
enum {
  GNNMG_RECORD_JSON_LINES = 1, /**< File to which each epoch appends one JSON object. */
  GNNMG_RECORD_TENSORBOARD = 2 /**< Folder that gets an event file of TensorBoard. */
};

/**
 * @brief Fills a config with the defaults.
 * @snippet node_classification.c train
 * @snippet multi_label.c early stop
 * @snippet gpu.c train
 * @param[out] config zeroed over `struct_size` bytes, then filled
 * @param[in] struct_size sizeof *config
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_trainer_config_init(gnnmg_trainer_config* config,
                                                                size_t struct_size);

/**
 * @brief Makes a trainer. Refuses objects that do not fit together: widths, number of layers of
 *   model and sampler, labels, an empty training part.
 *
 * <b>Several processes.</b> With a communicator among processes, each process makes a trainer, and
 * all of these train one model together. The world size is the sum of all `num_ranks`, numbered by
 * process.
 * - These functions are then collective: gnnmg_trainer_start(), gnnmg_trainer_run(),
 *   gnnmg_trainer_step(), gnnmg_trainer_evaluate(), gnnmg_trainer_embed(),
 *   gnnmg_trainer_embed_to_file(), gnnmg_trainer_save(), gnnmg_trainer_load(),
 *   gnnmg_trainer_save_optimizer(), gnnmg_trainer_load_optimizer(). All processes make the same
 *   calls in the same order. One trainer of a communicator works at a time; others get
 *   ::GNNMG_ERR_BUSY.
 * - The first collective call compares data set, model, sampler and all settings except ranks,
 *   threads, prefetching, deadlines and records. If they differ, every process gets
 *   ::GNNMG_ERR_MISMATCH naming process and field. Then all processes take weights and position
 *   from process 0, which alone writes records and checkpoints.
 * - Between two calls the host may change the weights: all ranks continue with the parameters of
 *   process 0's model. The state of the optimizer does not change.
 * - A failure on one process gives ::GNNMG_ERR_ABORTED with its text on the others; a lost process
 *   ::GNNMG_ERR_PEER_LOST; a message changed in transit ::GNNMG_ERR_AUTH; a late process
 *   ::GNNMG_ERR_TIMEOUT naming rank, host and position. After a lost process the communicator is
 *   unusable; after any other failure the same calls, made by all processes, continue from the
 *   position of process 0.
 * - If a process is canceled or times out (`join_ms` of the communicator) while it waits for others
 *   to begin a call, only the processes that have begun the call fail. A late process meets them
 *   when they repeat the call.
 * - Ranks on GPUs exchange by NCCL. The share of a process is all GPUs that it sees; if several
 *   processes of a machine see the same GPUs, each gets a part of them, in the order of the
 *   processes. Either all processes have GPUs for their ranks or none has; otherwise the first
 *   collective call is ::GNNMG_ERR_MISMATCH on all. Two ranks on one GPU are
 *   ::GNNMG_ERR_INVALID_ARGUMENT on all. Processes may have different numbers and kinds of GPUs,
 *   and each places graph and features by its own memory: a warning in the log names the
 *   differences.
 * @snippet node_classification.c train
 * @snippet peers.c train
 * @param[in] model the model to train; on the CPU the first rank trains it directly; on GPUs its
 *   weights are copied back after each epoch, at checkpoints and at the end of a call
 * @param[in] dataset a data set with features, labels and a split
 * @param[in] sampler a sampler on the data set's graph
 * @param[in] comm NULL: the ranks of this process alone; else a communicator of gnnmg_comm_create()
 *   or gnnmg_comm_create_from_env(), whose job must outlive the trainer
 * @param[in] config settings, or NULL
 * @param[out] trainer the new handle
 * @return ::GNNMG_OK; ::GNNMG_ERR_NOT_FOUND if the data set lacks features, labels or a split, or
 *   for an unknown GPU; ::GNNMG_ERR_DEPENDENCY if the config asks for GPUs and there are none, with
 *   the reason; ::GNNMG_ERR_INVALID_ARGUMENT for fewer GPUs than ranks, or if processes see partly
 *   the same and partly different GPUs; ::GNNMG_ERR_UNSUPPORTED for a communicator among threads,
 *   which is for custom loops
 * @threading (c) for the model, (b) for the others
 * @owns the caller frees `trainer`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status
gnnmg_trainer_create(gnnmg_model* model, const gnnmg_dataset* dataset, const gnnmg_sampler* sampler,
                     gnnmg_comm* comm, const gnnmg_trainer_config* config, gnnmg_trainer** trainer);

/**
 * @brief Frees the handle; cancels a running training, as gnnmg_trainer_cancel() does.
 * @snippet graph_from_arrays.c free
 * @param[in] trainer a handle, or NULL
 * @threading (a)
 * @since 0.1
 */
GNNMG_API void gnnmg_trainer_free(gnnmg_trainer* trainer);

/**
 * @brief Makes the trainer write the results of each epoch, from its next start on. Of several
 *   processes the first writes.
 * @snippet resume.c record
 * @param[in] trainer a trainer
 * @param[in] record format of the record
 * @param[in] path the file or folder; NULL: stop writing
 * @return ::GNNMG_OK
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_trainer_set_record(gnnmg_trainer* trainer,
                                                               gnnmg_record record,
                                                               const char* path);

/** Settings of gnnmg_trainer_set_checkpoints(). */
typedef struct gnnmg_checkpoint_config {
  uint32_t struct_size; /**< sizeof of this struct. */
  int32_t keep;         /**< Latest checkpoints to keep, in addition to the best. Default 3. */
  int64_t every_steps;  /**< Steps between checkpoints. Default 0: not by steps. */
  double every_seconds; /**< Seconds between checkpoints. Default 0: not by time. */
} gnnmg_checkpoint_config;

/**
 * @brief Fills a config with the defaults.
 * @snippet resume.c checkpoints
 * @param[out] config zeroed over `struct_size` bytes, then filled
 * @param[in] struct_size sizeof *config
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_checkpoint_config_init(gnnmg_checkpoint_config* config,
                                                                   size_t struct_size);

/**
 * @brief Makes the trainer write checkpoints, from its next start on: after the given steps or
 *   seconds, or after each epoch if neither is set, and always when training ends or is stopped.
 *
 * Training pauses while weights, optimizer and position are copied in memory; a thread of the
 * library writes the copy. gnnmg_trainer_wait() reports the end of training after the last write. A
 * failed write is an error of the next step; training may then be started again. Of several
 * processes the first writes, and the others do not wait for it at the end of training.
 *
 * A checkpoint is a folder ("000007-step-1200"), written whole or not at all, with
 * `model.safetensors`, `optimizer.safetensors`, `best.safetensors`, `state.json` and a manifest
 * with the SHA-256 of each file. Beside the checkpoints, `latest` and `best` each name one.
 *
 * A folder belongs to the training that began it. If it has checkpoints of another training, even
 * with equal settings, the start of training is ::GNNMG_ERR_MISMATCH and the folder does not
 * change: gnnmg_trainer_load() continues that training, and a new training needs its own folder.
 * @snippet resume.c checkpoints
 * @param[in] trainer a trainer
 * @param[in] folder folder of the checkpoints, made by the first write; NULL: no more checkpoints
 * @param[in] config settings, or NULL
 * @return ::GNNMG_OK
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_trainer_set_checkpoints(
    gnnmg_trainer* trainer, const char* folder, const gnnmg_checkpoint_config* config);

/**
 * @brief Writes a checkpoint now, between two steps. Collective: process 0 writes, and the call
 *   ends on all processes after the write, however long it takes.
 * @snippet resume.c save
 * @param[in] trainer a trainer that is not running
 * @param[in] path a folder that does not exist
 * @param[in] timeout_ms milliseconds; -1: until done
 * @return ::GNNMG_OK; ::GNNMG_PENDING; ::GNNMG_ERR_IO; ::GNNMG_ERR_NAN if a weight is not finite,
 *   so that training could not continue from the checkpoint
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_trainer_save(gnnmg_trainer* trainer, const char* path,
                                                         int64_t timeout_ms);

/**
 * @brief Continues from a checkpoint, also in the middle of an epoch: with the same bits on the
 *   same number of ranks, with the same mini-batches and steps on another number. All or nothing.
 *
 * Data, sampler, model settings and the settings of the plan (seed, batch size, order, loss, kind
 * of optimizer, `best_by`) must equal the saved ones. Rates, schedule, number of epochs and ranks
 * are those of the trainer, and so is `batches_per_step` unless it is 0.
 * @snippet resume.c load
 * @param[in] trainer a trainer that is not running
 * @param[in] path a checkpoint, or a folder of checkpoints: the newest complete one is used, with a
 *   warning in the log for each that is incomplete
 * @param[in] timeout_ms milliseconds; -1: until done
 * @return ::GNNMG_OK; ::GNNMG_PENDING; ::GNNMG_ERR_NOT_FOUND if there is no checkpoint;
 *   ::GNNMG_ERR_CHECKSUM if none is complete; ::GNNMG_ERR_MISMATCH listing the differences;
 *   ::GNNMG_ERR_FORMAT or ::GNNMG_ERR_RANGE for invalid contents; ::GNNMG_ERR_VERSION for a
 *   checkpoint of a later library; ::GNNMG_ERR_NAN for weights that are not finite
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_trainer_load(gnnmg_trainer* trainer, const char* path,
                                                         int64_t timeout_ms);

/**
 * @brief Writes the state of the trainer's optimizer for PyTorch, as gnnmg_optimizer_save() does.
 *   Collective: process 0 writes.
 * @snippet move_training.c take back
 * @param[in] trainer a trainer that is not running
 * @param[in] path the file, a `.pth`, replaced if it exists
 * @param[in] config settings, or NULL
 * @param[in] timeout_ms milliseconds; -1: until done
 * @return ::GNNMG_OK; ::GNNMG_PENDING; errors as gnnmg_optimizer_save()
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status
gnnmg_trainer_save_optimizer(gnnmg_trainer* trainer, const char* path,
                             const gnnmg_model_file_config* config, int64_t timeout_ms);

/**
 * @brief Reads the state of a PyTorch optimizer, as gnnmg_optimizer_load() does. The caller loads
 *   the weights that belong to it into the trainer's model. Position, rates and schedule of the
 *   trainer do not change. Collective: process 0 reads, and all ranks get the state at the next
 *   call. All or nothing.
 * @snippet move_training.c move in
 * @param[in] trainer a trainer that is not running
 * @param[in] path the file
 * @param[in] config settings, or NULL
 * @param[in] timeout_ms milliseconds; -1: until done
 * @return ::GNNMG_OK; ::GNNMG_PENDING; errors as gnnmg_optimizer_load()
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status
gnnmg_trainer_load_optimizer(gnnmg_trainer* trainer, const char* path,
                             const gnnmg_model_file_config* config, int64_t timeout_ms);

/**
 * @brief Replaces the loss of training by a function of the caller. It is called once a mini-batch,
 *   one call at a time, on a thread that waits for the trainer; all ranks share it. Evaluations use
 *   the `loss` of the config. All processes set a function, or none.
 * @snippet fine_tune.c set loss
 * @param[in] trainer a trainer on the CPU that has not trained or evaluated yet
 * @param[in] function the loss; NULL: that of the config
 * @param[in] user_data for `function`
 * @param[in] release called with `user_data` after the last use, or NULL
 * @return ::GNNMG_OK; ::GNNMG_ERR_BUSY after the first call that trains, evaluates or embeds;
 *   ::GNNMG_ERR_UNSUPPORTED for a trainer on GPUs
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_trainer_set_loss(gnnmg_trainer* trainer,
                                                             gnnmg_loss_fn function,
                                                             void* user_data,
                                                             gnnmg_release_fn release);

/**
 * @brief Sets the learning rate, in place of that of the config and its schedule, from the next
 *   epoch or the next gnnmg_trainer_step() on. Legal at any time, also in `on_epoch`.
 *
 * All ranks use the rate of the process that called; if several processes call, it has to be the
 * same rate, else training ends with ::GNNMG_ERR_MISMATCH. Checkpoints keep the rate. At the end of
 * an epoch they are written before `on_epoch`: set its rate again after gnnmg_trainer_load().
 * @snippet fine_tune.c rate
 * @param[in] trainer a trainer
 * @param[in] rate at least 0
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_trainer_set_learning_rate(gnnmg_trainer* trainer,
                                                                      double rate);

/**
 * @brief Starts the ranks on the remaining epochs and returns immediately. The trainer holds its
 *   model until a wait returns anything but ::GNNMG_PENDING.
 * @snippet cancel_progress.c start
 * @param[in] trainer a trainer
 * @param[in] on_epoch called after each epoch, or NULL
 * @param[in] user_data for `on_epoch`
 * @param[in] release called with `user_data` after this training has ended, or NULL
 * @return ::GNNMG_OK
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_trainer_start(gnnmg_trainer* trainer,
                                                          gnnmg_epoch_fn on_epoch, void* user_data,
                                                          gnnmg_release_fn release);

/**
 * @brief Waits for the end of training and runs its callbacks.
 * @snippet cancel_progress.c wait
 * @param[in] trainer a trainer that was started
 * @param[in] timeout_ms milliseconds; -1: until the end
 * @return ::GNNMG_OK after all epochs or after gnnmg_trainer_stop(); ::GNNMG_PENDING;
 *   ::GNNMG_ERR_CANCELLED; ::GNNMG_ERR_CALLBACK; ::GNNMG_ERR_DIVERGED; ::GNNMG_ERR_TIMEOUT or
 *   ::GNNMG_ERR_PEER_LOST naming a rank; ::GNNMG_ERR_IO if a record cannot be written;
 *   ::GNNMG_ERR_NO_MEMORY if graph, features or a step do not fit a GPU; ::GNNMG_ERR_UNSUPPORTED if
 *   they cannot have the configured placement; ::GNNMG_ERR_DEVICE_LOST naming rank and GPU. After
 *   an error the model has the weights of the last step that the first rank finished; after the
 *   loss of that rank's GPU, the weights last read from it
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_trainer_wait(gnnmg_trainer* trainer,
                                                         int64_t timeout_ms);

/**
 * @brief gnnmg_trainer_start(), then gnnmg_trainer_wait().
 * @snippet node_classification.c train
 * @param[in] trainer a trainer
 * @param[in] on_epoch called after each epoch, or NULL
 * @param[in] user_data for `on_epoch`
 * @param[in] release called with `user_data` after this training has ended, or NULL
 * @return as gnnmg_trainer_wait(), never ::GNNMG_PENDING
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_trainer_run(gnnmg_trainer* trainer,
                                                        gnnmg_epoch_fn on_epoch, void* user_data,
                                                        gnnmg_release_fn release);

/**
 * @brief Stops training in order: all ranks of all processes end after the same step, waits return
 *   ::GNNMG_OK, and another start continues from there.
 * @snippet resume.c stop
 * @param[in] trainer a handle; a stale handle is ignored
 * @threading (a)
 * @since 0.1
 */
GNNMG_API void gnnmg_trainer_stop(gnnmg_trainer* trainer);

/**
 * @brief Ends the trainer's work immediately: the waiting call gives ::GNNMG_ERR_CANCELLED, on
 *   other processes ::GNNMG_ERR_ABORTED. Returns after the other processes have been notified.
 *   Another start continues from the last step.
 * @snippet cancel_progress.c cancel
 * @param[in] trainer a handle; a stale handle is ignored
 * @threading (a)
 * @since 0.1
 */
GNNMG_API void gnnmg_trainer_cancel(gnnmg_trainer* trainer);

/**
 * @brief Runs one step on all ranks, and the validation if one is due.
 * @snippet resume.c steps
 * @param[in] trainer a trainer that is not running
 * @param[out] loss exact loss of the step; the pointer may be NULL
 * @param[in] timeout_ms milliseconds; -1: until done
 * @return ::GNNMG_OK; ::GNNMG_END after the last step of the last epoch; ::GNNMG_PENDING; errors as
 *   gnnmg_trainer_wait()
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_trainer_step(gnnmg_trainer* trainer, double* loss,
                                                         int64_t timeout_ms);

/**
 * @brief Exact metrics of one part of the split, computed by all ranks; all processes get the same
 *   numbers.
 * @snippet node_classification.c evaluate
 * @snippet multi_label.c metrics
 * @param[in] trainer a trainer that is not running
 * @param[in] part the part
 * @param[in,out] metrics filled
 * @param[in] timeout_ms milliseconds; -1: until done
 * @return ::GNNMG_OK; ::GNNMG_PENDING; ::GNNMG_ERR_INVALID_ARGUMENT if the part is empty; errors as
 *   gnnmg_trainer_wait()
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_trainer_evaluate(gnnmg_trainer* trainer,
                                                             gnnmg_split part,
                                                             gnnmg_metrics* metrics,
                                                             int64_t timeout_ms);

/**
 * @brief Result of the model for every node, with full neighborhoods, computed by all ranks in
 *   chunks of `eval_batch_size` nodes. Every process gets all rows. With `deterministic` the result
 *   has the same bits for any number of ranks; on the CPU with `eval_batch_size` 4096, those of
 *   gnnmg_model_embed() with one thread.
 * @snippet embeddings.c trainer
 * @param[in] trainer a trainer that is not running
 * @param[out] rows [number of nodes, output_dim] in the model's type
 * @param[in] timeout_ms milliseconds; -1: until done
 * @return ::GNNMG_OK; ::GNNMG_PENDING; ::GNNMG_ERR_NO_MEMORY if the rows of two layers exceed the
 *   context's memory limit; errors as gnnmg_trainer_wait()
 * @threading (c)
 * @owns the caller frees `rows`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_trainer_embed(gnnmg_trainer* trainer,
                                                          struct DLManagedTensorVersioned** rows,
                                                          int64_t timeout_ms);

/**
 * @brief gnnmg_trainer_embed() directly into a `.npy` file, written whole or not at all. Rank 0
 *   writes the rows of the last layer as they are computed; they are never in memory together.
 * @snippet embeddings.c trainer
 * @param[in] trainer a trainer that is not running
 * @param[in] path the file, of the first process if there are several, replaced if it exists:
 *   [number of nodes, output_dim] in the model's type
 * @param[in] timeout_ms milliseconds; -1: until done
 * @return as gnnmg_trainer_embed(); ::GNNMG_ERR_IO if the file cannot be written;
 *   ::GNNMG_ERR_NOT_FOUND if the folder does not exist
 * @threading (c)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_trainer_embed_to_file(gnnmg_trainer* trainer,
                                                                  const char* path,
                                                                  int64_t timeout_ms);

/**
 * @brief Upper bound of the training's memory on a GPU, known before it begins and even without
 *   such a GPU. When ranks begin, a trainer on GPUs compares the bound with the free memory: if it
 *   does not fit, training ends with ::GNNMG_ERR_NO_MEMORY and the list of parts; if it fits, the
 *   memory is reserved. Without a bound (`bounded`) nothing is compared.
 * @snippet train.c memory
 * @param[in] trainer a trainer on any device; each of its ranks is assumed to use a GPU
 * @param[in] gpu_bytes total memory of the GPU; 0: free memory of the first rank's GPU now
 * @param[in,out] info filled
 * @return ::GNNMG_OK; with `gpu_bytes` 0 ::GNNMG_ERR_NOT_FOUND if the trainer is on the CPU,
 *   ::GNNMG_ERR_DEVICE_LOST if its GPU is lost
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_trainer_get_memory_info(const gnnmg_trainer* trainer,
                                                                    size_t gpu_bytes,
                                                                    gnnmg_memory_info* info);

/**
 * @brief Progress of a training.
 * @snippet cancel_progress.c progress
 * @param[in] trainer a trainer
 * @param[in,out] info filled
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_trainer_progress(const gnnmg_trainer* trainer,
                                                             gnnmg_progress_info* info);

/**
 * @brief Times of one rank of this process in the running epoch; until its first step is complete,
 *   those of the previous epoch.
 * @snippet train.c ranks
 * @param[in] trainer a trainer
 * @param[in] index index of the rank in this process, from 0
 * @param[in,out] info filled
 * @return ::GNNMG_OK; ::GNNMG_ERR_RANGE for an unknown index
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_trainer_get_rank_info(const gnnmg_trainer* trainer,
                                                                  int64_t index,
                                                                  gnnmg_rank_info* info);

/**
 * @brief Model of the trainer.
 * @snippet resume.c model
 * @param[in] trainer a trainer
 * @param[out] model a new handle
 * @return ::GNNMG_OK
 * @threading (a)
 * @owns the caller frees `model`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_trainer_get_model(const gnnmg_trainer* trainer,
                                                              gnnmg_model** model);

/**
 * @brief A copy of the model as of the last step that is done, also while training runs on another
 *   thread or this is a callback of it.
 *
 * After the last epoch the weights are those that the training keeps, the best ones with
 * `keep_best`. Of a training on GPUs they are those that came to main memory last: at the end of an
 * epoch, before `on_epoch`, and at a checkpoint.
 *
 * @snippet serve.c publish
 * @param[in] trainer a trainer
 * @param[out] model a model of its own, in main memory, with running statistics of batch norms
 * @return ::GNNMG_OK; ::GNNMG_ERR_BUSY while something else than this trainer changes the model
 * @threading (a)
 * @owns the caller frees `model`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_trainer_snapshot(const gnnmg_trainer* trainer,
                                                             gnnmg_model** model);

/** @} */

/* ============================================================================================= */
/** @defgroup predictor Predictor
 * A trained model in use: results for the nodes or graphs of a data set, for any number of threads
 * at once. A predictor has a copy of the weights, so later changes of the model, training included,
 * do not change its answers. */
/** @{ */

/** @brief A model's weights over a data set, which never change. */
typedef struct gnnmg_predictor gnnmg_predictor;

/** The kind of result. */
typedef int32_t gnnmg_output;

/** Values of ::gnnmg_output. */
enum {
  GNNMG_OUTPUT_LOGITS = 0,        /**< The model's result: [num_ids, output_dim] in its type. The
                                       predicted numbers of a regression. */
  GNNMG_OUTPUT_PROBABILITIES = 1, /**< One a class, with a sum of 1 in a row, or one a target:
                                       [num_ids, output_dim] in the model's type. */
  GNNMG_OUTPUT_CLASSES = 2,       /**< The most likely class, i64 [num_ids]; of yes-or-no targets 0
                                       or 1 for each, i64 [num_ids, output_dim]. */
  GNNMG_OUTPUT_EMBEDDINGS = 3     /**< The rows that the last layer makes the result from:
                                       [num_ids, embedding_dim] in the model's type; the result
                                       itself of a model without an output width. */
};

/** Facts about a predictor, and the times of its calls. */
typedef struct gnnmg_predictor_info {
  uint32_t struct_size;  /**< sizeof of this struct, set by the caller. */
  gnnmg_dtype dtype;     /**< Type of logits, probabilities and embeddings. */
  gnnmg_task task;       /**< Meaning of the results; ::GNNMG_TASK_NONE: unknown. */
  int32_t exact;         /**< 1: neighborhoods are whole; 0: they are drawn. */
  int64_t num_ids;       /**< Ids are 0 to `num_ids` - 1: nodes, or graphs. */
  int64_t output_dim;    /**< Columns of logits and probabilities. */
  int64_t classes_dim;   /**< Columns of classes; 0: there are none. */
  int64_t embedding_dim; /**< Columns of embeddings; 0: the model has none. */
  int64_t num_calls;     /**< Calls that were answered. */
  int64_t num_rows;      /**< Ids of these calls. */
  double p50_seconds;    /**< Time that half of the calls took at most, to 13 %. */
  double p99_seconds;    /**< Time that 99 % of the calls took at most, to 13 %. */
} gnnmg_predictor_info;

/**
 * @brief Makes a predictor from a copy of a model's weights.
 *
 * Settings:
 * - `fanouts`: the neighbors that each node draws, one number a layer, that next to the ids first,
 *   as `10,10`; -1: all. Default: whole neighborhoods.
 * - `seed`: of the draws, 0 to 2^63 - 1. Default 0.
 * - `task`: the meaning of the results, `multiclass`, `binary` or `regression`. Default: that of
 * the data set's labels, or without labels that of the data the model was made for or trained on,
 * which its file tells. Without any there are neither probabilities nor classes.
 *
 * A warning in the log says that the data set has another number of classes or targets than the
 * model has outputs.
 *
 * With fan-outs a result is that of gnnmg_model_forward(), to the bit, for the mini-batch of
 * gnnmg_sampler_sample() with these fan-outs, this seed, epoch 0 and number 0: it depends on the
 * list of ids and on nothing else. Without them it is that of gnnmg_model_embed() up to the
 * rounding of sums (1e-5 of the largest number of a row for 32 bits).
 *
 * For most models each call reads the neighborhoods of its ids. Where whole neighborhoods do not
 * determine the result, because a norm takes all nodes together, say, this function computes the
 * results of all nodes, on the calling thread.
 *
 * @snippet predict.c predict
 * @param[in] model a model, in main memory or on a GPU, from which the weights are copied
 * @param[in] dataset a data set with the features that the model reads; no labels are needed, and
 *   its parts may be elsewhere. Ids are its graphs where the model has a readout, else its nodes.
 * @param[in] settings words `name=value` with blanks between them; may be NULL
 * @param[out] predictor the predictor; it computes in main memory
 * @return ::GNNMG_OK; ::GNNMG_ERR_INVALID_ARGUMENT naming an unknown setting, or a difference
 * between model and data set; ::GNNMG_ERR_NOT_FOUND for a data set without features;
 *   ::GNNMG_ERR_BUSY while a trainer works on the model, which gnnmg_trainer_snapshot() copies;
 *   ::GNNMG_ERR_UNSUPPORTED for a graph of several types; ::GNNMG_ERR_PEER_LOST naming a process
 *   that has parts of the graph; ::GNNMG_ERR_CANCELLED
 * @threading (b)
 * @owns the caller frees `predictor`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_predictor_create(const gnnmg_model* model,
                                                             const gnnmg_dataset* dataset,
                                                             const char* settings,
                                                             gnnmg_predictor** predictor);

/**
 * @brief Results for a list of nodes or graphs, on the calling thread.
 *
 * A call of little work, a few milliseconds at most, starts no other threads. Memory for the
 * neighborhoods is kept for later calls. For all nodes of a large graph gnnmg_model_embed() is
 * faster.
 *
 * @snippet predict.c predict
 * @param[in] predictor a predictor
 * @param[in] ids the nodes or graphs, in any order; repetitions are allowed
 * @param[in] num_ids number of `ids`; 0 gives an empty result
 * @param[in] output which result
 * @param[out] out receives one row for each id, in their order; may be NULL where `capacity` is 0
 *   and only `needed` is asked for
 * @param[in] capacity size of `out` in bytes
 * @param[out] needed the bytes that the result takes; the pointer may be NULL
 * @return ::GNNMG_OK; ::GNNMG_ERR_RANGE naming an id that there is not;
 *   ::GNNMG_ERR_INVALID_ARGUMENT when `out` is too small; ::GNNMG_ERR_UNSUPPORTED for an output
 *   that this model or task does not have; ::GNNMG_ERR_CANCELLED by gnnmg_context_cancel(); where
 *   parts of the graph are elsewhere, ::GNNMG_ERR_UNAVAILABLE
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_predictor_run(const gnnmg_predictor* predictor,
                                                          const int64_t* ids, int64_t num_ids,
                                                          gnnmg_output output, void* out,
                                                          size_t capacity, size_t* needed);

/**
 * @brief Facts about a predictor, and the times of its calls.
 * @snippet predict.c info
 * @param[in] predictor a predictor
 * @param[in,out] info filled
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_predictor_get_info(const gnnmg_predictor* predictor,
                                                               gnnmg_predictor_info* info);

/**
 * @brief Frees the handle. Calls that run on other threads are answered.
 * @snippet predict.c free
 * @param[in] predictor a handle, or NULL
 * @threading (a)
 * @since 0.1
 */
GNNMG_API void gnnmg_predictor_free(gnnmg_predictor* predictor);

/** @} */

/** @defgroup server Graph server
 * A graph server gives parts of a graph to trainers on other machines. A server only reads and
 * stores no state of its clients: any server of a part can answer a request, and trainers may come
 * and go. The program gnnmg-server has the same code and needs no LibTorch. */
/** @{ */

/** @brief A server of parts. */
typedef struct gnnmg_server gnnmg_server;

/** Settings of a server. 0 is the default in every field: `{sizeof config}` is complete. */
typedef struct gnnmg_server_config {
  uint32_t struct_size; /**< sizeof of this struct. */
  int32_t threads;      /**< Threads that answer requests. Default 0: one per core. */
  int32_t insecure;     /**< 1: listen without TLS at an address that other machines can reach, with
                             a warning in the log. Default 0. */
  int32_t padding0;     /**< Must be 0. */
  int64_t drain_ms;     /**< Time that gnnmg_server_shutdown() gives to running requests,
                             milliseconds. Default 30 000. */
} gnnmg_server_config;

/** State of a server, and its counts since the start. */
typedef struct gnnmg_server_info {
  uint32_t struct_size;   /**< sizeof of this struct, set by the caller. */
  int32_t port;           /**< Port; 0: the server does not listen. */
  int32_t num_parts;      /**< Number of parts of the data. */
  int32_t num_served;     /**< Number of served parts. */
  int64_t num_clients;    /**< Clients with a request in the last minute. */
  int64_t num_questions;  /**< Requests running or waiting. */
  int64_t num_reads;      /**< Answered requests. */
  int64_t received_bytes; /**< Bytes of the answered requests. */
  int64_t sent_bytes;     /**< Bytes of the answers. */
  int64_t num_refused;    /**< Requests refused because the client did not know the token. */
  int64_t num_busy;       /**< Requests postponed because the client had too many. */
  double p50_seconds;     /**< Median time of an answer, within 13 %. */
  double p99_seconds;     /**< 99th percentile of the time of an answer, within 13 %. */
} gnnmg_server_info;

/**
 * @brief Opens parts of a folder for serving: one that gnnmg_dataset_save_parts() wrote, or
 *   gnnmg_dataset_save() (part 0 of 1).
 *
 * Edges and sparse features are read into memory. Rows of dense features are read from their files
 * on demand, and stay in memory while half of the memory of the machine is free.
 *
 * @snippet server.c create
 * @param[in] context a context
 * @param[in] folder the folder
 * @param[in] parts numbers of the parts to serve, each once; NULL: all
 * @param[in] num_parts number of `parts`, or 0
 * @param[in] address host and port to listen at: "10.0.0.7:7300", "[::]:7300"; port 0: any free
 *   port
 * @param[in] token_file path of the secret that clients must know, 32 to 1024 bytes in a file of
 *   mode 0600; NULL: none, for a loopback address only
 * @param[in] config settings, or NULL
 * @param[out] server the server, which does not listen yet
 * @param[in] timeout_ms milliseconds; -1: until done
 * @return ::GNNMG_OK; ::GNNMG_PENDING; ::GNNMG_ERR_RANGE for an unknown part; ::GNNMG_ERR_NOT_FOUND
 *   for a missing or empty folder; ::GNNMG_ERR_FORMAT or ::GNNMG_ERR_CHECKSUM naming a file, or the
 *   actual content of the folder; ::GNNMG_ERR_IO; ::GNNMG_ERR_NO_MEMORY; ::GNNMG_ERR_CANCELLED
 * @threading (b)
 * @owns the caller frees `server`
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status
gnnmg_server_create(const gnnmg_context* context, const char* folder, const int32_t* parts,
                    int64_t num_parts, const char* address, const char* token_file,
                    const gnnmg_server_config* config, gnnmg_server** server, int64_t timeout_ms);

/**
 * @brief Makes server and clients authenticate each other by certificates and encrypt their
 *   connections. Call it before gnnmg_server_start().
 * @snippet server.c tls
 * @param[in] server a server
 * @param[in] certificate path of the server's certificate, PEM
 * @param[in] key path of its key, PEM
 * @param[in] authority path of the certificate that signed the clients' certificates, PEM
 * @return ::GNNMG_OK; ::GNNMG_ERR_BUSY after the start. gnnmg_server_start() reads the files.
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_server_set_tls(gnnmg_server* server,
                                                           const char* certificate, const char* key,
                                                           const char* authority);

/**
 * @brief Begins to listen. Threads of the server answer.
 * @snippet server.c start
 * @param[in] server a server
 * @return ::GNNMG_OK; ::GNNMG_ERR_DEPENDENCY without gRPC, naming the missing library;
 *   ::GNNMG_ERR_INVALID_ARGUMENT for an address that other machines can reach without a token file,
 *   or with neither TLS nor `insecure`; ::GNNMG_ERR_UNAVAILABLE if the address is not available;
 *   ::GNNMG_ERR_AUTH for a token file that others can read; ::GNNMG_ERR_NOT_FOUND,
 *   ::GNNMG_ERR_FORMAT or ::GNNMG_ERR_IO naming a TLS file; ::GNNMG_ERR_BUSY after the start
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_server_start(gnnmg_server* server);

/**
 * @brief State and counts of a server.
 * @snippet server.c info
 * @param[in] server a server
 * @param[in,out] info filled
 * @return ::GNNMG_OK
 * @threading (a)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_server_get_info(const gnnmg_server* server,
                                                            gnnmg_server_info* info);

/**
 * @brief Ends the server in order: refuses new requests and answers the running ones. Clients
 *   continue with other servers of the same parts. The server cannot be started again.
 * @snippet server.c shutdown
 * @param[in] server a server
 * @param[in] timeout_ms milliseconds; -1: until done
 * @return ::GNNMG_OK; ::GNNMG_PENDING; ::GNNMG_ERR_TIMEOUT if requests were aborted after
 *   `drain_ms`
 * @threading (b)
 * @since 0.1
 */
GNNMG_API GNNMG_MUST_USE gnnmg_status gnnmg_server_shutdown(gnnmg_server* server,
                                                            int64_t timeout_ms);

/**
 * @brief Frees the handle. Without an earlier gnnmg_server_shutdown(), running requests are
 *   aborted.
 * @snippet server.c shutdown
 * @param[in] server a handle, or NULL
 * @threading (a)
 * @since 0.1
 */
GNNMG_API void gnnmg_server_free(gnnmg_server* server);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* GNNMG_H */

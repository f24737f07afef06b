import ctypes

library = ctypes.CDLL("libgnnmg.so.0.1")
library.gnnmg_last_error.restype = ctypes.c_char_p

def check(status):  # below 0: an error, whose text is the thread's
    if status < 0:
        raise RuntimeError(library.gnnmg_last_error().decode())

context, graph, count = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int64()
check(library.gnnmg_context_create(100, None, ctypes.byref(context)))  # 100: GNNMG_VERSION
check(library.gnnmg_graph_create_rmat(context, None, ctypes.byref(graph)))
check(library.gnnmg_graph_num_edges(graph, 0, ctypes.byref(count)))
print("R-MAT with", count.value, "edges")
library.gnnmg_graph_free(graph)
library.gnnmg_context_free(context)

import ctypes
import os

name, tree = "libgnnmg.so.0.2", os.environ.get("GNNMG_DIR", "")  # installed or built; else the loader searches
paths = [os.path.join(tree, folder, name) for folder in ("lib", "lib64", "")]
try:
    library = ctypes.CDLL(next(filter(os.path.exists, paths), paths[0]) if tree else name)
except OSError as error:
    raise SystemExit(f"{error}; set GNNMG_DIR to an installed or a built tree, or add to LD_LIBRARY_PATH what "
                     "`pkg-config --variable=libdir gnnmg` prints, or have ldconfig look there")
library.gnnmg_last_error.restype = ctypes.c_char_p

def check(status):  # below 0: an error, whose text is the thread's
    if status < 0:
        raise RuntimeError(library.gnnmg_last_error().decode())

context, graph, count = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int64()
check(library.gnnmg_context_create(200, None, ctypes.byref(context)))  # 200: GNNMG_VERSION
check(library.gnnmg_graph_generate(context, b"rmat", None, ctypes.byref(graph)))
check(library.gnnmg_graph_num_edges(graph, 0, ctypes.byref(count)))
print("R-MAT with", count.value, "edges")
library.gnnmg_graph_free(graph)
library.gnnmg_context_free(context)

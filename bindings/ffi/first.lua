local ffi = require("ffi")
ffi.cdef [[
  const char* gnnmg_last_error(void);
  int32_t gnnmg_context_create(int32_t version, const void* config, void** context);
  int32_t gnnmg_graph_generate(const void* context, const char* generator, const char* settings, void** graph);
  int32_t gnnmg_graph_num_edges(const void* graph, int32_t edge_type, int64_t* count);
  void gnnmg_graph_free(void* graph);
  void gnnmg_context_free(void* context);
]]

local name, tree = "libgnnmg.so.0.2", os.getenv("GNNMG_DIR") -- installed or built; else the loader searches
local library, failure
for _, folder in ipairs(tree and { tree .. "/lib/", tree .. "/lib64/", tree .. "/" } or { "" }) do
  local found, answer = pcall(ffi.load, folder .. name)
  if found then library = answer break end
  failure = failure or answer
end
if not library then
  error(failure .. "; set GNNMG_DIR to an installed or a built tree, or add to LD_LIBRARY_PATH what " ..
        "`pkg-config --variable=libdir gnnmg` prints, or have ldconfig look there", 0)
end
local function check(status)
  if status < 0 then error(ffi.string(library.gnnmg_last_error())) end
end

local context, graph, count = ffi.new("void*[1]"), ffi.new("void*[1]"), ffi.new("int64_t[1]")
check(library.gnnmg_context_create(200, nil, context)) -- 200: GNNMG_VERSION
check(library.gnnmg_graph_generate(context[0], "rmat", nil, graph))
check(library.gnnmg_graph_num_edges(graph[0], 0, count))
print("R-MAT with " .. tonumber(count[0]) .. " edges")
library.gnnmg_graph_free(graph[0])
library.gnnmg_context_free(context[0])

// Weights to files and back.
#include "capi/arguments.h"
#include "capi/context.h"
#include "capi/model.h"
#include "io/state_file.h"

namespace gnnmg::capi {
namespace {

constexpr gnnmg_model_file_config kDefaults{sizeof(gnnmg_model_file_config),
                                            GNNMG_MODEL_FORMAT_AUTO};

bool is_pth(gnnmg_model_format format, std::string_view path) {
  check_choice(format, GNNMG_MODEL_FORMAT_AUTO, GNNMG_MODEL_FORMAT_PTH, "config.format");
  if (format != GNNMG_MODEL_FORMAT_AUTO) return format == GNNMG_MODEL_FORMAT_PTH;
  return path.ends_with(".pth") || path.ends_with(".pt");
}

std::string call_key(const char* verb, const std::string& path, bool pth) {
  return base::text(verb, pth ? " pth " : " safetensors ", path);
}

}  // namespace
}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_model_file_config_init(gnnmg_model_file_config* config, size_t struct_size) {
  return init_config(config, struct_size, kDefaults);
}

gnnmg_status gnnmg_model_save(gnnmg_model* model, const char* path,
                              const gnnmg_model_file_config* config, int64_t timeout_ms) {
  return guard([&]() -> gnnmg_status {
    const auto m = find<Model>(model, "model");
    const std::string file(read_name(path, "path"));
    const bool pth = is_pth(read_config(config, kDefaults).format, file);
    const Outcome outcome = run_held(m, "model", call_key("save", file, pth), timeout_ms, [&] {
      return start_job(m->context, [made = m->get(), file, pth]() -> Job::Result {
        const gnnmg::io::StateFile state = made->state();
        pth ? gnnmg::io::write_pth(file, state) : gnnmg::io::write_safetensors(file, state);
        return nullptr;
      });
    });
    return outcome.pending ? GNNMG_PENDING : GNNMG_OK;
  });
}

gnnmg_status gnnmg_model_load(gnnmg_model* model, const char* path,
                              const gnnmg_model_file_config* config, int64_t timeout_ms) {
  return guard([&]() -> gnnmg_status {
    const auto m = find<Model>(model, "model");
    const std::string file(read_name(path, "path"));
    const bool pth = is_pth(read_config(config, kDefaults).format, file);
    const Outcome outcome = run_held(m, "model", call_key("load", file, pth), timeout_ms, [&] {
      m->pass.reset();
      return start_job(m->context, [made = m->get(), file, pth]() -> Job::Result {
        made->load_state(pth ? gnnmg::io::read_pth(file) : gnnmg::io::read_safetensors(file));
        return nullptr;
      });
    });
    return outcome.pending ? GNNMG_PENDING : GNNMG_OK;
  });
}

}  // extern "C"

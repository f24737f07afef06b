#include "comm/join/fields.h"

#include <algorithm>

#include "comm/join/control.h"

namespace gnnmg::comm {

void write_fields(FrameWriter& out, const std::vector<Field>& fields) {
  out.u32(static_cast<uint32_t>(fields.size()));
  for (const auto& [field, value] : fields) {
    out.text(field);
    out.text(value);
  }
}

std::vector<Field> read_fields(FrameReader& in) {
  std::vector<Field> fields;
  for (uint32_t n = in.count(8); n > 0; --n) {
    std::string field = in.text();
    fields.emplace_back(std::move(field), in.text());
  }
  return fields;
}

void check_fields(const Control& control, const std::string& name,
                  const std::vector<std::vector<Field>>& all) {
  const auto find = [&](int process, const std::string& field) -> const std::string* {
    const auto found = std::ranges::find(all[process], field, &Field::first);
    return found == all[process].end() ? nullptr : &found->second;
  };
  const auto say = [&](int process, const std::string& field) {
    const std::string* value = find(process, field);
    return base::text(control.process_text(process), " has ", value ? *value : "none");
  };
  // All processes compare in the order of the fields, so all find the same difference.
  for (int p = 1; p < static_cast<int>(all.size()); ++p)
    for (const int side : {0, p})
      for (const auto& [field, value] : all[side]) {
        const std::string* other = find(side == 0 ? p : 0, field);
        if (other && *other == value) continue;
        throw base::Error(
            base::Status::kMismatch,
            base::text(name, ": ", field, " differs: ", say(p, field), ", ", say(0, field)), p);
      }
}

}  // namespace gnnmg::comm

#include "data/edge_values.h"

#include <algorithm>

#include "data/edge_attributes.h"
#include "io/bytes.h"

namespace gnnmg::data {

using base::fail;
using base::Status;

std::string in_quotes(std::string_view name) {
  return base::text('"', io::printable(name, 40), '"');
}

bool EdgeValues::is_taken(ColumnRole role) const {
  return std::find(roles_.begin(), roles_.end(), role) != roles_.end();
}

void EdgeValues::add_named(size_t column, std::string_view name) {
  std::string title = in_quotes(name);
  const ColumnRole role = role_of(name);
  auto values = is_taken(role) ? nullptr : make_edge_column(role, title);
  if (!values) return left_out_.push_back(std::move(title));
  roles_.push_back(role);
  columns_.push_back({column, std::move(values)});
}

void EdgeValues::add_unnamed(size_t column, size_t position, bool before_ends) {
  std::string title = base::text(column);
  auto values = make_edge_column(position, before_ends, title);
  if (!values) return left_out_.push_back(std::move(title));
  columns_.push_back({column, std::move(values)});
}

void EdgeValues::add(std::span<const std::string_view> fields, std::string_view attributes,
                     const TextPlace& place) {
  for (const Column& column : columns_) column.values->add(fields[column.at], place);
  if (!attributes.empty() || !attributes_.empty()) add_attributes(attributes, place);
  if (rows_++ == 0) first_line_ = place.line;
}

std::optional<std::vector<NumberShape::Value>> EdgeValues::number_columns() const {
  if (!attributes_.empty()) return std::nullopt;
  std::vector<NumberShape::Value> taken;
  for (const Column& column : columns_) {
    const auto numbers = column.values->takes();
    if (numbers == EdgeColumn::Numbers::kNone) return std::nullopt;
    taken.push_back({column.at, numbers == EdgeColumn::Numbers::kAll});
  }
  return taken;
}

void EdgeValues::finish(Found& found, EdgeNotes& notes) {
  for (std::string& title : left_out_) notes.left_out.push_back(std::move(title));
  // Attributes have names, so they go before columns that have none.
  for (const Attribute& attribute : attributes_)
    if (attribute.values) attribute.values->finish(found, notes);
  for (const Column& column : columns_) column.values->finish(found, notes);
}

void EdgeValues::add_attributes(std::string_view text, const TextPlace& place) {
  pairs_.clear();
  if (!text.empty() && !parse_attributes(text, pairs_))
    fail(Status::kFormat, place.where(), ": \"", io::printable(text),
         "\", expected attributes such as {'weight': 2.5}");
  for (const auto& [name, value] : pairs_) {
    Attribute& attribute = attribute_of(name, place);
    if (attribute.rows > rows_)
      fail(Status::kFormat, place.where(), ": the attribute ", in_quotes(name), " stands twice");
    attribute.rows = rows_ + 1;
    if (attribute.values) attribute.values->add(value, place);
  }
  for (Attribute& attribute : attributes_) {
    if (attribute.values && attribute.rows <= rows_) attribute.values->add_missing(1, place);
    attribute.rows = rows_ + 1;
  }
}

EdgeValues::Attribute& EdgeValues::attribute_of(std::string_view name, const TextPlace& place) {
  constexpr size_t kMostAttributes = 64;
  for (Attribute& attribute : attributes_)
    if (attribute.name == name) return attribute;
  if (attributes_.size() == kMostAttributes)
    fail(Status::kFormat, place.where(), ": more than ", kMostAttributes,
         " different attributes of edges");
  Attribute& made = attributes_.emplace_back();
  made.name = name;
  const ColumnRole role = role_of(name);
  if (!is_taken(role)) made.values = make_edge_column(role, in_quotes(name));
  if (!made.values) {
    left_out_.push_back(in_quotes(name));
    return made;
  }
  roles_.push_back(role);
  made.values->add_missing(rows_, TextPlace{place.file, first_line_});
  return made;
}

}  // namespace gnnmg::data

#include "comm/gloo/failure.h"

#include <cerrno>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

namespace gnnmg::comm::gloo {
namespace {

using base::Status;

// Returns status and errno of the resource that the system has refused, as the text names it.
std::pair<Status, int> refused_in(const std::string& text, Status otherwise) {
  for (const int error : {EMFILE, ENFILE})
    if (text.find(std::generic_category().message(error)) != std::string::npos)
      return {Status::kUnavailable, error};
  for (const int error : {ENOMEM, ENOBUFS, EAGAIN})
    if (text.find(std::generic_category().message(error)) != std::string::npos)
      return {Status::kNoMemory, error};
  if (text.find("allocate memory") != std::string::npos) return {Status::kNoMemory, ENOMEM};
  return {otherwise, 0};
}

}  // namespace

base::Error failure_of(const std::exception_ptr& thrown, const std::string& what, int rank,
                       Status otherwise) {
  try {
    std::rethrow_exception(thrown);
  } catch (const base::Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return {Status::kNoMemory, what + ": out of memory", rank};
  } catch (const std::system_error& error) {
    return {Status::kNoMemory,
            base::text(what, ": the system refused a resource: ", error.code().message()), rank,
            error.code().value()};
  } catch (const std::exception& error) {
    const std::string text = error.what(), line = text.substr(0, text.find('\n'));
    const auto [status, number] = refused_in(line, otherwise);
    return {status, base::text(what, ": ", line), rank, number};
  } catch (...) {
    return {otherwise, what + ": unknown error", rank};
  }
}

}  // namespace gnnmg::comm::gloo

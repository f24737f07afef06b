#include "base/give_back.h"

#include <exception>
#include <new>
#include <utility>

#include "base/error.h"
#include "base/thread_end.h"

namespace gnnmg::base {
namespace {
thread_local Log* give_back_log = nullptr;

void tell(const char* what) {
  if (give_back_log == nullptr) return;
  try {
    give_back_log->add(LogLevel::kWarning,
                       text("a deleter or release of the program's threw an exception: ", what));
  } catch (const std::bad_alloc&) {  // a lost message must not fail the call
  }
}

}  // namespace

void give_back(const std::function<void()>& work) {
  try {
    work();
  } catch (const ThreadEnd&) {
    throw;
  } catch (const std::exception& error) {
    tell(error.what());
  } catch (...) {
    tell("of unknown type");
  }
}

Log* set_give_back_log(Log* log) noexcept { return std::exchange(give_back_log, log); }

}  // namespace gnnmg::base

// Processes of a test program without the time that loading it takes: LibTorch's own set-up is 0.4
// s of CPU, which a test that starts a hundred processes would pay a hundred times. A fork server
// is the program, loaded, before its main() has done anything; for each request it forks a process
// that runs main() with the request's arguments. Such a process has its own memory, threads and
// descriptors, can be stopped and killed, and its parent is the requester.
// It ends without the destructors of static objects, except under AddressSanitizer.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace gnnmg::test {

// For main() of such a program, first of all: returns `run(argc, argv)`, in a process for each
// request where the program was started as a fork server. `run` must not depend on work done
// before.
int run_or_serve_forks(int argc, char** argv, int (*run)(int argc, char** argv));

// Starts a process of `program`, whose main() calls run_or_serve_forks(), with these arguments;
// `environment` is added to this process's, `out` and `err` are its standard output and error. The
// first call for a program starts its fork server, which ends with this process. The answer is the
// id of a child of this process, for kill() and waitpid(). Throws std::runtime_error. One thread.
pid_t fork_from_server(const std::string& program, const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment, int out, int err);

}  // namespace gnnmg::test

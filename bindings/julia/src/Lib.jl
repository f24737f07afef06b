"""
The C API as `gnnmg.h` declares it. Everything in `lib/` is written by `generate.py`; here is how the
library is found and its functions are bound, each when it is called first.
"""
module Lib

import Libdl

"Enumerations of the header: numbers with names, of which a later library may have more."
abstract type Enumeration end

include("lib/enums.jl")
include("lib/structs.jl")
include("lib/functions.jl")
include("lib/comments.jl")

const ADDRESSES = fill(C_NULL, length(FUNCTIONS))
const LIBRARY = Ref{Ptr{Cvoid}}(C_NULL)
const LOADING = ReentrantLock()

function __init__()
    fill!(ADDRESSES, C_NULL)
    LIBRARY[] = C_NULL
    return nothing
end

"The address of a function of the header."
@inline function entry(number)
    address = @inbounds ADDRESSES[number]
    return address == C_NULL ? locate(number) : address
end

# Without a lock once the library is open: finalizers call functions, too.
@noinline function locate(number)::Ptr{Cvoid}
    LIBRARY[] == C_NULL && lock(open_library, LOADING)
    address = Libdl.dlsym(LIBRARY[], FUNCTIONS[number]; throw_error = false)
    address === nothing && error("$(Libdl.dlpath(LIBRARY[])) has no function " *
                                 "$(FUNCTIONS[number]): it is older than this package")
    return ADDRESSES[number] = address
end

"The functions that were called in this process."
bound() = [name for (name, address) in zip(FUNCTIONS, ADDRESSES) if address != C_NULL]

const SONAME = "libgnnmg.so.$(HEADER_VERSION.major).$(HEADER_VERSION.minor)"
const REMEDIES = "set GNNMG_DIR to an installed or a built tree of the library, or let pkg-config " *
                 "find its gnnmg.pc (PKG_CONFIG_PATH), or add its folder to the loader's path " *
                 "(LD_LIBRARY_PATH, ldconfig)"
const FLAGS = Libdl.RTLD_NOW | Libdl.RTLD_LOCAL

function open_library()
    LIBRARY[] == C_NULL && (LIBRARY[] = opened(library_path(get(ENV, "GNNMG_DIR", ""))))
    return nothing
end

"The library at a path, refused when it is of another version than the header."
function opened(path)
    library = try
        Libdl.dlopen(path, FLAGS)
    catch failure
        error("$SONAME cannot be loaded: $(join(split(sprint(showerror, failure), '\n'), ": ")); $REMEDIES")
    end
    version = number_version(ccall(Libdl.dlsym(library, :gnnmg_version), Int32, ()))
    if (version.major, version.minor) != (HEADER_VERSION.major, HEADER_VERSION.minor)
        error("$(Libdl.dlpath(library)) is version $version, this package was made for the header " *
              "of $HEADER_VERSION: use a package and a library of one version")
    end
    return library
end

"What to open: in the tree `dir`, else where pkg-config says, else by the loader's own search."
function library_path(dir)
    if dir == ""
        folder = pkg_config_folder()
        path = joinpath(folder, SONAME)
        return folder != "" && isfile(path) ? path : SONAME
    end
    for folder in ("lib", "lib64", "lib/$(Sys.ARCH)-linux-gnu", ".")
        path = abspath(joinpath(dir, folder, SONAME))
        isfile(path) && return path
    end
    error("GNNMG_DIR is $(repr(dir)), which has no $SONAME in lib, lib64 or the folder itself; $REMEDIES")
end

function pkg_config_folder()
    program = Sys.which("pkg-config")
    program === nothing && return ""
    command = pipeline(`$program --variable=libdir gnnmg`; stderr = devnull)
    return try
        chomp(read(command, String))
    catch failure
        failure isa InterruptException && rethrow()
        ""
    end
end

"A version as the library writes one, major * 10000 + minor * 100 + patch."
number_version(number) = VersionNumber(number ÷ 10000, number ÷ 100 % 100, number % 100)
version_number(version) = Int32(10000 * version.major + 100 * version.minor + version.patch)

for name in names(@__MODULE__; all = true)
    text = string(name)
    if startswith(text, "gnnmg_") || startswith(text, "GNNMG_") || startswith(text, "DLManaged")
        @eval export $name
    end
end
export Enumeration, HEADER_VERSION, COMMENTS, choices

end

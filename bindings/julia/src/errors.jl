# Errors of the library.

"""
    GNNMGError

A call has failed. `code` says how a caller may react (`:not_found`, `:format`, `:cancelled`, ...),
`text` is one line that names argument, file or position, `rank` is the rank that failed or
`nothing`, `errno` that of a failed system call or 0. `cause` is the exception of a closure, if it
ended the call (`code` is `:callback`): `error.cause.ex`.
"""
struct GNNMGError <: Exception
    code::Symbol
    text::String
    rank::Union{Int, Nothing}
    errno::Int
    status::Int32
    cause::Union{CapturedException, Nothing}
end

function Base.showerror(io::IO, error::GNNMGError)
    print(io, "GNNMGError(:", error.code, "): ", error.text)
    if error.cause !== nothing
        print(io, "\nThe closure has thrown: ")
        showerror(io, error.cause)
    end
end

"The name of a status, of an error or a number: \"ERR_FORMAT\" and so on."
status_name(status::Integer) = unsafe_string(gnnmg_status_name(status))
status_name(error::GNNMGError) = status_name(error.status)

code_of(status) = Symbol(lowercase(replace(status_name(status), r"^ERR_" => "")))

# The library keeps the error per thread: call this before anything else can run on the thread.
function last_error(status)
    info = blank(gnnmg_error_info)
    gnnmg_last_error_info(info)
    text = unsafe_string(gnnmg_last_error())
    rank, errno = GC.@preserve info begin
        address = pointer_to(info)
        field(address, Val(:rank)), field(address, Val(:system_error))
    end
    return GNNMGError(code_of(status), text, rank < 0 ? nothing : Int(rank), Int(errno), status,
                      nothing)
end

@inline check(status) = status < 0 ? throw(last_error(status)) : status

"The version of the library."
version() = Lib.number_version(gnnmg_version())

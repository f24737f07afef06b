# Arrays that the library and Julia share.
#
# The library's arrays are row-major, Julia's column-major. A `Tensor` has the sizes of the library,
# [rows, columns], and reads the memory in place, by strides.

"""
A tensor of the library. A closed one is freed only once no call uses it and no other thread can be
reading its memory; otherwise the collector frees it.
"""
mutable struct Memory
    tensor::Ptr{gnnmg_tensor}
    bytes::Int
    open::Bool
    users::Threads.Atomic{Int} # calls that use it; CLOSED more once it is closed
    Memory(tensor) = finalizer(collected, new(tensor, 0, true, Threads.Atomic{Int}(0)))
end

const CLOSED = typemin(Int)
# The collector does not see the library's memory: it is asked to run after this many bytes.
const LEFT = Threads.Atomic{Int}(0)
const MUCH_LEFT = 64 << 20

function collected(memory::Memory)
    tensor = memory.tensor
    memory.tensor = C_NULL
    tensor == C_NULL || gnnmg_tensor_free(tensor)
    return nothing
end

function Base.close(memory::Memory)
    memory.open = false
    count = memory.users[]
    while count >= 0
        found = Threads.atomic_cas!(memory.users, count, count + CLOSED)
        if found == count
            count == 0 && let_go(memory) && left_to_collector(memory.bytes)
            return nothing
        end
        count = found
    end
end

"Frees what nobody has any more, unless another thread might be reading it, which is the answer."
function let_go(memory::Memory)
    several_threads() && return true
    collected(memory)
    return false
end

function left_to_collector(bytes)
    if Threads.atomic_add!(LEFT, bytes) + bytes > MUCH_LEFT
        LEFT[] = 0
        GC.gc(false)
    end
end

function hold(memory::Memory)
    count = memory.users[]
    while true
        count < 0 && closed()
        found = Threads.atomic_cas!(memory.users, count, count + 1)
        found == count && return nothing
        count = found
    end
end

function unhold(memory::Memory)
    Threads.atomic_sub!(memory.users, 1) == CLOSED + 1 && let_go(memory)
    return nothing
end

"Calls `f()` while nobody can take the memory away."
function holding(f, memory::Memory)
    hold(memory)
    try
        return f()
    finally
        unhold(memory)
    end
end

"""
    Tensor{T, N} <: AbstractArray{T, N}

An array in the memory of the library, without a copy: features of a mini-batch, weights of a model.
It keeps its memory alive, even if everything else is closed, until it is collected or closed
itself.
Rows come first, `x[row, column]`, and lie beside each other in memory: `strides(x) == (columns, 1)`.
`reversedims(x)` is the same memory as Julia lays out arrays, `Array(x)` an ordinary copy. Writing to
one that is shared is a `ReadOnlyMemoryError`; `iswritable(x)` tells.
"""
struct Tensor{T, N} <: AbstractArray{T, N}
    data::Ptr{T}
    size::NTuple{N, Int}
    strides::NTuple{N, Int}
    writable::Bool
    memory::Memory
end

"""
    GpuTensor{T, N}

An array in the memory of a GPU, from a model or a mini-batch there. It has a `size`, an `eltype`
and a `length`, and [`gpu`](@ref) returns its GPU; [`host`](@ref) reads its elements. Functions that
take tensors of the caller take it too. It keeps its memory alive until it is collected or closed.
"""
struct GpuTensor{T, N}
    size::NTuple{N, Int}
    gpu::Int
    writable::Bool
    memory::Memory
end

Base.size(x::GpuTensor) = x.size
Base.size(x::GpuTensor, i::Integer) = i <= length(x.size) ? x.size[i] : 1
Base.ndims(::GpuTensor{T, N}) where {T, N} = N
Base.length(x::GpuTensor) = prod(x.size)
Base.eltype(::Type{<:GpuTensor{T}}) where {T} = T
Base.isopen(x::GpuTensor) = x.memory.open
Base.close(x::GpuTensor) = close(x.memory)
Base.show(io::IO, x::GpuTensor{T}) where {T} = print(io, join(x.size, '×'), " GpuTensor{", T, "} on GPU ", x.gpu)

"The upper half of a Float32, which is what the library calls bf16."
struct BFloat16
    bits::UInt16
end
Base.Float32(x::BFloat16) = reinterpret(Float32, UInt32(x.bits) << 16)
Base.convert(::Type{T}, x::BFloat16) where {T <: AbstractFloat} = T(Float32(x))
function Base.convert(::Type{BFloat16}, x::Real)
    bits = reinterpret(UInt32, Float32(x))
    isnan(x) && return BFloat16(UInt16(bits >> 16) | 0x0040)
    return BFloat16(UInt16((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)) # rounds to nearest, ties to even
end
Base.zero(::Type{BFloat16}) = BFloat16(0x0000)
Base.show(io::IO, x::BFloat16) = print(io, "BFloat16(", Float32(x), ")")

const ELEMENTS = (f32 = Float32, f64 = Float64, f16 = Float16, bf16 = BFloat16, i64 = Int64,
                  i32 = Int32, u8 = UInt8, bool = Bool)

for (name, T) in pairs(ELEMENTS)
    @eval dtype(::Type{$T}) = $(convert(gnnmg_dtype, name))
end
function dtype(::Type{T}) where {T}
    throw(ArgumentError("elements of $T: expected one of $(join(values(ELEMENTS), ", "))"))
end

# ---- out of the library

"The tensor that a call fills in: `f(out)`."
function tensor(f)
    out = Ref{Ptr{gnnmg_tensor}}(C_NULL)
    check(f(out))
    return taken(out[])
end

"Several at once; `nothing` for those that there are not."
function tensors(f, count)
    outs = [Ref{Ptr{gnnmg_tensor}}(C_NULL) for _ in 1:count]
    check(f(outs...))
    return map(out -> out[] == C_NULL ? nothing : taken(out[]), Tuple(outs))
end

function taken(pointer)
    memory = Memory(pointer)
    info = blank(gnnmg_tensor_info)
    check(gnnmg_tensor_get_info(pointer, info))
    found = info[]
    sizes = ntuple(i -> Int(found.shape[i]), Int(found.num_dims))
    T = ELEMENTS[Symbol(found.dtype)]
    memory.bytes = sizeof(T) * found.num_elements
    if found.device_type == 2 # DLPack's number of GPUs
        return GpuTensor{T, length(sizes)}(sizes, Int(found.device_index), found.read_only == 0, memory)
    end
    return viewed(T, found.data, sizes, found.read_only == 0, memory)
end

function viewed(::Type{T}, data, sizes::NTuple{N, Int}, writable, memory) where {T, N}
    return Tensor{T, N}(Ptr{T}(data), sizes, row_strides(sizes), writable, memory)
end

row_strides(sizes::NTuple{N, Int}) where {N} = ntuple(i -> foldl(*, sizes[(i + 1):N]; init = 1), N)

"""
    from_dlpack(pointer)

A tensor of another library in its memory, without a copy: `pointer` is the address of a
`DLManagedTensorVersioned` of DLPack 1.x. The library calls its deleter later; on an error the tensor
stays the caller's. C: `gnnmg_tensor_from_dlpack`
"""
from_dlpack(pointer::Ptr) = tensor(out -> gnnmg_tensor_from_dlpack(pointer, out))

"""
    to_dlpack(tensor)

A tensor for another library in the same memory, without a copy: the address of a
`DLManagedTensorVersioned` of DLPack 1.x, whose deleter that library calls. The memory lives until
then. C: `gnnmg_tensor_to_dlpack`
"""
function to_dlpack(x::Union{Tensor, GpuTensor})
    out = Ref{Ptr{DLManagedTensorVersioned}}(C_NULL)
    filling(have -> check(gnnmg_tensor_to_dlpack(have, out)), x)
    return Ptr{Cvoid}(out[])
end

# ---- as an array

Base.size(x::Tensor) = x.size
Base.strides(x::Tensor) = x.strides
Base.stride(x::Tensor{T, N}, i::Integer) where {T, N} = i <= N ? x.strides[i] : length(x)
Base.elsize(::Type{<:Tensor{T}}) where {T} = sizeof(T)
Base.IndexStyle(::Type{<:Tensor{T, 1}}) where {T} = IndexLinear()
Base.iswritable(x::Tensor) = x.writable
Base.isopen(x::Tensor) = x.memory.open

"""
Gives the memory back: now, or, where other threads could be reading the array, at the next collection.
Reading it afterwards is an error.
"""
Base.close(x::Tensor) = close(x.memory)

@noinline closed() = throw(GNNMGError(:handle, "this tensor is closed", nothing, 0,
                                      GNNMG_ERR_HANDLE, nothing))
@noinline shared() = throw(ReadOnlyMemoryError())

@inline function address(x::Tensor{T, N}, index::NTuple{N, Int}) where {T, N}
    isopen(x) || closed()
    offset = 0
    for i in 1:N
        offset += (index[i] - 1) * x.strides[i]
    end
    return x.data + offset * sizeof(T)
end

@inline function Base.getindex(x::Tensor{T, N}, index::Vararg{Int, N}) where {T, N}
    @boundscheck checkbounds(x, index...)
    memory = x.memory
    return GC.@preserve memory unsafe_load(address(x, index))
end

@inline function Base.setindex!(x::Tensor{T, N}, value, index::Vararg{Int, N}) where {T, N}
    @boundscheck checkbounds(x, index...)
    x.writable || shared()
    memory = x.memory
    GC.@preserve memory unsafe_store!(address(x, index), convert(T, value))
    return x
end

# Copies a whole array in memory order, instead of one element after the other.
function Base.copyto!(into::Array{T, N}, x::Tensor{T, N}) where {T, N}
    size(into) == x.size || return invoke(copyto!, Tuple{AbstractArray, AbstractArray}, into, x)
    isopen(x) || closed()
    isempty(x) && return into
    memory = x.memory
    GC.@preserve memory into begin
        if N > 1 && x.strides == row_strides(x.size)
            permutedims!(into, unsafe_wrap(Array, x.data, reverse(x.size)), ntuple(i -> N + 1 - i, N))
        else
            unsafe_copyto!(pointer(into), x.data, length(x))
        end
    end
    return into
end

function Base.unsafe_convert(::Type{Ptr{T}}, x::Tensor{T}) where {T}
    isopen(x) || closed()
    return x.data
end

"""
    reversedims(x::Tensor)

The same memory with the dimensions in reverse order: of rows `[n, d]` that lie one after another, the
array `(d, n)` whose columns do, as in an `Array` of Julia. Nothing is copied.
"""
function reversedims(x::Tensor{T, N}) where {T, N}
    return Tensor{T, N}(x.data, reverse(x.size), reverse(x.strides), x.writable, x.memory)
end

# ---- into the library

is_row_major(x::AbstractArray) = false
is_row_major(x::Array) = ndims(x) <= 1
is_row_major(x::PermutedDimsArray{T, N, P, Q, <:Array}) where {T, N, P, Q} = P == Tuple(N:-1:1)
is_row_major(x::Tensor{T, N}) where {T, N} = x.strides == row_strides(x.size)

"The array if its elements lie row by row, else a copy of which that is so."
function row_major(x::AbstractArray{T, N}) where {T, N}
    dtype(T)
    is_row_major(x) && return x
    N <= 1 && return Array(x)
    rows = PermutedDimsArray(Array{T, N}(undef, reverse(size(x))), ntuple(i -> N + 1 - i, N))
    rows .= x
    return rows
end

data_of(x::Array) = Ptr{Cvoid}(pointer(x))
data_of(x::PermutedDimsArray) = data_of(parent(x))
data_of(x::Tensor) = Ptr{Cvoid}(Base.unsafe_convert(Ptr{eltype(x)}, x))

shape(x) = collect(Int64, size(x))

held(f, x::Tensor) = holding(f, x.memory)
held(f, x) = f()

"A tensor `[rows, columns]` around an array for a call that reads it: `f(pointer)`."
function reading(f, x::AbstractArray)
    rows = row_major(x)
    rows isa Tensor && return filling(f, rows)
    return with_memory(f, rows, data_of(rows), shape(rows))
end

reading(f, ::Nothing) = f(C_NULL)

reading(f, x::GpuTensor) = filling(f, x)

"""
The same for a call that fills it in place. An array in Julia's order is one with its dimensions
reversed for the library; nothing is copied.
"""
function filling(f, x::Array)
    sizes = ndims(x) <= 4 ? reverse(shape(x)) : [length(x)]
    return with_memory(f, x, pointer(x), sizes)
end

function filling(f, x::Union{Tensor, GpuTensor})
    return holding(() -> f(x.memory.tensor), x.memory)
end

function filling(f, x)
    throw(ArgumentError("$(typeof(x)): expected an Array or a Tensor, which this call can fill"))
end

"""
    gpu(tensor)

The number of the GPU that a tensor lies on, as [`devices`](@ref) numbers them from 0; `nothing` for
main memory.
"""
gpu(x::GpuTensor) = x.gpu
gpu(::AbstractArray) = nothing

function with_memory(f, x, data, sizes)
    memory = Memory(created(data, dtype(eltype(x)), sizes, C_NULL, C_NULL))
    try
        return GC.@preserve x f(memory.tensor)
    finally
        collected(memory)
    end
end

function created(data, type, sizes, release, user_data)
    out = Ref{Ptr{gnnmg_tensor}}(C_NULL)
    check(gnnmg_tensor_create(data, type, length(sizes), sizes, release, user_data, out))
    return out[]
end

"""
Tensors that a call keeps, each around an array that lies row by row: `f(pointers...)`. The
library gives them back when it needs them no more; `release()` is then called for each.
"""
function given(f, arrays, release)
    foreach(given_check, arrays)
    pointers = Ptr{gnnmg_tensor}[]
    try
        for x in arrays
            push!(pointers, x === nothing ? C_NULL : wrapped(x, release))
        end
        check(f(pointers...))
        return nothing
    finally
        foreach(gnnmg_tensor_free, pointers) # nothing for those that the library took
    end
end

"""
Tensors that a call copies: `f(pointers...)`. Without a release the library does not learn when their
memory is gone, so it keeps none of it.
"""
function copied(f, arrays)
    rows = map(x -> x === nothing ? nothing : row_major(x), arrays)
    pointers = Ptr{gnnmg_tensor}[]
    try
        for x in rows
            push!(pointers, x === nothing ? C_NULL :
                            held(() -> created(data_of(x), dtype(eltype(x)), shape(x), C_NULL, C_NULL), x))
        end
        GC.@preserve rows all_held(() -> check(f(pointers...)), rows...)
        return nothing
    finally
        foreach(gnnmg_tensor_free, pointers) # nothing for those that the library took
    end
end
all_held(f) = f()
all_held(f, x, rest...) = held(() -> all_held(f, rest...), x)

given_check(::Nothing) = nothing
function given_check(x::AbstractArray)
    dtype(eltype(x))
    is_row_major(x) && return nothing
    ndims(x) <= 1 && throw(ArgumentError("$(typeof(x)): expected a Vector or a Tensor"))
    throw(ArgumentError("$(typeof(x)) does not lie row by row: pass a PermutedDimsArray of an Array " *
                        "whose columns are the rows, or use the function that copies"))
end

function wrapped(x::Tensor, release)
    hold(x.memory)
    return rooted(x, keep(x, () -> (unhold(x.memory); release === nothing || release())))
end
wrapped(x, release) = rooted(x, keep(unresizable(x), release))

# A vector whose memory another array shares cannot be resized, because resizing would move it.
unresizable(x::Vector) = reshape(x, length(x), 1)
unresizable(x::PermutedDimsArray) = unresizable(parent(x))
unresizable(x) = x

function rooted(x, root)
    return created(data_of(x), dtype(eltype(x)), shape(x), ON_RELEASE[], pointer_from_objref(root))
end

# Objects of the library. Each has a token, which is freed when it is closed or collected.

"""
An object of the library. `close` frees it; otherwise the garbage collector does, at any time and in
any order: an object lives as long as another one needs it. After `close` every call on it is a
`GNNMGError` with the code `:handle`, also on other threads.
"""
abstract type Object{T} end

# Objects are passed to calls unchanged, and ccall keeps them from being collected in the meantime.
Base.unsafe_convert(::Type{Ptr{T}}, object::Object{T}) where {T} = object.token

# The token of a closed object: no object of the library has it, and it is not NULL, which stands
# for an omitted object.
closed_token(::Object{T}) where {T} = Ptr{T}(UInt(1))

function Base.close(object::Object)
    has_texts(object) ? lock(() -> collected(object), TEXTS) : collected(object)
    return nothing
end

# Runs in finalizers, so it must not wait for a lock; no call can be reading texts of the object any
# more.
function collected(object::Object)
    token = object.token
    object.token = closed_token(object)
    token == C_NULL || token == closed_token(object) || free(token)
    return nothing
end

# Some texts belong to an object: no task may close it until they are copied.
const TEXTS = ReentrantLock()
has_texts(::Object) = false

"Calls `f(out)`, which puts a text there, and copies it."
function copied_text(f)
    out = Ref{Cstring}(C_NULL)
    return lock(TEXTS) do
        check(f(out))
        unsafe_string(out[])
    end
end

Base.isopen(object::Object) = object.token != C_NULL && object.token != closed_token(object)

"""
    closing(f, object)

Calls `f(object)` and closes the object, whatever happens:

```julia
closing(Loader(data, sampler)) do loader
    for batch in loader
        ...
    end
end
```
"""
function closing(f, object)
    try
        return f(object)
    finally
        close(object)
    end
end

"The object whose token a call fills in: `f(out)`."
function make(f, ::Type{O}) where {T, O <: Object{T}}
    out = Ref{Ptr{T}}(C_NULL)
    check(f(out))
    return O(out[])
end

"A number that a call fills in."
function number(::Type{T}, f, arguments::Vararg{Any, N}) where {T, N}
    out = Ref{T}(zero(T))
    check(f(arguments..., out))
    return out[]
end

"""
The texts that `call(index, text)` returns one by one, each with the result of `also`.
"""
function listed(call, also = () -> nothing)
    found = []
    out = Ref{Cstring}(C_NULL)
    lock(TEXTS) do
        while check(call(length(found), out)) == GNNMG_OK
            push!(found, (unsafe_string(out[]), also()))
        end
    end
    return found
end

"A text that a call writes into a buffer: `call(text, capacity, needed)`."
function text_of(call)
    needed = Ref{Csize_t}(0)
    check(call(C_NULL, 0, needed))
    while true
        buffer = Vector{UInt8}(undef, needed[])
        check(call(buffer, length(buffer), needed))
        needed[] <= length(buffer) && return String(buffer[1:max(needed[], 1) - 1])
    end
end

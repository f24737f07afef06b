# Settings as keywords, facts as named tuples.

pointer_to(ref::Base.RefValue{T}) where {T} = Base.unsafe_convert(Ptr{T}, ref)

@inline function field(address::Ptr{T}, ::Val{name}) where {T, name}
    i = Base.fieldindex(T, name)
    return unsafe_load(Ptr{fieldtype(T, i)}(address + fieldoffset(T, i)))
end

"A struct for the library to fill: zeros, and its size."
function blank(::Type{T}) where {T}
    ref = Ref{T}()
    GC.@preserve ref begin
        address = pointer_to(ref)
        ccall(:memset, Ptr{Cvoid}, (Ptr{Cvoid}, Cint, Csize_t), address, 0, sizeof(T))
        unsafe_store!(Ptr{UInt32}(address), UInt32(sizeof(T)))
    end
    return ref
end

hidden(name) = name === :struct_size || occursin(r"^(padding|reserved)\d*$", string(name))

# ---- enumerations: symbols, or numbers that a later library knows

function Base.Symbol(value::E) where {E <: Enumeration}
    number = reinterpret(Int32, value)
    for (name, known) in choices(E)
        known == number && return name
    end
    return Symbol("value_", number)
end

function Base.convert(::Type{E}, name::Symbol) where {E <: Enumeration}
    for (known, number) in choices(E)
        known === name && return reinterpret(E, Int32(number))
    end
    title = replace(string(nameof(E)), "gnnmg_" => "")
    throw(ArgumentError("$title: expected one of the Symbols :$(join(map(first, choices(E)), ", :")), found :$name"))
end

Base.convert(::Type{E}, name::AbstractString) where {E <: Enumeration} = convert(E, Symbol(name))

Base.convert(::Type{E}, number::Integer) where {E <: Enumeration} = reinterpret(E, Int32(number))
Base.show(io::IO, value::Enumeration) = print(io, ':', Symbol(value))

# ---- settings

"""
The keywords of a call as a text of settings, which the library checks: `name=value name=value`.
"""
settings_text(settings) = join(("$name=$(word(value))" for (name, value) in pairs(settings)), ' ')

word(value) = word(string(value))
word(value::Bool) = value ? "1" : "0"
word(::Nothing) = "none"
word(list::Union{AbstractVector, Tuple}) = isempty(list) ? "none" : join(map(word, list), ',')
word(value::Enumeration) = string(Symbol(value))
function word(value::Union{AbstractFloat, Rational})
    number = Float64(value) # integers may be written as floats
    return isinteger(number) && abs(number) < maxintfloat() ? string(Int64(number)) : string(number)
end
function word(value::AbstractString)
    any(c -> isspace(c) || c in ('"', '\\'), value) || return value
    return "\"" * replace(replace(value, "\\" => "\\\\"), "\"" => "\\\"") * "\""
end

"A config, of which 0 is the default in every field, with the keywords of a call."
function configure(::Type{T}, settings) where {T}
    config = blank(T)
    for (name, value) in settings
        set!(config, name, value)
    end
    return config
end

function set!(config::Base.RefValue{T}, name, value) where {T}
    if !hasfield(T, name) || hidden(name)
        known = join(filter(!hidden, collect(fieldnames(T))), ", ")
        throw(ArgumentError("there is no setting $name; there are $known"))
    end
    i = Base.fieldindex(T, name)
    kind = fieldtype(T, i)
    converted = setting(kind, name, value)
    GC.@preserve config unsafe_store!(Ptr{kind}(pointer_to(config) + fieldoffset(T, i)), converted)
    return nothing
end

setting(::Type{E}, name, value) where {E <: Enumeration} = convert(E, value)

function setting(::Type{T}, name, value) where {T <: Number}
    value isa Number || throw(ArgumentError("$name: expected a number, found $(repr(value))"))
    return try
        convert(T, value)
    catch
        throw(ArgumentError("$name: expected a number that fits $T, found $value"))
    end
end

# ---- facts

const FLAGS = (:read_only, :evaluating, :has_validation, :best, :last_of_step,
               :sparse_features, :fits, :bounded, :hotness)

fact(value) = value
fact(value::Union{Int32, UInt64}) = Int(value)
fact(value::Enumeration) = Symbol(value)
fact(value::gnnmg_times) = facts(value)
fact(value::Ptr{gnnmg_metrics}) = value == C_NULL ? nothing : facts(unsafe_load(value))

"The fields of a struct of the library's, as a named tuple."
@generated function facts(info::T) where {T}
    names = filter(!hidden, collect(fieldnames(T)))
    values = [name in FLAGS ? :(info.$name != 0) : :(fact(info.$name)) for name in names]
    return :(NamedTuple{$(Tuple(names))}(($(values...),)))
end

"What a property function fills, asked of an object."
function ask(f, ::Type{T}, arguments...) where {T}
    info = blank(T)
    check(f(arguments..., info))
    return facts(info[])
end

"The library's words on the fields of a struct, or on the settings of a subject, for docstrings."
fields_of(::Type{T}) where {T} = fields_of(nameof(T))
fields_of(name) = join(("- `$field`: $(quoted(text))" for (field, text) in COMMENTS[name]), "\n")

# Names with underlines as code: Markdown takes these for emphasis.
function quoted(text)
    pieces = split(text, '`')
    pieces[1:2:end] = replace.(pieces[1:2:end], r"\w+_\w+(\(\))?" => s"`\0`")
    return join(pieces, '`')
end

# Calls every exported function with bad arguments, on valid objects and on closed ones: it returns
# or throws, and never crashes or waits for ever.

hostile(::Type{T}, kind) where {T <: AbstractString} = ("", "a\0b", "x"^65536)[kind]
hostile(::Type{T}, kind) where {T <: Integer} = (-1, typemin(Int), typemax(Int))[kind]
hostile(::Type{Number}, kind) = (NaN, -1, 1e300)[kind]
hostile(::Type{Real}, kind) = (NaN, -1, 1e300)[kind]
hostile(::Type{AbstractVector}, kind) = (Int[], [-1, typemax(Int)], [NaN, 1.0, 2.0])[kind]
hostile(::Type{AbstractArray}, kind) = (zeros(0, 0), fill(NaN, 2, 2), zeros(1, 1, 1, 1, 1))[kind]
hostile(::Type{GNNMG.Sink}, kind) = GNNMG.Sink(Ptr{GNNMG.gnnmg_sink}(UInt(12345 * kind)))
hostile(::Type{Any}, kind) = (nothing, (_...) -> error("in a closure"), "a\0b")[kind]
hostile(T::Union, kind) = Nothing <: T ? nothing : hostile(T.a, kind)
function hostile(T, kind)
    T isa UnionAll || return missing
    wrapper = Base.unwrap_unionall(T).name.wrapper
    return wrapper === T ? missing : hostile(wrapper, kind) # the latter of parametric types alone, as tensors on GPUs
end

function one_of_each()
    world = small_world(60)
    loader, optimizer, comm = Loader(world.data, world.sampler), Optimizer(Model(world.context, world.data)), comm_group(world.context, 2; deadline_ms = 50)[1]
    isdir("parts") || save_parts(world.data, "parts"; fanouts = nothing)
    server = Server(world.context, "parts", "127.0.0.1:0")
    predictor = Predictor(world.model, world.data)
    all = Any[world..., server, predictor, loader, next!(loader), optimizer, comm, small_trainer(world), node_tensor(world.graph, "x")]
    return Dict(typeof(object).name.wrapper => object for object in all)
end

function calls_of(name, objects, kind)
    calls = []
    f = getfield(GNNMG, name)
    (f isa Function || f isa Type) || return calls
    for method in methods(f)
        method.module === GNNMG && !method.isva || continue
        types = collect(Any, Base.unwrap_unionall(method.sig).parameters)[2:end]
        arguments = map(types) do T
            T = T isa TypeVar ? T.ub : T
            T isa DataType && haskey(objects, T.name.wrapper) ? objects[T.name.wrapper] : hostile(T, kind)
        end
        any(ismissing, arguments) && continue # the inside of the package
        settings = :timeout in Base.kwarg_decl(method) ? (timeout = 0.02,) : NamedTuple()
        push!(calls, () -> f(arguments...; settings...))
    end
    return calls
end

made = Ref(0)
function sweep(objects, kind)
    for name in setdiff(names(GNNMG), (:lend,)) # `lend` waits until it is told to end
        for call in calls_of(name, objects, kind)
            made[] += 1
            try
                result = Base.invokelatest(call)
                result isa GNNMG.Object && !(any(o -> o === result, Base.values(objects))) && close(result)
            catch problem
                problem isa Union{InterruptException, OutOfMemoryError, StackOverflowError} && rethrow()
            end
        end
    end
end

in_folder() do folder
    foreach(kind -> sweep(one_of_each(), kind), 1:3)
    closed = one_of_each()
    foreach(close, Base.values(closed))
    sweep(closed, 2)
    GC.gc()
end
@test made[] > 500

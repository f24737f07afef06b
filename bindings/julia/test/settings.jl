context = Context(; num_threads = 1)

# Enumerations are symbols, or numbers that a later library may know.
@test Symbol(convert(GNNMG.gnnmg_split, :test)) == :test
@test Symbol(convert(GNNMG.gnnmg_split, 77)) == :value_77
@test sprint(show, convert(GNNMG.gnnmg_task, :binary)) == ":binary"
@test_throws ArgumentError convert(GNNMG.gnnmg_split, :tests)

# Errors name the wrong setting.
text_of_error(f) = try f(); "" catch error; sprint(showerror, error) end
@test occursin("there is no setting nodes", text_of_error(() -> planted_partition(context; nodes = 3)))
@test occursin("num_nodes", text_of_error(() -> planted_partition(context; nodes = 3)))
@test !occursin("struct_size", text_of_error(() -> planted_partition(context; nodes = 3)))
@test occursin("num_nodes: expected a number", text_of_error(() -> rmat(context; scale = "big")) *
                                               text_of_error(() -> erdos_renyi(context; num_nodes = "many")))
@test occursin("seed", text_of_error(() -> planted_partition(context; seed = -1)))
@test occursin("fits Int32", text_of_error(() -> rmat(context; scale = 2.5)))
_, graph = ring(6; context = context)
@test occursin("at most 16 entries, found 17", text_of_error(() -> Sampler(graph; fanouts = ones(Int, 17))))
@test occursin("expected a list", text_of_error(() -> Sampler(graph; fanouts = 3)))
@test occursin("expected one of :once, :every_layer",
               text_of_error(() -> Sampler(graph; expansion = :twice)))
failure_of(() -> planted_partition(context; num_nodes = -5), :invalid_argument, "num_nodes")

# Every config begins with the library's defaults, and every field of one can be set.
lib = GNNMG.Lib
for name in lib.FUNCTIONS
    occursin(r"_config_init$", string(name)) || continue
    T = getfield(lib, Symbol(string(name)[1:(end - 5)]))
    init = getfield(lib, name)
    config = GNNMG.configure(T, init, pairs(NamedTuple()))[]
    @test config.struct_size == sizeof(T)
    @test all(i -> startswith(string(fieldname(T, i)), r"padding|reserved") ||
                   haskey(Dict(lib.COMMENTS[nameof(T)]), fieldname(T, i)), 2:fieldcount(T))
    again = pairs(Dict(field => getfield(config, field) for field in fieldnames(T)
                       if !GNNMG.hidden(field) && !(getfield(config, field) isa NTuple{36, UInt8})))
    @test GNNMG.configure(T, init, again)[] === config
    @test init(Ref{T}(), 0) < 0
end
@test Sampler(graph; fanouts = [-1, -1, 2]) |> num_layers == 3

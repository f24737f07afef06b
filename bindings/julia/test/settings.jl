context = Context(; num_threads = 1)

# Enumerations are symbols, or numbers that a later library may know.
@test Symbol(convert(GNNMG.gnnmg_part, :test)) == :test
@test Symbol(convert(GNNMG.gnnmg_part, 77)) == :value_77
@test sprint(show, convert(GNNMG.gnnmg_task, :binary)) == ":binary"
@test_throws ArgumentError convert(GNNMG.gnnmg_part, :tests)

# Settings are written as the library reads them.
text(; settings...) = GNNMG.settings_text(settings)
@test text() == ""
@test text(heads = 8, bias = false, architecture = :gat) == "heads=8 bias=0 architecture=gat"
@test text(fanouts = [10, -1], scalers = (:linear, :identity)) == "fanouts=10,-1 scalers=linear,identity"
@test text(dropout = 0.1, momentum = 1 // 3, alpha = 0.5f0) == "dropout=0.1 momentum=0.3333333333333333 alpha=0.5"
@test text(num_epochs = 1e6, seed = typemax(UInt64)) == "num_epochs=1000000 seed=18446744073709551615"
@test text(task = Symbol("a b"), seed = BigInt(2)^70) == "task=\"a b\" seed=1180591620717411303424"
@test text(learning_rate = 1e300, epsilon = Inf) == "learning_rate=1.0e300 epsilon=Inf"
@test text(dict = "model", first_layer = "my \"first\" layer") == "dict=model first_layer=\"my \\\"first\\\" layer\""
@test text(dict = "a\tb=1", task = convert(GNNMG.gnnmg_task, :binary), fanouts = nothing) ==
      "dict=\"a\tb=1\" task=binary fanouts=none"

# The library's errors name the wrong setting, and those that exist.
_, graph = ring(6; context = context)
failure_of(() -> generate(context, :planted; nodes = 3), :invalid_argument, "num_nodes")
failure_of(() -> generate(context, :rmat; scale = "big"), :invalid_argument, "scale=big")
failure_of(() -> generate(context, :rmat; scale = 2.5), :invalid_argument, "scale=2.5")
failure_of(() -> generate(context, :planted; seed = -1), :invalid_argument, "seed=-1")
failure_of(() -> generate(context, :planted; num_nodes = -5), :invalid_argument, "num_nodes=-5")
failure_of(() -> generate(context, :planet), :not_found, "planted")
failure_of(() -> Sampler(graph; fanouts = ones(Int, 17)), :invalid_argument, "at most 16")
failure_of(() -> Sampler(graph; fanouts = Int[]), :invalid_argument, "fanouts")
failure_of(() -> Sampler(graph; expansion = :twice), :invalid_argument, "once, every_layer")
@test Sampler(graph; fanouts = [-1, -1, 2]) |> num_layers == 3

# Configs without names for their settings are checked here.
text_of_error(f) = try f(); "" catch error; sprint(showerror, error) end
@test occursin("there is no setting threads; there are num_threads", text_of_error(() -> Context(; threads = 3)))
@test !occursin("struct_size", text_of_error(() -> Context(; threads = 3)))
@test occursin("num_threads: expected a number", text_of_error(() -> Context(; num_threads = "many")))
@test occursin("fits Int32", text_of_error(() -> Context(; num_threads = 2.5)))
failure_of(() -> Context(; num_threads = -5), :invalid_argument, "num_threads")

# The docstrings tell of every setting, with the library's default.
for subject in (:dataset, :split, :folds, :parts, :served, :sampler, :loader, :model, :norm, :model_file, :optimizer,
                :trainer, :predictor, :planted, :log_normal, :rmat, :erdos_renyi)
    told = [name for (name, _) in GNNMG.COMMENTS[subject]]
    known = settings_of(subject)
    @test [first(split(name, " = ")) for name in told] == [setting.name for setting in known]
    for (name, setting) in zip(told, known)
        setting.type in (:integer, :number) && @test endswith(name, " = " * setting.default)
        @test !isempty(setting.help)
    end
end
failure_of(() -> settings_of(:colors), :not_found, "colors")

# Shared tools of the tests.
import Sockets

const HEADER = joinpath(@__DIR__, "..", "..", "..", "include", "gnnmg.h")

"The error of `f`, which must be one of the library's with this code, and with this in its text."
function failure_of(f, code, text = "")
    try
        f()
    catch error
        error isa GNNMGError || rethrow()
        @test error.code == code
        @test occursin(text, error.text)
        @test !isempty(error.text)
        return error
    end
    @test "no error" == code
    return nothing
end

"A port that nobody listens on."
function free_port()
    while true
        port = rand(20000:29999)
        server = try
            Sockets.listen(port)
        catch
            continue
        end
        close(server)
        return port
    end
end

"Whether something becomes true, with the collector's help, within half a minute."
function comes_true(f)
    for round in 1:600
        f() && return true
        round % 20 == 1 && GC.gc()
        sleep(0.05)
    end
    return false
end

"Lets go of what the tests have left in global variables."
function forget_globals()
    for name in names(Main; all = true)
        (isdefined(Main, name) && !isconst(Main, name)) || continue
        Core.eval(Main, :($name = nothing))
    end
end

"A ring of `n` nodes with features and classes: `(context, graph)`."
function ring(n; context = Context(; num_threads = 1))
    graph = Graph(context, n, collect(0:(n - 1)), [1:(n - 1); 0])
    set_node_tensor!(graph, "x", Float32[i + 0.1j for i in 0:(n - 1), j in 0:2])
    set_node_tensor!(graph, "y", collect(0:(n - 1)) .% 2)
    return context, graph
end

"A small generated graph with all that hangs on it."
function small_world(nodes = 400)
    context = Context(; num_threads = 1)
    data = Dataset(context, :planted; num_nodes = nodes, num_classes = 3, num_features = 8, mean_degree = 6)
    graph = Graph(data)
    sampler = Sampler(graph; fanouts = (5, 3))
    model = Model(context, data; hidden_dim = 16)
    return (context = context, graph = graph, data = data, sampler = sampler, model = model)
end

function small_trainer(world; settings...)
    return Trainer(world.model, world.data, world.sampler;
                   merge((batch_size = 64, num_epochs = 3), values(settings))...)
end

in_folder(f) = mktempdir(folder -> cd(() -> f(folder), folder))

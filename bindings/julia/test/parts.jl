# Data sets in parts: a process has some of them, or asks servers for all.

world = small_world(300)

mini_batch(data) = closing(Sampler(Graph(data); fanouts = (5, 3))) do sampler
    batch = sample(sampler, [3, 17, 299]; dataset = data, seed = 1)
    return (collect(node_ids(batch)), collect(features(batch)))
end

# Loss and accuracy on the test part after a training, by exact evaluation.
function test_metrics(data)
    model = Model(world.context, data; hidden_dim = 16)
    trainer = Trainer(model, data, Sampler(Graph(data); fanouts = (5, 3)); batch_size = 64, num_epochs = 2,
                      num_ranks = 1, deterministic = true, torch_threads = 1)
    train!(trainer)
    metrics = evaluate(trainer, :test)
    return (metrics.loss, metrics.accuracy)
end

# Starts a server and returns its address; nothing without gRPC, which is an error under continuous
# integration.
function started(server)
    try
        start!(server)
    catch failure
        failure isa GNNMGError && failure.code == :dependency && get(ENV, "CI", "") != "true" || rethrow()
        return nothing
    end
    return "127.0.0.1:$(info(server).port)"
end

in_folder() do folder
    save_parts(world.data, "parts"; num_parts = 3, fanouts = [5, 3], batch_size = 32)
    whole = Dataset(world.context, "parts")

    # A share of the parts works like the whole.
    share = open_parts(world.context, "parts"; cache_bytes = 1 << 20)
    facts = parts_info(share)
    @test facts.own_parts == 3 && facts.kept_rows == 0
    @test mini_batch(share) == mini_batch(world.data)
    @test test_metrics(share) == test_metrics(whole)
    answer = pending
    while answer === pending
        answer = open_parts(world.context, "parts"; timeout = 0.001)
    end
    @test info(answer) == info(share)

    # Calls that need the whole graph in one process.
    failure_of(() -> node_tensor(Graph(share), "x"), :unsupported, "a tensor of all nodes")
    failure_of(() -> save(share, "again"), :unsupported, "needs all of it")

    # Two contexts of one process stand for two processes.
    port = free_port()
    own_parts = fetch.(map(0:1) do process
        Threads.@spawn begin
            context = Context(; num_threads = 1)
            comm = Comm(context; port = port, process_rank = process, num_processes = 2)
            own = parts_info(open_parts(context, "parts"; comm = comm)).own_parts
            shutdown(comm)
            own
        end
    end)
    @test own_parts == [2, 1]

    failure_of(() -> open_parts(world.context, "none"), :not_found, "no such folder")
    failure_of(() -> open_parts(world.context, "parts"; max_in_flight = 1025), :invalid_argument,
               "config.max_in_flight")
    @test_throws ArgumentError open_parts(world.context, "a\0")

    # Servers.
    some = Server(world.context, "parts", "127.0.0.1:0"; parts = [2, 0], threads = 1, drain_ms = 5000)
    every = pending
    while every === pending
        every = Server(world.context, "parts", "127.0.0.1:0"; timeout = 0.001)
    end
    facts = info(some)
    @test facts.port == 0 && facts.num_parts == 3 && facts.num_served == 2
    @test info(every).num_served == 3
    addresses = map(started, [some, every])
    if !(nothing in addresses)
        served = open_served(world.context, join(addresses, ','); max_in_flight = 4, patience_ms = 10000)
        @test parts_info(served).own_parts == 0
        @test mini_batch(served) == mini_batch(world.data)
        failure_of(() -> save(served, "again"), :unsupported, "needs all of it")
        failure_of(() -> start!(every), :busy, "started already")
        failure_of(() -> set_tls!(every, "a", "b", "c"), :busy, "set TLS before")
        @test shutdown(some) === nothing # the other one takes over
        @test mini_batch(served) == mini_batch(world.data)
        @test test_metrics(served) == test_metrics(whole)
        @test info(every).num_reads > 0 && info(every).sent_bytes > 0
        @test shutdown(every) === nothing
    end

    failure_of(() -> Server(world.context, "parts", "127.0.0.1:0"; parts = [3]), :not_found, "expected 0 to 2")
    failure_of(() -> Server(world.context, "parts", "127.0.0.1:0"; parts = [1, 1]), :invalid_argument, "twice")
    failure_of(() -> Server(world.context, "parts", "graph-1"), :invalid_argument, "a host and a port")
    failure_of(() -> Server(world.context, "none", "127.0.0.1:0"), :not_found, "no such folder")
    @test_throws ArgumentError Server(world.context, "parts", "a\0")

    # An address that other machines reach needs a token and TLS.
    server = Server(world.context, "parts", "0.0.0.0:0")
    failure_of(() -> start!(server), :invalid_argument, "a token file is needed")
    write("token", "t"^40)
    chmod("token", 0o600)
    server = Server(world.context, "parts", "0.0.0.0:0"; token_file = "token")
    failure_of(() -> start!(server), :invalid_argument, "certificates for TLS")
    @test set_tls!(server, "token", "token", "none") === server
    @test shutdown(server) === nothing
    close(server)
    failure_of(() -> info(server), :handle)
    @test_throws ArgumentError open_served(world.context, "a\0")
    @test_throws ArgumentError open_served(world.context, "graph-0:7300"; tls_key = "a\0")
    @test try
        open_served(world.context, "192.0.2.1:7300"; patience = 3)
    catch failure
        failure.code
    end in (:invalid_argument, :dependency)
end

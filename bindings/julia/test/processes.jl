# Tests in separate processes: Ctrl-C, an exit during training, jobs of several processes.

const CHILD = joinpath(@__DIR__, "child.jl")

"A process that runs `child.jl`; what it prints comes line by line."
function child(arguments...; settings...)
    command = `$(Base.julia_cmd()) --startup-file=no --project=$(Base.active_project())
               $CHILD $arguments`
    return open(with_settings(command; settings...), "r")
end
with_settings(command; settings...) =
    setenv(command, merge(Dict(ENV), Dict(string(name) => string(value) for (name, value) in settings)))

"Its next line, within three minutes; it is killed otherwise."
function line(process)
    reader = @async readline(process)
    if timedwait(() -> istaskdone(reader), 180.0) != :ok
        kill(process, Base.SIGKILL)
        error("a process says nothing")
    end
    return fetch(reader)
end

"Whether it ends well within three minutes; it is killed otherwise."
function ends_well(process)
    timedwait(() -> process_exited(process), 180.0) == :ok || kill(process, Base.SIGKILL)
    return success(process)
end

# Ctrl-C ends training with an ordinary exception, and training can continue; then the process ends
# in the middle of another training, without a wait.
running = child("interrupted")
@test line(running) == "training"
sleep(0.3)
kill(running, Base.SIGINT)
@test line(running) == "interrupted"
@test line(running) == "gone on with"
@test line(running) == "leaving"
@test ends_well(running)

# Ctrl-C at several moments in each call that waits: that call ends at once, and the objects work
# afterwards.
running = child("waits", free_port())
counts = Dict{String, Int}()
while (name = line(running)) != "end" && name != ""
    counts[name] = get(counts, name, 0) + 1
    sleep(0.001 * 2^counts[name])
    kill(running, Base.SIGINT)
    local answer = line(running)
    @test (name, answer) == (name, "interrupted")
end
@test ends_well(running)
@test length(counts) == 27 && all(==(6), values(counts))

# Two processes train one model.
port = free_port()
members = [child("member"; RANK = r, WORLD_SIZE = 2, MASTER_ADDR = "127.0.0.1", MASTER_PORT = port)
           for r in 0:1]
results = [line(member) for member in members]
@test all(ends_well, members)
@test occursin(r"^3 0\.\d+$", results[1]) && results[1] == results[2]

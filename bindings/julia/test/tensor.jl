context, graph = ring(4)
x = node_tensor(graph, "x")

# Row-major, without a copy.
@test x isa Tensor{Float32, 2} && size(x) == (4, 3) && strides(x) == (3, 1)
@test x[3, 1] == 2 && x[3, 2] == 2.1f0
@test Array(x) == Float32[i + 0.1j for i in 0:3, j in 0:2]
@test unsafe_load(pointer(x), 4) == x[2, 1]
turned = reversedims(x)
@test size(turned) == (3, 4) && strides(turned) == (1, 3) && turned[2, 3] == x[3, 2]
@test pointer(turned) == pointer(x)
@test turned == permutedims(x) && reversedims(turned) == x
@test sum(x) ≈ sum(Array(x)) && x' * x ≈ Array(x)' * Array(x) && 2 .* x == 2 .* Array(x)
@test x[2, :] == Array(x)[2, :] && view(x, :, 2)[3] == x[3, 2] && collect(eachrow(x))[1] == x[1, :]
@test_throws BoundsError x[5, 1]
@test_throws BoundsError x[0, 1]

# Shared memory is read-only.
@test !iswritable(x)
@test_throws ReadOnlyMemoryError x[1, 1] = 0
numbers = parameters(Model(context; input_dim = 2, output_dim = 2, hidden_dim = 2))
@test iswritable(numbers)
numbers[1] = 7
@test numbers[1] == 7

# A tensor outlives its owner; a closed one is an error and never a crash.
close(graph)
close(context)
GC.gc()
@test x[4, 3] == 3.2f0
close(x)
@test !isopen(x)
failure_of(() -> x[1, 1], :handle, "closed")
failure_of(() -> sum(turned), :handle, "closed")
failure_of(() -> pointer(x), :handle, "closed")
failure_of(() -> Array(x), :handle, "closed")
close(x)

# Another library, here this package itself, gets the same memory and gives it back.
context, graph = ring(4)
x = node_tensor(graph, "x")
address = pointer(x)
dlpack = to_dlpack(x)
close(x)
close(graph)
back = from_dlpack(dlpack)
@test size(back) == (4, 3) && pointer(back) == address && !iswritable(back) && back[4, 3] == 3.2f0
failure_of(() -> to_dlpack(x), :handle, "closed")
failure_of(() -> from_dlpack(C_NULL), :invalid_argument, "'dlpack' is NULL")

# Every element type goes in both directions, in any layout.
context, graph = ring(3)
for T in (Float32, Float64, Float16, Int64, Int32, UInt8, Bool)
    values = T == Bool ? [true false; false true; true true] : T[1 2; 3 4; 5 6]
    for array in (values, PermutedDimsArray(permutedims(values), (2, 1)), view(values, :, :),
                  permutedims(values)', values[1:3, [1, 2]])
        set_node_tensor!(graph, "t", array)
        local back = node_tensor(graph, "t")
        @test back isa Tensor{T, 2} && back == values
    end
    set_node_tensor!(graph, "t", values[:, 1])
    @test node_tensor(graph, "t") == values[:, 1]
end
set_node_tensor!(graph, "bits", BitArray([true, false, true]))
@test node_tensor(graph, "bits") == [true, false, true]
set_node_tensor!(graph, "range", 5:7)
@test node_tensor(graph, "range") == 5:7
half = map(v -> convert(GNNMG.BFloat16, v), [1.0, -2.5, 3.1415927])
set_node_tensor!(graph, "half", half)
@test Float32.(node_tensor(graph, "half")) == Float32[1, -2.5, 3.140625]
@test isnan(Float32(convert(GNNMG.BFloat16, NaN)))
cube = reshape(collect(Float32, 1:24), 3, 2, 4)
set_node_tensor!(graph, "cube", cube)
@test node_tensor(graph, "cube") == cube && strides(node_tensor(graph, "cube")) == (8, 4, 1)
# Copies, of whole arrays in every layout and of parts.
for whole in (node_tensor(graph, "cube"), reversedims(node_tensor(graph, "cube")), node_tensor(graph, "range"))
    copied = Array(whole)
    @test copied isa Array && copied == whole && size(copied) == size(whole)
    @test copyto!(zeros(eltype(whole), length(whole) + 1), whole)[1:end-1] == vec(copied)
    @test collect(whole) == copied && convert(Array{Float64}, whole) == copied
end
@test Array(node_tensor(graph, "cube")) == cube
@test_throws BoundsError copyto!(zeros(Float32, 2), node_tensor(graph, "cube"))
none = Graph(context, 0, Int[], Int[])
set_node_tensor!(none, "x", zeros(Float32, 0, 3))
@test Array(node_tensor(none, "x")) == zeros(Float32, 0, 3)
set_node_tensor!(graph, "again", node_tensor(graph, "cube"))
@test node_tensor(graph, "again") == cube
@test_throws ArgumentError set_node_tensor!(graph, "t", ["a", "b", "c"])
@test_throws ArgumentError set_node_tensor!(graph, "t", Any[1, 2, 3])
failure_of(() -> set_node_tensor!(graph, "t", ones(2, 2)), :invalid_argument)
failure_of(() -> set_node_tensor!(graph, "t", ones(3, 1, 1, 1, 1)), :invalid_argument)

# Imports copy nothing, and release each array exactly once.
back = Ref(0)
release() = back[] += 1
rows = PermutedDimsArray(Float32[1 2 3; 4 5 6], (2, 1))
import_node_tensor!(graph, "shared", rows; release = release)
@test pointer(node_tensor(graph, "shared")) == pointer(parent(rows))
@test node_tensor(graph, "shared") == rows
@test_throws ArgumentError import_node_tensor!(graph, "t", ones(3, 2); release = release)
@test_throws ArgumentError import_node_tensor!(graph, "t", 1:3; release = release)
@test back[] == 0
failure_of(() -> import_node_tensor!(graph, "t", ones(5); release = release), :invalid_argument)
@test back[] == 1
import_node_tensor!(graph, "shared", [1.0, 2.0, 3.0]; release = release)
@test comes_true(() -> back[] == 2) # a new tensor replaced the first one
@test GNNMG.lent() == 1
close(graph)
@test comes_true(() -> back[] == 3)

# An imported array can be closed but not resized: the library owns it.
_, graph = ring(3)
vector = [1.0, 2.0, 3.0]
import_node_tensor!(graph, "vector", vector)
try append!(vector, zeros(100000)) catch problem; @test problem isa ErrorException end
GC.gc()
@test node_tensor(graph, "vector") == [1, 2, 3]
big = rand(Float32, 3, 100000)
set_node_tensor!(graph, "big", big)
_, other = ring(3)
taken = node_tensor(graph, "big")
import_node_tensor!(other, "big", taken; release = release)
close(graph)
close(taken)
close(taken)
failure_of(() -> import_node_tensor!(other, "again", taken), :handle, "closed")
@test node_tensor(other, "big") == big
back[] = 0
close(other)
@test comes_true(() -> back[] == 1)

# A release that throws, or that runs in a finalizer, does no harm.
_, graph = ring(3)
import_node_tensor!(graph, "t", [1, 2, 3]; release = () -> error("in a release"))
graph = nothing
@test comes_true(() -> GNNMG.lent() == 0)

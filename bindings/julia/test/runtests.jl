# The package against the real library, one file per noun; at the end every function of the header must have
# been called, and everything that was lent must be back. With --quick the sweep of hostile arguments is left out.
#   GNNMG_DIR=... julia -t 2 --project=bindings/julia bindings/julia/test/runtests.jl [--quick]
using GNNMG
using Test

include("support.jl")

@testset "GNNMG" begin
    for noun in ("settings", "library", "context", "show", "tensor", "graph", "dataset", "parts", "sampler", "loader", "gpu",
                 "model", "comm", "trainer", "loss", "predictor", "tasks", "lifetimes", "hostile", "processes")
        noun == "hostile" && "--quick" in ARGS && continue
        seconds = @elapsed @testset "$noun" begin
            include("$noun.jl")
        end
        println(noun, ": ", round(seconds, digits = 1), " s")
    end

    @testset "every function of the header is called" begin
        declared = [Symbol(found[1]) for found in
                    eachmatch(r"^GNNMG_(?:API|STATUS) [^;(]*?(gnnmg_\w+)\("m, read(HEADER, String))]
        @test length(declared) > 150
        @test declared == GNNMG.Lib.FUNCTIONS
        missed = setdiff(declared, GNNMG.Lib.bound())
        @test missed == [:gnnmg_context_close] # objects free themselves
        println(length(declared) - length(missed), " of ", length(declared), " functions are called")
    end

    @testset "everything is given back" begin
        forget_globals()
        # Making a context runs the pending releases of freed trainers and loaders.
        @test comes_true(() -> (close(Context(; num_threads = 1)); GNNMG.lent() == 0))
        @test comes_true(() -> GNNMG.OPEN_BATCHES[] == 0)
    end
end

# The search for the library, and the libraries that are refused.
import Libdl
lib = GNNMG.Lib

@test GNNMG.version().major == GNNMG.HEADER_VERSION.major
@test GNNMG.version().minor == GNNMG.HEADER_VERSION.minor
project = read(joinpath(@__DIR__, "..", "Project.toml"), String)
@test occursin("version = \"$(GNNMG.HEADER_VERSION)\"", project)
@test GNNMG.status_name(-7) == "ERR_FORMAT"

# Every name that the package exports has a docstring.
documented = Base.Docs.meta(GNNMG)
@test filter(name -> !haskey(documented, Base.Docs.Binding(GNNMG, name)), names(GNNMG)) == Symbol[]

message(f) = try f(); "" catch error; sprint(showerror, error) end
in_folder() do folder
    text = message(() -> lib.library_path(folder))
    @test all(word -> occursin(word, text), ("GNNMG_DIR", folder, "pkg-config", "LD_LIBRARY_PATH"))
    text = message(() -> lib.opened(joinpath(folder, lib.SONAME)))
    @test all(word -> occursin(word, text), ("GNNMG_DIR", "pkg-config", "LD_LIBRARY_PATH"))

    # Finds the library in an installed tree, in a built tree, and through pkg-config.
    for place in ("lib", "lib64", ".")
        mkpath(joinpath(folder, place))
        path = joinpath(folder, place, lib.SONAME)
        touch(path)
        @test realpath(lib.library_path(folder)) == realpath(path)
        rm(path)
    end
    if Sys.which("pkg-config") !== nothing
        write("gnnmg.pc", "libdir=$folder\nName: gnnmg\nDescription: none\nVersion: 0\nLibs: -L$folder\n")
        touch(lib.SONAME)
        withenv("PKG_CONFIG_PATH" => folder) do
            @test lib.library_path("") == joinpath(folder, lib.SONAME)
        end
        rm(lib.SONAME)
    end

    # The error for a library of another version names both versions.
    compiler = Sys.which(get(ENV, "CC", "cc"))
    if compiler !== nothing
        write("other.c", "int gnnmg_version(void) { return 19902; }\n")
        run(`$compiler -shared -fPIC -o other.so other.c`)
        text = message(() -> lib.opened(joinpath(folder, "other.so")))
        @test occursin("1.99.2", text) && occursin(string(GNNMG.HEADER_VERSION), text)
    end
end

# The raw layer has the header's own check as well.
out = Ref{Ptr{lib.gnnmg_context}}(C_NULL)
@test lib.gnnmg_context_create(990000, C_NULL, out) == lib.GNNMG_ERR_VERSION
@test out[] == C_NULL

//! Compiles the hand-over of tensors between LibTorch and DLPack, where the feature `tch` is on.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "tch")]
    tch();
}

#[cfg(feature = "tch")]
fn tch() {
    use std::env;
    use std::path::Path;

    const SOURCE: &str = "src/tch.cpp";
    println!("cargo:rerun-if-changed={SOURCE}");
    println!("cargo:rerun-if-env-changed=LIBTORCH_INCLUDE");
    println!("cargo:rerun-if-env-changed=LIBTORCH_CXX11_ABI");
    // torch-sys has found LibTorch and says where; in a build for documentation alone it has not.
    let Some(lib) = env::var_os("DEP_TCH_LIBTORCH_LIB") else { return };
    let top = match env::var_os("LIBTORCH_INCLUDE") {
        Some(top) => top.into(),
        None => Path::new(&lib).parent().unwrap_or(Path::new("/")).to_path_buf(),
    };
    let abi = env::var("LIBTORCH_CXX11_ABI").unwrap_or_else(|_| "1".to_string());
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .warnings(false)
        .include(top.join("include"))
        .define("_GLIBCXX_USE_CXX11_ABI", abi.as_str())
        .file(SOURCE)
        .compile("gnnmg_tch");
}

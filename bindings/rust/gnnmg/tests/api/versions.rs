use gnnmg::*;

#[test]
fn library_has_the_version_of_the_header() {
    let wanted = (ffi::GNNMG_VERSION_MAJOR, ffi::GNNMG_VERSION_MINOR);
    let (major, minor, _) = version();
    assert_eq!((major, minor), wanted);
}

#[test]
fn package_has_the_version_of_the_header() {
    let parts: Vec<u32> =
        env!("CARGO_PKG_VERSION").split('.').map(|part| part.parse().unwrap()).collect();
    let header = [ffi::GNNMG_VERSION_MAJOR, ffi::GNNMG_VERSION_MINOR, ffi::GNNMG_VERSION_PATCH];
    assert_eq!(parts, header);
}

#[test]
fn a_header_of_another_version_is_refused_with_both() {
    let mut context = std::ptr::null_mut();
    let status = unsafe { ffi::gnnmg_context_create(990_000, std::ptr::null(), &mut context) };
    assert_eq!(status, ffi::GNNMG_ERR_VERSION);
    let text = unsafe { std::ffi::CStr::from_ptr(ffi::gnnmg_last_error()) }.to_str().unwrap();
    assert!(text.contains("99.0") && text.contains("0.2"), "{text}");
}

#[test]
fn enumerations_are_numbers_of_c() {
    assert_eq!(i32::from(Part::Test), ffi::GNNMG_PART_TEST);
    assert_eq!(Part::from(1), Part::Validation);
    assert_eq!(Part::from(77), Part::Other(77));
    assert_eq!(i32::from(Part::Other(77)), 77);
    assert_eq!(ErrorKind::from(ffi::GNNMG_ERR_CANCELLED), ErrorKind::Cancelled);
}

//! Arrays of the caller's: slices, vectors, arrays and numbers of this language, and `ndarray`'s,
//! lent to the library for the time of a call.

use crate::error::{Error, Result};
use crate::raw::{call, check, Field};
use crate::{ffi, DataType};
use ndarray::{ArrayBase, Data, DataMut, Dimension};
use std::ffi::c_void;
use std::ptr::NonNull;

mod sealed {
    pub trait Element {
        /// True if `length` elements that somebody else wrote are values of the type.
        ///
        /// # Safety
        ///
        /// `data` points to that many elements.
        unsafe fn are_valid(_data: *const std::ffi::c_void, _length: usize) -> bool {
            true
        }
    }
    pub trait Array {}
}
pub(crate) use sealed::Array as Sealed;

/// Type of the elements of an array: `f32`, `f64`, `i64`, `i32`, `u8` or `bool`.
pub trait Element: Copy + Send + Sync + 'static + sealed::Element {
    /// The library's name of the type.
    const DATA_TYPE: DataType;
}

/// An id of a node or edge: `i64` or `i32`.
pub trait Id: Element {}

macro_rules! elements {
    ($($ty:ty: $name:ident $(by $are_valid:ident)?,)*) => {$(
        impl sealed::Element for $ty {
            $(unsafe fn are_valid(data: *const c_void, length: usize) -> bool {
                unsafe { $are_valid(data, length) }
            })?
        }
        impl Element for $ty {
            const DATA_TYPE: DataType = DataType::$name;
        }
        impl Sealed for $ty {}
        /// A number is an array without dimensions.
        impl AsArray for $ty {
            fn lend(&self) -> Result<RawArray> {
                RawArray::new::<$ty>(self, &[])
            }
        }
        impl AsArrayMut for $ty {
            fn lend_mut(&mut self) -> Result<RawArray> {
                RawArray::new::<$ty>(self, &[])
            }
        }
    )*};
}
elements! { f32: F32, f64: F64, i64: I64, i32: I32, u8: U8, bool: Bool by are_bools, }
impl Id for i64 {}
impl Id for i32 {}

/// In Rust a `bool` is 0 or 1; files and other libraries may have other bytes there.
unsafe fn are_bools(data: *const c_void, length: usize) -> bool {
    let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length) };
    bytes.iter().all(|&byte| byte <= 1)
}

/// Address and type of an array.
#[doc(hidden)]
#[derive(Debug)]
pub struct RawArray {
    pub(crate) data: *mut c_void,
    pub(crate) data_type: DataType,
    pub(crate) num_dims: usize,
    pub(crate) shape: [i64; 4],
    /// The library's tensor, if it is on a GPU.
    pub(crate) on_gpu: Option<NonNull<ffi::gnnmg_tensor>>,
}

impl RawArray {
    fn new<T: Element>(data: *const T, shape: &[usize]) -> Result<Self> {
        if shape.len() > 4 {
            let text = format!("an array has {} dimensions, expected at most 4", shape.len());
            return Err(Error::argument(text));
        }
        let mut sizes = [0; 4];
        for (size, &given) in sizes.iter_mut().zip(shape) {
            *size = given as i64;
        }
        let data = data.cast_mut().cast();
        let (num_dims, on_gpu) = (shape.len(), None);
        Ok(RawArray { data, data_type: T::DATA_TYPE, num_dims, shape: sizes, on_gpu })
    }

    /// Address in main memory; an error for arrays on a GPU.
    pub(crate) fn host_data(&self) -> Result<*mut c_void> {
        if self.on_gpu.is_some() {
            return Err(Error::argument(
                "a tensor lies on a GPU, expected main memory: Tensor::to_host copies it".into(),
            ));
        }
        Ok(self.data)
    }

    pub(crate) fn tensor(&self) -> Result<Lent> {
        if let Some(tensor) = self.on_gpu {
            return Ok(Lent { tensor: tensor.as_ptr(), own: false });
        }
        let mut tensor = std::ptr::null_mut();
        check(call!(gnnmg_tensor_create(
            self.data,
            self.data_type.into_raw(),
            self.num_dims as i32,
            self.shape.as_ptr(),
            None,
            std::ptr::null_mut(),
            &mut tensor
        )))?;
        Ok(Lent { tensor, own: true })
    }
}

/// A tensor around an array that stays the caller's; for one call.
pub(crate) struct Lent {
    tensor: *mut ffi::gnnmg_tensor,
    own: bool, // made for the call
}

impl Lent {
    pub fn get(&self) -> *mut ffi::gnnmg_tensor {
        self.tensor
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if self.own {
            call!(gnnmg_tensor_free(self.tensor));
        }
    }
}

/// Types that can be read as an array: numbers, `[T]`, `[T; N]`, `Vec<T>`, `ndarray`'s arrays in
/// standard layout (rows first), [`Tensor`](crate::Tensor) and [`Weights`](crate::Weights).
pub trait AsArray: Sealed {
    #[doc(hidden)]
    fn lend(&self) -> Result<RawArray>;
}

/// Types that can be written as an array.
pub trait AsArrayMut: AsArray {
    #[doc(hidden)]
    fn lend_mut(&mut self) -> Result<RawArray>;
}

impl<T: Element> Sealed for [T] {}
impl<T: Element> AsArray for [T] {
    fn lend(&self) -> Result<RawArray> {
        RawArray::new(self.as_ptr(), &[self.len()])
    }
}
impl<T: Element> AsArrayMut for [T] {
    fn lend_mut(&mut self) -> Result<RawArray> {
        RawArray::new(self.as_mut_ptr(), &[self.len()])
    }
}

impl<T: Element, const N: usize> Sealed for [T; N] {}
impl<T: Element, const N: usize> AsArray for [T; N] {
    fn lend(&self) -> Result<RawArray> {
        self.as_slice().lend()
    }
}
impl<T: Element, const N: usize> AsArrayMut for [T; N] {
    fn lend_mut(&mut self) -> Result<RawArray> {
        self.as_mut_slice().lend_mut()
    }
}

impl<T: Element> Sealed for Vec<T> {}
impl<T: Element> AsArray for Vec<T> {
    fn lend(&self) -> Result<RawArray> {
        self.as_slice().lend()
    }
}
impl<T: Element> AsArrayMut for Vec<T> {
    fn lend_mut(&mut self) -> Result<RawArray> {
        self.as_mut_slice().lend_mut()
    }
}

impl<T: Element, S: Data<Elem = T>, D: Dimension> Sealed for ArrayBase<S, D> {}
impl<T: Element, S: Data<Elem = T>, D: Dimension> AsArray for ArrayBase<S, D> {
    fn lend(&self) -> Result<RawArray> {
        let slice = self.as_slice().ok_or_else(|| strided(self.shape(), self.strides()))?;
        RawArray::new(slice.as_ptr(), self.shape())
    }
}
impl<T: Element, S: DataMut<Elem = T>, D: Dimension> AsArrayMut for ArrayBase<S, D> {
    fn lend_mut(&mut self) -> Result<RawArray> {
        let error = strided(self.shape(), self.strides());
        let shape = self.shape().to_vec();
        RawArray::new(self.as_slice_mut().ok_or(error)?.as_mut_ptr(), &shape)
    }
}

pub(crate) fn strided(shape: &[usize], strides: &[isize]) -> Error {
    Error::argument(format!(
        "an array of shape {shape:?} has strides {strides:?}, expected standard layout: \
         as_standard_layout() copies it into one"
    ))
}

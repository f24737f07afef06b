//! Tensors that come out of the library or go into it, without copying.

use crate::array::{strided, AsArray, AsArrayMut, Element, RawArray, Sealed};
use crate::callback::contained;
use crate::error::{Error, Result};
use crate::raw::{call, check, Field};
use crate::{ffi, Context, DataType, DeviceType};
use ndarray::{Array, ArrayView, ArrayViewMut, Dimension, IxDyn};
use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// An array that the library and this program share: a type, a shape, and memory that lives as long
/// as the tensor does, also after all else is dropped.
///
/// It is read in place, as a slice or as a view of `ndarray`:
///
/// ```
/// # fn main() -> gnnmg::Result<()> {
/// use ndarray::ArrayView2;
///
/// let tensor = gnnmg::Tensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3])?;
/// let rows: ArrayView2<f32> = tensor.view()?;
/// assert_eq!(rows[(1, 0)], 4.0);
/// assert_eq!(tensor.as_slice::<f32>()?.len(), 6);
/// # Ok(())
/// # }
/// ```
pub struct Tensor {
    raw: NonNull<ffi::gnnmg_tensor>,
    data: *mut c_void,
    data_type: DataType,
    num_dims: usize,
    shape: [usize; 4],
    read_only: bool,
    gpu: Option<usize>,
}

// Memory that is read through `&` and written through `&mut` only; it may be given back on any
// thread.
unsafe impl Send for Tensor {}
unsafe impl Sync for Tensor {}

impl Tensor {
    /// Takes ownership of the result of an `export` function.
    pub(crate) fn take(raw: *mut ffi::gnnmg_tensor) -> Result<Self> {
        match Self::take_some(raw)? {
            Some(tensor) => Ok(tensor),
            None => Err(Error::internal("the library gave no tensor")),
        }
    }

    /// The same, with NULL for none.
    pub(crate) fn take_some(raw: *mut ffi::gnnmg_tensor) -> Result<Option<Self>> {
        let Some(raw) = NonNull::new(raw) else { return Ok(None) };
        let mut tensor = Tensor {
            raw,
            data: std::ptr::null_mut(),
            data_type: DataType::U8,
            num_dims: 0,
            shape: [0; 4],
            read_only: true,
            gpu: None,
        };
        let mut info = unsafe { std::mem::zeroed::<ffi::gnnmg_tensor_info>() };
        info.struct_size = std::mem::size_of_val(&info) as u32;
        check(call!(gnnmg_tensor_get_info(raw.as_ptr(), &mut info)))?;
        tensor.data = info.data;
        tensor.data_type = DataType::from_raw(info.dtype);
        tensor.num_dims = Field::from_raw(info.num_dims);
        tensor.shape = info.shape.map(Field::from_raw);
        tensor.read_only = Field::from_raw(info.read_only);
        tensor.gpu = (DeviceType::from_raw(info.device_type) == DeviceType::Cuda)
            .then(|| Field::from_raw(info.device_index));
        Ok(Some(tensor))
    }

    /// A tensor that owns a vector, rows first.
    pub fn from_vec<T: Element>(mut vec: Vec<T>, shape: &[usize]) -> Result<Self> {
        let (data, length) = (vec.as_mut_ptr(), vec.len());
        Self::wrap(data, length, vec, shape).and_then(Self::take)
    }

    /// A read-only tensor that lies in the memory of whatever owns it, rows first: an `Arc<[T]>`, a
    /// mapped file, or any other owner, which is dropped when nobody needs the tensor any more.
    pub fn from_owner<T: Element, O>(owner: O, shape: &[usize]) -> Result<Self>
    where
        O: AsRef<[T]> + Send + Sync + 'static,
    {
        // In a box, the owner stays where its memory may be; it is not touched until it is dropped.
        let owner = Box::new(owner);
        let slice = (*owner).as_ref();
        let (data, length) = (slice.as_ptr(), slice.len());
        let tensor = Self::wrap(data.cast_mut(), length, owner, shape).and_then(Self::take)?;
        let raw = tensor.into_dlpack()?;
        // The tensor is valid, and nobody else knows it yet.
        unsafe {
            (*raw.cast::<DlpackHead>()).flags |= READ_ONLY;
            Self::adopt(raw)
        }
    }

    /// A tensor around `length` elements, which keeps their owner.
    fn wrap<T: Element, O>(
        data: *mut T,
        length: usize,
        owner: O,
        shape: &[usize],
    ) -> Result<*mut ffi::gnnmg_tensor> {
        let expected = shape.iter().try_fold(1usize, |n, &size| n.checked_mul(size));
        if expected != Some(length) {
            let text = format!("an array has {length} elements, expected a shape of {shape:?}");
            return Err(Error::argument(text));
        }
        let sizes: Vec<i64> = shape.iter().map(|&size| size as i64).collect();
        let owner = Box::into_raw(Box::new(owner));
        let mut raw = std::ptr::null_mut();
        let status = call!(gnnmg_tensor_create(
            data.cast(),
            T::DATA_TYPE.into_raw(),
            crate::raw::index(sizes.len()),
            sizes.as_ptr(),
            Some(release::<O>),
            owner.cast(),
            &mut raw
        ));
        check(status).map(|()| raw)
    }

    /// A tensor that owns an array of `ndarray` in standard layout.
    pub fn from_array<T: Element, D: Dimension>(array: Array<T, D>) -> Result<Self> {
        if !array.is_standard_layout() {
            return Err(strided(array.shape(), array.strides()));
        }
        let shape = array.shape().to_vec();
        let (mut vec, offset) = array.into_raw_vec_and_offset();
        let start = offset.unwrap_or(0);
        let length = shape.iter().product::<usize>();
        if start == 0 {
            vec.truncate(length);
        } else {
            vec = vec[start..start + length].to_vec(); // the array was cut out of a larger one
        }
        Self::from_vec(vec, &shape)
    }

    /// Type of the elements.
    pub fn data_type(&self) -> DataType {
        self.data_type
    }

    /// Sizes, rows first.
    pub fn shape(&self) -> &[usize] {
        &self.shape[..self.num_dims]
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape().iter().product()
    }

    /// True if it has no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if others share the memory, so that it cannot be written.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Number of its GPU; `None`: main memory, where it can be read.
    pub fn gpu(&self) -> Option<usize> {
        self.gpu
    }

    /// A copy in main memory, of a tensor in any memory.
    #[doc(alias = "gnnmg_tensor_copy")]
    pub fn to_host<T: Element + Default>(&self, context: &Context) -> Result<Self> {
        self.expect_type::<T>()?;
        let mut copy = Self::from_vec(vec![T::default(); self.len()], self.shape())?;
        copy.copy_from(context, self)?;
        Ok(copy)
    }

    /// Fills it with the elements of an array of the same shape and type; either may lie on a GPU of
    /// the context's.
    #[doc(alias = "gnnmg_tensor_copy")]
    pub fn copy_from<A: AsArray + ?Sized>(&mut self, context: &Context, from: &A) -> Result<()> {
        let from = from.lend()?.tensor()?;
        check(call!(gnnmg_tensor_copy(context.handle.get(), from.get(), self.raw.as_ptr())))
    }

    /// The elements, rows first. An error when they are of another type, or lie on a GPU.
    pub fn as_slice<T: Element>(&self) -> Result<&[T]> {
        self.expect_type::<T>()?;
        self.expect_host()?;
        if self.is_empty() {
            return Ok(&[]);
        }
        self.expect_values::<T>()?;
        // So many elements of this type lie there, contiguous, as long as the tensor lives.
        Ok(unsafe { std::slice::from_raw_parts(self.data.cast(), self.len()) })
    }

    /// The elements, to be written. An error when the memory is shared, or a GPU's.
    pub fn as_mut_slice<T: Element>(&mut self) -> Result<&mut [T]> {
        self.expect_type::<T>()?;
        self.expect_host()?;
        self.expect_writable()?;
        if self.is_empty() {
            return Ok(&mut []);
        }
        self.expect_values::<T>()?;
        // Valid like as_slice(); and nobody else reads or writes it.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.data.cast(), self.len()) })
    }

    /// The elements as a view, whose type and number of dimensions are checked.
    pub fn view<T: Element, D: Dimension>(&self) -> Result<ArrayView<'_, T, D>> {
        let slice = self.as_slice()?;
        let view = ArrayView::from_shape(IxDyn(self.shape()), slice);
        let view = view.and_then(|view| view.into_dimensionality());
        view.map_err(|_| self.wrong_dimensions::<D>())
    }

    /// The elements as a view to be written.
    pub fn view_mut<T: Element, D: Dimension>(&mut self) -> Result<ArrayViewMut<'_, T, D>> {
        let error = self.wrong_dimensions::<D>();
        let shape = IxDyn(self.shape());
        let view = ArrayViewMut::from_shape(shape, self.as_mut_slice()?);
        view.and_then(|view| view.into_dimensionality()).map_err(|_| error)
    }

    /// Gives the tensor to another library that speaks DLPack 1.x, which calls its deleter.
    #[doc(alias = "gnnmg_tensor_to_dlpack")]
    pub fn into_dlpack(self) -> Result<*mut ffi::DLManagedTensorVersioned> {
        let mut dlpack = std::ptr::null_mut();
        check(call!(gnnmg_tensor_to_dlpack(self.raw(), &mut dlpack))).map(|()| dlpack)
    }

    /// Takes a tensor from another library that speaks DLPack 1.x. On an error it is still the
    /// caller's.
    ///
    /// # Safety
    ///
    /// `dlpack` is a valid tensor that nobody else writes to or deletes, and its deleter may be
    /// called on any thread.
    #[doc(alias = "gnnmg_tensor_from_dlpack")]
    pub unsafe fn from_dlpack(dlpack: *mut ffi::DLManagedTensorVersioned) -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        check(call!(gnnmg_tensor_from_dlpack(dlpack, &mut raw)))?;
        Self::take(raw)
    }

    /// The same for a tensor that is given up in any case, and not NULL.
    pub(crate) unsafe fn adopt(dlpack: *mut ffi::DLManagedTensorVersioned) -> Result<Self> {
        let taken = unsafe { Self::from_dlpack(dlpack) };
        if taken.is_err() {
            // This function still owns it.
            unsafe {
                if let Some(deleter) = (*dlpack.cast::<DlpackHead>()).deleter {
                    deleter(dlpack);
                }
            }
        }
        taken
    }

    pub(crate) fn raw(&self) -> *mut ffi::gnnmg_tensor {
        self.raw.as_ptr()
    }

    fn expect_type<T: Element>(&self) -> Result<()> {
        if self.data_type == T::DATA_TYPE {
            return Ok(());
        }
        let (has, wanted) = (self.data_type, T::DATA_TYPE);
        Err(Error::argument(format!("a tensor has elements of {has:?}, expected {wanted:?}")))
    }

    fn expect_host(&self) -> Result<()> {
        let Some(gpu) = self.gpu else { return Ok(()) };
        Err(Error::argument(format!(
            "a tensor lies on GPU {gpu}, expected main memory: Tensor::to_host copies it"
        )))
    }

    fn expect_values<T: Element>(&self) -> Result<()> {
        // So many lie there.
        if unsafe { T::are_valid(self.data, self.len()) } {
            return Ok(());
        }
        Err(Error::argument("a tensor of bool has bytes other than 0 and 1".into()))
    }

    fn expect_writable(&self) -> Result<()> {
        if !self.read_only {
            return Ok(());
        }
        Err(Error::argument("a tensor is shared and read-only, expected one to write to".into()))
    }

    fn wrong_dimensions<D: Dimension>(&self) -> Error {
        let wanted = D::NDIM.map_or("any number".to_string(), |n| n.to_string());
        Error::argument(format!(
            "a tensor has shape {:?}, expected {wanted} dimensions",
            self.shape()
        ))
    }

    fn raw_array(&self) -> RawArray {
        RawArray {
            data: self.data,
            data_type: self.data_type,
            num_dims: self.num_dims,
            shape: self.shape.map(|size| size as i64),
            on_gpu: self.gpu.map(|_| self.raw),
        }
    }
}

impl Drop for Tensor {
    fn drop(&mut self) {
        call!(gnnmg_tensor_free(self.raw.as_ptr()));
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({:?}, {:?})", self.data_type, self.shape())
    }
}

impl Sealed for Tensor {}
impl AsArray for Tensor {
    fn lend(&self) -> Result<RawArray> {
        Ok(self.raw_array())
    }
}
impl AsArrayMut for Tensor {
    fn lend_mut(&mut self) -> Result<RawArray> {
        self.expect_writable()?;
        Ok(self.raw_array())
    }
}

/// First fields of a tensor of DLPack 1.x.
#[repr(C)]
struct DlpackHead {
    version: [u32; 2],
    manager_ctx: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut ffi::DLManagedTensorVersioned)>,
    flags: u64,
}
const READ_ONLY: u64 = 1;

/// A release function that drops a box.
pub(crate) unsafe extern "C" fn release<T>(user_data: *mut c_void) {
    // Box::into_raw made it, and the library calls this once.
    contained(|| drop(unsafe { Box::from_raw(user_data.cast::<T>()) }));
}

/// Parameters or gradients in the memory of a model. The model is borrowed, so nobody changes them
/// in the meantime.
pub struct Weights<'model> {
    tensor: Tensor,
    model: PhantomData<&'model ()>,
}

/// The same, to be written; the model is borrowed for writing.
pub struct WeightsMut<'model> {
    tensor: Tensor,
    model: PhantomData<&'model mut ()>,
}

macro_rules! weights {
    ($($name:ident)*) => {$(
        impl $name<'_> {
            pub(crate) fn new(tensor: Tensor) -> Self {
                Self { tensor, model: PhantomData }
            }
        }
        impl std::ops::Deref for $name<'_> {
            type Target = Tensor;
            fn deref(&self) -> &Tensor {
                &self.tensor
            }
        }
        impl fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.tensor.fmt(f)
            }
        }
        impl Sealed for $name<'_> {}
        impl AsArray for $name<'_> {
            fn lend(&self) -> Result<RawArray> {
                self.tensor.lend()
            }
        }
    )*};
}
weights! { Weights WeightsMut }

impl WeightsMut<'_> {
    /// See [`Tensor::as_mut_slice`].
    pub fn as_mut_slice<T: Element>(&mut self) -> Result<&mut [T]> {
        self.tensor.as_mut_slice()
    }

    /// See [`Tensor::copy_from`].
    #[doc(alias = "gnnmg_tensor_copy")]
    pub fn copy_from<A: AsArray + ?Sized>(&mut self, context: &Context, from: &A) -> Result<()> {
        self.tensor.copy_from(context, from)
    }

    /// See [`Tensor::view_mut`].
    pub fn view_mut<T: Element, D: Dimension>(&mut self) -> Result<ArrayViewMut<'_, T, D>> {
        self.tensor.view_mut()
    }
}

impl AsArrayMut for WeightsMut<'_> {
    fn lend_mut(&mut self) -> Result<RawArray> {
        self.tensor.lend_mut()
    }
}

//! Tensors of the crate `tch`, in the same memory.

use crate::error::{Error, Result};
use crate::{ffi, ErrorKind, Tensor};
use std::ffi::{c_char, c_void, CStr};

extern "C" {
    fn gnnmg_tch_free_text(text: *mut c_char);
    fn gnnmg_tch_from_dlpack(
        source: *mut ffi::DLManagedTensorVersioned,
        tensor: *mut *mut c_void,
    ) -> *mut c_char;
    fn gnnmg_tch_to_dlpack(
        tensor: *mut c_void,
        target: *mut *mut ffi::DLManagedTensorVersioned,
    ) -> *mut c_char;
}

/// Converts the result of LibTorch: NULL, or a text.
fn settle(text: *mut c_char) -> Result<()> {
    if text.is_null() {
        return Ok(());
    }
    // A text that ends with a NUL, freed once.
    let message = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    unsafe { gnnmg_tch_free_text(text) };
    Err(Error::new(ErrorKind::Unsupported, message))
}

/// With the feature `tch`.
impl Tensor {
    /// Takes a tensor of the crate `tch`, in its memory: the library and this program read
    /// LibTorch's results without a copy.
    ///
    /// ```
    /// # fn main() -> gnnmg::Result<()> {
    /// let rows = tch::Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0]).view([2, 2]);
    /// let place = rows.data_ptr();
    /// let tensor = gnnmg::Tensor::from_tch(rows)?;
    /// assert_eq!(tensor.as_slice::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
    /// assert_eq!(tensor.as_slice::<f32>()?.as_ptr().cast(), place.cast_const());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Nothing else may use its memory, because `tch` lets other tensors write to the memory, or
    /// free it, while this one is read: an error for a tensor with views, clones or a graph of
    /// gradients; use its `copy()`. An error too for one that is not contiguous, not in main memory
    /// or on a GPU of NVIDIA's, or of a type that the library does not have.
    pub fn from_tch(tensor: tch::Tensor) -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        let mut tensor = std::mem::ManuallyDrop::new(tensor);
        // A valid tensor of LibTorch, given up here.
        settle(unsafe { gnnmg_tch_to_dlpack(tensor.as_mut_ptr().cast(), &mut raw) })?;
        // The memory belongs to `raw` alone now, which any thread may delete.
        unsafe { Self::adopt(raw) }
    }

    /// Gives the tensor to the crate `tch`, in the same memory. It must not be shared:
    /// an error for one that [is read-only](Self::is_read_only), as `tch` would write to it.
    ///
    /// ```
    /// # fn main() -> gnnmg::Result<()> {
    /// let tensor = gnnmg::Tensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0], &[2, 2])?;
    /// let rows: tch::Tensor = tensor.into_tch()?;
    /// assert_eq!(rows.matmul(&rows).double_value(&[1, 1]), 22.0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_tch(self) -> Result<tch::Tensor> {
        if self.is_read_only() {
            return Err(Error::argument(
                "a tensor is shared and read-only, expected one of its own: into_tch_shared() gives \
                 it to who promises not to write"
                    .into(),
            ));
        }
        self.hand_over()
    }

    /// Does [`into_tch`](Self::into_tch) for a tensor in shared memory, such as that of graphs and
    /// batches. The memory lives as long as a tensor of `tch` uses it.
    ///
    /// # Safety
    ///
    /// Nothing writes to the tensor in place, or to a view or clone of it. Methods of `tch` whose
    /// names end with `_` do, and so does giving it as `out`.
    pub unsafe fn into_tch_shared(self) -> Result<tch::Tensor> {
        self.hand_over()
    }

    fn hand_over(self) -> Result<tch::Tensor> {
        let mut tensor = std::ptr::null_mut();
        // A valid tensor, given up here.
        settle(unsafe { gnnmg_tch_from_dlpack(self.into_dlpack()?, &mut tensor) })?;
        // A new tensor of LibTorch's, which becomes that of tch.
        Ok(unsafe { tch::Tensor::from_ptr(tensor.cast()) })
    }
}

//! Devices: the GPUs of this process.

use crate::error::Result;
use crate::raw::{call, check, Field};
use crate::{ffi, Context, DeviceType, LoaderConfig};
use std::ffi::{c_char, CStr};
use std::ptr::null;

impl LoaderConfig {
    /// A CUDA stream of the caller's on the GPU that the mini-batches lie on, a `cudaStream_t` as a
    /// number: their tensors are valid for later work in the stream. Default 0: valid at once.
    ///
    /// # Safety
    ///
    /// The stream is one of that GPU's, which outlives the loader and its mini-batches.
    pub unsafe fn stream(mut self, stream: u64) -> Self {
        self.settings.set("stream", stream);
        self
    }
}

/// Facts about a GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// [`DeviceType::Cuda`].
    pub device_type: DeviceType,
    /// The maker's: "NVIDIA H100 80GB HBM3".
    pub name: String,
    /// "0000:19:00.0": its place, the same in every process.
    pub bus_id: String,
    /// Memory of the device, bytes.
    pub total_memory: usize,
    /// Free memory of the device at this time, bytes.
    pub free_memory: usize,
    /// Compute capability, major and minor.
    pub capability: (i32, i32),
    /// Number of multiprocessors.
    pub multiprocessors: i32,
    /// Newest CUDA that the driver is for: 13000 is 13.0.
    pub driver_version: i32,
    /// The CUDA that the plug-in works with, written alike.
    pub runtime_version: i32,
}

impl Context {
    /// The GPUs that this process sees, with their free memory as it is now; none is no error, see
    /// [`Context::why_no_device`].
    #[doc(alias = "gnnmg_context_num_devices")]
    pub fn devices(&self) -> Result<Vec<DeviceInfo>> {
        (0..self.count_devices()?.0).map(|index| self.device(index)).collect()
    }

    /// The reason why there is no GPU, such as a missing driver, plug-in or device, and a remedy.
    #[doc(alias = "gnnmg_context_num_devices")]
    pub fn why_no_device(&self) -> Result<Option<String>> {
        Ok(Some(self.count_devices()?.1).filter(|why| !why.is_empty()))
    }

    /// Facts about one GPU.
    #[doc(alias = "gnnmg_context_get_device_info")]
    pub fn device(&self, index: usize) -> Result<DeviceInfo> {
        let mut raw = unsafe { std::mem::zeroed::<ffi::gnnmg_device_info>() };
        raw.struct_size = std::mem::size_of_val(&raw) as u32;
        let index = index.into_raw();
        check(call!(gnnmg_context_get_device_info(self.handle.get(), index, &mut raw)))?;
        Ok(DeviceInfo {
            device_type: DeviceType::from_raw(raw.device_type),
            name: text_of(&raw.name),
            bus_id: text_of(&raw.bus_id),
            total_memory: raw.total_memory,
            free_memory: raw.free_memory,
            capability: (raw.capability_major, raw.capability_minor),
            multiprocessors: raw.multiprocessors,
            driver_version: raw.driver_version,
            runtime_version: raw.runtime_version,
        })
    }

    fn count_devices(&self) -> Result<(usize, String)> {
        let (mut count, mut why) = (0, null());
        check(call!(gnnmg_context_num_devices(self.handle.get(), &mut count, &mut why)))?;
        // The library's as long as the context lives.
        let why = unsafe { CStr::from_ptr(why) }.to_string_lossy().into_owned();
        Ok((Field::from_raw(count), why))
    }
}

/// The text in a field, which ends with a NUL.
fn text_of(field: &[c_char]) -> String {
    let bytes: Vec<u8> = field.iter().take_while(|&&c| c != 0).map(|&c| c as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

// Package raw is the C API as Go calls it: a function each, with tokens and addresses as numbers,
// and the text of an error in the same crossing as the call that failed.
//
// The library is opened at run time, so programs build where it is not installed.
package raw

// #cgo CFLAGS: -std=gnu11 -Wall -Wextra
// #cgo LDFLAGS: -ldl
// #include "shims.gen.h"
// #include <stdlib.h>
import "C"

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"unsafe"
)

// HeaderVersion is the version of the header that this package was made from.
const HeaderVersion = int32(C.GNNMG_VERSION)

var soname = fmt.Sprintf("libgnnmg.so.%d.%d", int(C.GNNMG_VERSION_MAJOR), int(C.GNNMG_VERSION_MINOR))

// Load opens the library: of the tree that GNNMG_DIR names, else from the loader's path.
var Load = sync.OnceValue(func() error {
	return load(os.Getenv("GNNMG_DIR"))
})

func load(dir string) error {
	if dir == "" {
		if reason := open(soname); reason != "" {
			return fmt.Errorf("%s cannot be loaded: %s; set GNNMG_DIR to an installed or a built tree, "+
				"or add the library's folder to LD_LIBRARY_PATH, or install it where ldconfig looks",
				soname, reason)
		}
		return nil
	}
	folders := []string{filepath.Join(dir, "lib"), filepath.Join(dir, "lib64"), dir}
	debian, _ := filepath.Glob(filepath.Join(dir, "lib", "*-linux-gnu"))
	for _, folder := range append(folders, debian...) {
		path := filepath.Join(folder, soname)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if path, err := filepath.Abs(path); err == nil {
			if reason := open(path); reason != "" {
				return fmt.Errorf("%s cannot be loaded: %s", path, reason)
			}
			return nil
		}
	}
	return fmt.Errorf("GNNMG_DIR is %q, which has no %s in lib, lib64 or the folder itself: "+
		"set it to an installed or a built tree of that version, or unset it to search the "+
		"loader's path (LD_LIBRARY_PATH, ldconfig)", dir, soname)
}

// open gives the reason why the library cannot be used, or "".
func open(path string) string {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	reason := C.gnnmg_load(name)
	if reason == nil {
		return ""
	}
	defer C.free(unsafe.Pointer(reason))
	return C.GoString(reason)
}

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
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"unsafe"
)

// HeaderVersion is the version of the header that this package was made from.
const HeaderVersion = int32(C.GNNMG_VERSION)

var soname = fmt.Sprintf("libgnnmg.so.%d.%d", int(C.GNNMG_VERSION_MAJOR), int(C.GNNMG_VERSION_MINOR))

const remedies = "set GNNMG_DIR to an installed or a built tree of the library, or let pkg-config find its " +
	"gnnmg.pc (PKG_CONFIG_PATH), or add its folder to the loader's path (LD_LIBRARY_PATH, ldconfig)"

// Load opens the library: of the tree that GNNMG_DIR names, else from the loader's path, else where
// pkg-config says.
var Load = sync.OnceValue(func() error {
	return load(os.Getenv("GNNMG_DIR"))
})

func load(dir string) error {
	if dir == "" {
		reason := open(soname)
		if path := pkgConfigPath(); reason != "" && path != "" {
			return use(path)
		}
		return refused(soname, reason)
	}
	folders := []string{filepath.Join(dir, "lib"), filepath.Join(dir, "lib64"), dir}
	debian, _ := filepath.Glob(filepath.Join(dir, "lib", "*-linux-gnu"))
	for _, folder := range append(folders, debian...) {
		if path := filepath.Join(folder, soname); exists(path) {
			return use(path)
		}
	}
	return fmt.Errorf("GNNMG_DIR is %q, which has no %s in lib, lib64 or the folder itself: %s", dir, soname, remedies)
}

// use opens the library of a path, and that one alone.
func use(path string) error {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	return refused(absolute, open(absolute))
}

func refused(path, reason string) error {
	if reason == "" {
		return nil
	}
	return fmt.Errorf("%s cannot be used: %s; %s", path, reason, remedies)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// pkgConfigPath is the library that pkg-config knows of, "" without one.
func pkgConfigPath() string {
	folder, err := exec.Command("pkg-config", "--variable=libdir", "gnnmg").Output()
	if path := filepath.Join(strings.TrimSpace(string(folder)), soname); err == nil && exists(path) {
		return path
	}
	return ""
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

package raw

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// build makes a library of one C file in a folder of its own, which it returns.
func build(t *testing.T, source string) string {
	t.Helper()
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("there is no C compiler")
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "lib"), 0o777); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "library.c")
	if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(compiler, "-shared", "-fPIC", "-o", filepath.Join(dir, "lib", soname), file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// A library that cannot be used is one error that says what to do.
func TestLibrariesThatAreRefused(t *testing.T) {
	garbage := t.TempDir()
	if err := os.WriteFile(filepath.Join(garbage, soname), []byte("no library"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		dir   string
		words []string
	}{
		"none":          {t.TempDir(), []string{"GNNMG_DIR is", soname}},
		"garbage":       {garbage, []string{filepath.Join(garbage, soname), "cannot be used"}},
		"other version": {build(t, "int gnnmg_version(void) { return 303; }"), []string{"version 0.3.3", "0.2.0"}},
		"older":         {build(t, "int gnnmg_version(void) { return 200; }"), []string{"has no function gnnmg_"}},
		"foreign":       {build(t, "int other(void) { return 100; }"), []string{"has no function gnnmg_version"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := load(c.dir)
			if err == nil {
				t.Fatal("it was taken")
			}
			says(t, err, append(c.words, remedies)...)
		})
	}
	if r, _ := GraphCreate(1); r.Failure == nil || !strings.Contains(r.Failure.Text, "not loaded") {
		t.Errorf("a call without a library answers %+v", r)
	}
	GraphFree(1)
	if Version() != 0 || StatusName(-1) != "unknown" {
		t.Error("there is no library, and it has a version")
	}
	if r := TrainerStart(1, func(*EpochInfo) int32 { return 0 }); r.Failure == nil {
		t.Error("a trainer was started")
	}
}

// Without GNNMG_DIR the loader is asked, and then pkg-config; where both know nothing, the error names what may be done.
func TestTheLoadersPath(t *testing.T) {
	if loader := open(soname); loader == "" {
		t.Skip("the loader finds a library")
	}
	none := t.TempDir()
	t.Setenv("PKG_CONFIG_PATH", none)
	t.Setenv("PKG_CONFIG_LIBDIR", none)
	err := load("")
	if err == nil {
		t.Fatal("a library was found")
	}
	says(t, err, soname, "GNNMG_DIR", "PKG_CONFIG_PATH", "LD_LIBRARY_PATH", "ldconfig")

	if _, err := exec.LookPath("pkg-config"); err != nil {
		t.Skip("there is no pkg-config")
	}
	dir := build(t, "int gnnmg_version(void) { return 303; }")
	pc := "libdir=" + dir + "/lib\nName: gnnmg\nDescription: none\nVersion: 0\n"
	if err := os.WriteFile(filepath.Join(none, "gnnmg.pc"), []byte(pc), 0o666); err != nil {
		t.Fatal(err)
	}
	if err = load(""); err == nil {
		t.Fatal("it was taken")
	}
	says(t, err, filepath.Join(dir, "lib", soname), "version 0.3.3", "0.2.0")
}

func says(t *testing.T, err error, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
}

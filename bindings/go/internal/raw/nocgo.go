//go:build !cgo

package raw

// The compiler prints the name, which says what is missing.
var _ = gnnmg_calls_C_by_cgo__install_a_C_compiler_and_set_CGO_ENABLED_to_1

module gnnmg/examples

go 1.24

require gnnmg v0.0.0

replace gnnmg => ../../bindings/go

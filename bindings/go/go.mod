module gnnmg

go 1.24

package gnnmg

// Live is the number of handles and tensors that have not been given back.
func Live() int64 { return live.Load() }

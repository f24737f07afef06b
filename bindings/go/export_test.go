package gnnmg

// Live is the number of live handles and tensors.
func Live() int64 { return live.Load() }

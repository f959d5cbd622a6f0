//go:build !unix

package config

// foreign cannot be told here by numbers: the folder of the machine's programs is writable by its owner only.
func foreign(string, uint32) string { return "" }

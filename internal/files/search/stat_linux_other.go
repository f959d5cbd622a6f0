//go:build linux && !amd64 && !arm64

package search

// statCall is the number of fstatat(2); 0 on untested architectures.
const statCall = 0

//go:build linux && !amd64 && !arm64

package box

const (
	arch       = 0 // there is no filter
	hasX32     = false
	sysClone3  = 435
	sysSeccomp = 0
)

var closedHere []uint32

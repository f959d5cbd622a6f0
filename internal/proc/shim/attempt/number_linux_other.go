//go:build linux && !amd64

package attempt

const sysSetns = 268

//go:build linux && !amd64

package selftest

const sysSetns = 268

//go:build race

package effort

// Race reports whether the race detector is built in, which takes memory and time for each access.
const Race = true

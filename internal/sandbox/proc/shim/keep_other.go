//go:build unix && !linux

package shim

// serve runs one command: a shim stays on Linux only.
func serve(spec Spec) int {
	spec.Keep = false
	s := newSupervisor()
	exit, _ := s.run(spec, func() { go s.watch() })
	return exit
}

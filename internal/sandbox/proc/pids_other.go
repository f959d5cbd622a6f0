//go:build !linux

package proc

// outerPID has no namespaces to look into.
func (p *Process) outerPID() int { return p.pid }

//go:build !linux

package proc

func (p *Process) outerPID() int { return p.pid }

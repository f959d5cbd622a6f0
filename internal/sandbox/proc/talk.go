package proc

import "io"

// talk runs Command.Talk and then reads the remaining output, so that the command is not blocked.
func (p *Process) talk() {
	p.cmd.Talk(p.inPipe, p.outPipe)
	_ = p.inPipe.Close()
	_, _ = io.Copy(io.Discard, p.outPipe)
}

// feed writes the standard input. If the command does not read it, the write ends with an error.
func (p *Process) feed() {
	_, _ = p.inPipe.Write(p.cmd.Input)
	_ = p.inPipe.Close()
}

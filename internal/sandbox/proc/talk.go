package proc

import "io"

// talk lets somebody speak with the command, and then reads what is left, so that the command is
// not held up.
func (p *Process) talk() {
	p.cmd.Talk(p.inPipe, p.outPipe)
	_ = p.inPipe.Close()
	_, _ = io.Copy(io.Discard, p.outPipe)
}

// feed writes the standard input. A command that does not read it ends the write with an error.
func (p *Process) feed() {
	_, _ = p.inPipe.Write(p.cmd.Input)
	_ = p.inPipe.Close()
}

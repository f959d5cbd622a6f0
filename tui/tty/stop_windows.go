package tty

import "context"

// stopProcess does nothing: there are no jobs here.
func stopProcess() {}

// continued does nothing, likewise.
func (t *Terminal) continued(context.Context, func()) {}

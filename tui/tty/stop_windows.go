package tty

import "context"

// stopProcess does nothing: Windows has no job control.
func stopProcess() {}

// continued does nothing, for the same reason.
func (t *Terminal) continued(context.Context, func()) {}

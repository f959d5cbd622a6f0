package tui

import "context"

// stopProcess does nothing: there are no jobs here.
func stopProcess() {}

// continued does nothing, likewise.
func (t *tty) continued(context.Context, func()) {}

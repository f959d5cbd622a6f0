package proc

// LimitError says that the limits of this process are too low for running a command.
type LimitError struct{ Message, Hint string }

func (e *LimitError) Error() string { return e.Message }

package proc

// LimitError means that this process's limits are too low to run a command.
type LimitError struct{ Message, Hint string }

func (e *LimitError) Error() string { return e.Message }

package proc

import "errors"

// Detach is not there yet: a process that outlives its console needs a job of its own.
func Detach(_, _ []string, _, _ string) (pid int, ended <-chan error, err error) {
	return 0, nil, errors.New("sessions in the background are not there on Windows yet; run adze in a terminal that stays open")
}

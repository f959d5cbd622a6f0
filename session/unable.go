package session

import (
	"errors"
	"strings"
	"syscall"

	"adze/tool"
)

// mostUnable is the number of consecutive steps that may fail because of the machine.
const mostUnable = 3

// lacking reports whether an error means that the machine has run out of descriptors, processes,
// memory or disk space.
func lacking(err error) bool {
	for _, e := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ENOMEM, syscall.ENOSPC, syscall.EDQUOT} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// unable tracks whether a turn's calls fail because of the machine. Such a turn failed, whatever
// the model writes at its end.
type unable struct {
	row    int  // consecutive steps in which all calls failed so
	worked bool // another call ran
	why    string
}

// saw counts a step's outcomes and returns an error after too many failed steps in a row.
func (u *unable) saw(outcomes Message) error {
	for _, p := range outcomes.Parts {
		if p.Outcome.Code != tool.CodeEnvironment {
			u.row, u.worked = 0, true
			return nil
		}
		u.why = p.Outcome.Output
	}
	if u.row++; u.row >= mostUnable {
		return &lackError{u.why}
	}
	return nil
}

// all returns an error if the turn made calls and none could run.
func (u *unable) all() error {
	if u.worked || u.row == 0 {
		return nil
	}
	return &lackError{u.why}
}

// lackError ends a turn whose calls the machine cannot run.
type lackError struct{ why string }

func (e *lackError) Error() string {
	first, _, _ := strings.Cut(strings.TrimSpace(e.why), "\n")
	return "no tool can work on this machine as it is: " + first
}

func (e *lackError) hint() string {
	says := func(errs ...syscall.Errno) bool {
		for _, err := range errs {
			if strings.Contains(e.why, err.Error()) {
				return true
			}
		}
		return false
	}
	const again = ", then run adze --continue"
	switch {
	case says(syscall.ENFILE): // its text starts with that of EMFILE
		return "close programs that hold many files open, or raise fs.file-max" + again
	case says(syscall.EMFILE):
		return "raise the limit of open files (ulimit -n 1024)" + again
	case says(syscall.EAGAIN):
		return "end processes, or raise their limit (ulimit -u 1024)" + again
	case says(syscall.ENOMEM):
		return "free memory, or raise its limit (ulimit -v unlimited)" + again
	case says(syscall.ENOSPC, syscall.EDQUOT):
		return "free disk space" + again
	}
	return "mend that" + again + "; adze doctor looks at the machine"
}

package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// Stable error codes for file errors.
const (
	NotFound     = "not_found"
	IsDirectory  = "is_directory"
	NotRegular   = "not_regular"
	TooLarge     = "too_large"
	Outside      = "outside_workspace"
	Protected    = "protected_path"
	Stale        = "stale"
	NoChange     = "no_change"
	InvalidInput = "invalid_arguments"
	Aborted      = "aborted"
	IO           = "io"
)

// Error is returned by every function in this package. The message names the next step and may be
// shown to a model.
type Error struct {
	Code    string
	Message string
	Err     error // cause for errors.Is; may be nil
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// ErrorCode returns the stable code.
func (e *Error) ErrorCode() string { return e.Code }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func fail(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// wrap adds a code and a sentence with the file name and the attempted action.
func wrap(err error, name, doing string) error {
	var coded interface{ ErrorCode() string }
	if errors.As(err, &coded) {
		return err // already explained, possibly by the caller's function
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return aborted(err)
	}
	e := &Error{Code: IO, Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Code, e.Message = NotFound, fmt.Sprintf("%s does not exist", name)
	case errors.Is(err, errCircle):
		e.Message = fmt.Sprintf("%s goes through too many links, which probably form a circle; name the real file", name)
	case errors.Is(err, syscall.ELOOP):
		e.Message = fmt.Sprintf("%s: a link was put in the path while it was used; try again", name)
	case errors.Is(err, syscall.ENOTDIR):
		e.Code, e.Message = NotFound, fmt.Sprintf("%s does not exist: a part of its path is not a folder; list shows what is there", name)
	case errors.Is(err, syscall.ENAMETOOLONG):
		e.Code, e.Message = InvalidInput, fmt.Sprintf("a part of the name is too long for the file system (255 bytes); give a shorter one: %.80s…", name)
	case inUse(err):
		e.Message = fmt.Sprintf("%s: %s: another program holds the file open and shares it with nobody; close it there, or try again later", doing, name)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		e.Message = fmt.Sprintf("%s: %s: no permission; ask the user to change its mode or owner", doing, name)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		e.Message = fmt.Sprintf("%s: %s: the disk is full; nothing was changed, free some space first", doing, name)
	default:
		e.Message = fmt.Sprintf("%s: %s: %v", doing, name, cause(err))
	}
	return e
}

// cause unwraps a PathError, whose path the message already contains.
func cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

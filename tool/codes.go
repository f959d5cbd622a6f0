package tool

import (
	"context"
	"errors"
	"fmt"
)

// Stable error codes for the model, the log and --output-format json.
const (
	CodeNotFound         = "not_found"
	CodeIsDirectory      = "is_directory"
	CodeNotRegular       = "not_regular"
	CodeBinary           = "binary"
	CodeTooLarge         = "too_large"
	CodeOutsideWorkspace = "outside_workspace"
	CodeProtectedPath    = "protected_path"
	CodeStale            = "stale"
	CodeNotRead          = "not_read"
	CodeNoMatch          = "no_match"
	CodeManyMatches      = "many_matches"
	CodeNoChange         = "no_change"
	CodeInvalidArguments = "invalid_arguments"
	CodeInvalidJSON      = "invalid_json"
	CodeTimeout          = "timeout"
	CodeAborted          = "aborted"
	CodeDenied           = "denied"
	CodeLimit            = "limit"
	CodeEncoding         = "encoding"
	CodeUnknownTool      = "unknown_tool"
	CodeDuplicateCall    = "duplicate_call"
	CodeIO               = "io"
	CodeExit             = "exit_status" // a command failed
	CodeEnvironment      = "environment" // the machine lacks a requirement
	CodePanic            = "internal"
	CodeFailed           = "failed"
	CodeNoModel          = "LLM_ASSIST_REQUIRED"
)

// Error is a failure with a stable code. Message is for the model: the problem, then the next step.
type Error struct {
	Code    string
	Message string
	Err     error // for the log; may be nil
}

func (e *Error) Error() string     { return e.Message }
func (e *Error) Unwrap() error     { return e.Err }
func (e *Error) ErrorCode() string { return e.Code }

// Fail returns an Error with a formatted message; %w keeps the cause.
func Fail(code, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Err: errors.Unwrap(err)}
}

// CodeOf returns an error's stable code: its own ErrorCode, or one by its kind.
func CodeOf(err error) string {
	var coded interface{ ErrorCode() string }
	switch {
	case err == nil:
		return ""
	case errors.Is(err, ErrDenied):
		return CodeDenied
	case errors.As(err, &coded):
		return coded.ErrorCode()
	case errors.Is(err, context.DeadlineExceeded):
		return CodeTimeout
	case errors.Is(err, context.Canceled):
		return CodeAborted
	}
	return CodeFailed
}

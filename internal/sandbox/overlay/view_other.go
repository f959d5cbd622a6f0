//go:build !linux

package overlay

import (
	"adze/internal/sandbox/overlay/apply"
	"adze/internal/sandbox/overlay/entry"
)

// View is unused on this system.
type View struct {
	Dir   string
	Roots []apply.Root
}

type decided struct{}

var _ = Change{}.decided // read only on Linux

// Make returns ErrUnsupported.
func Make(string, []apply.Root) (*View, error) { return nil, ErrUnsupported }

// MakeStage returns ErrUnsupported.
func MakeStage(string, string, []apply.Root) (*View, error) { return nil, ErrUnsupported }

// OpenStage returns ErrUnsupported.
func OpenStage(string, string) (*View, error) { return nil, ErrUnsupported }

// DropStage does nothing.
func DropStage(string, string) error { return nil }

// Recover does nothing.
func Recover(string) ([]apply.Outcome, error) { return nil, nil }

// These methods belong to views of other systems.
func (*View) Folder(int) string                      { return "" }
func (*View) Place(*Change) string                   { return "" }
func (*View) Real(*Change) string                    { return "" }
func (*View) CurrentPath(*Change) string             { return "" }
func (*View) Newer(entry.Stat) bool                  { return false }
func (*View) Changes() ([]*Change, error)            { return nil, ErrUnsupported }
func (*View) Rewrite(*Change, string) error          { return ErrUnsupported }
func (*View) Apply([]*Change) (apply.Outcome, error) { return apply.Outcome{}, ErrUnsupported }
func (*View) Retire() error                          { return nil }
func (*View) Close() error                           { return nil }
func (*View) Name() string                           { return "" }
func (*View) Fresh() error                           { return ErrUnsupported }
func (*View) Newly([]*Change) bool                   { return false }
func (*View) Leave() error                           { return nil }

//go:build !linux

package overlay

// View is one command's. There is none on this system.
type View struct{}

// Make fails.
func Make(string, []Root) (*View, error) { return nil, ErrUnsupported }

// MakeStage fails.
func MakeStage(string, string, []Root) (*View, error) { return nil, ErrUnsupported }

// OpenStage fails.
func OpenStage(string, string) (*View, error) { return nil, ErrUnsupported }

// DropStage finds none.
func DropStage(string, string) error { return nil }

// Recover finds nothing.
func Recover(string) ([]Outcome, error) { return nil, nil }

// Folder, Place, Real, Newer, Changes, Rewrite, Apply, Retire and Close belong to views of other
// systems, as do those of stages.
func (*View) Folder(int) string                { return "" }
func (*View) Place(*Change) string             { return "" }
func (*View) Real(*Change) string              { return "" }
func (*View) Now(*Change) string               { return "" }
func (*View) Newer(Stat) bool                  { return false }
func (*View) Changes() ([]*Change, error)      { return nil, ErrUnsupported }
func (*View) Rewrite(*Change, string) error    { return ErrUnsupported }
func (*View) Apply([]*Change) (Outcome, error) { return Outcome{}, ErrUnsupported }
func (*View) Retire() error                    { return nil }
func (*View) Close() error                     { return nil }
func (*View) Name() string                     { return "" }
func (*View) Dir() string                      { return "" }
func (*View) Roots() []Root                    { return nil }
func (*View) Fresh() error                     { return ErrUnsupported }
func (*View) Newly([]*Change) []Left           { return nil }
func (*View) Leave() error                     { return nil }
func (*View) Watch(<-chan struct{})            {}

// StatOf fails.
func StatOf(string) (Stat, error) { return Stat{}, ErrUnsupported }

// DatabaseInUse sees none.
func DatabaseInUse(string) string { return "" }

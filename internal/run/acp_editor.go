package run

import (
	"errors"
	"fmt"

	"adze/internal/editors/acp"
	"adze/internal/files/workspace"
	"adze/internal/files/workspace/buffers"
)

// File access through an editor.

// filesOf returns a file system that uses the editor, or nil if the editor offers none.
func filesOf(e acp.Editor) workspace.FS {
	if e.Read == nil && e.Write == nil {
		return nil
	}
	f := &buffers.FS{Base: workspace.Disk{}}
	refused := func(err error) error {
		if errors.Is(err, acp.ErrNoFile) {
			return fmt.Errorf("%w: %w", buffers.ErrRefused, err)
		}
		return err
	}
	if e.Read != nil {
		f.Read = func(path string) (string, error) { text, err := e.Read(path); return text, refused(err) }
	}
	if e.Write != nil {
		f.Write = func(path, text string) error { return refused(e.Write(path, text)) }
	}
	return f
}

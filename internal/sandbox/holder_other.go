//go:build unix && !linux

package sandbox

import (
	"os"

	"adze/internal/sandbox/overlay"
	"adze/internal/sandbox/overlay/apply"
)

// holder is empty: this system has no views.
type holder struct{}

func holdViews(*overlay.View, []apply.Root) (*holder, error) { return nil, overlay.ErrUnsupported }

func (*holder) tree(int) (*os.File, error) { return nil, overlay.ErrUnsupported }

func (*holder) close() {}

package app

import (
	"fmt"
	"path/filepath"

	"adze/toolset"
)

// tellDeclared tells the person which of their tools cannot be used, and that a project's are not.
func (w *wired) tellDeclared(own *toolset.Declared, workspace string) {
	for _, mistake := range own.Mistakes {
		w.notices = append(w.notices, mistake.Error())
	}
	if n := toolset.ProjectTools(workspace); n > 0 {
		w.notices = append(w.notices, fmt.Sprintf("tools that this project declares are ignored: %d in %s; copy those you trust to %s",
			n, filepath.Join(".adze", "tools"), own.Dir))
	}
}

package policy

import (
	"path"
	"strings"
	"testing"

	"adze/internal/sandbox"
	"adze/tool"
)

// everywhere takes each name for a path in a home folder that is the workspace too.
type everywhere struct{}

func (everywhere) Judge(name string) (Place, error) {
	return Place{Abs: path.Join("/home/ann", name), Rel: name}, nil
}

// TestWhatNoCommandMayWriteNoToolWritesUnasked: the places that a sandbox keeps as they are,
// because other programs run what is there, are asked for where a tool would write them, in
// every mode that asks.
func TestWhatNoCommandMayWriteNoToolWritesUnasked(t *testing.T) {
	p, err := New(Options{Mode: Edits, Paths: everywhere{}, Home: "/home/ann"})
	if err != nil {
		t.Fatal(err)
	}
	acted := append(sandbox.ProjectNames(),
		".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout",
		".inputrc", ".gitconfig", ".vimrc", ".tmux.conf", ".ssh", ".pam_environment", ".npmrc", ".config/fish", ".config/git", ".config/nvim", ".config/autostart",
		".config/systemd", ".config/environment.d", ".local/bin", "bin")
	for _, name := range acted {
		if name == ".adze" {
			continue // protected by the workspace, in every mode
		}
		for _, target := range []string{name, strings.ToUpper(name)} {
			q := tool.Question{Needs: []tool.Need{{Permission: tool.Write, Target: target}}}
			if d, err := p.Decide(t.Context(), q); err != nil || d.Allow {
				t.Errorf("%s is written unasked (%v)", target, err)
			}
		}
	}
}

package mcp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestWhereAServerStarts(t *testing.T) {
	state, dir, elsewhere := t.TempDir(), t.TempDir(), t.TempDir()
	for _, at := range []*string{&state, &dir, &elsewhere} {
		real, err := filepath.EvalSymlinks(*at)
		if err != nil {
			t.Fatal(err)
		}
		*at = real
	}
	env := func() []string { return []string{"HOME=/h", "PYTHONPATH=" + dir, "PWD=" + dir} }
	if err := os.WriteFile(filepath.Join(dir, "srv.py"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		server Server
		dir    string
		own    bool
		env    string
	}{
		"its own":               {Server{}, filepath.Join(state, "folders", "s"), true, "HOME=/h A=b"},
		"elsewhere":             {Server{Dir: elsewhere}, elsewhere, false, "HOME=/h A=b"},
		"the workspace":         {Server{Dir: dir, Command: []string{"python3", "-m", "srv"}}, dir, false, "HOME=/h PWD=" + dir + " PYTHONSAFEPATH=1 A=b"},
		"a folder of it":        {Server{Dir: filepath.Join(dir, "sub")}, filepath.Join(dir, "sub"), false, "HOME=/h PWD=" + dir + " PYTHONSAFEPATH=1 A=b"},
		"a project's":           {Server{Dir: dir, Source: ".mcp.json", Command: []string{"python3", "srv.py"}}, dir, false, "HOME=/h PWD=" + dir + " PYTHONSAFEPATH=1 A=b"},
		"a module of a project": {Server{Dir: dir, Source: ".mcp.json", Command: []string{"python3", "-m", "srv"}}, dir, false, "HOME=/h PWD=" + dir + " A=b"},
	} {
		t.Run(name, func(t *testing.T) {
			p := New(Options{Dir: dir, State: state, Env: env})
			defer p.Close()
			if len(c.server.Command) == 0 {
				c.server.Command = []string{"server"}
			}
			c.server.Name, c.server.Env = "s", map[string]string{"A": "b"}
			at, err := p.whereToStart(c.server)
			if err != nil || at.dir != c.dir || at.own != c.own || strings.Join(at.env, " ") != c.env {
				t.Errorf("%+v %v", at, err)
			}
			at.end()
			defer func() {
				p.dropFolder("s")
				if _, err := os.Stat(filepath.Join(state, "folders", "s")); !os.IsNotExist(err) {
					t.Error("an empty folder stays")
				}
			}()
			if _, err := os.Stat(filepath.Join(state, "folders", "s", "package.json")); c.own && err != nil {
				t.Errorf("npm would go up from its folder: %v", err)
			}
		})
	}
	p := New(Options{Dir: dir, Env: env})
	defer p.Close()
	if _, err := p.whereToStart(Server{Name: "s", Command: []string{"./server"}}); err == nil || !strings.Contains(err.Error(), "by its whole path") {
		t.Errorf("a program of another folder: %v", err)
	}
	at, err := p.whereToStart(Server{Name: "s", Command: []string{"server"}})
	if err != nil || !at.own || slices.Contains([]string{dir, state}, at.dir) {
		t.Fatalf("%+v %v", at, err)
	}
	at.end()
	if _, err := os.Stat(at.dir); !os.IsNotExist(err) {
		t.Errorf("the folder of a pool without a state stays: %v", err)
	}
}

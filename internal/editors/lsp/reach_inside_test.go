package lsp

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFilesThatUseAnother are found by what they import, through others, and no more of them than
// are looked at.
func TestFilesThatUseAnother(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"lib.ts": "", "a.ts": "import { x } from './lib'", "b.tsx": "export * from \"./a\"", "c.js": "const y = require(`x`), z = require('./lib.js')",
		"d.ts": "import('@/lib')", "e.ts": "import {\n x,\n} from './lib'", "other.ts": "const lib = 1 // from nothing", "pkg/index.ts": "export * from '../lib'",
		"f.ts": "import x from './pkg'", "g.ts": "import './pkg/'", "node_modules/m/lib.ts": "import '../../lib'", "pkg/h.ts": "import x from '.'",
		"lib.py": "", "a.py": "from lib import x", "b.py": "import os, lib as l", "c.py": "from . import (\n  lib,\n)", "d.py": "from pkg.lib import x", "lib_test.py": "library = 1",
		"pkg/__init__.py": "from ..lib import x", "e.py": "import pkg",
		"lib.h": "", "a.h": "#include \"lib.h\"", "a.c": "# include <x/a.h>", "b.c": "#include <stdio.h>",
		"src/lib.rs": "mod one;", "src/one.rs": "use crate::x;", "src/two.rs": "fn f() { one::g() }",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	x := &imports{}
	for name, want := range map[string]string{
		"lib.ts": "a.ts b.tsx c.js d.ts e.ts f.ts g.ts pkg/h.ts pkg/index.ts",
		"lib.py": "a.py b.py c.py d.py e.py pkg/__init__.py", "lib.h": "a.c a.h", "src/lib.rs": "src/one.rs src/two.rs",
		"other.ts": "", "b.c": "",
	} {
		found := x.users(t.Context(), dir, filepath.Join(dir, name), nil)
		var got []string
		for _, path := range found.paths {
			rel, _ := filepath.Rel(dir, path)
			got = append(got, rel)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want || !found.known || found.more {
			t.Errorf("%s: %v %v %v, want %s", name, got, found.known, found.more, want)
		}
	}
	if found := x.users(t.Context(), dir, filepath.Join(dir, "a.zig"), nil); found.known {
		t.Error("imports of a language are known that is not")
	}
	if found := x.users(t.Context(), dir, filepath.Join(dir, "lib.ts"), func(path string) bool { return filepath.Base(path) == "a.ts" }); len(found.paths) != 7 {
		t.Errorf("what is withheld is looked at: %v", found.paths)
	}
	for i := range 40 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("n%d.ts", i)), []byte("import './lib'"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if found := x.users(t.Context(), dir, filepath.Join(dir, "lib.ts"), nil); !found.more || len(found.paths) != maxUsers {
		t.Errorf("%d files, more %v", len(found.paths), found.more)
	}
}

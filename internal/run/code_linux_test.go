package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"adze/internal/testkit/effort"
	"adze/internal/testkit/lsptest"
	"adze/internal/testkit/nodetest"
)

// TestAnAllowedServerIsHeldByTheSandbox in each permission mode: it cannot write outside, and one
// whose program the sandbox does not show is told as such.
func TestAnAllowedServerIsHeldByTheSandbox(t *testing.T) {
	u := newUser(t)
	sandboxed(t, u)
	dir := outside(t)
	self, err := os.Executable()
	program, server := filepath.Join(u.dir, "program"), filepath.Join(u.dir, "server")
	if err == nil {
		err = os.Link(self, program)
	}
	if err == nil { // what is allowed is pinned whole, and the program of a race run is too large for that
		err = os.WriteFile(server, []byte("#!/bin/sh\nexec "+program+" \"$@\"\n"), 0o700)
	}
	if err != nil {
		t.Skip("the program of the test cannot lie in the project:", err)
	}
	outside := filepath.Join(dir, "CANARY")
	u.configure(fmt.Sprintf(`{"language_servers": {"use": "on", "servers": {"fake": {"command": [%q, %q, %q], "files": {".x": "x"}}}}}`,
		server, lsptest.Word, "push writes:"+outside))
	u.file("main.x", "fine\n")
	u.run("trust", "allow", "sdk:fake").wants(0)
	edit := "-- 1 --\ncall write: {\"path\":\"new.x\",\"content\":\"BAD\\n\"}\ncall diagnostics: {\"path\":\"new.x\"}\n-- 2 --\nexpect diagnostics completed: BAD is here\ntext: done\n"
	for _, mode := range []string{"edits", "auto"} {
		u.run("-p", "--permission-mode="+mode, u.script(edit), "go").wants(0)
		if _, err := os.Stat(outside); err == nil {
			t.Fatalf("%s: it wrote outside", mode)
		}
		if err := os.Remove(filepath.Join(u.dir, "new.x")); err != nil {
			t.Fatal(err)
		}
	}
	// Without the sandbox, which the user switched off, it does: so the test can fail.
	u.run("-p", "--permission-mode=edits", "--sandbox=off", u.script(edit), "go").wants(0)
	if _, err := os.Stat(outside); err != nil {
		t.Errorf("it did not write: %v", err)
	}
}

func TestAServerThatTheSandboxDoesNotShow(t *testing.T) {
	u := newUser(t)
	sandboxed(t, u)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	hidden := filepath.Join(u.own, "Documents", "server")
	if err := os.MkdirAll(filepath.Dir(hidden), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hidden, []byte(fmt.Sprintf("#!/bin/sh\nexec %s %s push\n", self, lsptest.Word)), 0o700); err != nil {
		t.Fatal(err)
	}
	script := u.file("start.sh", "#!/bin/sh\nexec "+hidden+"\n")
	u.configure(fmt.Sprintf(`{"language_servers": {"use": "on", "servers": {"fake": {"command": ["/bin/sh", %q], "files": {".x": "x"}}}}}`, script))
	u.file("main.x", "fine\n")
	u.run("trust", "allow", "sdk:fake").wants(0)
	steps := "-- 1 --\ncall diagnostics: {\"path\":\"main.x\"}\n-- 2 --\nexpect diagnostics failed: cannot run in the sandbox: commands in the sandbox do not see \\S*Documents/server, which is there; if it is needed, the user shows it with\ntext: done\n"
	u.run("-p", "--permission-mode=edits", u.script(steps), "go").wants(0, "done")
	if !strings.HasPrefix(self, "/tmp/") { // of which the sandbox has its own
		return
	}
	u.configure(fmt.Sprintf(`{"language_servers": {"use": "on", "servers": {"fake": {"command": [%q, %q, "push"], "files": {".x": "x"}}}}}`, self, lsptest.Word))
	u.run("trust", "allow", "sdk:fake").wants(0)
	steps = "-- 1 --\ncall diagnostics: {\"path\":\"main.x\"}\n-- 2 --\nexpect diagnostics failed: it is there, but commands in the sandbox do not see it; the user shows its folder\ntext: done\n"
	u.run("-p", "--permission-mode=edits", u.script(steps), "go").wants(0, "done")
}

// TestRealServersRunInTheSandbox with what they need of the user's: each finds what is wrong.
func TestRealServersRunInTheSandbox(t *testing.T) {
	effort.Needs(t, effort.Short, "it starts servers by npx")
	npm := func(pkg, name string) func(*testing.T) string {
		return func(t *testing.T) string { return nodetest.Program(t, pkg, name) }
	}
	path := func(name string) func(*testing.T) string {
		return func(t *testing.T) string {
			gopath := os.Getenv("GOPATH")
			for _, at := range []string{filepath.Join(gopath, "bin", name), filepath.Join("/usr/bin", name)} {
				if _, err := os.Stat(at); err == nil {
					return at
				}
			}
			t.Skip(name + " is not installed")
			return ""
		}
	}
	for name, c := range map[string]struct {
		program           func(*testing.T) string
		args              string
		file, text, finds string
	}{
		"gopls":                      {path("gopls"), ``, "a.go", "package m\n\nvar A string = len(B)\n", "undefined: B"},
		"clangd":                     {path("clangd"), ``, "a.cpp", "#include <stddef.h>\nsize_t a = \"x\";\n", "Cannot initialize"},
		"pyright":                    {npm("pyright", "pyright-langserver"), `, "--stdio"`, "a.py", "import json\na: str = len(json.dumps(1))\n", "is not assignable"},
		"typescript-language-server": {npm("typescript-language-server", "typescript-language-server"), `, "--stdio"`, "a.ts", "export const a: string = 1;\n", "[2322]"},
		"typescript": {func(t *testing.T) string {
			return filepath.Join(nodetest.Modules(t, "typescript7"), "typescript7", "bin", "tsc")
		}, `, "--lsp", "--stdio"`, "a.ts", "export const a: string = 1;\n", "[2322]"},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			sandboxed(t, u)
			off := ""
			for _, other := range []string{"typescript", "typescript-language-server"} {
				if other != name {
					off += fmt.Sprintf(`, %q: {"off": true}`, other)
				}
			}
			u.configure(fmt.Sprintf(`{"language_servers": {"use": "on", "servers": {%q: {"command": [%q%s]}%s}}}`, name, c.program(t), c.args, off))
			u.file("go.mod", "module example.com/m\n\ngo 1.20\n")
			u.file(c.file, c.text)
			call := fmt.Sprintf("call diagnostics: {\"path\":%q}\n", c.file) // again and again: on a busy machine it answers late
			steps := "-- 1 --\n" + call + "-- 2 --\n" + call + "-- 3 --\n" + call + "-- 4 --\nexpect diagnostics completed: " + regexp.QuoteMeta(c.finds) + "\ntext: done\n"
			u.run("-p", "--permission-mode=edits", u.script(steps), "go").wants(0, "done")
		})
	}
}

// TestTheProjectsTypeScriptIsAskedAbout: without consent it does not run, and is listed; with it it
// does, in the sandbox; and when it has changed it does not again.
func TestTheProjectsTypeScriptIsAskedAbout(t *testing.T) {
	program := nodetest.Program(t, "typescript-language-server", "typescript-language-server")
	nodetest.Modules(t, "typescript")
	u := newUser(t)
	sandboxed(t, u)
	dir := outside(t)
	u.configure(fmt.Sprintf(`{"language_servers": {"use": "on", "servers": {"typescript": {"off": true}, "typescript-language-server": {"command": [%q, "--stdio"]}}}}`, program))
	u.file("tsconfig.json", "{}")
	u.file("a.ts", "export const a: string = 1;\n")
	u.file("node_modules/typescript/package.json", `{"name": "typescript", "version": "5.9.3"}`)
	planted := func(more string) {
		u.file("node_modules/typescript/lib/tsserver.js", fmt.Sprintf("const fs = require('fs');\nfs.writeFileSync(%q, 'x');\nfs.writeFileSync(%q, 'x');\n%s\n",
			filepath.Join(u.dir, "RAN"), filepath.Join(dir, "ESCAPED"), more))
	}
	planted("")
	runs := func() (did bool, r ran) {
		t.Helper()
		r = u.run("-p", "--permission-mode=edits", u.script("-- 1 --\ncall diagnostics: {\"path\":\"a.ts\"}\n-- 2 --\ntext: done\n"), "go").wants(0, "done")
		path := filepath.Join(u.dir, "RAN")
		_, err := os.Stat(path)
		_ = os.Remove(path)
		return err == nil, r
	}
	if ran, r := runs(); ran || !strings.Contains(r.out+r.err, "ignored until you allow it: sdk:typescript") {
		t.Errorf("unasked: ran %v\n%s", ran, r.err)
	}
	u.run("trust", "allow", "sdk:typescript").wants(0)
	if ran, r := runs(); !ran {
		t.Errorf("allowed: ran %v\n%s", ran, r.err)
	}
	planted("// changed")
	if ran, r := runs(); ran || !strings.Contains(r.out+r.err, "sdk:typescript (changed)") {
		t.Errorf("changed: ran %v\n%s", ran, r.err)
	}
	if _, err := os.Stat(filepath.Join(dir, "ESCAPED")); err == nil {
		t.Error("it wrote outside of the sandbox")
	}
}

package run_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/testkit/effort"
)

// nest is a cloned folder that is full of code with the names that programs look for, and what of
// it ran.
type nest struct {
	*user
	log string
	// plain is the environment without the ways into the folder.
	plain []string
}

// newNest plants files for every program that adze starts by itself, and a user whose search paths
// and settings lead into the folder.
func newNest(t *testing.T) *nest {
	t.Helper()
	u := newUser(t)
	dir, err := filepath.EvalSymlinks(u.dir)
	if err != nil {
		t.Fatal(err)
	}
	u.dir = dir
	n := &nest{user: u, log: filepath.Join(t.TempDir(), "canary")}
	n.plain = u.env
	shell := func(name string) string { return "#!/bin/sh\necho " + name + " >> '" + n.log + "'\n" }
	python := func(name string) string { return "open('" + n.log + "', 'a').write('" + name + "\\n')\n" }
	node := func(name string) string {
		return "#!/usr/bin/env node\nrequire('fs').appendFileSync('" + n.log + "', '" + name + "\\n')\n"
	}
	for _, name := range []string{"mcp_server_time.py", "json.py", "helper.py", "sitecustomize.py", "usercustomize.py", "black.py", "conftest.py", "pkg/__main__.py", "pkg/__init__.py"} {
		n.file(name, python(name))
	}
	for name, text := range map[string]string{
		"package.json":                           `{"name": "clone", "version": "1.0.0", "bin": {"time-server": "./evil.js", "clone": "./evil.js"}, "scripts": {"preinstall": "node evil.js"}, "prettier": "./evil.js"}`,
		"evil.js":                                node("evil.js"),
		"index.js":                               node("index.js"),
		"server.js":                              node("server.js"),
		".prettierrc.js":                         node(".prettierrc.js"),
		"node_modules/time-server/package.json":  `{"name": "time-server", "version": "1.0.0", "bin": {"time-server": "./index.js"}}`,
		"node_modules/time-server/index.js":      node("node_modules/time-server"),
		"node_modules/@scope/files/package.json": `{"name": "@scope/files", "version": "1.0.0", "bin": {"files": "./index.js"}}`,
		"node_modules/@scope/files/index.js":     node("node_modules/@scope/files"),
		".npmrc":                                 "script-shell=" + filepath.Join(u.dir, "bin/sh") + "\nnode-options=--require " + filepath.Join(u.dir, "evil.js") + "\n",
		"npmrc":                                  "node-options=--require " + filepath.Join(u.dir, "evil.js") + "\n",
		"go.mod":                                 "module example.com/server\n\ngo 1.21\n",
		"go.work":                                "go 1.21\n\nuse .\n",
		"main.go":                                "package main\n\nimport \"os\"\n\nfunc main() { os.WriteFile(" + fmt.Sprintf("%q", n.log) + ", []byte(\"main.go\\n\"), 0o600) }\n",
		"Makefile":                               "all fmt:\n\techo Makefile >> '" + n.log + "'\n",
		".envrc":                                 "echo .envrc >> '" + n.log + "'\n",
		"env.sh":                                 "echo env.sh >> '" + n.log + "'\n",
		"strict.pm":                              "open(my $f, '>>', '" + n.log + "'); print $f \"strict.pm\\n\"; 1;\n",
		"rust-toolchain.toml":                    "[toolchain]\npath = \"" + filepath.Join(u.dir, "bin") + "\"\n",
		"data.json":                              "{}\n", "app.py": "x = 1\n", "app.js": "x = 1\n", "app.txt": "one\n", "app.rs": "fn main() {}\n",
	} {
		n.file(name, text)
	}
	for _, name := range []string{"git", "python3", "python", "node", "npx", "npm", "go", "uvx", "sh", "bash", "env", "make", "tmux", "sleep", "xdg-open", "xclip", "vi", "perl", "cat", "check"} {
		for _, folder := range []string{"bin", "node_modules/.bin"} {
			n.program(folder+"/"+name, shell(folder+"/"+name))
		}
	}
	for _, name := range []string{"time-server", "files", "prettier", "evil"} {
		n.program("node_modules/.bin/"+name, shell("node_modules/.bin/"+name))
	}
	n.program("tool", shell("tool"))
	n.gits(shell)
	n.env = append(n.env, "PATH="+strings.Join([]string{".", "bin", filepath.Join(u.dir, "bin"), filepath.Join(u.dir, "node_modules/.bin"), os.Getenv("PATH")}, ":"),
		"PYTHONPATH="+u.dir, "NODE_PATH="+filepath.Join(u.dir, "node_modules"), "PERL5LIB="+u.dir, "PERL_USE_UNSAFE_INC=1", "RUBYLIB="+u.dir,
		"npm_config_userconfig="+filepath.Join(u.dir, ".npmrc"), "npm_config_globalconfig="+filepath.Join(u.dir, "npmrc"), "npm_config_local_prefix="+u.dir, "INIT_CWD="+u.dir,
		"GOWORK="+filepath.Join(u.dir, "go.work"), "GOFLAGS=-toolexec="+filepath.Join(u.dir, "tool"), "BASH_ENV="+filepath.Join(u.dir, "env.sh"), "ENV="+filepath.Join(u.dir, "env.sh"),
		"MAKEFILES="+filepath.Join(u.dir, "Makefile"), "TMUX=/nowhere,1,0", "DISPLAY=:0")
	return n
}

// program plants a file that can be run.
func (n *nest) program(name, text string) {
	n.t.Helper()
	if err := os.Chmod(n.file(name, text), 0o755); err != nil {
		n.t.Fatal(err)
	}
}

// gits makes a repository of the folder whose settings run programs.
func (n *nest) gits(shell func(string) string) {
	n.t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		n.t.Skip("git is not installed")
	}
	for _, dir := range []string{n.dir, filepath.Join(n.dir, "sub")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			n.t.Fatal(err)
		}
		cmd := exec.Command("git", "init", "-q")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			n.t.Fatalf("%v %s", err, out)
		}
	}
	n.program("fsmonitor", shell("fsmonitor"))
	n.program(".git/hooks/post-index-change", shell("post-index-change"))
	f, err := os.OpenFile(filepath.Join(n.dir, ".git/config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		n.t.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "[core]\n\tfsmonitor = %s\n\tpager = %s\n", filepath.Join(n.dir, "fsmonitor"), filepath.Join(n.dir, "fsmonitor")); err != nil {
		n.t.Fatal(err)
	}
}

// quiet fails where something of the folder ran.
func (n *nest) quiet(when string) {
	n.t.Helper()
	if said, err := os.ReadFile(n.log); err == nil {
		n.t.Errorf("%s ran of the folder:\n%s", when, said)
	}
	_ = os.Remove(n.log)
}

// alive fails where a command that runs in the folder itself does not run what is planted for it.
func (n *nest) alive(argv ...string) {
	n.t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = n.dir, n.plain
	_ = cmd.Run() // how it ends does not count
	if _, err := os.Stat(n.log); err != nil {
		n.t.Errorf("%q alone runs nothing of the folder, so this test shows nothing", argv)
	}
	_ = os.Remove(n.log)
}

// has skips what needs a program that is not installed.
func (n *nest) has(name string) {
	n.t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		n.t.Skipf("%s is not installed", name)
	}
}

// in gives the nest to a part of a test.
func (n *nest) in(t *testing.T) *nest {
	u := *n.user
	u.t = t
	return &nest{&u, n.log, n.plain}
}

func jsonOf(v any) string {
	raw, _ := json.Marshal(v) // of maps and texts
	return string(raw)
}

// The user's own servers take nothing of a cloned folder, however they are started.
func TestServersTakeNothingOfTheFolder(t *testing.T) {
	effort.Needs(t, effort.Short, "it starts fourteen servers, some of them by npx")
	n := newNest(t)
	servers := map[string][]string{
		"time": {"python3", "-m", "mcp_server_time"}, "pkg": {"python3", "-m", "pkg"}, "script": {"python3", "json.py"},
		"npx": {"npx", "--offline", "-y", "time-server"}, "scoped": {"npx", "--offline", "-y", "@scope/files"}, "npm": {"npm", "exec", "--offline", "-y", "time-server"},
		"node": {"node", "server.js"}, "eval": {"node", "-e", "require('time-server')"}, "gorun": {"go", "run", "example.com/server"}, "god": {"go", "run", "."},
		"uvx": {"uvx", "--offline", "mcp-server-time"}, "make": {"make"}, "perl": {"perl", "-e", "use strict; sleep 1"}, "sh": {"sh", "-c", "cat"},
	}
	all := map[string]any{}
	for name, argv := range servers {
		all[name] = map[string]any{"command": argv[0], "args": argv[1:]}
	}
	live := map[string]bool{"time": true, "pkg": true, "script": true, "npx": true, "scoped": true, "node": true, "eval": true, "gorun": true, "god": true, "make": true}
	for name, argv := range servers {
		t.Run(name, func(t *testing.T) {
			n := n.in(t)
			n.has(argv[0])
			n.configure(jsonOf(map[string]any{"mcp": map[string]any{"servers": map[string]any{name: all[name]}}}))
			r := n.run("mcp", "test", name)
			n.quiet("adze mcp test " + name)
			if strings.Contains(r.out+r.err, "adze permission trust allow") {
				t.Errorf("it was asked about: %s%s", r.out, r.err)
			}
			if live[name] {
				n.alive(argv...)
			}
			if name == "time" || name == "npx" { // the folder alone
				n.env = n.plain
				n.run("mcp", "test", name)
				n.quiet("adze mcp test " + name + ", without search paths into the folder,")
			}
		})
	}
	t.Run("a prompt", func(t *testing.T) {
		n := n.in(t)
		n.configure(jsonOf(map[string]any{"tools": map[string]any{"offer_above": 5}, "mcp": map[string]any{"servers": map[string]any{"time": all["time"], "sh": all["sh"], "node": all["node"]}}}))
		n.run("-p", n.script("-- 1 --\ncall tool_search: {\"query\":\"what time is it\"}\n-- 2 --\ntext: done\n"), "hi").wants(0, "done")
		n.quiet("a prompt")
	})
}

// where asks the server for its folder, and returns what the call ended with.
func (n *nest) where(t *testing.T, want string, flags ...string) {
	t.Helper()
	n.run(append([]string{"-p", "--allow", "execute(mcp:w **)", n.script("-- 1 --\ncall tool_search: {\"query\":\"where\"}\n-- 2 --\ncall w_where: {}\n-- 3 --\nexpect w_where completed: " + want + "\ntext: done\n"), "go"}, flags...)...).wants(0, "done")
}

// A server starts in a folder of its own, where it finds its own modules and writes, and is told of
// the workspace. One that wants the workspace is asked about once for it.
func TestAServerHasAFolderOfItsOwn(t *testing.T) {
	n := newNest(t)
	n.has("python3")
	own := t.TempDir()
	if err := os.CopyFS(own, os.DirFS("testdata/own")); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(own, "where.py")
	server := func(more map[string]any, args ...string) string {
		more["command"], more["args"] = "python3", append([]string{script}, args...)
		return jsonOf(map[string]any{"tools": map[string]any{"offer_above": 5}, "mcp": map[string]any{"servers": map[string]any{"w": more}}})
	}
	folder, err := filepath.EvalSymlinks(n.home)
	if err != nil {
		t.Fatal(err)
	}
	folder = filepath.Join(folder, "state", "mcp", "folders", "w")
	n.configure(server(map[string]any{}))
	n.where(t, "^cwd="+folder+" its own helper args= roots=file://"+n.dir+"$")
	if kept, err := os.ReadFile(filepath.Join(folder, "kept")); err != nil || string(kept) != "x" {
		t.Errorf("%q %v", kept, err)
	}
	n.configure(server(map[string]any{}, "${workspaceFolder}"))
	n.run("mcp", "accept", "w").wants(0)
	n.where(t, "^cwd="+folder+" its own helper args="+n.dir+" roots=$")
	n.quiet("a server in its own folder")

	n.configure(server(map[string]any{"cwd": "."}))
	n.run("-p", n.script("-- 1 --\ntext: done\n"), "hi").wants(0, "done", "server:w@config", "adze permission trust allow")
	n.run("mcp", "list", "--json").wants(0, `"name":"w","state":"needs consent"`, "it starts in this folder")
	n.run("mcp", "test", "w").wants(8, "adze permission trust allow server:w@config")
	n.run("trust", "show", "server:w@config").wants(0, "it starts in this folder", "folder   .", "is not pinned")
	n.run("trust", "allow", "server:w@config").wants(0)
	n.where(t, "^cwd="+n.dir+" its own helper args= roots=file://"+n.dir+"$")
	n.run("trust", "revoke", "server:w@config").wants(0)
	n.run("-p", "--allow", "execute(mcp:w **)", n.script("-- 1 --\ncall w_where: {}\n-- 2 --\nexpect w_where denied: adze permission trust allow server:w@config\ntext: done\n"), "go").wants(0, "done", "server:w@config")
	n.run("trust", "allow", "server:w@config").wants(0)
	n.quiet("a server that was allowed in the folder")
	n.configure(server(map[string]any{"cwd": ".", "env": map[string]string{"A": "b"}}))
	n.run("trust", "list").wants(0, "changed  server:w@config")
	n.configure(jsonOf(map[string]any{"mcp": map[string]any{"servers": map[string]any{"v": map[string]any{"command": "python3", "args": []string{"${workspaceFolder}/json.py"}}}}}))
	n.run("mcp", "test", "v").wants(8, "it runs "+filepath.Join(n.dir, "json.py")+" of this folder")
	n.run("mcp", "add", "other", "--cwd", ".", "--", "python3", script).wants(0, "added other", "it was not started", "adze permission trust allow server:other@config")
	n.quiet("a server that waits")
	n.run("mcp", "add", "dotted", "--no-test", "--", "server", ".").wants(0, "added dotted", "starts in a folder of its own", "${workspaceFolder}")
}

// Formatters, hooks and tools of the user's run in the folder, and take nothing of it.
func TestFormattersHooksAndToolsTakeNothingOfTheFolder(t *testing.T) {
	effort.Needs(t, effort.Short, "it starts programs of many kinds")
	n := newNest(t)
	n.has("python3")
	n.configure(jsonOf(map[string]any{"permission_mode": "edits", "formatters": map[string]any{
		"json": map[string]any{"command": []string{"python3", "-m", "json.tool"}, "files": []string{".json"}},
		"py":   map[string]any{"command": []string{"python3", "-m", "black", "-q", "-"}, "files": []string{".py"}},
		"js":   map[string]any{"command": []string{"npx", "--offline", "prettier", "--stdin-filepath", "{file}"}, "files": []string{".js"}},
		"txt":  map[string]any{"command": []string{"perl", "-pe", "use strict; 1"}, "files": []string{".txt"}},
		"rs":   map[string]any{"command": []string{"rustfmt"}, "files": []string{".rs"}},
	}}))
	check := filepath.Join(n.own, "check.py")
	for path, text := range map[string]string{
		check:                             "import json, helper\nprint('{}')\n",
		filepath.Join(n.own, "helper.py"): "",
		filepath.Join(n.home, "hooks.json"): jsonOf(map[string]any{"hooks": map[string]any{
			"before_tool": []any{map[string]any{"command": "python3 ~/check.py"}, map[string]any{"command": []string{"python3", "-c", "import json; print('{}')"}}},
			"prompt":      []any{map[string]any{"command": "perl -e 'use strict; print qq({})'"}, map[string]any{"command": "make all"}, map[string]any{"command": "npx --offline time-server"}, map[string]any{"command": "check"}},
		}}),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(n.home, "tools"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(n.home, "tools", "tidy.json"), []byte(`{"name": "tidy", "description": "Tidies.", "parameters": {"type": "object", "properties": {}}, "command": ["python3", "-m", "json.tool", "data.json"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	steps := "-- 1 --\n" +
		"call write: {\"path\": \"new.json\", \"content\": \"{\\\"a\\\":1}\"}\ncall write: {\"path\": \"new.py\", \"content\": \"y  = 1\\n\"}\ncall write: {\"path\": \"new.js\", \"content\": \"y  = 1\\n\"}\n" +
		"call write: {\"path\": \"new.txt\", \"content\": \"two\\n\"}\ncall write: {\"path\": \"new.rs\", \"content\": \"fn main() {}\\n\"}\ncall git_status: {}\ncall git_status: {\"path\": \"sub\"}\n" +
		"-- 2 --\ntext: done\n"
	r := n.run("-p", "--output-format", "stream-json", "--sandbox", "off", n.script(steps), "go").wants(0, "formatter:js@config", "formatter:rs@config", "hook:person/prompt/2@config", "hook:person/prompt/3@config", "adze permission trust allow")
	n.quiet("a run with formatters, hooks and tools")
	if raw, err := os.ReadFile(filepath.Join(n.dir, "new.json")); err != nil || string(raw) != "{\n    \"a\": 1\n}\n" {
		t.Errorf("the formatter of JSON did not run: %q %v\n%s", raw, err, r.out)
	}
	if strings.Contains(r.out, "ModuleNotFoundError: No module named 'helper'") {
		t.Errorf("a script of the user's does not find its own module:\n%s", r.out)
	}
	led := n.env
	n.env = append(n.plain, "PYTHONPATH="+n.dir) // with python3 of the folder in PATH no rule allows it
	n.run("-p", "--sandbox", "off", "--allow", "execute(python3 **)", n.script("-- 1 --\ncall tidy: {}\n-- 2 --\nexpect tidy completed: ^\\{\\}\ntext: done\n"), "go").wants(0, "done")
	n.quiet("a tool")
	n.env = led
	for _, argv := range [][]string{{"python3", "-m", "json.tool"}, {"npx", "--offline", "prettier"}, {"make", "all"}, {"git", "status"}} {
		if _, err := exec.LookPath(argv[0]); err == nil {
			n.alive(argv...)
		}
	}
	n.run("trust", "allow", "hook:person/prompt/2@config").wants(0)
	n.run("-p", "--sandbox", "off", n.script("-- 1 --\ntext: done\n"), "go").wants(0, "done")
	if said, _ := os.ReadFile(n.log); !strings.Contains(string(said), "Makefile") || strings.Count(string(said), "\n") != 1 {
		t.Errorf("what was allowed in this folder, and nothing else, runs: %q", said)
	}
}

// A hook and a tool of the project that the user allowed load no module that lies beside them.
func TestAPinnedScriptLoadsNothingBesideIt(t *testing.T) {
	n := newNest(t)
	n.has("python3")
	n.env = append(n.plain, "PYTHONPATH="+n.dir)
	n.file(".adze/hooks.json", `{"hooks": {"before_tool": [{"command": "python3 hook.py"}], "prompt": [{"command": "python3 scripts/prompt.py"}]}}`)
	n.file("hook.py", "import json\nprint(json.dumps({}))\n")
	n.file("scripts/prompt.py", "import json\nprint('{}')\n")
	n.file("scripts/json.py", "open('"+n.log+"', 'a').write('scripts/json.py\\n')\n")
	n.file(".adze/tools/tidy.json", `{"name": "tidy", "description": "Tidies.", "parameters": {"type": "object", "properties": {}}, "command": ["python3", "../../hook.py"]}`)
	n.file(".adze/tools/named.json", `{"name": "named", "description": "Named.", "parameters": {"type": "object", "properties": {}}, "command": ["python3", "hook.py"]}`)
	n.run("trust", "show", "hook:adze/before_tool/1").wants(0, "hook.py sha256", "what these files load in turn is not pinned; Python finds no modules beside them")
	n.run("trust", "allow", "hook:adze/before_tool/1", "hook:adze/prompt/1", "tool:named").wants(0)
	r := n.run("-p", "--output-format", "stream-json", "--sandbox", "off", "--allow", "execute(python3 **)", n.script("-- 1 --\ncall named: {}\n-- 2 --\nexpect named completed: ^\\{\\}\ntext: done\n"), "go").wants(0, "done")
	n.quiet("a pinned script")
	if strings.Contains(r.out, "failed at") || strings.Contains(r.out, "failed:") {
		t.Errorf("a hook did not run:\n%s", r.out)
	}
	n.alive("python3", "hook.py")
	// A server of the project starts in the folder, as its consent shows, and loads nothing beside it.
	server, err := os.ReadFile("testdata/own/where.py")
	if err != nil {
		t.Fatal(err)
	}
	n.file("server.py", strings.NewReplacer("import helper, ", "import ", "helper.word", "'none'").Replace(string(server)))
	n.file(".mcp.json", `{"mcpServers": {"w": {"command": "python3", "args": ["server.py"]}, "m": {"command": "python3", "args": ["-m", "server"]}}}`)
	n.run("trust", "show", "server:w").wants(0, "folder   .", "server.py sha256", "Python finds no modules beside them")
	n.run("trust", "allow", "server:w").wants(0)
	n.configure(`{"tools": {"offer_above": 5}}`)
	n.where(t, "^cwd="+n.dir+" none ")
	n.quiet("a server of the project")
	if err := os.Remove(filepath.Join(n.dir, "json.py")); err != nil {
		t.Fatal(err)
	}
	n.run("trust", "allow", "server:m").wants(0)
	n.run("mcp", "test", "m").wants(0, "m works") // the module that was shown is found
}

// What adze looks at by itself runs nothing of the folder either.
func TestCommandsTakeNothingOfTheFolder(t *testing.T) {
	n := newNest(t)
	n.configure(`{"mcp": {"servers": {"time": {"command": "python3", "args": ["-m", "mcp_server_time"]}}}}`)
	for _, args := range [][]string{{"doctor", "--offline"}, {"doctor", "--offline", "--sandbox", "required"}, {"mcp", "list"}, {"trust", "list"}, {"tools", "list"}, {"sandbox"}, {"context"}, {"session", "list"}, {"tools", "run", "git_status", "--args", "{}"},
		{"tools", "run", "git_status", "--args", `{"path": "sub"}`}, {"worktree", "list"}, {"keys"}} {
		n.run(args...)
		n.quiet("adze " + strings.Join(args, " "))
	}
}

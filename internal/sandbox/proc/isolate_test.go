package proc

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestIsolatedLeadsNowhereIntoTheFolder(t *testing.T) {
	const dir = "/src/clone"
	env := []string{
		"PATH=/src/clone/bin:/usr/bin", "HOME=/home/ann", "LANG=C",
		"PYTHONPATH=/src/clone:/opt/lib", "NODE_PATH=/src/clone/node_modules", "PERL5LIB=lib:/opt/perl", "RUBYLIB=:.:/src/clone/lib",
		"npm_config_userconfig=/src/clone/.npmrc", "NPM_CONFIG_PREFIX=/home/ann/.npm", "npm_config_script_shell=./x", "GOFLAGS=-toolexec=/src/clone/x -v", "GOWORK=/src/clone/go.work",
		"UV_CONFIG_FILE=../uv.toml", "VIRTUAL_ENV=/src/clone/.venv", "CARGO_HOME=/src/clones", "PERL_USE_UNSAFE_INC=1", "PYTHONSAFEPATH=", "DATABASE=/src/clone/db",
		"PWD=/src/clone", "INIT_CWD=/src/clone/sub",
	}
	want := []string{
		"PATH=/src/clone/bin:/usr/bin", "HOME=/home/ann", "LANG=C", "PYTHONPATH=/opt/lib", "PERL5LIB=/opt/perl", "NPM_CONFIG_PREFIX=/home/ann/.npm", "CARGO_HOME=/src/clones",
		"DATABASE=/src/clone/db", "PWD=/src/clone", "INIT_CWD=/src/clone/sub", "PYTHONSAFEPATH=1",
	}
	if got := Isolated(env, dir); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := OwnFolderEnv(env, dir); !slices.Equal(got, want[:8]) {
		t.Errorf("elsewhere: %q", got)
	}
	for _, all := range []string{"", "/"} {
		if got := Isolated(env, all); len(got) != len(env)+1 {
			t.Errorf("%q: %q", all, got)
		}
	}
}

// Each interpreter that is installed is run with a planted module in each way that leads to one.
func TestInterpretersTakeNothingOfTheFolder(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "canary")
	plant := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "LOG", log)), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, name := range []string{"json.py", "sitecustomize.py", "usercustomize.py", "lib/re.py"} {
		plant(name, "open('LOG', 'a').write('"+name+"\\n')\n")
	}
	script := plant("hook.py", "import json, re\n")
	plant("JSON/PP.pm", "open(my $f, '>>', 'LOG'); print $f \"JSON::PP\\n\"; 1;\n")
	plant("node_modules/left/index.js", "require('fs').appendFileSync('LOG', 'left\\n')\n")
	plant("json.rb", "File.write('LOG', \"json.rb\\n\")\n")
	env := slices.Concat(Environ(os.Environ(), EnvPolicy{}), []string{
		"PYTHONPATH=" + dir + ":" + filepath.Join(dir, "lib"), "NODE_PATH=" + filepath.Join(dir, "node_modules"), "PERL5LIB=" + dir, "RUBYLIB=" + dir, "PERL_USE_UNSAFE_INC=1",
	})
	elsewhere := t.TempDir()
	for name, c := range map[string]struct {
		argv []string
		dir  string
	}{
		"python script": {[]string{"python3", script}, dir},
		"python -m":     {[]string{"python3", "-m", "json.tool", "/dev/null"}, dir},
		"python -c":     {[]string{"python3", "-c", "import json, re"}, dir},
		"perl":          {[]string{"perl", "-MJSON::PP", "-e", "1"}, dir},
		"node":          {[]string{"node", "-e", "require('left')"}, elsewhere},
		"ruby":          {[]string{"ruby", "-rjson", "-e", "1"}, dir},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(c.argv[0]); err != nil {
				t.Skip(c.argv[0], "is not installed")
			}
			if c.argv[0] == "python3" && exec.Command("python3", "-c", "import sys; sys.exit(sys.version_info < (3, 11))").Run() != nil {
				t.Skip("this Python is older than 3.11")
			}
			run := func(env []string) string {
				_ = os.Remove(log)
				cmd := exec.Command(c.argv[0], c.argv[1:]...)
				cmd.Dir, cmd.Env = c.dir, env
				_ = cmd.Run() // a module that is not found is what is wanted
				said, _ := os.ReadFile(log)
				return string(said)
			}
			if said := run(Isolated(env, dir, c.argv...)); said != "" {
				t.Errorf("it loaded %s", said)
			}
			if run(env) == "" {
				t.Error("it loads nothing in the open either, so this shows nothing")
			}
		})
	}
}

// A script of the user's finds its own modules, wherever it runs, and none of the folder.
func TestAScriptElsewhereFindsItsModules(t *testing.T) {
	if exec.Command("python3", "-c", "import sys; sys.exit(sys.version_info < (3, 11))").Run() != nil {
		t.Skip("there is no Python of 3.11 or newer")
	}
	dir, own := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		filepath.Join(own, "check"):     "#!/usr/bin/env python3\nimport helper, subprocess, sys\nsubprocess.run([sys.executable, '-m', 'other'])\n",
		filepath.Join(own, "helper.py"): "print('helped')\n", filepath.Join(dir, "other.py"): "print('planted')\n", filepath.Join(dir, "helper.py"): "print('planted')\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, argv := range [][]string{{filepath.Join(own, "check")}, {"python3", filepath.Join(own, "check")}, {"sh", "-c", "python3 " + filepath.Join(own, "check")}} {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = dir, Isolated(Environ(os.Environ(), EnvPolicy{}), dir, strings.Fields(strings.Join(argv, " "))...)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), "helped\n") || strings.Contains(string(out), "planted") {
			t.Errorf("%q: %v %s", argv, err, out)
		}
	}
}

// A program of the desktop is not taken from the folder.
func TestAHelperIsNotTakenFromTheFolder(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sleep"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":.:"+os.Getenv("PATH"))
	path, env, err := Helper("sleep", dir)
	if err != nil || strings.HasPrefix(path, dir) || strings.Contains(lookup(env, "PATH"), dir) {
		t.Errorf("%s %v %s", path, err, lookup(env, "PATH"))
	}
	if err := os.Remove(filepath.Join(dir, "sleep")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Helper("no-such-program", dir); err == nil {
		t.Error("found")
	}
}

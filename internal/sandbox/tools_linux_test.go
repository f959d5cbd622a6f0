package sandbox_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
	"adze/internal/testkit/effort"
)

// tool is a program that builds a small project in the sandbox, with the home of whoever runs the
// test.
type tool struct {
	name   string
	needs  []string // programs on PATH
	files  map[string]string
	script string
	want   string // in what it writes
	fails  bool
}

func tools() []tool {
	goFiles := map[string]string{"go.mod": "module example.com/x\n\ngo 1.22\n", "x.go": "package main\n\nfunc main() { println(\"built\") }\n"}
	wheel := map[string]string{"wheel.py": "import zipfile\nz = zipfile.ZipFile('small-1-py3-none-any.whl', 'w')\nd = 'small-1.dist-info/'\nz.writestr('small.py', \"word = 'built'\")\n" +
		"z.writestr(d + 'METADATA', 'Metadata-Version: 2.1\\nName: small\\nVersion: 1\\n')\nz.writestr(d + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\nz.writestr(d + 'RECORD', '')\nz.close()\n"}
	c := map[string]string{"x.c": "#include <stdio.h>\nint main(void) { puts(\"built\"); }\n", "Makefile": "x: x.c\n\t$(CC) -o x x.c\n",
		"CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(x C)\nadd_executable(x x.c)\n"}
	node := map[string]string{"package.json": `{"name":"x","version":"1.0.0","scripts":{"build":"node x.js"},"dependencies":{"dep":"file:./dep"}}`, "x.js": "console.log(require('dep'))", "dep/package.json": `{"name":"dep","version":"1.0.0"}`, "dep/index.js": "module.exports = 'built'"}
	return []tool{
		{name: "go", needs: []string{"go"}, files: goFiles, script: "go build -o x . && ./x", want: "built"},
		{name: "node", needs: []string{"node"}, files: map[string]string{"x.js": "console.log('built')"}, script: "node x.js", want: "built"},
		{name: "nvm", needs: []string{"bash"}, script: `test -s "${NVM_DIR:-$HOME/.nvm}/nvm.sh" || { echo skip; exit; }; . "${NVM_DIR:-$HOME/.nvm}/nvm.sh" && nvm which current && node -e "console.log('built')"`, want: "built"},
		{name: "npm", needs: []string{"npm"}, files: node, script: "npm install --offline --no-audit && npm run -s build", want: "built"},
		{name: "pnpm", needs: []string{"pnpm"}, files: node, script: "pnpm install --offline && pnpm run -s build", want: "built"},
		{name: "yarn", needs: []string{"yarn"}, files: node, script: "yarn install --offline && yarn -s build", want: "built"},
		{name: "bun", needs: []string{"bun"}, files: node, script: "bun install && bun x.js", want: "built"},
		{name: "deno", needs: []string{"deno"}, files: map[string]string{"x.ts": "const word: string = 'built'; console.log(word)"}, script: "deno run x.ts", want: "built"},
		{name: "python", needs: []string{"python3"}, files: map[string]string{"x.py": "print('built')"}, script: "python3 -m venv --without-pip v && v/bin/python x.py", want: "built"},
		{name: "pip", needs: []string{"pip"}, files: wheel, script: "python3 wheel.py && python3 -m venv v && v/bin/pip install -q --no-index ./*.whl && v/bin/python -c 'import small; print(small.word)'", want: "built"},
		{name: "uv", needs: []string{"uv"}, files: map[string]string{"x.py": "print('built')"}, script: "uv venv -q --offline v && v/bin/python x.py", want: "built"},
		{name: "poetry", needs: []string{"poetry"}, files: map[string]string{"pyproject.toml": "[project]\nname = \"x\"\nversion = \"1\"\nrequires-python = \">=3.8\"\n[tool.poetry]\npackage-mode = false\n", "x.py": "print('built')"}, script: "poetry install -q && poetry run python x.py", want: "built"},
		{name: "cargo", needs: []string{"cargo", "cc"}, files: map[string]string{"Cargo.toml": "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n", "src/main.rs": "fn main() { println!(\"built\") }\n"}, script: "cargo run -q --offline", want: "built"},
		{name: "maven", needs: []string{"mvn"}, files: map[string]string{"pom.xml": "<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version><packaging>pom</packaging></project>"}, script: "mvn -o -q validate && echo built", want: "built"},
		{name: "javac", needs: []string{"javac"}, files: map[string]string{"X.java": "class X { public static void main(String[] a) { System.out.println(\"built\"); } }"}, script: "javac X.java && java X", want: "built"},
		{name: "gradle", needs: []string{"gradle"}, files: map[string]string{"settings.gradle": "", "build.gradle": "task hello { doLast { println 'built' } }"}, script: "gradle --offline --no-daemon -q hello", want: "built"},
		{name: "ruby", needs: []string{"ruby"}, files: map[string]string{"x.rb": "require 'json'; puts 'built'"}, script: "ruby x.rb", want: "built"},
		{name: "bundler", needs: []string{"bundle"}, files: map[string]string{"Gemfile": ""}, script: "bundle install --local && echo built", want: "built"},
		{name: "dotnet", needs: []string{"dotnet"}, script: "dotnet --info && echo built", want: "built"},
		{name: "git", needs: []string{"git"}, files: map[string]string{"x": "1\n"}, script: "git init -q r && cp x r && cd r && git add x && git commit -qm x && git log --format=tformat:built", want: "built"},
		{name: "make", needs: []string{"make", "cc"}, files: c, script: "make && ./x", want: "built"},
		{name: "cmake", needs: []string{"cmake", "cc"}, files: c, script: "cmake -S . -B b && cmake --build b && b/x", want: "built"},
		{name: "ccache", needs: []string{"ccache", "cc"}, files: c, script: "ccache cc -c x.c -o x.o && rm x.o && ccache cc -c x.c -o x.o && ccache -s && cc -o x x.o && ./x", want: "built"},
		{name: "docker", needs: []string{"docker"}, script: "docker ps", fails: true},
		{name: "gh", needs: []string{"gh"}, script: "gh auth status", fails: true},
	}
}

// TestTools builds a small project with each tool that is installed, with the home of the user who
// runs the test. A tool that came into that home by a version manager is found there, and nothing
// else of the home is.
func TestTools(t *testing.T) {
	effort.Needs(t, effort.Short, "builds take their time")
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip(err)
	}
	if home, err = filepath.EvalSymlinks(home); err != nil {
		t.Skip(err)
	}
	for _, means := range []sandbox.Technique{sandbox.Namespaces} {
		for _, c := range tools() {
			t.Run(string(means)+"/"+c.name, func(t *testing.T) {
				if means != sandbox.Namespaces && c.name != "python" && c.name != "git" && !effort.Is(effort.Long) {
					t.Skip("ADZE_TESTS=long builds it with these means too")
				}
				need(t, c.needs...)
				b := newBench(t, means)
				for name, content := range c.files {
					b.write("work/"+name, content)
				}
				b.box = sandbox.New(sandbox.Options{Workspace: b.work, Home: home, State: b.state, OwnPaths: []string{b.state}, Techniques: []sandbox.Technique{means}})
				t.Cleanup(b.box.Close)
				r, err := proc.Supervisor{Cage: b.box}.Run(context.Background(), proc.Command{
					Argv: []string{"bash", "--noprofile", "--norc", "-c", c.script + " 2>&1"}, Dir: b.work, Env: append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"),
					Transaction: true, Timeout: 3 * time.Minute,
				})
				if err != nil {
					t.Fatal(err)
				}
				switch out := text(r); {
				case out == "skip":
					t.Skip("it is not installed")
				case c.fails == (r.Err() == nil) || !strings.Contains(out, c.want):
					t.Errorf("%v: %s\n%v", r.Err(), out, r.Refused)
				}
			})
		}
	}
}

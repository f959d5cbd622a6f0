package sandbox_test

import (
	"fmt"
	"testing"
	"time"

	"adze/internal/sandbox"
	"adze/internal/testkit/effort"
)

// build is what somebody does with a real tool.
type build struct {
	name, needs, script string
	slow                bool
}

func builds() []build {
	return []build{
		{name: "git commit", needs: "git", script: `echo a > a; git add a; git commit -qm one; git checkout -qb side; echo b > b; git add b; git commit -qm two; git checkout -q main
			echo c > a; git commit -qam three; git merge -q -m four side; git stash list; echo d > a; git stash -q; git stash pop -q; git tag v1; git gc -q; git reset -q --hard HEAD~1; git fsck`},
		{name: "git rebase", needs: "git", script: `echo a > a; git add a; git commit -qm one; git checkout -qb side; echo b > b; git add b; git commit -qm two; git checkout -q main
			echo c > c; git add c; git commit -qm three; git checkout -q side; git rebase -q main; git cherry-pick main~0 --allow-empty --keep-redundant-commits; test -f c`},
		{name: "make", needs: "gcc", script: `printf 'int main(void){return 0;}' > m.c; printf 'prog: m.o\n\tgcc -o $@ $^\nm.o: m.c\n\tgcc -c $<\nclean:\n\trm -f *.o prog\n' > Makefile; make; ./prog; make clean; test ! -e prog; make -j2; test -x prog`},
		{name: "python venv", needs: "python3", script: `python3 -m venv --copies v; v/bin/python -c 'import sys; assert sys.prefix.endswith("/v")'; v/bin/pip --version; echo 'x = 1' > m.py; python3 -m compileall -q m.py; test -d __pycache__`},
		{name: "npm install", needs: "npm", script: `mkdir -p dep/lib; echo '{"name":"dep","version":"1.0.0","bin":{"dep":"lib/d.js"}}' > dep/package.json; printf '#!/usr/bin/env node\nconsole.log("dep ran")\n' > dep/lib/d.js; chmod +x dep/lib/d.js
			tgz=$(cd dep && npm pack --silent); echo '{"name":"x","version":"1.0.0","scripts":{"t":"dep"}}' > package.json; npm install --offline --no-audit --no-fund ./dep/$tgz; npm run t | grep 'dep ran'; test -f package-lock.json; npm ci --offline --no-audit; rm -r node_modules`},
		{name: "go build", needs: "go", slow: true, script: `export GOTOOLCHAIN=local CGO_ENABLED=0 GOFLAGS=-buildvcs=false; printf 'module x\n\ngo 1.22\n' > go.mod; printf 'package main\n\nfunc main() { println("ran") }\n' > x.go
			printf 'package main\n\nimport "testing"\n\nfunc Test(t *testing.T) { t.Log(t.TempDir()) }\n' > x_test.go; go build .; ./x; go vet .; go test .`},
		{name: "tar, cp, sed and mv", needs: "tar", script: `mkdir -p a/b/c; for i in $(seq 50); do echo $i > a/b/$i; done; ln -s b/1 a/l; chmod 750 a/b/c; touch -d 2001-02-03 a/b/2; tar cf t.tar a; rm -r a; tar xf t.tar; test "$(stat -c %a a/b/c)" = 750
			test "$(stat -c %Y a/b/2)" = "$(date -d 2001-02-03 +%s)"; cp -a a z; mv z y; sed -i s/3/4/ y/b/3; grep 4 y/b/3; ln y/b/3 y/hard; mkfifo f; (cat f > out &) ; echo through > f; sleep 0; mktemp -p .; truncate -s 9 y/b/4; install -m 640 y/b/5 five; test "$(stat -c %a five)" = 640
			umask 077; echo x > mine; test "$(stat -c %a mine)" = 600; echo said > /dev/stderr; (echo inner > /dev/stdout) > file; grep inner file; find . -name 1 -delete; cd a && touch here && test -f ../a/here; exec 7> seven; echo q > /proc/self/fd/7; grep q seven; rm -rf ../a ../y`},
	}
}

// What people build with works below Landlock, where another process makes each change in the
// workspace.
func TestBuildsBelowLandlock(t *testing.T) {
	effort.Needs(t, effort.Short, "builds take their time")
	newBench(t, sandbox.Landlock) // skips where there is none
	for _, b := range builds() {
		t.Run(b.name, func(t *testing.T) {
			need(t, b.needs, "git")
			if b.slow {
				effort.Needs(t, effort.Long, "it compiles the standard library")
			}
			for _, means := range []sandbox.Means{sandbox.Landlock, sandbox.None} {
				if means == sandbox.None && !t.Failed() && !effort.Is(effort.Long) {
					break // it is there to tell a script that fails anywhere, and to compare times
				}
				s := newBench(t)
				s.host("git init -q -b main; git config user.name a; git config user.email a@b")
				begun := time.Now()
				cage := sandbox.ByMeans(s.box, means)
				if means == sandbox.None {
					cage = nil
				}
				r, err := s.try(t.Context(), cage, "set -e\n"+b.script)
				if err != nil || r.Err() != nil {
					t.Errorf("%s: %v %v\n%s\n%v", means, err, r.Err(), text(r), fmt.Sprint(r.Barred, r.Told))
					continue
				}
				t.Logf("%-10s %6d ms", means, time.Since(begun).Milliseconds())
				s.box.Close()
			}
		})
	}
}

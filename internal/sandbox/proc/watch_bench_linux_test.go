package proc_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"adze/internal/sandbox/proc"
)

// BenchmarkWatch compares commands whose changes are told with the same ones whose changes nobody
// is told. Each round runs both, one after the other. The figures are of the fastest of each,
// because others may use the machine. Use -benchtime=20x.
func BenchmarkWatch(b *testing.B) {
	if os.Geteuid() != 0 {
		b.Skip("without root nobody is told")
	}
	const program = "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(1) }\n"
	for _, c := range []struct{ name, needs, before, script string }{
		{"true", "", "", "true"},
		{"git status", "git", "git init -q; for i in $(seq 500); do echo $i > f$i; done; git add .", "git status > /dev/null"},
		{"git commit", "git", "git init -q; git config user.name a; git config user.email a@b; for i in $(seq 500); do echo $i > f$i; done", "git add .; git commit -qm x; rm -r .git/*; git init -q; git config user.name a; git config user.email a@b"},
		{"go build", "go", "go mod init x 2> /dev/null; printf '" + program + "' > x.go; GOFLAGS= go build -o x .", "echo >> x.go; go build -o x ."},
		{"20000 files by one process", "", "", "mkdir d; cd d; i=0; while [ $i -lt 20000 ]; do : > f$i; i=$((i+1)); done; cd ..; rm -r d"},
		{"2000 files by tar", "tar", "mkdir s; cd s; for i in $(seq 40); do mkdir -p p$i/lib; for j in $(seq 50); do head -c 6000 /dev/zero > p$i/lib/$j.js; done; done; cd ..; tar cf s.tar s; rm -r s", "tar xf s.tar; rm -r s"},
	} {
		b.Run(c.name, func(b *testing.B) {
			if _, err := exec.LookPath(c.needs); c.needs != "" && err != nil {
				b.Skip(err)
			}
			dir, err := filepath.EvalSymlinks(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			run := func(watch bool, script string, spare *proc.Spare) (took time.Duration) {
				s := proc.Supervisor{Spare: spare}
				if watch {
					s.Watch = func(proc.Command) *proc.Watch {
						return &proc.Watch{Root: dir, Wrote: func(string, bool) {}}
					}
				}
				began := time.Now()
				r, err := s.Run(context.Background(), proc.Command{Argv: []string{"bash", "-c", script}, Dir: dir, Env: os.Environ()})
				if err != nil || r.Code != 0 {
					b.Fatal(err, r.Code, r.Output)
				}
				return time.Since(began)
			}
			spare := &proc.Spare{}
			defer spare.Close()
			run(false, c.before, spare)
			with, without := time.Hour, time.Hour
			for b.Loop() {
				without = min(without, run(false, c.script, spare))
				with = min(with, run(true, c.script, spare))
			}
			b.ReportMetric(without.Seconds()*1000, "ms-without")
			b.ReportMetric(with.Seconds()*1000, "ms-with")
			b.ReportMetric(float64(with)/float64(without), "ratio")
		})
	}
}

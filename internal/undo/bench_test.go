//go:build linux

package undo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"adze/internal/testkit/effort"
)

// many fills a workspace with files of 6.7 KB, twenty a folder.
func (p *site) many(files int) {
	p.t.Helper()
	text := make([]byte, 6700)
	for i := range text {
		text[i] = "package code is text\n"[i%21]
	}
	for i := range files {
		dir := filepath.Join(p.root, fmt.Sprint("d", i/400), fmt.Sprint("s", i/20))
		if i%20 == 0 {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				p.t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("f", i)), fmt.Append(text, i), 0o644); err != nil {
			p.t.Fatal(err)
		}
	}
}

// BenchmarkTake is the state of a tree, beside the ways with git: the first, of a clean tree, and
// after one file changed. ADZE_TESTS says how many files there are; 5,000 when it is not set.
func BenchmarkTake(b *testing.B) {
	p := newSite(b)
	p.many(effort.Rounds(5000, 5000, 90_000))
	p.settledNow()
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			_ = p.Close()
			_ = os.RemoveAll(p.state)
			p.open()
			p.settledNow()
			b.StartTimer()
			p.mark()
		}
	})
	b.Run("clean", func(b *testing.B) { p.takes(b, func() {}) })
	b.Run("one-changed", func(b *testing.B) { p.takes(b, p.change) })
	b.Run("next-session", func(b *testing.B) {
		for b.Loop() {
			p.reopen()
			p.settledNow()
			p.mark()
		}
	})
	p.gits(b)
}

// takes takes states after something was done, which does not count.
func (p *site) takes(b *testing.B, do func()) {
	p.mark()
	for b.Loop() {
		b.StopTimer()
		do()
		b.StartTimer()
		p.mark()
	}
}

// BenchmarkUndoInAWideFolder undoes two files of one folder in a new process. ADZE_TESTS says how
// many files there are; 20,000 when it is not set.
func BenchmarkUndoInAWideFolder(b *testing.B) {
	p, ctx := newSite(b), context.Background()
	p.sh("mkdir wide")
	for i := range effort.Rounds(20_000, 20_000, 200_000) {
		p.write(fmt.Sprint("wide/f", i), fmt.Append(nil, i))
	}
	for b.Loop() {
		b.StopTimer()
		before := p.mark()
		p.count++
		p.write("wide/f7", fmt.Append(nil, "changed ", p.count))
		p.write("wide/f8", fmt.Append(nil, "changed ", p.count))
		after := p.mark()
		p.reopen()
		b.StartTimer()
		plan, err := p.Plan(ctx, false, nil, nil, Window{before, after})
		if err != nil {
			b.Fatal(err)
		}
		if r, err := p.Apply(ctx, plan); err != nil || len(r.Done) != 2 {
			b.Fatal(r, err)
		}
	}
}

func (p *site) change() {
	p.count++
	p.write("d0/s0/f0", fmt.Append(nil, "changed ", p.count))
}

// gits are the ways with git that would do for it, and do less.
func (p *site) gits(b *testing.B) {
	run := func(name, script string) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				p.change()
				b.StartTimer()
				p.sh(script)
			}
		})
	}
	needGit(b)
	p.sh("git init -q . && git add . && git commit -qm all")
	run("one-changed-git-stash-create", "git stash create")
	p.sh("rm -rf .git; git --git-dir=../shadow init -q && git --git-dir=../shadow --work-tree=. add -A")
	run("one-changed-shadow-git", "git --git-dir=../shadow --work-tree=. add -A && git --git-dir=../shadow --work-tree=. write-tree")
}

//go:build linux

package undo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
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

// BenchmarkTake is the state of a clean tree, beside the ways with git.
func BenchmarkTake(b *testing.B) {
	p := newSite(b)
	p.many(5000)
	old := time.Now().Add(time.Hour)
	p.opts.Now = func() time.Time { return old } // the files are settled
	b.Run("first", func(b *testing.B) {          // run with -benchtime 1x
		for b.Loop() {
			p.mark()
		}
	})
	b.Run("clean", func(b *testing.B) {
		for b.Loop() {
			if _, err := p.Take(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("git-stash-create", func(b *testing.B) {
		needGit(b)
		p.sh("git init -q . && git add . && git commit -qm all && printf x >> d0/s0/f0")
		for b.Loop() {
			p.sh("git stash create")
		}
	})
	b.Run("shadow-git", func(b *testing.B) {
		needGit(b)
		p.sh("rm -rf .git; git --git-dir=../shadow init -q && git --git-dir=../shadow --work-tree=. add -A")
		for b.Loop() {
			p.sh("git --git-dir=../shadow --work-tree=. add -A && git --git-dir=../shadow --work-tree=. write-tree")
		}
	})
}

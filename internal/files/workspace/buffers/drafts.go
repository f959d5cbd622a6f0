package buffers

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"adze/internal/files/workspace"
)

// asking is the number of concurrent requests to the editor.
const asking = 8

// Drafts asks the editor for unsaved texts, see workspace.Drafts: for the given paths, and below
// the folder for files that had unsaved text before, since the protocol cannot list open files. It
// returns the texts known when ctx ends.
func (f *FS) Drafts(ctx context.Context, below string, paths []string) map[string]string {
	if f.Read == nil {
		return nil
	}
	paths = slices.Clone(paths)
	f.mu.Lock()
	for known := range f.unsaved {
		if known == below || strings.HasPrefix(known, strings.TrimSuffix(below, "/")+"/") {
			paths = append(paths, known)
		}
	}
	f.mu.Unlock()
	slices.Sort(paths)
	paths = slices.Compact(paths)

	var mu sync.Mutex
	found := map[string]string{}
	todo := make(chan string)
	var workers sync.WaitGroup
	for range min(asking, len(paths)) {
		workers.Go(func() {
			for p := range todo {
				if text, newer := f.draft(p); newer {
					mu.Lock()
					found[p] = text
					mu.Unlock()
				}
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer workers.Wait()
		defer close(todo)
		for _, p := range paths {
			select {
			case todo <- p:
			case <-ctx.Done():
				return
			}
		}
	}()
	select {
	case <-ended:
	case <-ctx.Done(): // do not wait for an editor that does not answer
	}
	mu.Lock()
	defer mu.Unlock()
	out := make(map[string]string, len(found))
	maps.Copy(out, found)
	return out
}

// draft returns a file's text if the editor has it and the disk does not.
func (f *FS) draft(at string) (text string, newer bool) {
	var d workspace.Dir
	d, err := f.OpenDir()
	if err != nil {
		return "", false
	}
	defer func() { d.Close() }()
	folder, name := path.Split(path.Clean(at))
	for part := range strings.SplitSeq(strings.Trim(folder, "/"), "/") {
		if part == "" {
			continue
		}
		inner, err := d.OpenDir(part)
		if err != nil {
			return "", false
		}
		d.Close()
		d = inner
	}
	opened, err := d.Open(name)
	if err != nil {
		return "", false
	}
	defer opened.Close()
	if its, is := opened.(*file); is {
		return its.content, true
	}
	return "", false
}

var _ workspace.Drafts = (*FS)(nil)

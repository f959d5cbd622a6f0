package search

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/files/search/ignore"
)

// visitor does one worker's work and is never used concurrently.
type visitor interface {
	// visit receives at most filesPerTask files and links in one folder.
	visit(ctx context.Context, d *dir, files []entry)
	// unreadable receives the path of a folder that could not be opened or read.
	unreadable(path string)
	// beyond reports that a folder, whose path ends with a slash, can be skipped.
	beyond(folder string) bool
	// ordered reports whether folders should be visited in name order as far as possible.
	ordered() bool
}

// filesPerTask splits a large folder so that workers can share it.
const filesPerTask = 64

// entriesAtOnce bounds a folder's entries in memory; the rest is read after them.
const entriesAtOnce = 4 << 10

// dir is a folder of the walk. It stays open while tasks use it.
type dir struct {
	dirState
	folder folder
	name   string
	uses   atomic.Int32
}

// done releases one use and closes it after the last.
func (d *dir) done() {
	if d.uses.Add(-1) == 0 {
		d.folder.close()
	}
}

// task is a folder to open, files to visit, or a folder to continue reading.
type task struct {
	parent *dir
	child  dirState // the folder to open if files is nil
	name   string
	files  []entry
	onward bool // continue reading parent
}

// walk is a traversal. Its stack takes the newest task first, so it goes depth first and few
// folders are open at once.
type walk struct {
	tree     Tree
	scope    *scope
	begin    func(visitor)
	workers  sync.WaitGroup
	mu       sync.Mutex
	more     sync.Cond
	stack    []task
	open     int       // tasks waiting or running
	idle     int       // workers waiting for tasks
	unworked []visitor // visitors without a running worker
}

// walkTree visits every entry of t in scope, with up to one worker per visitor. It returns when all
// is done or ctx has ended; workers that do not stop in time are left running.
func walkTree(ctx context.Context, t Tree, s *scope, visitors []visitor) error {
	at, err := t.openRoot()
	if err != nil {
		return rootError(t.Root, err)
	}
	w := &walk{tree: t, scope: s}
	return w.all(ctx, at, visitors)
}

func (w *walk) all(ctx context.Context, at folder, visitors []visitor) error {
	w.more.L = &w.mu
	root := &dir{dirState: w.scope.start(), folder: at}
	root.uses.Store(1)
	w.begin = func(v visitor) { w.workers.Go(func() { w.work(ctx, v, &names{}) }) }
	// The root is the first task; more workers start when there are tasks for them.
	w.open, w.unworked = 1, visitors[1:]
	w.workers.Go(func() {
		n := &names{}
		w.read(ctx, root, visitors[0], n)
		w.finish()
		w.work(ctx, visitors[0], n)
	})
	return wait(ctx, &w.workers)
}

func wait(ctx context.Context, workers *sync.WaitGroup) error {
	ended := make(chan struct{})
	go func() {
		workers.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		grace := time.NewTimer(abortGrace)
		defer grace.Stop()
		select {
		case <-ended:
		case <-grace.C:
		}
	}
	if err := ctx.Err(); err != nil {
		return aborted(err)
	}
	return nil
}

// work runs tasks until none is left. After ctx has ended it only closes folders.
func (w *walk) work(ctx context.Context, v visitor, n *names) {
	for {
		t, ok := w.take()
		if !ok {
			return
		}
		if ctx.Err() == nil {
			w.do(ctx, t, v, n)
		}
		t.parent.done()
		w.finish()
	}
}

func (w *walk) take() (task, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.stack) == 0 {
		if w.open == 0 {
			return task{}, false
		}
		w.idle++
		w.more.Wait()
		w.idle--
	}
	last := len(w.stack) - 1
	t := w.stack[last]
	w.stack[last] = task{}
	w.stack = w.stack[:last]
	return t, true
}

// finish marks a task as done; after the last, waiting workers return.
func (w *walk) finish() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open--; w.open == 0 {
		w.more.Broadcast()
	}
}

// add pushes tasks, whose uses of folders are already counted.
func (w *walk) add(tasks []task) {
	if len(tasks) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open += len(tasks)
	w.stack = append(w.stack, tasks...)
	for range min(w.idle, len(tasks)) {
		w.more.Signal()
	}
	for waiting := len(w.stack) - w.idle; waiting > 1 && len(w.unworked) > 0; waiting-- { // the caller takes one itself
		w.begin(w.unworked[0])
		w.unworked = w.unworked[1:]
	}
}

func (w *walk) do(ctx context.Context, t task, v visitor, n *names) {
	if t.files != nil {
		v.visit(ctx, t.parent, t.files)
		w.tree.visited(len(t.files))
		return
	}
	if t.onward {
		w.further(ctx, t.parent, v, n)
		return
	}
	if v.beyond(t.child.path) {
		return
	}
	at, err := t.parent.folder.openFolder(t.name)
	if errors.Is(err, fs.ErrNotExist) {
		return // deleted since it was listed
	}
	if err != nil {
		v.unreadable(t.child.path)
		return
	}
	d := &dir{dirState: t.child, folder: at, name: t.name}
	d.uses.Store(1)
	w.read(ctx, d, v, n)
}

func (w *walk) read(ctx context.Context, d *dir, v visitor, n *names) {
	defer d.done()
	if err := d.folder.read(n, entriesAtOnce); err != nil {
		w.failed(d, v, err)
		return
	}
	if n.more {
		d.level = w.scope.rulesByName(d.folder, &d.dirState, d.name)
	} else {
		d.level = w.scope.rules(d.folder, &d.dirState, d.name, n.list)
	}
	w.entries(ctx, d, v, n)
}

// failed reports an unreadable folder, unless it was deleted since it was opened.
func (w *walk) failed(d *dir, v visitor, err error) {
	if !errors.Is(err, fs.ErrNotExist) {
		v.unreadable(d.path)
	}
}

// further continues reading a folder.
func (w *walk) further(ctx context.Context, d *dir, v visitor, n *names) {
	if err := d.folder.read(n, entriesAtOnce); err != nil {
		w.failed(d, v, err)
		return
	}
	w.entries(ctx, d, v, n)
}

// entries visits the first files and pushes tasks for the rest.
func (w *walk) entries(ctx context.Context, d *dir, v visitor, n *names) {
	files, tasks := w.sift(d, n)
	if v.ordered() {
		slices.SortFunc(files, func(a, b entry) int { return strings.Compare(a.name, b.name) })
		// The last on the stack is taken first.
		slices.SortFunc(tasks, func(a, b task) int { return strings.Compare(b.name, a.name) })
	}
	if n.more {
		tasks = slices.Insert(tasks, 0, task{parent: d, onward: true})
	}
	if n.files = files[:0]; len(files) > filesPerTask {
		n.files = nil // tasks now own it
	}
	for len(files) > filesPerTask {
		cut := len(files) - filesPerTask
		tasks = append(tasks, task{parent: d, files: files[cut:]})
		files = files[:cut]
	}
	d.uses.Add(int32(len(tasks)))
	w.add(tasks)
	clear(tasks)
	n.tasks = tasks[:0]
	if len(files) > 0 {
		v.visit(ctx, d, files)
		w.tree.visited(len(files))
	}
}

// sift returns the files and links in scope, and folders as tasks.
func (w *walk) sift(d *dir, n *names) (files []entry, tasks []task) {
	n.query.In(d.level)
	tasks, files = n.tasks[:0], n.files[:0]
	for _, e := range n.list {
		switch {
		case e.name == ignore.GitDir || e.kind == kindOther:
		case e.kind == kindFolder:
			if child, ok := w.scope.enter(&d.dirState, &n.query, e.name); ok {
				tasks = append(tasks, task{parent: d, child: child, name: e.name})
			}
		case w.scope.file(&d.dirState, &n.query, e.name):
			files = append(files, e)
		}
	}
	return files, tasks
}

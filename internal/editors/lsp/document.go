package lsp

import (
	"context"
	"maps"
	"os"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"adze/internal/sandbox/child"
)

// maxOpen is how many files are open at a server; the one that was not used for longest is closed.
const maxOpen = 40

// maxText bounds, in bytes, a file that a server is told of.
const maxText = 4 << 20

// document is a file that is open at a server.
type document struct {
	version int
	text    string
	shown   time.Time // when the server was told of this text
	mtime   time.Time
	size    int64
	used    time.Time
}

// present makes the server's text of a file this one, and returns its version. The turn is held.
func (v *server) present(ctx context.Context, conn *jsonrpc2.Conn, path, text string) (int, error) {
	uri := uriOf(path)
	v.mu.Lock()
	d := v.docs[uri]
	v.mu.Unlock()
	var err error
	switch {
	case d == nil:
		d = &document{version: 1, text: text, shown: time.Now()}
		v.mu.Lock() // before it answers
		v.docs[uri] = d
		v.mu.Unlock()
		id := v.lang.Files[ending(path)]
		err = conn.Notify(ctx, "textDocument/didOpen", object{"textDocument": object{"uri": uri, "languageId": id, "version": d.version, "text": text}})
	case d.text != text:
		v.mu.Lock() // problems of it are read meanwhile
		d.version, d.text, d.shown = d.version+1, text, time.Now()
		v.mu.Unlock()
		err = conn.Notify(ctx, "textDocument/didChange", object{"textDocument": object{"uri": uri, "version": d.version}, "contentChanges": []object{{"text": text}}})
	}
	if err != nil {
		return 0, err
	}
	info, err := os.Stat(path)
	v.mu.Lock()
	if err == nil {
		d.mtime, d.size = info.ModTime(), info.Size()
	}
	d.used = time.Now()
	v.mu.Unlock()
	return d.version, v.spare(ctx, conn)
}

// spare closes what was not used for longest.
func (v *server) spare(ctx context.Context, conn *jsonrpc2.Conn) error {
	v.mu.Lock()
	oldest := ""
	for uri, d := range v.docs {
		if oldest == "" || d.used.Before(v.docs[oldest].used) {
			oldest = uri
		}
	}
	full := len(v.docs) > maxOpen
	if full {
		delete(v.docs, oldest)
	}
	v.mu.Unlock()
	if !full {
		return nil
	}
	return conn.Notify(ctx, "textDocument/didClose", object{"textDocument": object{"uri": oldest}})
}

// The kinds of FileEvent.
const (
	fileCreated = 1
	fileChanged = 2
	fileDeleted = 3
)

// refresh tells the server of what changed on the disk since it was told last: open files, and
// those that it has found something in.
func (v *server) refresh(ctx context.Context, conn *jsonrpc2.Conn) error {
	v.mu.Lock()
	docs := maps.Clone(v.docs)
	v.mu.Unlock()
	var events []object
	for uri, d := range docs {
		path := pathOf(uri)
		info, err := os.Stat(path)
		switch {
		case err != nil:
			v.mu.Lock()
			delete(v.docs, uri)
			delete(v.found, uri)
			v.mu.Unlock()
			if err := conn.Notify(ctx, "textDocument/didClose", object{"textDocument": object{"uri": uri}}); err != nil {
				return err
			}
			events = append(events, object{"uri": uri, "type": fileDeleted})
		case !info.ModTime().Equal(d.mtime) || info.Size() != d.size:
			raw, err := os.ReadFile(path)
			if err != nil || len(raw) > maxText {
				continue
			}
			if _, err := v.present(ctx, conn, path, string(raw)); err != nil {
				return err
			}
			events = append(events, object{"uri": uri, "type": fileChanged})
		}
	}
	return v.watched(ctx, conn, events)
}

// watched tells of files that changed on the disk.
func (v *server) watched(ctx context.Context, conn *jsonrpc2.Conn, events []object) error {
	if len(events) == 0 {
		return nil
	}
	return conn.Notify(ctx, "workspace/didChangeWatchedFiles", object{"changes": events})
}

// Wrote tells the server of a file that others of its project have other contents now.
func (s *Servers) Wrote(ctx context.Context, path string, others []string) {
	v := s.server(path)
	if v == nil || v.show().State != child.Ready {
		return // it reads them when it starts
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.Warm)
	defer cancel()
	_ = v.with(ctx, func(conn *jsonrpc2.Conn) error { // one that does not answer shows in the next question
		var events []object
		for _, p := range others {
			events = append(events, object{"uri": uriOf(p), "type": fileChanged})
		}
		if err := v.watched(ctx, conn, events); err != nil {
			return err
		}
		return v.refresh(ctx, conn)
	})
}

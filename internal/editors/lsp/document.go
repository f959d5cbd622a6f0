package lsp

import (
	"context"
	"maps"
	"os"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"adze/internal/sandbox/child"
)

// maxOpen limits a server's open files; the least recently used one is closed.
const maxOpen = 40

// in bytes; larger files are not sent
const maxText = 4 << 20

type document struct {
	version int
	text    string
	shown   time.Time // when the text was sent
	mtime   time.Time
	size    int64
	used    time.Time
}

// present sends a file's text to the server and returns its version. The caller holds the turn.
func (v *server) present(ctx context.Context, conn *jsonrpc2.Conn, path, text string) (int, error) {
	uri := uriOf(path)
	v.mu.Lock()
	d := v.docs[uri]
	v.mu.Unlock()
	var err error
	switch {
	case d == nil:
		d = &document{version: 1, text: text, shown: time.Now()}
		v.mu.Lock() // before its response
		v.docs[uri] = d
		v.mu.Unlock()
		id := v.lang.Files[ending(path)]
		err = conn.Notify(ctx, "textDocument/didOpen", object{"textDocument": object{"uri": uri, "languageId": id, "version": d.version, "text": text}})
	case d.text != text:
		v.mu.Lock() // its problems are read meanwhile
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

// spare closes the least recently used file.
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

// FileChangeType values.
const (
	fileCreated = 1
	fileChanged = 2
	fileDeleted = 3
)

// refresh tells the server about changes on disk since the last call: in open files and in files
// with problems.
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
			delete(v.results, uri)
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

func (v *server) watched(ctx context.Context, conn *jsonrpc2.Conn, events []object) error {
	if len(events) == 0 {
		return nil
	}
	return conn.Notify(ctx, "workspace/didChangeWatchedFiles", object{"changes": events})
}

// Wrote tells a file's server that other files of its project changed.
func (s *Servers) Wrote(ctx context.Context, path string, others []string) {
	v := s.server(path)
	if v == nil || v.show().State != child.Ready {
		return // it reads them at its start
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.Warm)
	defer cancel()
	_ = v.with(ctx, func(conn *jsonrpc2.Conn) error { // the next request reports a dead server
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

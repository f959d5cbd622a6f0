package mcp

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/testkit/nodetest"
	"adze/tool"
)

// The servers of the npm registry that the protocol's own people keep, over stdio: what they offer,
// what their tools answer.

// npm is a bench with the tools of one of them, which has been there before.
func npm(t *testing.T, name string, args ...string) (*bench, *Pool) {
	t.Helper()
	program := nodetest.Program(t, "@modelcontextprotocol/server-"+name, "mcp-server-"+name)
	p := seen(t, map[string]string{"fake": "old"}, func(o *Options) {
		o.Servers = []Server{{Name: "fake", Command: append([]string{program}, args...), Start: patience, Env: map[string]string{"MEMORY_FILE_PATH": filepath.Join(o.Dir, "memory.json")}}}
		o.Probe = 0 // the usual: these are slow at times, and then asked in older words too
	})
	b := newBench(t, p)
	if len(b.problems) > 0 {
		t.Errorf("%q", b.problems)
	}
	return b, p
}

func (b *bench) wants(t *testing.T, name, args string, status tool.Status, want string) tool.Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	o := b.call(ctx, "fake_"+name, args)
	if o.Status != status || !strings.Contains(o.Output, want) {
		t.Errorf("%s %s: %s %q", name, args, o.Status, o.Output)
	}
	return o
}

func TestTheServerOfEverything(t *testing.T) {
	b, p := npm(t, "everything")
	if s := p.States()[0]; s.Starts > 1 {
		t.Errorf("it was started %d times", s.Starts)
	}
	if n := len(b.set.Names()); n < 10 {
		t.Errorf("%d tools: %v", n, b.set.Names())
	}
	b.wants(t, "echo", `{"message":"hello"}`, tool.Completed, "hello")
	b.wants(t, "get-sum", `{"a":2,"b":40}`, tool.Completed, "42")
	b.wants(t, "get-sum", `{"a":"x","b":40}`, tool.Invalid, "")
	b.wants(t, "get-structured-content", `{"location":"New York"}`, tool.Completed, "temperature")
	if o := b.wants(t, "get-tiny-image", `{}`, tool.Completed, "(picture 1)"); len(o.Attachments) != 1 || o.Attachments[0].MediaType != "image/png" {
		t.Errorf("%d attachments", len(o.Attachments))
	}
	b.wants(t, "get-resource-links", `{"count":2}`, tool.Completed, "resource demo://")
	b.wants(t, "simulate-research-query", `{"topic":"saws"}`, tool.Failed, "requires task augmentation") // a task, and no other way
	b.wants(t, "get-roots-list", `{}`, tool.Completed, "file://"+p.opts.Dir)
	b.wants(t, "trigger-long-running-operation", `{"duration":0.2,"steps":2}`, tool.Completed, "completed")
	ctx, cancel := context.WithCancel(t.Context())
	b.runner.Emit = func(e tool.Event) { // its first progress is there: it works
		if strings.Contains(string(e.Metadata), "mcp_progress") {
			cancel()
		}
	}
	if o := b.call(ctx, "fake_trigger-long-running-operation", `{"duration":3000,"steps":30000}`); o.Status != tool.Aborted {
		t.Errorf("%s %q", o.Status, o.Output)
	}
	b.runner.Emit = nil
	b.wants(t, "echo", `{"message":"still here"}`, tool.Completed, "still here")
	if s := p.States()[0]; s.State != Ready || s.Version != lastOld {
		t.Errorf("%+v", s)
	}
}

func TestTheServerOfFiles(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("inside"), 0o600); err != nil {
		t.Fatal(err)
	}
	b, _ := npm(t, "filesystem", dir)
	b.wants(t, "read_text_file", `{"path":"`+dir+`/a.txt"}`, tool.Completed, "inside")
	b.wants(t, "read_text_file", `{"path":"/etc/passwd"}`, tool.Failed, "the tool says")
	b.wants(t, "write_file", `{"path":"`+dir+`/b.txt","content":"new"}`, tool.Completed, "")
	if raw, _ := os.ReadFile(filepath.Join(dir, "b.txt")); string(raw) != "new" {
		t.Errorf("%q", raw)
	}
}

func TestTheServerOfMemory(t *testing.T) {
	b, _ := npm(t, "memory")
	b.wants(t, "create_entities", `{"entities":[{"name":"adze","entityType":"tool","observations":["cuts wood"]}]}`, tool.Completed, "adze")
	b.wants(t, "search_nodes", `{"query":"wood"}`, tool.Completed, "cuts wood")
}

package mcp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/testkit/nodetest"
	"adze/tool"
	"adze/tool/rank"
)

// BenchmarkEnlist is what a start has of 150 tools of ten servers that were there before: their
// catalogues are read, and what may be chosen.
func BenchmarkEnlist(b *testing.B) {
	dir := b.TempDir()
	o := Options{State: dir}
	for i := range 10 {
		s := Server{Name: fmt.Sprintf("s%d", i), Command: []string{"x"}}
		o.Servers = append(o.Servers, s)
		c := newCatalogue(&sdk.InitializeResult{ProtocolVersion: lastOld})
		for j := range 15 {
			c.add(&sdk.Tool{
				Name: fmt.Sprintf("tool_%d", j), Description: "Reads a thing of the kind that this server has, and says what it is, where it is, and when it was made.",
				InputSchema: map[string]any{"type": "object", "required": []any{"path"}, "properties": map[string]any{
					"path":  map[string]any{"type": "string", "description": "the path of the thing"},
					"limit": map[string]any{"type": "integer", "minimum": 0.0, "description": "how many are told at most"},
					"deep":  map[string]any{"type": "boolean"},
				}},
			})
		}
		KeepState(s.file(dir), c)
	}
	New(o).Close() // what a run before has left
	b.ReportAllocs()
	for b.Loop() {
		p := New(o)
		var registry tool.Registry
		if problems := p.RegisterTools(&registry); len(problems) > 0 {
			b.Fatal(problems)
		}
		set, err := registry.Tools(b.Context(), tool.Init{})
		if err != nil || len(set.Names()) != 150 {
			b.Fatal(err, len(set.Names()))
		}
		rank.Of(set).Pick("say hello", rank.Options{MaxCandidates: 10, AllowUnsafe: true})
		p.Close()
	}
}

// BenchmarkFiveIdleServers is the memory of five servers of the npm registry that run and do
// nothing, of adze's side and of theirs. An idle server is stopped after five minutes; then theirs
// is 0.
func BenchmarkFiveIdleServers(b *testing.B) {
	program := nodetest.Program(b, "@modelcontextprotocol/server-memory", "mcp-server-memory")
	dir := b.TempDir()
	o := Options{Version: "bench", Dir: dir, Env: os.Environ}
	for i := range 5 {
		o.Servers = append(o.Servers, Server{Name: fmt.Sprintf("m%d", i), Command: []string{program}, Env: map[string]string{"MEMORY_FILE_PATH": filepath.Join(dir, fmt.Sprint(i))}})
	}
	for b.Loop() {
		before := resident(b, os.Getpid())
		p := New(o)
		for _, name := range p.Names() {
			if err := p.Await(b.Context(), name); err != nil {
				b.Fatal(err)
			}
		}
		theirs := 0.0
		for _, s := range p.States() {
			theirs += resident(b, s.PID)
		}
		b.ReportMetric(resident(b, os.Getpid())-before, "adze-MB")
		b.ReportMetric(theirs, "servers-MB")
		p.Close()
	}
	b.ReportMetric(0, "ns/op")
}

// resident is the memory of a process in MB.
func resident(b *testing.B, pid int) float64 {
	b.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Skip("this system has no /proc")
	}
	_, rest, _ := strings.Cut(string(raw), "VmRSS:")
	kb := 0.0
	fmt.Sscan(rest, &kb)
	return kb / 1024
}

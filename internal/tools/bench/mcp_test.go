//go:build unix

package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"adze/internal/testkit/mcptest"
)

// withServers configures servers with so many tools each, of which all have been there before.
func (r runner) withServers(b testing.TB, servers, tools int) {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	all := map[string]any{}
	for i := range servers {
		all[fmt.Sprintf("s%d", i)] = map[string]any{"command": self, "args": []string{mcptest.Word, fmt.Sprintf("old; many %d", tools)}}
	}
	raw, err := json.Marshal(map[string]any{"mcp": map[string]any{"servers": all}})
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.home, "config.json"), raw, 0o600); err != nil {
		b.Fatal(err)
	}
	for name := range all {
		if out, err := r.command("adze", "mcp", "test", name).CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
}

// BenchmarkPromptWithTenServers is one prompt with ten configured servers of 15 tools each, against
// the same without any: nothing of them is started. Bar: 1.1 × wall and CPU.
func BenchmarkPromptWithTenServers(b *testing.B) {
	server := newInstant(b)
	with, without := newRunner(b, server), newRunner(b, server)
	with.withServers(b, 10, 15)
	with.measure(with.adze("hello"))
	without.measure(without.adze("hello"))
	var p pairs
	for b.Loop() {
		p.add(with.measure(with.adze("hello")), without.measure(without.adze("hello")))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(p.wall), "wall/without")
	b.ReportMetric(median(p.cpu), "cpu/without")
	b.ReportMetric(median(p.adzeWall)/1e6, "wall-ms")
}

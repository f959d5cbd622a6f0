package toolset_test

import (
	"testing"

	"adze/internal/files/workspace"
	"adze/tool"
	"adze/toolset"
)

// BenchmarkCatalogue is what every run pays for its tools before the first request: declare, check,
// describe, digest.
func BenchmarkCatalogue(b *testing.B) {
	root, err := workspace.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	dir := root.Dir()
	b.ReportAllocs()
	for b.Loop() {
		registry, err := toolset.New(toolset.Deps{Root: root})
		if err != nil {
			b.Fatal(err)
		}
		set, err := registry.Tools(b.Context(), tool.Init{Workspace: dir, Directory: dir, Cwd: dir})
		if err != nil {
			b.Fatal(err)
		}
		set = set.Only(func(d tool.Definition) bool { return d.Name != "task" })
		if len(set.Definitions()) == 0 || set.Digest() == "" {
			b.Fatal("no tools")
		}
	}
}

package policy

import "testing"

// A search of a large tree asks once for each file.
func BenchmarkSieve(b *testing.B) {
	for name, rules := range map[string][]string{"no rules": nil, "a name": {"deny read(**/.env)"}, "a folder": {"deny read(private/**)"}} {
		holds := newPolicy(b, AskFirst, nil, rules...).FileFilter("/w")
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				holds("/w/internal/some/folder/", "file_of_a_tree.go")
			}
		})
	}
}

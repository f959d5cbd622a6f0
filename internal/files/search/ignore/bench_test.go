package ignore

import "testing"

// BenchmarkIgnored asks about one entry against a usual mix of patterns.
func BenchmarkIgnored(b *testing.B) {
	rules := Parse([]byte("*.o\n*.a\n*.so\nnode_modules/\n/dist\n/build/out\n.DS_Store\n*.py[cod]\n**/gen/*.pb.go\n!keep.o\ndocs/**/*.tmp\n"))
	l := (&Level{}).with(Files{Git: rules}).Enter("src", Files{}).Enter("pkg", Files{})
	var q Query
	q.In(l)
	b.ReportAllocs()
	for b.Loop() {
		q.Ignored("handler_test.go", false)
	}
}

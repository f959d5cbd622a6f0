// Package versus holds the search engine against ripgrep and fd: the same lines, the same files,
// and how long it takes.
//
// The one rule: equal comes before fast. Each pattern of testdata/patterns.txt is asked of both,
// over the same tree, and the lines have to be the same; only then do times count.
//
// Start reading at equal_test.go; speed_test.go measures; trees_test.go makes the trees. By hand:
//
//	ADZE_TREES=all go test -v -timeout 1h -run Equal ./internal/files/search/versus
//	ADZE_TESTS=long go test -v -timeout 1h -run Speed ./internal/files/search/versus
//
// ADZE_TREES names trees: go, large, all; for times goroot and modules, too. ADZE_RG and ADZE_FD
// name the programs where they are not on the PATH by their usual names.
//
// Known limits: what is not compared, and why, are files with NUL bytes, which ripgrep gives up at
// the first and adze searches where they are text with a few in it; and lines that are not UTF-8,
// of which ripgrep's "." takes no stray byte and adze's does, because a user who looks for "caf. au
// lait" means the line in Latin-1 too. Those may be more, never fewer. \z is the end of a line
// here, as $ is, and the end of the file there.
package versus

package prose

import (
	"os"
	"slices"
	"testing"
	"testing/fstest"
)

// TestTextsAreListed holds testdata/texts.txt: all that a user reads, in one file that can be read
// from the top to the end. After a change -update writes it anew; read the difference aloud.
func TestTextsAreListed(t *testing.T) {
	got, err := Texts(os.DirFS("../../.."), Rooms())
	if err != nil {
		t.Fatal(err)
	}
	const file = "testdata/texts.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s is not what the sources say: go test ./internal/tools/prose -run Texts -update", file)
	}
}

func TestTexts(t *testing.T) {
	source := "package p\n\nimport _ \"a b/c d\"\n\ntype t struct {\n\tA int `json:\"a b\"`\n}\n\n" +
		"func f(n string) string {\n\tg(\"a name\", \"word\", \"open the file\", \"open the file\", `SELECT a FROM b`)\n\treturn \"there is no \" + n + \"; try another\"\n}\n"
	got, err := textsOf("p.go", []byte(source))
	want := []string{"a name", "open the file", "there is no …; try another"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q %v, want %q", got, err, want)
	}
	all, err := Texts(fstest.MapFS{"a/p.go": {Data: []byte(source)}, "a/p_test.go": {Data: []byte("no Go")}, "b/p.go": {Data: []byte(source)}}, []string{"a"})
	if err != nil || all != "a/p.go\n    a name\n    open the file\n    there is no …; try another\n" {
		t.Errorf("%q %v", all, err)
	}
}

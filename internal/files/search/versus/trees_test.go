package versus

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"

	"adze/internal/testkit/posix"
)

// writer makes a tree of files from a seed.
type writer struct {
	t    testing.TB
	root string
	rng  *rand.Rand
}

func (w writer) file(name string, text []byte) {
	w.t.Helper()
	path := w.root + "/" + name
	must(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(w.t, os.WriteFile(path, text, 0o644))
}

// words are what texts are made of: some in most files, some in few, some in none.
var words = strings.Fields(`func return err if nil for range string int struct type package import context timeout Timeout TIMEOUT
	handler request_handler response buffer length index value error Error IOError true false the a b x y 0 42 3.14 0xDEADBEEF 2024-05-01
	foo bar baz foobar foobaz abc abd abcabd getName setValue timer timestamp unlock Unlock Lock() unmarshal colour color uint8 int64
	TODO FIXME init new newClient NewClient continue break goto == := != -- .. {} [] // /* */ "text\n" user@example.org http://host/
	Größe GRÖSSE größe straße naïve é été ÉTÉ π Ωμέγα ключ Тест тест 日本 日本語 … “quoted” ﬁn İstanbul Kelvin K ſ café кот x.y a.b (* $ ^ .* C:\dir
	internationalization_of_everything unlikelyIdentifierNumber kiss KISS s k S ing testing zz end . ; , i`)

// line is some words, indented now and then, with what code has at its ends.
func (w writer) line() string {
	var b strings.Builder
	b.WriteString(strings.Repeat("\t", max(0, w.rng.IntN(6)-3)))
	for n := w.rng.IntN(12); n > 0; n-- {
		b.WriteString(words[w.rng.IntN(len(words))])
		b.WriteString([]string{" ", " ", " ", "(", ")", ".", ", ", "=", "_"}[w.rng.IntN(9)])
	}
	return b.String() + []string{"", "", " {", "}", ";", ")", "  ", ":"}[w.rng.IntN(8)]
}

func (w writer) text(lines int, end string) []byte {
	var b bytes.Buffer
	for range lines {
		b.WriteString(w.line() + end)
	}
	return b.Bytes()
}

// oddTree is small, and holds all that trips a search: ignores, links, binaries, encodings, line
// ends, odd names.
func oddTree(t testing.TB) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	w := writer{t, root, rand.New(rand.NewPCG(3, 5))}
	for i := range 60 {
		name := fmt.Sprintf("pkg%d/sub%d/file%d.%s", i%4, i%7, i, []string{"go", "txt", "s", "md"}[i%4])
		w.file(name, w.text(1+w.rng.IntN(120), []string{"\n", "\n", "\n", "\r\n"}[i%4]))
	}
	w.file("pkg0/rare.go", []byte("package rare\n\nfunc main() {\n\treturn MAX_BUFFER_SIZE // zyzzyva\n}\n\nimport (\n\t\"a\"\n)\n"))
	w.file("large.txt", w.text(2500, "\n"))
	w.file("empty.txt", nil)
	w.file("breaks.txt", []byte("\n\n\n\r\n\n"))
	w.file("no end.txt", []byte("first\nreturn err"))
	for _, size := range []int{4095, 4096, 4097, 8192, 65535, 65536, 65537, 131072} { // as pages of memory and reads have
		text, end := w.text(size/4, "\n"), "\nreturn err // zyzzyva"
		w.file(fmt.Sprintf("size/%d.txt", size), append(text[:size-len(end)], end...))
	}
	w.file("long line.txt", bytes.Repeat([]byte("return abc zyzzyva "), 9000))
	w.odd()
	w.barred()
	w.ignores()
	w.links()
	return root
}

// odd writes encodings, binaries and names.
func (w writer) odd() {
	text := string(w.text(40, "\n"))
	w.file("bom.txt", []byte("\xef\xbb\xbfimport bom\n"+text))
	for name, order := range map[string]binary.AppendByteOrder{"\xff\xfe": binary.LittleEndian, "\xfe\xff": binary.BigEndian} {
		out := []byte(name)
		for _, unit := range utf16.Encode([]rune(text)) {
			out = order.AppendUint16(out, unit)
		}
		w.file(fmt.Sprintf("utf16-%x.txt", name), out)
	}
	w.file("latin1.txt", []byte("caf\xe9 au lait\nreturn \xff\xfe err\nGr\xf6\xdfe\nna\xefve TODO\n"))
	w.file("binary.bin", append(bytes.Repeat([]byte{0, 1, 2, 255}, 4000), "return err\n"...))
	w.file("late.bin", append(w.text(4000, "\n"), 0, 0, 0))
	for _, name := range []string{"with space.go", "-dash.go", "--files", "[set].go", "star*.go", "quote\"'.go", "new\nline.go",
		"\xff\xfe.go", "e\u0301.go", "日本.go", "back\\slash.go", "tab\t.go", "trail ", "#hash#", "!bang", "a:b:12:c"} {
		w.file("names/"+name, w.text(20, "\n"))
	}
}

// barred makes what cannot be read, unless by root, and a FIFO, which nobody writes to.
func (w writer) barred() {
	if runtime.GOOS == "windows" {
		return // it has neither
	}
	w.file("barred/file.go", w.text(20, "\n"))
	w.file("barred/folder/file.go", w.text(20, "\n"))
	must(w.t, posix.Fifo(w.t, w.root+"/barred/pipe.go"))
	for _, name := range []string{"/barred/file.go", "/barred/folder"} {
		must(w.t, os.Chmod(w.root+name, 0))
		w.t.Cleanup(func() { must(w.t, os.Chmod(w.root+name, 0o700)) })
	}
}

// ignores writes rules of git's and of the user's, and what they are about.
func (w writer) ignores() {
	for name, rules := range map[string]string{
		".gitignore":          "*.log\n/build/\n!keep.log\n**/tmp/*\n!**/tmp/kept*\nnode_modules\n",
		".ignore":             "secret*\n!secret-not.txt\n",
		"pkg1/.gitignore":     "/only-here.txt\n*.txt\n!file1.txt\nsub3/\n",
		"pkg1/sub1/.ignore":   "!*.txt\n",
		"deep/a/b/.gitignore": "c/**/x?.go\n[ab]*.md\n\\#*\n",
	} {
		w.file(name, []byte(rules))
	}
	for _, name := range []string{"a.log", "keep.log", "build/x.go", "sub/build/x.go", "q/tmp/gone.go", "q/tmp/kept.go", "node_modules/m/i.js",
		"secret.txt", "secret-not.txt", "pkg1/only-here.txt", "pkg2/only-here.txt", "deep/a/b/c/d/x1.go", "deep/a/b/c/x22.go", "deep/a/b/apple.md",
		"deep/a/b/#note", ".hidden", ".config/x.go", "pkg2/.dot/y.go"} {
		w.file(name, w.text(12, "\n"))
	}
}

// links writes links that lead to files, folders, nowhere and round in a circle.
func (w writer) links() {
	for name, to := range map[string]string{"link.go": "pkg0/rare.go", "folder-link": "pkg0", "nowhere": "missing", "circle": ".", "pkg2/up": "../../..", "out": "/"} {
		must(w.t, os.Symlink(to, w.root+"/"+name))
	}
}

// goTree is the source of the Go toolchain, of some 11,000 files.
func goTree(t testing.TB) string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	must(t, err)
	root, err := filepath.EvalSymlinks(strings.TrimSpace(string(out)) + "/src")
	if err != nil {
		t.Skip("the toolchain has no source here: ", err)
	}
	return root
}

// largeCopies times the toolchain's files are more than 50,000.
const largeCopies = 5

// largeTree is that source five times over, each file with a word of its own, and folders of build
// results that rules leave out. It is made once and kept in the folder for temporary files.
func largeTree(t testing.TB) string {
	t.Helper()
	from := goTree(t)
	root := filepath.Join(os.TempDir(), fmt.Sprintf("adze-versus-%d", os.Getuid()))
	if _, err := os.Stat(root + ".done"); err == nil {
		return root
	}
	w := writer{t, root, rand.New(rand.NewPCG(7, 7))}
	for i := range largeCopies {
		copyTree(w, from, fmt.Sprintf("part%d", i))
		w.file(fmt.Sprintf("part%d/.gitignore", i), []byte("*.o\n/dist/\nnode_modules/\n"))
		for j := range 1000 {
			w.file(fmt.Sprintf("part%d/dist/%d/out%d.js", i, j%10, j), w.text(20, "\n"))
		}
	}
	must(t, os.WriteFile(root+".done", nil, 0o644))
	return root
}

func copyTree(w writer, from, to string) {
	must(w.t, filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil {
			w.file(to+strings.TrimPrefix(path, from), append(text, fmt.Sprintf("// word%d of %s\n", w.rng.Uint32(), to)...))
		}
		return err
	}))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

package search

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"adze/internal/files/search/match"
	"adze/internal/files/search/sign"
	"adze/internal/testkit/effort"
)

// disturber changes a tree at random, in all the ways that files change.
type disturber struct {
	t    testing.TB
	root string
	rng  *rand.Rand
	told int // questions to which signatures had an answer
}

// odd words are hard for signatures; most texts have none.
var oddWords = strings.Fields("Größe GRÖSSE KISS \u212aelvin ſold \x00 日本語 \xff")

// word is one of so many that few files hold each of them.
func (d *disturber) word() string {
	n := min(d.rng.IntN(150), d.rng.IntN(150))
	return []string{"alpha", "Beta", "gamma_", "kiss", "größe"}[n%5] + strconv.Itoa(n*7919)
}

func (d *disturber) path() string {
	return fmt.Sprintf("%s/d%d/f%d.txt", d.root, d.rng.IntN(6), d.rng.IntN(40))
}

func (d *disturber) text() []byte {
	var b bytes.Buffer
	words, odd := 1+d.rng.IntN(6), d.rng.IntN(25) == 0
	if d.rng.IntN(30) == 0 {
		words = 3000 // several blocks
	}
	for i := range words {
		if i < 6 || d.rng.IntN(500) == 0 {
			b.WriteString(d.word())
		}
		if odd {
			b.WriteString(oddWords[d.rng.IntN(len(oddWords))])
		}
		b.WriteString([]string{" ", "\n", " filler ", "_"}[d.rng.IntN(4)])
	}
	if d.rng.IntN(40) == 0 {
		return append([]byte("\xff\xfe"), b.Bytes()...)
	}
	return b.Bytes()
}

// step changes something. What cannot be done as things are is left.
func (d *disturber) step() {
	path, other := d.path(), d.path()
	must(d.t, os.MkdirAll(filepath.Dir(path), 0o755))
	switch d.rng.IntN(14) {
	case 0, 1, 2:
		_ = os.WriteFile(path, d.text(), 0o644)
	case 3:
		d.sameSize(path)
	case 4:
		_ = os.Rename(path, other)
	case 5:
		_ = os.WriteFile(path+"~", d.text(), 0o644)
		_ = os.Rename(path+"~", path)
	case 6:
		_ = os.Remove(path)
	case 7:
		if info, err := os.Stat(path); err == nil {
			_ = os.Truncate(path, int64(d.rng.IntN(int(info.Size())+2)))
		}
	case 8:
		_ = os.Link(path, other)
	case 9:
		_ = os.Remove(path)
		_ = os.Symlink(other, path)
	case 10:
		at := time.Now().Add(-time.Duration(d.rng.IntN(100)) * time.Hour)
		_ = os.Chtimes(path, at, at)
	case 11:
		_ = os.Rename(filepath.Dir(path), filepath.Dir(other))
	case 12:
		d.write(path, os.O_APPEND)
	case 13:
		d.write(path, 0)
	}
}

// sameSize puts other text of the same length into a file, and its time back.
func (d *disturber) sameSize(path string) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	text := d.text()
	for int64(len(text)) < info.Size() {
		text = append(text, d.text()...)
	}
	must(d.t, os.WriteFile(path, text[:info.Size()], 0o644))
	if d.rng.IntN(2) == 0 {
		must(d.t, os.Chtimes(path, info.ModTime(), info.ModTime()))
	}
}

// write puts a text somewhere into a file that is there.
func (d *disturber) write(path string, flag int) {
	f, err := os.OpenFile(path, os.O_WRONLY|flag, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if flag == 0 {
		_, err = f.WriteAt(d.text(), int64(d.rng.IntN(1000)))
	} else {
		_, err = f.Write(d.text())
	}
	must(d.t, err)
}

// question is a search at random.
func (d *disturber) question() GrepQuery {
	word := d.word
	if d.rng.IntN(20) == 0 {
		word = func() string { return "KISS" }
	}
	q := GrepQuery{Query: match.Query{Pattern: word()}, Limit: 1 + d.rng.IntN(60)}
	switch d.rng.IntN(7) {
	case 0:
		q.Pattern += "|" + word()
	case 1:
		q.Pattern += `\s*` + word()
	case 2:
		q.Pattern = "(" + word() + ")?" + word() + "[_ ]" + word()
	case 3:
		q.Pattern = `\b` + q.Pattern + "[01]?"
	}
	q.IgnoreCase, q.Word, q.Multiline = d.rng.IntN(3) == 0, d.rng.IntN(6) == 0, d.rng.IntN(6) == 0
	q.Mode = []Mode{Content, Content, Files, Count}[d.rng.IntN(4)]
	return q
}

// TestSignaturesNeverHideAChange compares searches with signatures to searches without while a tree
// changes at random. ADZE_TESTS=long goes on for 10 minutes, with the real clock and with a
// second process that learns as well.
func TestSignaturesNeverHideAChange(t *testing.T) {
	needSigns(t)
	minutes := effort.Rounds(0, 0, 10)
	seed := effort.Seed(t, 1)
	tr := signedTree(t, map[string]string{"start.txt": "alpha\n"})
	d := &disturber{t: t, root: tr.Root, rng: rand.New(rand.NewPCG(seed, 1))}
	tr.Signs.after, tr.Folders = 0, NewFolders()
	for range 300 {
		d.step()
	}
	if minutes == 0 {
		rounds := effort.Rounds(6, 12, 12)
		questions := 0
		for range rounds {
			learn(t, tr)
			questions += d.compare(tr, 8)
		}
		if d.told < questions/2 {
			t.Errorf("signatures told something for %d of %d questions: this shows little", d.told, questions)
		}
		return
	}
	stop := learnBeside(t, tr)
	defer stop()
	questions, until := 0, time.Now().Add(time.Duration(minutes)*time.Minute)
	for time.Now().Before(until) && !t.Failed() {
		go learnNow(t, tr)
		questions += d.compare(tr, 40)
	}
	t.Logf("%d questions, for %d of them signatures told something; %d folders were remembered", questions, d.told, tr.Folders.hits.Load())
}

// compare changes the tree and asks, some times.
func (d *disturber) compare(tr Tree, rounds int) (questions int) {
	for range rounds {
		for range d.rng.IntN(6) {
			d.step()
		}
		for range 3 {
			q := d.question()
			if m, err := match.Compile(q.Query); err == nil && tr.Signs.knowledge(tr, m).rejects != nil {
				d.told++
			}
			same(d.t, tr, q)
			questions++
		}
	}
	return questions
}

// learnBeside starts processes that learn the same tree into the same folder and are killed at
// random moments.
func learnBeside(t testing.TB, tr Tree) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			killed(ctx, tr, time.Duration(rand.IntN(400))*time.Millisecond)
		}
	}()
	return func() { cancel(); <-ended }
}

// killed runs a process that learns, for a while.
func killed(ctx context.Context, tr Tree, after time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, after)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestLearnsForOthers$")
	cmd.Env = append(os.Environ(), "ADZE_SIGNS_OF="+tr.Root, "ADZE_SIGNS_IN="+tr.Signs.folder.Path)
	_ = cmd.Run() // killed by signal 9
}

// TestLearnsForOthers is the process that is killed.
func TestLearnsForOthers(t *testing.T) {
	root := os.Getenv("ADZE_SIGNS_OF")
	if root == "" {
		t.Skip("it is started by other tests")
	}
	tr := Tree{Root: root}
	tr.Signs = NewSigns(os.Getenv("ADZE_SIGNS_IN"), root)
	tr.Signs.after = 0
	for {
		learnNow(t, tr)
	}
}

func TestProcessesThatAreKilledWhileTheyLearn(t *testing.T) {
	needSigns(t)
	files := map[string]string{}
	for i := range 400 {
		files[fmt.Sprintf("d%d/f%d.txt", i%9, i)] = strings.Repeat(fmt.Sprintf("word%d alpha\n", i), 300)
	}
	tr := signedTree(t, files)
	tr.Signs.after = 0
	rounds := effort.Rounds(4, 4, 100)
	for i := range rounds {
		killed(context.Background(), tr, time.Duration(20+rand.IntN(60*(i%5+1)))*time.Millisecond)
		same(t, tr, GrepQuery{Query: query("word17"), Limit: 10})
	}
	learn(t, tr)
	if n := rejected(t, tr, query("zyzzyva")); n < 380 {
		t.Errorf("%d files need not be read after all that, want nearly 400", n)
	}
	if left, _ := filepath.Glob(tr.Signs.folder.Path + "/*.part"); left != nil {
		t.Errorf("%q are left", left)
	}
}

// TestDamagedSignaturesAreDropped damages a table in random ways; whatever is left of it, answers
// are the same.
func TestDamagedSignaturesAreDropped(t *testing.T) {
	needSigns(t)
	tr := signedTree(t, map[string]string{"a.txt": "alpha\n", "b.txt": "beta\n", "c/d.txt": strings.Repeat("gamma delta\n", 3000)})
	tr.Signs.after = 0
	learn(t, tr)
	tables, err := filepath.Glob(tr.Signs.folder.Path + "/*")
	if err != nil || len(tables) != 1 {
		t.Fatal(tables, err)
	}
	whole, err := os.ReadFile(tables[0])
	must(t, err)
	rng := rand.New(rand.NewPCG(9, 9))
	for range 300 {
		text := bytes.Clone(whole)
		switch rng.IntN(4) {
		case 0:
			text[rng.IntN(len(text))] ^= 1 << rng.IntN(8)
		case 1:
			text = text[:rng.IntN(len(text))]
		case 2:
			text = append(text, text[:1+rng.IntN(100)]...)
		case 3:
			from := rng.IntN(len(text))
			clear(text[from:min(len(text), from+1+rng.IntN(200))])
		}
		if bytes.Equal(text, whole) {
			continue
		}
		must(t, os.WriteFile(tables[0]+"~", text, 0o600))
		must(t, os.Rename(tables[0]+"~", tables[0]))
		if current(t, tr) != nil {
			t.Fatal("a damaged table is used")
		}
		same(t, tr, GrepQuery{Query: query("delta"), Limit: 10, Mode: Count})
	}
	must(t, os.WriteFile(tables[0]+"~", whole, 0o644))
	must(t, os.Rename(tables[0]+"~", tables[0]))
	if current(t, tr) != nil {
		t.Error("a table that others can read is used")
	}
}

// A table that is cut while it is mapped is given up, and nobody falls over it.
func TestATableThatIsCutUnderTheMap(t *testing.T) {
	needSigns(t)
	files := map[string]string{}
	rng := rand.New(rand.NewPCG(2, 2))
	for i := range 100 {
		var b strings.Builder
		for range 300 {
			fmt.Fprintf(&b, "word%d other%x\n", i, rng.Uint64())
		}
		files[fmt.Sprintf("f%d.txt", i)] = b.String()
	}
	tr := signedTree(t, files)
	tr.Signs.after = 0
	for _, size := range []int64{0, 1, 100, 4096, 5000, 20000} {
		learn(t, tr)
		if n := rejected(t, tr, query("zyzzyva")); n < 80 {
			t.Fatalf("%d files need not be read, want nearly 100", n)
		}
		tables, _ := filepath.Glob(tr.Signs.folder.Path + "/*")
		must(t, os.Truncate(tables[0], size))
		at, _ := sign.PlaceOf(tr.Root)
		tr.Signs.version = tr.Signs.folder.Version(at) // as if it was cut after it was looked at
		same(t, tr, GrepQuery{Query: query("word17"), Limit: 10})
		learnNow(t, tr) // takes over what can be read
		same(t, tr, GrepQuery{Query: query("word17"), Limit: 10})
	}
}

func current(t testing.TB, tr Tree) *sign.Table {
	t.Helper()
	at, ok := sign.PlaceOf(tr.Root)
	if !ok {
		t.Fatal("no place")
	}
	table, _ := tr.Signs.current(at)
	return table
}

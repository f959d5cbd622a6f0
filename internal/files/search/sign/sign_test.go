package sign

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tableOf is a table of texts, whose states are their numbers.
func tableOf(t testing.TB, texts ...string) *Table {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "table"))
	must(t, err)
	at := Place{Path: "/x", Device: 1, Inode: 2}
	w := newWriter(f, at, time.Unix(1e9, 0))
	for i, text := range texts {
		signed, err := w.Sign(iotest.OneByteReader(strings.NewReader(text)))
		if len(text) > 1000 {
			signed, err = w.Sign(strings.NewReader(text))
		}
		must(t, err)
		w.Add(stateOf(i, text), signed)
	}
	must(t, w.finish())
	data, err := os.ReadFile(f.Name())
	must(t, errors.Join(err, f.Close()))
	table, err := parse(data, false, at)
	must(t, err)
	return table
}

func stateOf(i int, text string) State {
	return State{Inode: uint64(i), Size: int64(len(text)), Modified: time.Unix(100, 5), Changed: time.Unix(100, 7)}
}

// mayHold asks for one text.
func mayHold(t *Table, n *Need, i int, text string) bool {
	at := t.find(t.h.key.name(stateOf(i, text)))
	r := t.records[at]
	return r.flags != 0 || n == nil || n.meets(t.held(n), r)
}

func TestWhatIsNeeded(t *testing.T) {
	for pattern, want := range map[string]string{
		"ab": "nothing", "abc": "#", "abcde": "###", "abc|defg": "(# or ##)", "abc|x": "nothing", "abc.*defg": "(# and ##)",
		"a(b|c)d": "(# or #)", "colou?r": "(### or ####)", "(abc)+": "#", "(abc)*": "nothing", "(abc){2,}": "(#### and #)", `func \w+\(`: "###",
		`\berr\b`: "#", "^abc$": "#", "[a-z]bc": "nothing", "[ab]cd": "(# or #)", "(?i)ab[cC]": "#", "(?i)kiss": "##", "é.abc": "#", "a\nbcd": "#",
		"(?i)größe": "(##### or ###### or ##### or ######)", ".": "nothing", "": "nothing", "(": "nothing", "x\ufffdabc": "#", "abc(def|.)": "#", "(a|b|c)(a|b|c)(a|b|c)": "nothing",
		"a{3}": "#", "a{3,}b": "#", "abc|abc.*def": "#", "xyz|abc.*def": "(# or (# and #))", "foo+bar": "(# and ##)",
	} {
		if got := Needed(pattern).String(); got != want {
			t.Errorf("%s: %s, want %s", pattern, got, want)
		}
	}
}

// A text that matches is never ruled out: patterns at random, and texts that are made to match
// them.
func TestNoMatchIsRuledOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	matched, ruled := 0, 0
	for range 1200 {
		pattern := randomPattern(rng, 3)
		re, err := regexp.Compile(pattern)
		if err != nil {
			continue
		}
		tree, _ := syntax.Parse(pattern, syntax.Perl)
		var texts []string
		for range 4 {
			var b strings.Builder
			b.WriteString(strings.Repeat("x y\n", rng.IntN(3)))
			sample(rng, tree, &b, 0)
			texts = append(texts, b.String(), strings.Repeat("qq zz\n", rng.IntN(1+9000*max(0, rng.IntN(20)-18)))+b.String(), randomText(rng))
		}
		table, need := tableOf(t, texts...), Needed(pattern)
		for i, text := range texts {
			may := mayHold(table, need, i, text)
			if re.MatchString(text) {
				if matched++; !may {
					t.Fatalf("%s: %.300q matches and is ruled out by %v", pattern, text, need)
				}
			} else if !may {
				ruled++
			}
		}
	}
	if matched < 2000 || ruled < 500 {
		t.Errorf("%d texts match and %d are ruled out: this shows little", matched, ruled)
	}
}

func randomText(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.IntN(60) {
		b.WriteString(letters[rng.IntN(len(letters))])
	}
	return b.String()
}

var letters = []string{"a", "b", "c", "k", "K", "s", "ö", "Ö", "ß", "\u212a", "ſ", " ", "_", "1", "日", "\n", "foo", "Bar", "\ufffd", "\xff"}

// randomPattern is one of the syntax of regexp.
func randomPattern(rng *rand.Rand, depth int) string {
	if depth == 0 {
		return strings.ReplaceAll(letters[rng.IntN(len(letters)-1)], "\n", `\n`)
	}
	sub := func() string { return randomPattern(rng, depth-1) }
	switch rng.IntN(12) {
	case 0, 1, 2, 3:
		return sub() + sub() + sub()
	case 4:
		return "(" + sub() + "|" + sub() + ")"
	case 5:
		return "(?:" + sub() + ")" + []string{"?", "*", "+", "{2}", "{1,3}", "*?"}[rng.IntN(6)]
	case 6:
		return "(?i:" + sub() + ")"
	case 7:
		return []string{"[abc]", "[^a]", "[a-z]", "[kK]", `\w`, `\d`, ".", "[ö-ü]", `\s`, "(?s:.)", `[\x{fffd}a]`}[rng.IntN(11)]
	case 8:
		return []string{`\b`, "^", "$", `\B`, "(?m:^)", "(?m:$)"}[rng.IntN(6)] + sub()
	}
	return sub() + sub()
}

// sample writes a text that an expression matches, unless an assertion in it fails.
func sample(rng *rand.Rand, re *syntax.Regexp, b *strings.Builder, depth int) {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if re.Flags&syntax.FoldCase != 0 {
				for range rng.IntN(3) {
					r = unicode.SimpleFold(r)
				}
			}
			b.WriteRune(r)
		}
	case syntax.OpCharClass:
		if n := len(re.Rune) / 2; n > 0 {
			i := rng.IntN(n)
			b.WriteRune(re.Rune[2*i] + rng.Int32N(re.Rune[2*i+1]-re.Rune[2*i]+1))
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteString([]string{"x", "é", "\xff"}[rng.IntN(3)])
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		low := map[syntax.Op]int{syntax.OpPlus: 1, syntax.OpRepeat: re.Min}[re.Op]
		high := map[syntax.Op]int{syntax.OpQuest: 1, syntax.OpRepeat: max(re.Max, re.Min)}[re.Op]
		if high == 0 {
			high = low + 2
		}
		for range low + rng.IntN(high-low+1) {
			sample(rng, re.Sub[0], b, depth+1)
		}
	case syntax.OpAlternate:
		sample(rng, re.Sub[rng.IntN(len(re.Sub))], b, depth+1)
	default:
		for _, sub := range re.Sub {
			sample(rng, sub, b, depth+1)
		}
	}
}

// Texts of all lengths around the edges of blocks are found wherever they lie.
func TestTextsAcrossBlocks(t *testing.T) {
	for _, size := range []int{0, 1, 3, blockSize - 1, blockSize, blockSize + 1, blockSize + overlap, 4 * blockSize, 64<<10 + overlap, 200 << 10} {
		for _, before := range []int{0, 1, 7, 100, overlap} {
			text := strings.Repeat(".", max(0, size-before)) + "TheNeedle of some length" + strings.Repeat("-", 3*before)
			if !mayHold(tableOf(t, text), Needed("theneedle of some length"), 0, text) {
				t.Errorf("%d bytes before: ruled out", max(0, size-before))
			}
		}
	}
}

func TestWhatIsAlwaysRead(t *testing.T) {
	need := Needed("nowhere")
	for _, text := range []string{"a\x00b", "\xff\xfea", "\xfe\xffa", "\u212a", strings.Repeat(".", 64<<10+overlap-1) + "\u017f", strings.Repeat("x", 300<<10) + "\x00"} {
		if !mayHold(tableOf(t, text), need, 0, text) {
			t.Errorf("%.20q is ruled out", text)
		}
	}
	if mayHold(tableOf(t, "plain text"), need, 0, "plain text") {
		t.Error("plain text is not ruled out")
	}
}

// Each part of a state counts.
func TestNamesOfStates(t *testing.T) {
	k := key{1, 2}
	base := State{1, 2, 3, time.Unix(4, 5), time.Unix(6, 7)}
	names := map[uint64]string{k.name(base): "base"}
	for i, s := range []State{{2, 2, 3, base.Modified, base.Changed}, {1, 3, 3, base.Modified, base.Changed}, {1, 2, 4, base.Modified, base.Changed},
		{1, 2, 3, time.Unix(4, 6), base.Changed}, {1, 2, 3, base.Modified, time.Unix(6, 8)}, {2, 1, 3, base.Modified, base.Changed}, {1, 2, 3, base.Changed, base.Modified}} {
		if other, ok := names[k.name(s)]; ok {
			t.Errorf("%d has the name of %s", i, other)
		}
		names[k.name(s)] = fmt.Sprint(i)
	}
	if (key{3, 4}).name(base) == k.name(base) {
		t.Error("the key does not count")
	}
}

func TestATableIsFoundAndPruned(t *testing.T) {
	dir := t.TempDir()
	at, ok := PlaceOf(dir)
	if !ok {
		t.Skip("nothing is signed here")
	}
	f := Folder{Path: filepath.Join(dir, "cache")}
	old := filepath.Join(f.Path, "0123456789abcdef"+tableEnding)
	must(t, os.Mkdir(f.Path, 0o700))
	must(t, os.WriteFile(old, []byte("old"), 0o600))
	must(t, os.WriteFile(old+partEnding, nil, 0o600))
	must(t, os.Chtimes(old, time.Unix(1e9, 0), time.Unix(1e9, 0)))
	d, err := f.Begin(at, time.Now())
	must(t, err)
	if _, err := f.Begin(at, time.Now()); !errors.Is(err, ErrBusy) {
		t.Errorf("a second writer: %v", err)
	}
	must(t, d.Finish(true))
	if left, _ := filepath.Glob(f.Path + "/*"); len(left) != 1 {
		t.Errorf("%q are there", left)
	}
	if table, err := f.Open(at); err != nil || !table.Whole() {
		t.Error(table, err)
	}
	for _, other := range []Place{{at.Path, at.Device, at.Inode + 1}, {at.Path + "x", at.Device, at.Inode}} {
		must(t, os.WriteFile(f.path(other), must2(t, f.path(at)), 0o600))
		if _, err := f.Open(other); !errors.Is(err, errDamaged) {
			t.Errorf("the table of another folder: %v", err)
		}
	}
}

func must2(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return text
}

// A disk that is full leaves nothing behind.
func TestAFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip("there is no /dev/full")
	}
	defer full.Close()
	w := newWriter(full, Place{}, time.Now())
	text := make([]byte, 1<<20)
	for i := range text {
		text[i] = byte(rand.IntN(90) + 33)
	}
	signed, err := w.Sign(bytes.NewReader(text))
	if err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	w.Add(State{}, signed)
	if w.finish() == nil {
		t.Error("a table on a full disk")
	}
}

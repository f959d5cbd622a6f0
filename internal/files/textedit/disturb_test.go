package textedit

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"adze/internal/testkit/effort"
)

// What this suite measures: edits whose right result is known, disturbed as models disturb their
// copies. An outcome is right (the file with the true edit, byte by byte), refused, or wrong but
// accepted; the last must not happen.
//
// A disturbance falls on both texts of the edit alike, since a model that misremembers a line does
// so twice, or on old_string alone. It never falls on what the edit itself changes, with these
// exceptions, for which more than one result is right:
//   - white space inside a line that the edit adds, when all such white space was changed: it is compared as one space;
//   - decomposed characters that the edit adds to a file that has neither form;
//   - a disturbed old_string that is in the file exactly once as it is: then it means that place, literally.

// item is a step through an edit: a line of the file and the lines that come there.
type item struct {
	old  string
	had  bool     // old is a line of the file
	next []string // {old}: unchanged
}

func (it item) kept() bool { return it.had && len(it.next) == 1 && it.next[0] == it.old }

// trial is an edit of a specimen, true and as a model wrote it.
type trial struct {
	file     specimen
	from, to int
	items    []item // the true edit
	old, new []string
	loose    bool   // white space inside lines is not compared
	end      string // of the file's lines
	numbers  bool   // the copy has read's line numbers
}

// newTrial makes an edit of one to three hunks, or none when the specimen gives none.
func newTrial(rng *rand.Rand, s specimen) (*trial, bool) {
	if len(s.lines) < 6 {
		return nil, false
	}
	runs := func(i int) bool { return i > 0 && i < len(s.lines) && s.lines[i] == s.lines[i-1] }
	t := &trial{file: s, end: "\n"}
	t.from = rng.IntN(len(s.lines) - 3)
	t.to = min(len(s.lines), t.from+3+rng.IntN([]int{4, 10, 25}[rng.IntN(3)]))
	for _, line := range s.lines[t.from:t.to] {
		t.items = append(t.items, item{old: line, had: true, next: []string{line}})
	}
	for range 1 + rng.IntN(5)/2 {
		t.hunk(rng)
	}
	changed := slices.ContainsFunc(t.items, func(it item) bool { return !it.kept() })
	old := strings.Join(s.lines[t.from:t.to], "\n")
	if runs(t.from) || runs(t.to) { // without one line it would be an exact copy of another place
		return nil, false
	}
	return t, changed && strings.Count("\n"+t.text(nil)+"\n", "\n"+old+"\n") == 1 && len(strings.TrimSpace(old)) > 30
}

// hunk changes something, as edits do.
func (t *trial) hunk(rng *rand.Rand) {
	at := rng.IntN(len(t.items))
	it := &t.items[at]
	if !it.kept() || strings.TrimSpace(it.old) == "" {
		return
	}
	margin := indentOf(it.old)
	switch rng.IntN(12) { // about as often as in the history of programs
	default: // another word
		parts := words(it.old)
		for range 20 {
			if i := rng.IntN(len(parts)); len(parts[i]) > 2 && strings.TrimSpace(parts[i]) != "" {
				parts[i] = "renamed" + strconv.Itoa(rng.IntN(9))
				it.next = []string{strings.Join(parts, "")}
				return
			}
		}
	case 3: // a line less
		it.next = nil
	case 4: // lines more
		it.next = append(it.next, margin+fill(rng, "added(%s, %d)"))
		if rng.IntN(2) == 0 {
			it.next = append(it.next, margin+fill(rng, "another(%s)"))
		}
	case 5: // a line above
		it.next = []string{margin + fill(rng, "before(%s)"), it.old}
	case 6: // something else instead
		it.next = []string{margin + fill(rng, "instead of %s %d"), margin + fill(rng, "and %s")}
	case 7: // the next line comes first
		if at+1 < len(t.items) && t.items[at+1].kept() && t.items[at+1].old != it.old && strings.TrimSpace(t.items[at+1].old) != "" {
			it.next = []string{t.items[at+1].old, it.old}
			t.items[at+1].next = nil
		}
	}
}

// text is the file, with the lines of the block as next says, or as they are.
func (t *trial) text(next func(item) []string) string {
	lines := append([]string{}, t.file.lines[:t.from]...)
	for _, it := range t.items {
		if next == nil {
			lines = append(lines, it.old)
		} else {
			lines = append(lines, next(it)...)
		}
	}
	return strings.Join(append(lines, t.file.lines[t.to:]...), t.end) + t.end
}

// copied writes old_string and new_string of items.
func (t *trial) copied(items []item) {
	t.old, t.new = nil, nil
	for _, it := range items {
		if it.had {
			t.old = append(t.old, it.old)
		}
		t.new = append(t.new, it.next...)
	}
}

// disturbance changes the items of a trial as a model would; false when it has nothing to change
// there.
type disturbance struct {
	name string
	do   func(*rand.Rand, *trial, []item) ([]item, bool)
}

// every changes all lines of both texts alike.
func every(f func(string) string) func(*rand.Rand, *trial, []item) ([]item, bool) {
	return func(_ *rand.Rand, _ *trial, items []item) ([]item, bool) {
		any := false
		for i := range items {
			was := items[i].old
			items[i].old = f(was)
			any = any || items[i].had && items[i].old != was
			for k := range items[i].next {
				items[i].next[k] = f(items[i].next[k])
			}
		}
		return items, any
	}
}

// pick is a line that the edit does not change, with text or without.
func pick(rng *rand.Rand, items []item, want func(string) bool) int {
	for range 30 {
		if i := rng.IntN(len(items)); items[i].kept() && want(strings.TrimSpace(items[i].old)) {
			return i
		}
	}
	return -1
}

func hasText(s string) bool { return s != "" }
func isBlank(s string) bool { return s == "" }

func disturbances() []disturbance {
	return []disturbance{
		{"shift", shift}, {"tabs", tabs}, {"letter", letter(true)}, {"letter in old", letter(false)}, {"letter where it changes", changedLetter},
		{"left out", leaveOut(hasText, true)}, {"left out of old", leaveOut(hasText, false)},
		{"blank left out", leaveOut(isBlank, true)}, {"blank left out of old", leaveOut(isBlank, false)}, {"no blank lines", noBlanks}, {"comments left out", noComments},
		{"too many", tooMany(true)}, {"too many in old", tooMany(false)}, {"twice", twice}, {"blank too many", blankMore},
		{"inner spaces", innerSpaces}, {"ends trimmed or not", trailing},
		{"decomposed", every(func(s string) string { return norm.NFD.String(s) })}, {"quotes", func(rng *rand.Rand, t *trial, items []item) ([]item, bool) {
			t.loose = true
			return every(quotes)(rng, t, items)
		}},
		{"line ends", func(_ *rand.Rand, t *trial, items []item) ([]item, bool) { t.end = "\r\n"; return items, true }},
		{"numbers", func(_ *rand.Rand, t *trial, items []item) ([]item, bool) { t.numbers = true; return items, true }},
	}
}

func quotes(s string) string {
	return strings.NewReplacer("“", `"`, "”", `"`, "’", "'", "–", "-", "…", "...", "\u00a0", " ").Replace(s)
}

// shift moves the block to the left or right.
func shift(rng *rand.Rand, t *trial, items []item) ([]item, bool) {
	common, first := "", true
	for _, it := range items {
		for _, s := range append([]string{it.old}, it.next...) {
			if strings.TrimSpace(s) == "" {
				continue
			}
			if in := indentOf(s); first || len(in) < len(common) {
				common, first = in, false
			}
		}
	}
	cut := 0
	if common != "" {
		cut = 1 + rng.IntN(len(common))
		if common[0] == ' ' && cut%2 == 1 && rng.IntN(4) > 0 {
			cut = len(common)
		}
	}
	add := ""
	if cut == 0 || rng.IntN(3) == 0 {
		cut, add = 0, []string{"\t", "  ", "    "}[rng.IntN(3)]
		for _, s := range t.file.lines {
			if strings.HasPrefix(s, "\t") {
				add = "\t"
			}
		}
	}
	return every(func(s string) string {
		if strings.TrimSpace(s) == "" || len(indentOf(s)) < cut {
			return s
		}
		return add + s[cut:]
	})(rng, t, items)
}

// tabs writes one unit of indentation as another.
func tabs(rng *rand.Rand, t *trial, items []item) ([]item, bool) {
	d := &doc{Source: Source{Text: t.text(nil)}}
	unit := d.unit()
	if unit.char == 0 {
		return items, false
	}
	from := strings.Repeat(string(unit.char), unit.width)
	to := []string{"\t", "  ", "    "}[rng.IntN(3)]
	return every(func(s string) string {
		in := indentOf(s)
		n := len(in) / len(from)
		if to == from || strings.TrimSpace(s) == "" || strings.Repeat(from, n) != in {
			return s
		}
		return strings.Repeat(to, n) + s[len(in):]
	})(rng, t, items)
}

// misspelt changes, drops or doubles one letter.
func misspelt(rng *rand.Rand, s string) string {
	for range 30 {
		i := rng.IntN(len(s))
		if c := s[i]; c >= 'a' && c <= 'z' {
			return s[:i] + []string{"", string(c) + string(c), string('a' + (c-'a'+1)%26)}[rng.IntN(3)] + s[i+1:]
		}
	}
	return s
}

func letter(both bool) func(*rand.Rand, *trial, []item) ([]item, bool) {
	return func(rng *rand.Rand, _ *trial, items []item) ([]item, bool) {
		i := pick(rng, items, hasText)
		if i < 0 {
			return items, false
		}
		was := items[i].old
		items[i].old = misspelt(rng, was)
		if both {
			items[i].next[0] = items[i].old
		}
		return items, items[i].old != was
	}
}

// changedLetter misspells a line just where the edit changes it.
func changedLetter(rng *rand.Rand, _ *trial, items []item) ([]item, bool) {
	for i, it := range items {
		if it.had && !it.kept() && strings.TrimSpace(it.old) != "" && !slices.Contains(it.next, it.old) {
			items[i].old = misspelt(rng, it.old)
			return items, items[i].old != it.old
		}
	}
	return items, false
}

func leaveOut(want func(string) bool, both bool) func(*rand.Rand, *trial, []item) ([]item, bool) {
	return func(rng *rand.Rand, _ *trial, items []item) ([]item, bool) {
		i := pick(rng, items, want)
		if i < 0 {
			return items, false
		}
		if !both {
			first := slices.IndexFunc(items, func(it item) bool { return it.had })
			last := len(items) - 1
			for last > 0 && !items[last].had {
				last--
			}
			items[i].had = false
			return items, first < i && i < last
		}
		return slices.Delete(items, i, i+1), true
	}
}

func noBlanks(_ *rand.Rand, _ *trial, items []item) ([]item, bool) {
	n := len(items)
	items = slices.DeleteFunc(items, func(it item) bool { return it.kept() && strings.TrimSpace(it.old) == "" })
	return items, len(items) < n
}

func noComments(_ *rand.Rand, _ *trial, items []item) ([]item, bool) {
	n := len(items)
	items = slices.DeleteFunc(items, func(it item) bool {
		s := strings.TrimSpace(it.old)
		return it.kept() && (strings.HasPrefix(s, "//") || strings.HasPrefix(s, "#") || strings.HasPrefix(s, "--") || strings.HasPrefix(s, "/*") || strings.HasPrefix(s, "<!--"))
	})
	return items, len(items) < n
}

func tooMany(both bool) func(*rand.Rand, *trial, []item) ([]item, bool) {
	return func(rng *rand.Rand, _ *trial, items []item) ([]item, bool) {
		i := rng.IntN(len(items))
		more := indentOf(items[i].old) + fill(rng, "invented_%s(%s)")
		it := item{old: more, had: true}
		if both {
			it.next = []string{more}
		}
		return slices.Insert(items, i, it), true
	}
}

func twice(rng *rand.Rand, _ *trial, items []item) ([]item, bool) {
	i := pick(rng, items, hasText)
	if i < 0 {
		return items, false
	}
	return slices.Insert(items, i, item{old: items[i].old, had: true, next: []string{items[i].old}}), true
}

func blankMore(rng *rand.Rand, _ *trial, items []item) ([]item, bool) {
	i := rng.IntN(len(items))
	return slices.Insert(items, i, item{had: true, next: []string{""}}), true
}

func innerSpaces(rng *rand.Rand, t *trial, items []item) ([]item, bool) {
	t.loose = true
	f := func(s string) string {
		body := strings.TrimLeft(s, " \t")
		return indentOf(s) + strings.Join(strings.Fields(body), " ")
	}
	if rng.IntN(2) == 0 {
		f = func(s string) string {
			body := strings.TrimLeft(s, " \t")
			return indentOf(s) + strings.Join(strings.Split(body, " "), "  ")
		}
	}
	return every(f)(rng, t, items)
}

func trailing(rng *rand.Rand, t *trial, items []item) ([]item, bool) {
	i := pick(rng, items, hasText)
	if i < 0 {
		return items, false
	}
	items[i].old += " "
	items[i].next = []string{items[i].old}
	return items, true
}

// edit is the call that the model makes.
func (t *trial) edit() Edit {
	old, next := slices.Clone(t.old), slices.Clone(t.new)
	if t.numbers {
		for i := range old {
			old[i] = Number(t.from+i+1, Width(t.to), old[i])
		}
	}
	e := Edit{Old: strings.Join(old, "\n"), New: strings.Join(next, "\n")}
	if len(next) > 0 && t.from%2 == 0 {
		e.Old, e.New = e.Old+"\n", e.New+"\n"
	}
	return e
}

const (
	right = iota
	refusal
	wrong
	literally
)

// judge runs the edit and compares.
func (t *trial) judge() (int, string) {
	text := t.text(nil)
	e := t.edit()
	if strings.TrimSpace(e.Old) == "" || e.Old == e.New {
		return literally, ""
	}
	spans, err := Match(Source{Name: t.file.name, Text: text, Newline: t.end, Read: true}, []Edit{e})
	if err != nil {
		if err.(*Error).Code == NoChange {
			return literally, ""
		}
		return refusal, err.Error()
	}
	want := t.text(func(it item) []string { return it.next })
	got := Apply(text, spans)
	if got == want || t.loose && oneSpace(got) == oneSpace(want) || ascii(text) && norm.NFC.String(got) == norm.NFC.String(want) {
		return right, ""
	}
	if len(t.new) == 0 {
		return literally, "" // a whole block without its line end
	}
	if literal(spans[0].Step) && (spans[0].Step != Exact || strings.Count(text, e.Old) == 1) && (spans[0].Start == 0 || text[spans[0].Start-1] == '\n' || e.Old[0] == '\n') {
		return literally, ""
	}
	at := 0
	for at < len(got) && at < len(want) && got[at] == want[at] {
		at++
	}
	return wrong, fmt.Sprintf("by %q, differs at %.30q, want %.30q\nOLD\n%s\nNEW\n%s\nGOT\n%s\nWANT\n%s", spans[0].Step, got[at:], want[at:], e.Old, e.New, around(got, want), around(want, got))
}

// literal reports whether a step compares the characters themselves.
func literal(s Step) bool {
	return s == Exact || s == Numbered || s == LineEnds || s == Numbered+", "+LineEnds
}

func oneSpace(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = indentOf(line) + strings.Join(strings.Fields(quotes(line)), " ")
	}
	return strings.Join(lines, "\n")
}

// around is what differs of a, with some lines before and after.
func around(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	head, tail := 0, 0
	for head < len(x) && head < len(y) && x[head] == y[head] {
		head++
	}
	for tail < len(x)-head && tail < len(y)-head && x[len(x)-1-tail] == y[len(y)-1-tail] {
		tail++
	}
	return strings.Join(x[max(0, head-4):min(len(x), len(x)-tail+4)], "\n")
}

// tally counts outcomes of one kind.
type tally [4]int

func (c tally) String() string {
	n := max(1, c[right]+c[refusal]+c[wrong])
	return fmt.Sprintf("%7d right %6.1f %%  refused %5.1f %%  wrong %d", n, 100*float64(c[right])/float64(n), 100*float64(c[refusal])/float64(n), c[wrong])
}

// The short version takes seconds. The long one: ADZE_TESTS=long go test
// ./internal/files/textedit -run Disturbed -v with ADZE_DISTURB_FILES=../.. for all of this
// program's sources, or others; ADZE_SEED for other edits.
func TestDisturbedEditsAreRightOrRefused(t *testing.T) {
	count := effort.Rounds(2_000, 6_000, 400_000)
	seed := effort.Seed(t, 7)
	rng := rand.New(rand.NewPCG(seed, uint64(count)))
	own, langs, kinds := sources(t), dialects(), disturbances()
	census := map[string]*tally{}
	shown := 0
	var elsewhere []string
	for range count {
		s := own[rng.IntN(len(own))]
		group := "sources"
		if l := langs[rng.IntN(len(langs))]; rng.IntN(3) > 0 {
			s, group = l.specimen(rng), l.ending
			if rng.IntN(4) == 0 {
				s, group = l.twins(rng), "twins"
			}
		}
		tr, ok := newTrial(rng, s)
		if !ok {
			continue
		}
		items := make([]item, len(tr.items))
		for i, it := range tr.items {
			items[i] = item{it.old, it.had, slices.Clone(it.next)}
		}
		kind := kinds[rng.IntN(len(kinds))]
		name := kind.name
		if items, ok = kind.do(rng, tr, items); !ok {
			continue
		}
		if rng.IntN(4) == 0 {
			second := kinds[rng.IntN(len(kinds))]
			if strings.HasPrefix(kind.name, "letter") && strings.HasPrefix(second.name, "letter") {
				continue // the second could misspell new_string alone, which is then what is asked for
			}
			if items, ok = second.do(rng, tr, items); !ok || len(items) == 0 {
				continue
			}
			name = "two of these"
		}
		tr.copied(items)
		outcome, text := tr.judge()
		for _, key := range []string{"kind: " + name, "file: " + group} {
			if census[key] == nil {
				census[key] = &tally{}
			}
			census[key][outcome]++
		}
		if outcome == wrong {
			if shown++; shown <= 12 {
				t.Errorf("%s, %s, %s: %s", name, kind.name, tr.file.name, text)
			}
		}
		if outcome == refusal && !tr.named(text) {
			if elsewhere = append(elsewhere, name+": "+text); !strings.Contains(text, "closest lines") && !strings.Contains(text, "Its place") {
				t.Errorf("%s: the refusal shows no place:\n%s", name, text)
			}
		}
	}
	if len(elsewhere) > count/1000 { // what is left of a copy may be more like another place
		t.Errorf("%d refusals do not show the place:\n%s", len(elsewhere), strings.Join(elsewhere, "\n"))
	}
	report(t, census)
}

// named reports whether a refusal shows a line of the place, or numbers that lie in it.
func (t *trial) named(text string) bool {
	if strings.HasPrefix(t.file.name, "twins") && strings.Contains(text, "closest lines") {
		return true // it may be the other one that is closest
	}
	for i := t.from - 1; i <= t.to; i++ {
		if strings.Contains(text, fmt.Sprintf("%d  ", i+1)) || strings.Contains(strings.ToLower(text), fmt.Sprintf("line %d", i+1)) {
			return true
		}
	}
	return strings.Contains(text, "places in ") || strings.Contains(text, "2 places")
}

func report(t *testing.T, census map[string]*tally) {
	var keys []string
	for k := range census {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		t.Logf("%-34s %s", k, census[k])
	}
	refusedAtMost(t, census, 0.05, "letter", "letter in old", "letter where it changes")
	refusedAtMost(t, census, 0.10, "left out", "left out of old", "too many", "too many in old", "twice")
}

// refusedAtMost holds the share of refusals over some kinds together.
func refusedAtMost(t *testing.T, census map[string]*tally, limit float64, kinds ...string) {
	t.Helper()
	var sum tally
	for _, kind := range kinds {
		if c := census["kind: "+kind]; c != nil {
			for i := range sum {
				sum[i] += c[i]
			}
		}
	}
	t.Logf("%-34s %s", "together: "+strings.Join(kinds[:2], ", ")+" …", sum)
	if n := sum[right] + sum[refusal] + sum[wrong]; float64(sum[refusal]) > limit*float64(n) {
		t.Errorf("%v: %d of %d refused, at most %.0f %%", kinds, sum[refusal], n, 100*limit)
	}
}

package fulltext

import (
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

	"adze/internal/sessiondb"
	"adze/internal/testkit/effort"

	"adze/session"
)

// eventsOfASession is how many entries each session of the large store has.
const eventsOfASession = 100

// vocabulary is words as they come in texts: few of them often, most of them seldom (Zipf).
type vocabulary struct {
	r    *rand.Rand
	zipf *rand.Zipf
}

func newVocabulary(seed uint64) *vocabulary {
	r := rand.New(rand.NewPCG(seed, 11))
	return &vocabulary{r, rand.NewZipf(r, 1.1, 4, 60_000)}
}

// text is n bytes of words.
func (v *vocabulary) text(n int) string {
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "w%s ", strconv.FormatUint(v.zipf.Uint64()*7919%60_000, 36))
	}
	return b.String()
}

// session is the log of one: prompts, calls with what came of them, answers; 700 bytes of text an
// entry.
func (v *vocabulary) session(t testing.TB, num int) []session.Entry {
	out := []session.Entry{start(t, num, session.Start{Version: "1", Cwd: fmt.Sprint("/home/ann/project", num%20), Model: "script/x", System: v.text(6000)})}
	for n := 1; n < eventsOfASession; n++ {
		switch at := num*eventsOfASession + n; {
		case n%20 == 1:
			out = append(out, said(t, at, session.User, fmt.Sprintf("unique%d ", at)+v.text(200)))
		case n%4 == 0:
			out = append(out, said(t, at, session.Assistant, v.text(600)))
		default:
			out = append(out, called(t, at, "bash", `{"command":"go test ./`+v.text(20)+`"}`, v.text(850)))
		}
	}
	return out
}

// largeStore makes a store with so many entries.
func largeStore(t testing.TB, dir string, events int) {
	t.Helper()
	s, err := sessiondb.Open(t.Context(), filepath.Join(dir, "sessions.db"), sessiondb.Options{})
	must(t, err)
	v := newVocabulary(uint64(events))
	for n := range events / eventsOfASession {
		must(t, s.Append(t.Context(), session.ID(fmt.Sprintf("s%06d", n)), v.session(t, n)...))
		if n%500 == 499 { // a process has few sessions open
			must(t, s.Close())
			s, err = sessiondb.Open(t.Context(), filepath.Join(dir, "sessions.db"), sessiondb.Options{})
			must(t, err)
		}
	}
	must(t, s.Close())
}

// TestAMillionEvents measures a large store: 1,000,000 entries with ADZE_TESTS=long, 2,000
// otherwise. The bars: open 2 s, list 0.1 s, search 0.2 s, 200 MB. Timing decides nothing here:
// what is found does.
func TestAMillionEvents(t *testing.T) {
	events := effort.Rounds(2_000, 2_000, 1_000_000)
	dir := t.TempDir()
	if kept := os.Getenv("ADZE_SCALE_DIR"); kept != "" { // to look at it again
		dir = kept
	}
	began := time.Now()
	if _, err := os.Stat(filepath.Join(dir, "sessions.db")); err != nil {
		largeStore(t, dir, events)
	}
	t.Logf("made %d entries in %.1fs", events, time.Since(began).Seconds())
	for _, task := range []string{"index", "look"} {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), childFolder+"="+dir, childTask+"="+task, childEvents+"="+strconv.Itoa(events))
		out, err := c.CombinedOutput()
		t.Logf("%s:\n%sCPU %.1f s", task, out, (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds())
		if err != nil {
			t.Fatal(err)
		}
	}
}

const (
	childTask   = "ADZE_RECALL_TASK"
	childEvents = "ADZE_RECALL_EVENTS"
)

// timed runs one step of a child and prints what it took.
func timed(name string, do func() (string, error)) error {
	began := time.Now()
	what, err := do()
	fmt.Printf("%-40s %8.1f ms  %s\n", name, float64(time.Since(began).Microseconds())/1000, what)
	return err
}

// measure is a process that indexes the large store, or lists it and searches in it.
func measure(dir, task string, events int) error {
	ctx := context.Background()
	var s *sessiondb.Store
	err := timed("open the store", func() (_ string, err error) {
		s, err = sessiondb.Open(ctx, filepath.Join(dir, "sessions.db"), sessiondb.Options{})
		return "", err
	})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := timed("bring the index up to date", func() (string, error) { return "", Update(ctx, s, nil) }); err != nil {
		return err
	}
	if task == "look" {
		if err := lookAround(ctx, s, events); err != nil {
			return err
		}
	}
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmHWM") {
			fmt.Print(line)
		}
	}
	return nil
}

func lookAround(ctx context.Context, s *sessiondb.Store, events int) error {
	sessions := events / eventsOfASession
	for name, f := range map[string]sessiondb.Filter{"list a page of a folder": {Folder: "/home/ann/project3", Limit: 50}, "list a page of all": {All: true, Limit: 50}, "list all": {All: true}} {
		err := timed(name, func() (string, error) {
			heads, total, err := s.Page(ctx, f)
			if want := map[bool]int{true: sessions, false: sessions / 20}[f.Folder == ""]; err == nil && total != want {
				err = fmt.Errorf("%s: %d of %d", name, total, want)
			}
			return fmt.Sprintf("%d of %d", len(heads), total), err
		})
		if err != nil {
			return err
		}
	}
	middle := events/2/eventsOfASession*eventsOfASession + 1
	for _, c := range []struct {
		q    Query
		want int
	}{
		{Query{Text: fmt.Sprintf("unique%d ", middle)}, 1},
		{Query{Text: "bash go test "}, 20},
		{Query{Text: "bash go test ", Folder: "/home/ann/project3"}, 20},
		{Query{Text: "bash go test ", Folder: "/nowhere"}, 0},
		{Query{Text: "unique"}, 20},
		{Query{Text: "bas"}, 20},
		{Query{Text: "bash uni"}, 0},
		{Query{Text: "w"}, 0}, // short words are whole ones
		{Query{Text: fmt.Sprintf("unique%d bash ", middle)}, 0},
		{Query{Text: `"go test" nothingofthekind `}, 0},
		{Query{Text: "bash go test ", Since: time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC)}, 0},
		{Query{Text: "bash ", Skip: 10_000 * events / 1_000_000}, 20},
	} {
		err := timed(fmt.Sprintf("search %s %s", c.q.Text, c.q.Folder), func() (string, error) {
			hits, _, err := Search(ctx, s, c.q)
			if err == nil && len(hits) != c.want {
				err = fmt.Errorf("%+v: %d hits, want %d", c.q, len(hits), c.want)
			}
			return fmt.Sprintf("%d hits", len(hits)), err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

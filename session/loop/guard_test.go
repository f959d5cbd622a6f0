package loop

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"adze/tool"
)

// step is the calls of one answer with their outcomes.
type step []struct {
	call tool.RawCall
	o    tool.Outcome
}

// watch gives the guard steps until it stops the turn or they end, and says in which of them the
// model was told and stopped; if 0, never.
func watch(t *testing.T, steps []step) (told, stopped int) {
	t.Helper()
	var g Guard
	for i, s := range steps {
		for _, c := range s {
			g.Observe(c.call, c.o, false)
		}
		g.Close()
		if err := g.Stuck(); err != nil {
			if !errors.Is(err, Err) {
				t.Errorf("stopped with %v", err)
			}
			if told == 0 {
				t.Errorf("stopped after step %d and never told", i+1)
			}
			return told, i + 1
		}
		if g.Warning() != "" && told == 0 {
			told = i + 1
		}
	}
	return told, 0
}

func TestSequences(t *testing.T) {
	raw, err := os.ReadFile("testdata/sequences.txt")
	if err != nil {
		t.Fatal(err)
	}
	cases := strings.Split("\n"+string(raw), "\n== ")[1:]
	for _, c := range cases {
		head, body, _ := strings.Cut(c, "\n")
		name, want, _ := strings.Cut(head, ": ")
		t.Run(name, func(t *testing.T) {
			told, stopped := watch(t, written(t, body))
			got := "quiet"
			if told > 0 {
				got = fmt.Sprintf("told %d, stopped %d", told, stopped)
			}
			if got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// written reads the steps of a case.
func written(t *testing.T, body string) (steps []step) {
	t.Helper()
	var block []string
	times := 0
	flush := func() {
		for n := range times {
			for _, line := range block {
				steps = append(steps, oneStep(t, strings.ReplaceAll(line, "%n", fmt.Sprint(n+1))))
			}
		}
		block = nil
	}
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		var n int
		if _, err := fmt.Sscanf(line, "%dx", &n); err == nil && line == fmt.Sprintf("%dx", n) {
			flush()
			times = n
		} else if line != "" {
			block = append(block, line)
		}
	}
	flush()
	return steps
}

func oneStep(t *testing.T, line string) (s step) {
	t.Helper()
	for part := range strings.SplitSeq(line, " & ") {
		said, result, ok := strings.Cut(part, " -> ")
		if !ok {
			t.Fatalf("no result: %s", line)
		}
		o := tool.Outcome{Status: tool.Completed, Duration: 50 * time.Millisecond}
		if text, took, ok := strings.Cut(result, " ~"); ok {
			d, err := time.ParseDuration(took)
			if err != nil {
				t.Fatal(err)
			}
			result, o.Duration = text, d
		}
		if text, failed := strings.CutPrefix(result, "!"); failed {
			result, o.Status, o.Code = text, tool.Failed, "failed"
		}
		if rest, ok := strings.CutPrefix(said, "+"); ok {
			said, o.Record.Needs = rest, []tool.Need{{Permission: tool.Execute, Target: rest}}
		}
		said, o.Pending = strings.TrimPrefix(said, "?"), strings.HasPrefix(said, "?")
		name, args, _ := strings.Cut(said, " ")
		o.Output, o.Tool = result, name
		if name == "edit" && o.Status == tool.Completed {
			o.Changed = []string{"a.go"}
		}
		s = append(s, struct {
			call tool.RawCall
			o    tool.Outcome
		}{tool.RawCall{Name: name, Arguments: args}, o})
	}
	return s
}

// Whatever a circle is made of and whatever was done before, the model is told in its third round
// and stopped in its fifth.
func TestEveryCircleEnds(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		text := ""
		for i := range r.IntN(30) {
			text += fmt.Sprintf("1x\n+bash before%d -> %d\n", i, r.IntN(3))
		}
		length := 1 + r.IntN(6)
		text += "30x\n"
		for i := range length {
			text += fmt.Sprintf("%scall%d {\"a\":%d} -> %stext %d took 0.%%n5s\n", []string{"", "+"}[r.IntN(2)], i, r.IntN(9), []string{"", "!"}[r.IntN(2)], r.IntN(3))
		}
		steps := written(t, text)
		before := len(steps) - 30*length
		told, stopped := watch(t, steps)
		if told-before > 3*length || told-before <= min(2*length, 10) {
			t.Errorf("seed %d: a circle of %d was told after %d steps", seed, length, told-before)
		}
		if stopped-before > 5*length || stopped-before <= min(4*length, 20) {
			t.Errorf("seed %d: a circle of %d was stopped after %d steps", seed, length, stopped-before)
		}
	}
}

// Work that changes something new every few steps is never told anything, whatever repeats in
// between.
func TestWorkIsLeftAlone(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 2))
		text := ""
		for i := range 60 {
			text += fmt.Sprintf("1x\n+edit {\"old\":%d} -> done\n", i)
			for range 1 + r.IntN(2) {
				text += fmt.Sprintf("look {\"a\":%d} -> the same\n", r.IntN(3))
			}
		}
		if told, _ := watch(t, written(t, text)); told != 0 {
			t.Errorf("seed %d: told after step %d", seed, told)
		}
	}
}

// A look at the guard's own words: what is repeated is named, shortened, and how often.
func TestTheWarningNamesTheCalls(t *testing.T) {
	var g Guard
	for _, s := range written(t, "3x\nread {\"path\":\""+strings.Repeat("x", 200)+"\"} -> a\nlist . -> b\n") {
		g.Observe(s[0].call, s[0].o, false)
		g.Close()
	}
	text := g.Warning()
	if !strings.Contains(text, "3 times") || !strings.Contains(text, "list .") || !strings.Contains(text, "xxx…") || len(text) > 600 {
		t.Error(text)
	}
	if g.Warning() != "" {
		t.Error("told twice")
	}
}

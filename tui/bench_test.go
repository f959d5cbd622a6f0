package tui

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/session"
	"adze/tui/screen"
)

// counted is a terminal that tells how many bytes each write has.
type counted chan int

func (c counted) Write(b []byte) (int, error) { c <- len(b); return len(b), nil }

// BenchmarkBytes is what a terminal is sent: for an answer of 558 words that comes word by word, a
// frame each, which is the most that it can be, and for a key.
func BenchmarkBytes(b *testing.B) {
	text := strings.Repeat("The parser reads one line after the other, and each of them has its number in the file. ", 31) // 18 words
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			var answer, key int
			for b.Loop() {
				p, out := newPlayer(b, nil), make(counted, 100)
				p.m.w, p.m.h = size[0], size[1]
				s, err := screen.Open(nil, out, screen.Mode{})
				if err != nil {
					b.Fatal(err)
				}
				painted := func() int { s.Show(p.m.frame()); return <-out }
				<-out // it took the terminal over
				painted()
				answer = 0
				for i, word := range strings.SplitAfter(strings.TrimSpace(text), " ") {
					if i%72 == 71 { // a paragraph has four sentences
						word = strings.TrimSpace(word) + "\n\n"
					}
					p.m.Update(batch{session.TextDelta{Message: "m", Delta: word}})
					answer += painted()
				}
				p.m.Update(keyPress(b, "x"))
				key = painted()
				s.Close()
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(answer)/1000, "kB/answer")
			b.ReportMetric(float64(key), "B/key")
		})
	}
}

// BenchmarkStream shows 20,000 deltas in 1,250 frames, as they come in twenty seconds: one op is
// all of them, painting included. The bar is 0.5 s of CPU.
func BenchmarkStream(b *testing.B) {
	for name, delta := range map[string]string{"paragraph": "some words ", "lines": "a line of `code`\n", "paragraphs": "some words\n\n"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				m, s := painted(b)
				for range 1250 {
					bridge := newBridge()
					for range 16 {
						bridge.add(session.TextDelta{Message: "m", Delta: delta})
					}
					m.Update(bridge.take())
					s.Show(m.frame())
				}
				s.Close()
			}
		})
	}
}

func painted(b *testing.B) (*model, *screen.Screen) {
	p := newPlayer(b, nil)
	p.m.w, p.m.h = 120, 40
	s, err := screen.Open(nil, io.Discard, screen.Mode{})
	if err != nil {
		b.Fatal(err)
	}
	return p.m, s
}

// longSession is a transcript of a hundred thousand rows.
func longSession(b *testing.B) *model {
	m, s := painted(b)
	s.Close()
	text := strings.Repeat("A line of an answer that a model gave, with some `code` in it.\n", 100)
	for i := range 1000 {
		m.Update(batch{session.MessageDone{Message: session.Message{ID: fmt.Sprint(i), Role: session.Assistant,
			Parts: []session.Part{{Kind: session.TextPart, Text: text}}}}})
	}
	m.frame()
	return m
}

// BenchmarkKey is from a key to its frame at 100,000 rows. The bar is 16 ms.
func BenchmarkKey(b *testing.B) {
	m := longSession(b)
	for _, name := range []string{"x", "pgup", "home", "end"} {
		key := keyPress(b, name)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				m.prompt.Set("")
				m.Update(key)
				m.frame()
			}
		})
	}
	b.Run("resize", func(b *testing.B) {
		w := 100
		for b.Loop() {
			w = 100 + (w-99)%40
			m.Update(tea.WindowSizeMsg{Width: w, Height: 40})
			m.frame()
		}
	})
	b.Run("memory", func(b *testing.B) {
		var stats runtime.MemStats
		for b.Loop() {
			runtime.GC()
			runtime.ReadMemStats(&stats)
		}
		b.ReportMetric(float64(stats.HeapAlloc)/1e6, "MB")
		runtime.KeepAlive(m)
	})
}

// BenchmarkBridge is what one event costs the session that emits it.
func BenchmarkBridge(b *testing.B) {
	bridge := newBridge()
	for i := 0; b.Loop(); i++ {
		bridge.add(session.TextDelta{Message: "m", Delta: "some words "})
		if i%1000 == 0 {
			bridge.take()
		}
	}
}

// BenchmarkNew is making the interface and its first frame.
func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		m := newModel(Options{Env: func(string) string { return "" }, Blocks: testBlocks})
		m.w, m.h = 80, 24
		m.now = func() time.Time { return time.Time{} }
		m.frame()
	}
}
